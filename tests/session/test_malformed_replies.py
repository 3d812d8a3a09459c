"""Replies that are wrong: shown, attributed where that is possible, and harmless to others."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import ProtocolError
from mcplens.events import FrameReceived, LateReply, ReplyUnmatched
from mcplens.protocol.frames import Malformed

from .scripted import SILENT, ExchangeTransport, Rig, ScriptedServer, failure, text

# Deeper than any supported Python's C code recurses: 1,000 levels in 3.11, 10,000 from 3.12 on.
LEVELS = 100_000
DEEP = b"[" * LEVELS + b"]" * LEVELS


def slow(**options: Any) -> Rig:
    return Rig(ScriptedServer({"tools/call": SILENT}), **options)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (b'{"jsonrpc":"2.0","id":%d,"result":{]}', "not valid JSON"),
        (b'{"jsonrpc":"2.0","id":%d,"result":{},"error":{"code":1,"message":""}}', "both"),
        (b'{"jsonrpc":"2.0","id":%d}', "neither"),
        (b'{"jsonrpc":"2.0","id":%d,"error":{"message":"no code"}}', "code"),
        (b'{"jsonrpc":"1.0","id":%d,"result":{}}', "1.0"),
        (b'{"id":%d,"result":{}}', "jsonrpc"),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":%d,"result":{}}', "byte order mark"),
        (b'{"jsonrpc":"2.0","id":%d,"result":{}}\0', "NUL"),
        (b'[{"jsonrpc":"2.0","id":%d,"result":{}}]', "batch"),
        (b'{"jsonrpc":"2.0","id":%d,"result":' + DEEP + b"}", "nested too deeply"),
        (b'{"jsonrpc":"2.0","result":' + DEEP + b',"id":%d}', "nested too deeply"),
        (b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"ty', "truncated"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_malformed_reply_with_a_legible_id_fails_its_request_at_once(
    reply: bytes, reason: str
) -> None:
    async with slow(concurrency=2) as rig:
        call, other = await rig.call("a"), await rig.call("b")
        mine, others = [sent["id"] for sent in rig.server.sent("tools/call")]
        data = reply % mine
        rig.server.send(data)
        await rig.settle()
        error = failure(call)
        assert isinstance(error, ProtocolError)
        assert error.code == "INVALID_RESPONSE"
        assert reason in error.message
        assert error.raw == data
        assert not other.done()
        rig.server.reply(others, text("fine"))
        assert (await other).content[0].text == "fine"


async def test_the_right_answer_after_a_malformed_one_is_late_and_harms_no_other_call() -> None:
    async with slow() as rig:
        call = await rig.call("a")
        identity = rig.entry().id
        assert isinstance(identity, int)
        rig.server.send(b'{"jsonrpc":"2.0","id":%d}' % identity)
        await rig.settle()
        assert call.done()
        other = await rig.call("b")
        rig.server.reply(identity, text())
        await rig.advance(5)
        assert [event.request_id for event in rig.events(LateReply)] == [identity]
        assert not other.done()


UNATTRIBUTABLE = [
    b'{"jsonrpc":"2.0","result":{"content":[]}}',
    b'{"jsonrpc":"2.0","id":null,"result":{}}',
    b'{"jsonrpc":"2.0","id":1.5,"result":{}}',
    b'{"jsonrpc":"2.0","id":"unknown","result":{}}',
    b'{"jsonrpc":"2.0","id":987654,"result":{}}',
    b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}',
    b'{"jsonrpc":"2.0","resul',
]


@pytest.mark.parametrize("reply", UNATTRIBUTABLE)
async def test_what_cannot_be_attributed_fails_the_one_that_waits_a_second_later(
    reply: bytes,
) -> None:
    async with slow() as rig:
        call = await rig.call()
        rig.server.send(reply)
        await rig.settle()
        (shown,) = rig.events(ReplyUnmatched)
        assert shown.message.raw == reply
        await rig.advance(0.9)
        assert not call.done()
        await rig.advance(0.1)
        error = failure(call)
        assert error.code == "INVALID_RESPONSE"
        assert error.details["raw"] == reply
        assert repr(reply.decode())[1:40] in error.message
        rig.server.answers["tools/call"] = text()
        assert (await rig.client.call_tool("add")).content


@pytest.mark.parametrize("reply", UNATTRIBUTABLE)
async def test_where_several_wait_what_cannot_be_attributed_fails_none_of_them(
    reply: bytes,
) -> None:
    async with slow(concurrency=2) as rig:
        calls = [await rig.call("a"), await rig.call("b")]
        rig.server.send(reply)
        await rig.advance(10)
        assert len(rig.events(ReplyUnmatched)) == 1
        assert not any(call.done() for call in calls)
        await rig.advance(50)
        assert "not a valid message" in failure(calls[0]).message


async def test_the_right_answer_within_the_second_wins() -> None:
    async with slow() as rig:
        call = await rig.call()
        rig.server.send(b'{"jsonrpc":"2.0","result":{}}')
        await rig.advance(0.5)
        rig.server.reply(rig.entry().id, text("right"))
        assert (await call).content[0].text == "right"
        await rig.advance(5)
        assert rig.client.queue.get_history()[-1].error is None


async def test_the_right_answer_after_the_second_is_kept_as_late() -> None:
    async with slow() as rig:
        call = await rig.call()
        identity = rig.entry().id
        rig.server.send(b'{"jsonrpc":"2.0","result":{}}')
        await rig.advance(1)
        assert call.done()
        rig.server.reply(identity, text("too late"))
        await rig.settle()
        (late,) = rig.events(LateReply)
        assert late.request_id == identity
        assert rig.client.queue.get_history()[-1].late_reply == late.message


async def test_a_flood_of_them_costs_one_timer_and_quotes_the_first() -> None:
    async with slow() as rig:
        call = await rig.call()
        timers = rig.clock.timer_count
        for n in range(5_000):
            rig.server.send(b'{"jsonrpc":"2.0","result":%d}' % n)
        await rig.settle()
        assert len(rig.events(ReplyUnmatched)) == 5_000
        assert rig.clock.timer_count == timers + 1
        await rig.advance(1)
        assert failure(call).details["raw"] == b'{"jsonrpc":"2.0","result":0}'


async def test_a_request_that_starts_within_the_second_is_not_the_one_that_fails() -> None:
    async with slow() as rig:
        first = await rig.call("a")
        rig.server.send(b'{"jsonrpc":"2.0","result":{}}')
        await rig.advance(0.5)
        rig.server.reply(rig.entry().id, text())
        await first
        second = await rig.call("b")
        await rig.advance(10)
        assert not second.done()


async def test_an_id_of_the_wrong_type_names_the_request_it_was_meant_for() -> None:
    async with slow(concurrency=2) as rig:
        call, other = await rig.call("a"), await rig.call("b")
        identity = rig.server.sent("tools/call")[0]["id"]
        rig.server.reply(str(identity), text())
        await rig.advance(1)
        error = failure(call)
        assert f"request {identity} is waiting" in error.message
        assert not other.done()


async def test_a_malformed_answer_on_an_exchange_fails_the_request_of_that_exchange() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    transport = ExchangeTransport(server)
    async with Rig(server, make_transport=lambda: transport, concurrency=2) as rig:
        call, other = await rig.call("a"), await rig.call("b")
        mine = server.sent("tools/call")[0]["id"]
        transport.deliver_on(mine, b"<html>Bad Gateway</html>")
        await rig.advance(1)
        assert "Bad Gateway" in failure(call).message
        assert not other.done()


@pytest.mark.parametrize(
    "line",
    [
        b"Listening on stdio",
        b"",
        b"\xff\xfe binary",
        b'{"level":"info","msg":"request handled"}',
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{]}}',
        b'[{"jsonrpc":"2.0","method":"notifications/message","params":{}}]',
    ],
)
async def test_a_stray_line_is_shown_and_does_no_harm(line: bytes) -> None:
    async with slow() as rig:
        call = await rig.call()
        for _ in range(10):
            rig.server.send(line)
        await rig.advance(5)
        assert not call.done()
        assert [e.message.raw for e in rig.events(FrameReceived)].count(line) == 10
        rig.server.reply(rig.entry().id, text("fine"))
        assert (await call).content[0].text == "fine"


async def test_stray_lines_are_quoted_when_nothing_better_comes() -> None:
    async with slow() as rig:
        call = await rig.call()
        rig.server.send(b"Traceback (most recent call last):")
        await rig.advance(60)
        error = failure(call)
        assert error.code == "REQUEST_TIMEOUT"
        assert "Traceback (most recent call last):" in error.message


@pytest.mark.parametrize(
    "reply",
    [
        b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}',
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"no"}}',
    ],
    ids=["result", "error"],
)
async def test_a_reply_that_comes_twice_is_shown_and_harmless_to_the_next_call(
    reply: bytes,
) -> None:
    async with slow() as rig:
        first = await rig.call("a")
        data = reply % rig.entry().id
        rig.server.send(data)
        await rig.settle()
        assert first.done()
        second = await rig.call("b")
        rig.server.send(data)
        await rig.advance(5)
        (shown,) = rig.events(ReplyUnmatched)
        assert "twice" in shown.reason
        assert not second.done()
        rig.server.reply(rig.entry().id, text("mine"))
        assert (await second).content[0].text == "mine"


async def test_replies_with_nobody_waiting_are_only_shown() -> None:
    async with Rig() as rig:
        for reply in UNATTRIBUTABLE:
            rig.server.send(reply)
        await rig.advance(5)
        assert len(rig.events(ReplyUnmatched)) == len(UNATTRIBUTABLE)
        assert rig.state == "CONNECTED"
        assert (await rig.client.call_tool("add")).content


async def test_a_malformed_reply_while_nobody_waits_does_not_fail_the_next_request() -> None:
    async with slow() as rig:
        rig.server.send(b'{"jsonrpc":"2.0","result":{}}')
        await rig.settle()
        call = await rig.call()
        await rig.advance(10)
        assert not call.done()


async def test_a_batch_is_taken_apart_in_the_one_revision_that_has_batches() -> None:
    async with slow(protocol_version="2025-03-26", concurrency=2) as rig:
        first, second = await rig.call("a"), await rig.call("b")
        ids = [sent["id"] for sent in rig.server.sent("tools/call")]
        rig.server.send_json([{"jsonrpc": "2.0", "id": i, "result": text(f"{i}")} for i in ids])
        assert [(await call).content[0].text for call in (first, second)] == [f"{i}" for i in ids]


async def test_a_batch_with_a_malformed_member_fails_only_the_request_of_that_member() -> None:
    async with slow(protocol_version="2025-03-26", concurrency=2) as rig:
        first, second = await rig.call("a"), await rig.call("b")
        one, two = [sent["id"] for sent in rig.server.sent("tools/call")]
        rig.server.send_json(
            [{"jsonrpc": "2.0", "id": one, "result": text()}, {"jsonrpc": "2.0", "id": two}]
        )
        await rig.settle()
        assert (await first).content
        assert failure(second).code == "INVALID_RESPONSE"


async def test_every_frame_is_shown_with_its_bytes_whatever_it_is() -> None:
    async with Rig() as rig:
        before = len(rig.events(FrameReceived))
        for data in (b"x", b"{}", b"[]", b"\0", b"[" * 400 + b"]" * 400, b"[" * 5_000):
            rig.server.send(data)
        await rig.settle()
        shown = rig.events(FrameReceived)[before:]
        assert [len(event.message.raw) for event in shown] == [1, 2, 2, 1, 800, 5_000]
        assert [event.size_bytes for event in shown] == [1, 2, 2, 1, 800, 5_000]
        assert all(isinstance(event.message, Malformed) for event in shown)


async def test_a_malformed_answer_to_initialize_fails_the_connect_at_once() -> None:
    server = ScriptedServer({"initialize": b'{"jsonrpc":"2.0","id":1,"result":{'})
    async with Rig(server, connect=False) as rig:
        connecting = await rig.started(rig.client.connect())
        error = failure(connecting)
        assert error.code == "INVALID_RESPONSE"
        assert rig.state == "DISCONNECTED"


@pytest.mark.parametrize("result", [None, [], {}, {"protocolVersion": 5}, "text"])
async def test_an_answer_to_initialize_without_its_shape_fails_with_the_value(result: Any) -> None:
    server = ScriptedServer({"initialize": lambda request: result})
    async with Rig(server, connect=False) as rig:
        with pytest.raises(ProtocolError) as problem:
            await rig.client.connect()
        assert problem.value.code == "INVALID_RESPONSE"
        assert problem.value.value == result
        assert problem.value.findings
