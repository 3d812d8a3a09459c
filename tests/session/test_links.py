"""What events belong to: told by the wire, inferred by one rule and marked so, or unknown."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import mcplens
from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    HttpRequestSent,
    InputRoundStarted,
    LateReply,
    LogReceived,
    NotificationReceived,
    PingAnswered,
    ProgressReceived,
    QuestionOpened,
    ReplyUnmatched,
    RequestEnded,
    RequestPaused,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.frames import RequestId
from mcplens.session.queue import CallTag
from tests.servers.misbehaving.wire import Wire
from tests.servers.run import serve
from tests.transports.recording import Seen, result, serving

from .scripted import SILENT, ExchangeTransport, Rig, ScriptedServer

ASK = "elicitation/create"


def call_frames(rig: Rig, method: str = "tools/call") -> list[FrameSent]:
    return [event for event in rig.events(FrameSent) if event.method == method]


def last_received(rig: Rig) -> FrameReceived:
    return rig.events(FrameReceived)[-1]


def reply(identity: RequestId, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "result": result}


# -- requests and what they are made for -------------------------------------------------------


async def test_a_request_says_its_call_and_what_it_is_made_for() -> None:
    server = ScriptedServer({"tools/call": {"content": []}, "tools/list": {"tools": []}})
    async with Rig(server, config={"ping_interval_s": 10}) as rig:
        await rig.client.call_tool("a")
        await rig.client.call_tool("a")
        await rig.client.list_tools()
        await rig.client.ping()
        await rig.advance(15)
        purposes = {event.method: event.purpose for event in rig.events(FrameSent)}
        assert purposes["initialize"] == "handshake"
        assert purposes["tools/list"] == "catalog"
        first, second = call_frames(rig)
        assert first.call_id != second.call_id
        assert {first.purpose, second.purpose} == {"call"}
        pings = call_frames(rig, "ping")
        assert {event.purpose for event in pings} == {"call", "heartbeat"}
        assert {event.call_id is None for event in pings if event.purpose == "heartbeat"} == {True}
        ended = {event.purpose for event in rig.events(RequestEnded)}
        assert ended == {"handshake", "catalog", "call"}
        (answered,) = rig.events(PingAnswered)
        beats = [event for event in pings if event.purpose == "heartbeat"]
        assert answered.request_seq == beats[0].seq


async def test_a_tag_of_the_callers_own_travels_with_every_request_of_its_call() -> None:
    made: list[RequestId] = []
    async with Rig(ScriptedServer({"tools/call": {"content": []}})) as rig:
        tag = CallTag(call_id="mine", inbound_seq=7, on_request=lambda entry: made.append(entry.id))
        await rig.client.call_tool("a", tag=tag)
        (sent,) = call_frames(rig)
        assert (sent.call_id, sent.inbound_seq, tag.first_seq) == ("mine", 7, sent.seq)
        assert made == [2]


async def test_the_requests_of_a_call_that_asks_in_rounds_have_one_call_and_one_first() -> None:
    rounds = [
        {
            "resultType": "input_required",
            "inputRequests": {"who": {"method": ASK, "params": {"message": "who?"}}},
        },
        {"resultType": "complete", "content": []},
    ]
    server = ScriptedServer({"tools/call": lambda message: rounds.pop(0)})
    answered: dict[str, Any] = {"handlers": {ASK: lambda _: {"action": "accept", "content": {}}}}
    async with Rig(server, protocol_version="2026-07-28", **answered) as rig:
        await rig.client.call_tool("a")
        first, second = call_frames(rig)
        assert first.call_id == second.call_id
        assert (first.caused_by_seq, second.caused_by_seq) == (None, first.seq)
        (started,) = rig.events(InputRoundStarted)
        assert (started.request_seq, started.call_id) == (first.seq, first.call_id)


# -- replies -----------------------------------------------------------------------------------


async def test_a_late_reply_and_a_cancellation_belong_to_the_request_that_was_given_up() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        call = await rig.call(timeout_s=1)
        await rig.advance(2)
        assert call.done()
        (sent,) = call_frames(rig)
        (cancelled,) = call_frames(rig, "notifications/cancelled")
        assert (cancelled.request_seq, cancelled.call_id) == (sent.seq, sent.call_id)
        rig.server.send_json(reply(2, content=[]))
        await rig.settle()
        (late,) = rig.events(LateReply)
        came = last_received(rig)
        assert (late.request_seq, late.frame_seq) == (sent.seq, came.seq)
        assert (came.request_seq, came.method) == (sent.seq, "tools/call")


async def test_a_raw_request_whose_id_is_taken_has_its_own_answer_over_http() -> None:
    server = ScriptedServer({"tools/call": SILENT, "raw": SILENT})
    transport = ExchangeTransport(server)
    async with Rig(server, make_transport=lambda: transport) as rig:
        call = await rig.call()
        waited = transport._sent[2]
        await rig.client.send_raw(b'{"jsonrpc":"2.0","id":2,"method":"raw"}', force=True)
        (raw,) = call_frames(rig, "raw")
        out = transport.written[-1]
        assert out.sent is raw
        transport.deliver_by(out, reply(2, of="raw"))
        await rig.settle()
        assert not call.done()
        assert last_received(rig).request_seq == raw.seq
        (unmatched,) = rig.events(ReplyUnmatched)
        assert unmatched.request_seq == raw.seq
        transport.deliver_by(waited, reply(2, content=[]))
        await rig.settle()
        assert call.done()
        assert last_received(rig).request_seq == call_frames(rig)[0].seq


async def test_replies_to_a_batch_belong_to_the_frame_that_carried_it() -> None:
    async with Rig(ScriptedServer({"raw": SILENT})) as rig:
        batch = [{"jsonrpc": "2.0", "id": identity, "method": "raw"} for identity in ("x", "y")]
        await rig.client.send_raw(json.dumps(batch).encode())
        sent = rig.events(FrameSent)[-1]
        rig.server.send_json(reply("y"))
        rig.server.send_json(reply("x"))
        await rig.settle()
        came = rig.events(FrameReceived)[-2:]
        assert [event.request_seq for event in came] == [sent.seq, sent.seq]
        assert {event.purpose for event in came} == {"raw"}


async def test_a_reply_without_an_id_is_inferred_only_while_one_call_runs() -> None:
    broken = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no"}}
    async with Rig(ScriptedServer({"tools/call": SILENT}), concurrency=2) as rig:
        await rig.call("a")
        rig.server.send_json(broken)
        await rig.settle()
        (sent,) = call_frames(rig)
        came = last_received(rig)
        assert (came.request_seq, came.is_inferred) == (sent.seq, True)
        await rig.call("b")
        rig.server.send_json(broken)
        await rig.settle()
        came = last_received(rig)
        assert (came.request_seq, came.is_inferred) == (None, False)


# -- notifications -----------------------------------------------------------------------------


async def test_progress_belongs_to_its_token_whatever_stream_brings_it() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    transport = ExchangeTransport(server)
    async with Rig(server, make_transport=lambda: transport, concurrency=2) as rig:
        await rig.call("a", on_progress=lambda _: None)
        await rig.call("b", on_progress=lambda _: None)
        first, second = call_frames(rig)
        params = {"progressToken": 3, "progress": 1}
        message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        transport.deliver_on(2, message)
        await rig.settle()
        came = last_received(rig)
        assert (came.request_seq, came.exchange_id) == (second.seq, first.exchange_id)
        (progressed,) = rig.events(ProgressReceived)
        assert (progressed.request_seq, progressed.frame_seq) == (second.seq, came.seq)


@pytest.mark.parametrize("count", [1, 2])
async def test_a_log_line_on_a_pipe_is_inferred_only_while_one_call_runs(count: int) -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT}), concurrency=2) as rig:
        for name in ("a", "b")[:count]:
            await rig.call(name)
        rig.server.notify("notifications/message", {"level": "info", "data": "x"})
        await rig.settle()
        (logged,) = rig.events(LogReceived)
        expected = call_frames(rig)[0].seq if count == 1 else None
        assert (logged.request_seq, logged.is_inferred) == (expected, count == 1)
        assert logged.frame_seq == last_received(rig).seq


async def test_a_log_line_on_the_stream_of_a_call_is_told_however_many_run() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    transport = ExchangeTransport(server)
    async with Rig(server, make_transport=lambda: transport, concurrency=2) as rig:
        await rig.call("a")
        await rig.call("b")
        params = {"level": "info", "data": "x"}
        message = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
        transport.deliver_on(3, message)
        await rig.settle()
        (logged,) = rig.events(LogReceived)
        sent = call_frames(rig)[1]
        assert (logged.request_seq, logged.is_inferred, logged.call_id) == (
            sent.seq, False, sent.call_id,
        )  # fmt: skip


async def test_what_no_request_is_behind_has_no_link() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        await rig.call()
        rig.server.notify("notifications/tools/list_changed")
        await rig.settle()
        (said,) = rig.events(NotificationReceived)
        assert (said.request_seq, said.is_inferred) == (None, False)
        assert said.frame_seq == last_received(rig).seq


# -- questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
async def test_the_cause_of_a_question_on_a_pipe_is_inferred_or_unknown(count: int) -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, elicitation=True, concurrency=2) as rig:
        for name in ("a", "b")[:count]:
            await rig.call(name)
        params = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}
        rig.server.ask("q", ASK, params)
        await rig.settle()
        first = call_frames(rig)[0]
        cause = (first.seq, True, first.call_id) if count == 1 else (None, False, None)
        frame = last_received(rig)
        assert (frame.caused_by_seq, frame.is_inferred, frame.call_id) == cause
        (asked,) = rig.events(ServerRequestReceived)
        assert (asked.caused_by_seq, asked.is_inferred, asked.call_id) == cause
        assert asked.request_seq == frame.seq
        (opened,) = rig.events(QuestionOpened)
        assert (opened.caused_by_seq, opened.is_inferred, opened.call_id) == cause
        assert opened.request_seq == frame.seq
        (paused,) = rig.events(RequestPaused)
        assert paused.question_seq == frame.seq
        assert paused.request_seqs == [event.seq for event in call_frames(rig)]
        rig.client.elicitation.decline(opened.question_id)
        await rig.settle()
        answer = rig.events(FrameSent)[-1]
        assert (answer.request_seq, answer.method, answer.call_id) == (frame.seq, ASK, cause[2])
        (ended,) = rig.events(ServerRequestEnded)
        assert ended.request_seq == frame.seq


async def test_a_list_that_is_fetched_meanwhile_does_not_hide_the_cause_of_a_question() -> None:
    server = ScriptedServer({"tools/call": SILENT, "tools/list": SILENT})
    async with Rig(server, elicitation=True, concurrency=2) as rig:
        await rig.call("a")
        fetching = asyncio.ensure_future(rig.client.list_tools())
        await rig.settle()
        params = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}
        rig.server.ask("q", ASK, params)
        await rig.settle()
        cause = call_frames(rig)[0]
        (opened,) = rig.events(QuestionOpened)
        assert (opened.caused_by_seq, opened.is_inferred) == (cause.seq, True)
        assert opened.call_id == cause.call_id
        fetching.cancel()


async def test_a_question_that_the_server_withdraws_names_the_frame_that_asked() -> None:
    async with Rig(elicitation=True) as rig:
        params = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}
        rig.server.ask("q", ASK, params)
        await rig.settle()
        asked = last_received(rig)
        rig.server.notify("notifications/cancelled", {"requestId": "q"})
        await rig.settle()
        assert last_received(rig).request_seq == asked.seq


# -- exchanges ---------------------------------------------------------------------------------


async def test_a_message_that_is_redirected_is_a_new_frame_of_the_same_request() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.verb != "POST":
            await wire.respond(405)
            return
        message = request.message
        if message.method == "initialize":
            version = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
            answer = json.dumps(reply(message.id, **version)).encode()
            await wire.respond(200, answer, "application/json")
        elif message.method == "resources/read" and request.path == "/mcp":
            await wire.respond(307, Location="/moved")
        elif message.id is not None:
            await wire.respond(200, result(message.id), "application/json")
        else:
            await wire.respond(202)

    async with serving(handle) as server:
        options: dict[str, Any] = {"protocol_version": "2025-11-25", "enforce_capabilities": False}
        async with mcplens.connect(server.url, **options) as client:
            await client.request("resources/read", {"uri": "x:y"})
            events = client.kept_events()
    first, again = [e for e in events if isinstance(e, FrameSent) and e.method == "resources/read"]
    assert (first.request_seq, again.request_seq) == (None, first.seq)
    assert first.call_id == again.call_id
    assert first.exchange_id != again.exchange_id
    urls = {e.exchange_id: e.url for e in events if isinstance(e, HttpRequestSent)}
    assert urls[again.exchange_id or 0].endswith("/moved")
    (answer,) = [e for e in events if _answers(e, "resources/read")]
    assert isinstance(answer, FrameReceived)
    assert (answer.request_seq, answer.exchange_id) == (first.seq, again.exchange_id)


def _answers(event: Event, method: str) -> bool:
    return isinstance(event, FrameReceived) and event.method == method


async def test_a_resumed_stream_brings_the_answer_by_another_exchange() -> None:
    options = ("--transport", "http", "--sse-answers", "--polling", "10")
    async with (
        serve("good", *options) as server,
        mcplens.connect(server.url, protocol_version="2025-11-25") as client,
    ):
        await client.call_tool("echo", {"text": "hi"})
        events = client.kept_events()
    (sent,) = [e for e in events if isinstance(e, FrameSent) and e.method == "tools/call"]
    (answer,) = [e for e in events if _answers(e, "tools/call")]
    assert isinstance(answer, FrameReceived)
    assert answer.request_seq == sent.seq
    verbs = {e.exchange_id: e.method for e in events if isinstance(e, HttpRequestSent)}
    assert answer.exchange_id is not None
    assert sent.exchange_id is not None
    assert (verbs[sent.exchange_id], verbs[answer.exchange_id]) == ("POST", "GET")


async def test_a_raw_request_whose_id_cannot_be_written_again_times_out_all_the_same() -> None:
    async with Rig(ScriptedServer({"raw": SILENT})) as rig:
        raw = b'{"jsonrpc":"2.0","id":"\\ud800","method":"raw"}'
        call = await rig.started(rig.client.send_raw(raw, timeout_s=1))
        await rig.advance(2)
        assert call.done()
        error = call.exception()
        assert isinstance(error, mcplens.InspectorError)
        assert error.code == "REQUEST_TIMEOUT"
