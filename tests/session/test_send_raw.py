"""send_raw: any bytes, exactly as they are; the answer where they are a request."""

from __future__ import annotations

import pytest

from mcplens.errors import InspectorError
from mcplens.events import FrameSent, ReplyUnmatched, RequestEnded, RequestStarted
from mcplens.protocol.frames import Malformed

from .scripted import SILENT, Rig, ScriptedServer, failure, text


@pytest.mark.parametrize(
    "data",
    [
        b"not json at all",
        b"\xff\xfe\x00",
        b"",
        b'{"jsonrpc":"2.0",  "method":"notifications/x"}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'[{"jsonrpc":"2.0","id":"b1","method":"ping"}]',
        b'{"jsonrpc":"1.0","id":5,"method":"ping"}',
    ],
)
async def test_bytes_that_are_no_request_leave_as_they_are_and_nothing_is_waited_for(
    data: bytes,
) -> None:
    async with Rig() as rig:
        assert await rig.client.send_raw(data) is None
        await rig.settle()
        assert rig.server.raw[-1] == data
        assert rig.events(FrameSent)[-1].message.raw == data
        assert rig.state == "CONNECTED"


async def test_a_raw_request_gets_its_answer_under_its_own_id() -> None:
    data = b'{ "method":"ping","id":"my id", "jsonrpc":"2.0" }'
    async with Rig() as rig:
        frame = await rig.client.send_raw(data)
        assert frame is not None
        assert frame.id == "my id"
        assert rig.server.raw[-1] == data
        assert rig.events(RequestStarted)[-1].request_id == "my id"
        assert rig.events(RequestEnded)[-1].status == "completed"


async def test_a_raw_request_does_not_wait_in_the_queue_and_has_a_timeout() -> None:
    server = ScriptedServer({"tools/call": SILENT, "raw": SILENT})
    async with Rig(server) as rig:
        await rig.call()
        raw = b'{"jsonrpc":"2.0","id":"r","method":"raw"}'
        sending = await rig.started(rig.client.send_raw(raw, timeout_s=5))
        assert len(server.sent("raw")) == 1
        await rig.advance(5)
        assert failure(sending).code == "REQUEST_TIMEOUT"
        assert server.sent("notifications/cancelled")[0]["params"]["requestId"] == "r"


async def test_an_id_that_is_in_flight_is_refused() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        call = await rig.call()
        identity = rig.entry().id
        assert isinstance(identity, int)
        raw = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % identity
        with pytest.raises(InspectorError, match="in flight") as problem:
            await rig.client.send_raw(raw)
        assert problem.value.code == "INVALID_REQUEST"
        assert raw not in rig.server.raw
        rig.server.reply(identity, text("mine"))
        assert (await call).content[0].text == "mine"


async def test_forced_it_leaves_all_the_same_and_the_answer_goes_to_who_waits() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        call = await rig.call()
        identity = rig.entry().id
        assert isinstance(identity, int)
        raw = b'{"jsonrpc":"2.0","id":%d,"method":"silent"}' % identity
        rig.server.answers["silent"] = SILENT
        assert await rig.client.send_raw(raw, force=True) is None
        await rig.settle()
        assert rig.server.raw[-1] == raw
        rig.server.reply(identity, text("first"))
        rig.server.reply(identity, text("second"))
        assert (await call).content[0].text == "first"
        await rig.settle()
        assert len(rig.events(ReplyUnmatched)) == 1


async def test_an_id_that_a_raw_request_used_is_not_handed_out_again() -> None:
    async with Rig() as rig:
        await rig.client.send_raw(b'{"jsonrpc":"2.0","id":4,"method":"ping"}')
        for _ in range(5):
            await rig.client.call_tool("add")
        ids = [message["id"] for message in rig.server.received if "id" in message]
        assert ids.count(4) == 1


async def test_a_raw_request_is_not_changed_by_the_era() -> None:
    server = ScriptedServer(is_stateless=True)
    async with Rig(server, protocol_version="2026-07-28") as rig:
        raw = b'{"jsonrpc":"2.0","id":"r","method":"tools/list"}'
        await rig.client.send_raw(raw)
        assert server.raw[-1] == raw


async def test_cancelling_the_caller_cancels_the_raw_request_on_the_server() -> None:
    async with Rig(ScriptedServer({"raw": SILENT})) as rig:
        raw = b'{"jsonrpc":"2.0","id":"r","method":"raw"}'
        sending = await rig.started(rig.client.send_raw(raw))
        sending.cancel()
        await rig.settle()
        assert rig.server.sent("notifications/cancelled")[0]["params"]["requestId"] == "r"
        assert rig.client.connection.correlation.waiting == {}


async def test_what_we_send_broken_is_shown_as_broken() -> None:
    async with Rig() as rig:
        await rig.client.send_raw(b"{]")
        assert isinstance(rig.events(FrameSent)[-1].message, Malformed)
