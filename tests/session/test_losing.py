"""A connection that is lost unasked: ERROR, a reconnect, and no call sent twice."""

from __future__ import annotations

import asyncio

import pytest

from mcplens.errors import InspectorError, TransportError
from mcplens.events import StateChanged
from mcplens.transports.memory import MemoryPeer, MemoryTransport

from .scripted import SILENT, Rig, ScriptedServer, failure


async def test_a_loss_goes_to_error_and_reconnects_after_the_first_delay() -> None:
    async with Rig(max_retries=3) as rig:
        rig.server.leave()
        await rig.settle()
        assert rig.state == "ERROR"
        lost = rig.events(StateChanged)[-1]
        assert (lost.transition, lost.retry_in_s, lost.max_retries) == ("connection_lost", 1.0, 3)
        assert lost.error is not None
        assert lost.error["code"] == "CONNECTION_LOST"
        await rig.advance(1)
        assert rig.state == "CONNECTED"
        assert rig.transitions()[-3:] == ["connection_lost", "reconnect", "handshake_complete"]
        assert (await rig.client.call_tool("add")).content[0].text == "ok"


async def test_an_automatic_reconnect_never_sends_a_call_again() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, max_retries=3) as rig:
        calls = [await rig.call(f"tool {n}") for n in range(3)]
        server.leave()
        await rig.settle()
        for call in calls:
            assert failure(call).code == "CONNECTION_LOST"
        await rig.advance(10)
        assert rig.state == "CONNECTED"
        assert len(server.peers) == 2
        assert [call["params"]["name"] for call in server.sent("tools/call")] == ["tool 0"]


async def test_a_call_that_is_lost_with_its_session_is_not_remembered() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, concurrency=8, max_retries=3) as rig:
        call = await rig.call("slow")
        server.leave()
        await rig.settle()
        assert failure(call).code == "CONNECTION_LOST"
        correlation = rig.client.connection.correlation
        assert [one for one in range(1, 20) if correlation.given_up(one) is not None] == []


async def test_each_call_that_fails_with_the_connection_names_its_own_method() -> None:
    server = ScriptedServer({"tools/call": SILENT, "resources/read": SILENT})
    async with Rig(server, concurrency=8) as rig:
        tool = await rig.call("slow")
        resource = await rig.started(rig.client.read_resource("file:///a"))
        server.leave()
        await rig.settle()
        assert failure(tool).details["method"] == "tools/call"
        assert failure(resource).details["method"] == "resources/read"
        assert failure(tool) is not failure(resource)


async def test_a_loss_without_retries_ends_disconnected_with_the_error() -> None:
    async with Rig() as rig:
        rig.server.leave()
        await rig.settle()
        assert rig.transitions()[-2:] == ["connection_lost", "give_up"]
        assert rig.state == "DISCONNECTED"
        assert isinstance(rig.client.last_error, TransportError)
        with pytest.raises(InspectorError, match="the server closed the connection"):
            await rig.client.call_tool("add")


async def test_a_server_that_stays_away_is_given_up_after_the_last_retry() -> None:
    server = ScriptedServer()
    async with Rig(server, max_retries=3) as rig:
        server.answers["initialize"] = SILENT
        server.leave()
        await rig.settle()
        await rig.advance(1 + 30 + 2 + 30 + 4 + 30)
        assert rig.state == "DISCONNECTED"
        assert len(server.peers) == 4
        last = rig.client.last_error
        assert isinstance(last, InspectorError)
        assert last.code == "CONNECTION_TIMEOUT"
        counts = [e.retry_count for e in rig.events(StateChanged) if e.transition == "reconnect"]
        assert counts == [1, 2, 3]


async def test_a_lost_server_is_reconnected_at_once_when_asked() -> None:
    async with Rig(max_retries=3, config={"retry_backoff_s": (60.0,)}) as rig:
        rig.server.leave()
        await rig.settle()
        assert rig.state == "ERROR"
        await rig.client.reconnect()
        assert (await rig.client.call_tool("add")).content


async def test_disconnecting_ends_a_reconnect() -> None:
    server = ScriptedServer()
    async with Rig(server, max_retries=3) as rig:
        server.answers["initialize"] = SILENT
        server.leave()
        await rig.settle()
        again = await rig.started(rig.client.reconnect())
        await rig.client.disconnect()
        assert failure(again).code == "CANCELLED"


async def test_calls_while_reconnecting_fail_at_once_and_say_so() -> None:
    async with Rig(max_retries=3) as rig:
        rig.server.leave()
        await rig.settle()
        with pytest.raises(InspectorError, match="ERROR") as problem:
            await rig.client.call_tool("add")
        assert problem.value.code == "NOT_CONNECTED"
        assert problem.value.retryable


async def test_a_server_that_fails_is_quoted() -> None:
    async def crash(peer: MemoryPeer) -> None:
        await peer.receive()
        raise RuntimeError("out of cheese")

    rig = Rig(make_transport=lambda: MemoryTransport(crash), connect=False)
    async with rig:
        with pytest.raises(InspectorError, match="out of cheese"):
            await rig.client.connect()


async def test_a_thousand_waiting_calls_all_fail_with_the_loss() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        calls = [rig.go(rig.client.call_tool("slow")) for _ in range(1_000)]
        await rig.settle()
        rig.server.leave()
        await rig.settle()
        await asyncio.gather(*calls, return_exceptions=True)
        assert {failure(call).code for call in calls} == {"CONNECTION_LOST"}


async def test_ids_go_on_counting_after_a_reconnect() -> None:
    async with Rig(max_retries=3) as rig:
        await rig.client.call_tool("add")
        rig.server.leave()
        await rig.settle()
        await rig.advance(1)
        await rig.client.call_tool("add")
        ids = [m["id"] for m in rig.server.received if "id" in m]
        assert len(set(ids)) == len(ids)


async def test_an_answer_from_before_the_loss_does_not_reach_a_call_after_it() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, max_retries=3) as rig:
        await rig.call()
        old = server.sent("tools/call")[0]["id"]
        server.leave()
        await rig.settle()
        await rig.advance(1)
        call = await rig.call()
        server.reply(old, {"content": []})
        await rig.settle()
        assert not call.done()
        new = server.sent("tools/call")[-1]["id"]
        server.reply(new, {"content": []})
        await call


async def test_a_server_that_dies_after_each_handshake_is_not_started_for_ever() -> None:
    async with Rig(max_retries=2) as rig:
        for delay_s in (1, 2):
            rig.server.leave()
            await rig.settle()
            await rig.advance(delay_s)
            assert rig.state == "CONNECTED"
        rig.server.leave()
        await rig.settle()
        assert rig.state == "DISCONNECTED"
        assert rig.client.last_error is not None


async def test_a_connection_that_lasted_has_all_its_retries_again() -> None:
    async with Rig(max_retries=1, config={"ping_interval_s": 0}) as rig:
        for _ in range(3):
            await rig.advance(60)
            rig.server.leave()
            await rig.settle()
            await rig.advance(1)
            assert rig.state == "CONNECTED"
