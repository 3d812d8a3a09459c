"""disconnect() from every state: what waits is rejected, what runs ends, nothing is left."""

from __future__ import annotations

import asyncio

import pytest

from mcplens.errors import ConnectError, InspectorError, TransportError
from mcplens.events import Remark
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.transports.base import Closing
from mcplens.transports.memory import MemoryTransport

from .scripted import SILENT, BrokenTransport, Rig, ScriptedServer, failure, until


class SlowToClose(MemoryTransport):
    """Takes as long to close as the test wants."""

    def __init__(self, server: ScriptedServer) -> None:
        super().__init__(server.serve)
        self.may_close = asyncio.Event()
        self.is_closing = False

    async def _close(self, how: Closing) -> None:
        self.is_closing = True
        await self.may_close.wait()
        await super()._close(how)


class FailsToClose(MemoryTransport):
    async def _close(self, how: Closing) -> None:
        await super()._close(how)
        raise AttributeError("a bug")


async def test_a_transport_that_fails_to_close_leaves_no_state_without_an_end() -> None:
    server = ScriptedServer()
    async with Rig(server, make_transport=lambda: FailsToClose(server.serve)) as rig:
        await rig.client.disconnect()
        assert rig.state == "DISCONNECTED"
        remarks = [one.message for one in rig.events(Remark)]
        assert "closing the transport: a bug" in remarks


async def test_disconnecting_when_disconnected_does_nothing() -> None:
    async with Rig(connect=False) as rig:
        await rig.client.disconnect()
        assert rig.states() == []


async def test_disconnecting_when_connected_goes_by_disconnecting_to_disconnected() -> None:
    async with Rig() as rig:
        await rig.client.disconnect()
        await rig.client.disconnect()
        assert rig.states()[2:] == ["DISCONNECTING", "DISCONNECTED"]
        assert rig.transitions()[2:] == ["disconnect", "cleanup_complete"]


async def test_disconnecting_in_error_gives_up_and_keeps_the_last_error() -> None:
    rig = Rig(
        make_transport=lambda: BrokenTransport(ConnectError("CONNECTION_REFUSED", "no")),
        connect=False,
        max_retries=3,
    )
    async with rig:
        connecting = await rig.started(rig.client.connect())
        assert rig.state == "ERROR"
        await rig.client.disconnect()
        assert rig.state == "DISCONNECTED"
        assert isinstance(rig.client.last_error, ConnectError)
        assert rig.client.connection.lifecycle.is_failed
        await rig.settle()
        assert failure(connecting).code == "CANCELLED"


@pytest.mark.parametrize("turns", range(6))
async def test_disconnecting_right_after_a_loss_closes_the_lost_transport_too(turns: int) -> None:
    transports: list[MemoryTransport] = []
    server = ScriptedServer()

    def make() -> MemoryTransport:
        transports.append(MemoryTransport(server.serve))
        return transports[-1]

    async with Rig(server, make_transport=make, max_retries=3) as rig:
        session = rig.client.connection.session
        assert session is not None
        session.lose(TransportError("CONNECTION_LOST", "cut"))
        assert rig.state == "ERROR"
        for _ in range(turns):
            await asyncio.sleep(0)
        await rig.client.disconnect()
        assert rig.state == "DISCONNECTED"
        assert [transport._peer for transport in transports] == [None]
        assert rig.client.connection.session is None
        await rig.client.connect()
        assert (await rig.client.call_tool("add")).content


async def test_disconnecting_while_disconnecting_waits_for_the_same_end() -> None:
    server = ScriptedServer()
    transport = SlowToClose(server)
    async with Rig(server, make_transport=lambda: transport) as rig:
        first = await rig.started(rig.client.disconnect())
        assert rig.state == "DISCONNECTING"
        second = await rig.started(rig.client.disconnect())
        assert not second.done()
        transport.may_close.set()
        await asyncio.gather(first, second)
        assert rig.states()[-2:] == ["DISCONNECTING", "DISCONNECTED"]


async def test_a_disconnect_whose_caller_loses_patience_still_ends_disconnected() -> None:
    server = ScriptedServer()
    transport = SlowToClose(server)
    async with Rig(server, make_transport=lambda: transport) as rig:
        leaving = await rig.started(rig.client.disconnect())
        leaving.cancel()
        await until(leaving.done)
        assert rig.state == "DISCONNECTED"
        transport.may_close.set()
        await rig.settle()
        assert transport._peer is None


async def test_a_call_without_a_connection_says_where_the_connection_stands() -> None:
    server = ScriptedServer()
    transport = SlowToClose(server)
    async with Rig(server, make_transport=lambda: transport) as rig:
        leaving = await rig.started(rig.client.disconnect())
        with pytest.raises(InspectorError, match="DISCONNECTING") as problem:
            await rig.client.call_tool("add")
        assert problem.value.code == "NOT_CONNECTED"
        transport.may_close.set()
        await leaving
        for method in (rig.client.ping(), rig.client.list_tools(), rig.client.send_raw(b"x")):
            with pytest.raises(InspectorError, match="DISCONNECTED") as problem:
                await method
            assert problem.value.details["state"] == ConnectionState.DISCONNECTED.value


async def test_everything_in_flight_and_in_the_queue_is_rejected_on_disconnect() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT, "ping": SILENT})) as rig:
        calls = [await rig.call(f"tool {n}") for n in range(3)]
        ping = await rig.started(rig.client.ping())
        await rig.client.disconnect()
        await rig.settle()
        for task in [*calls, ping]:
            assert failure(task).category == "cancelled"
        assert rig.client.queue.get_status().cancelled == 3
        assert rig.client.queue.get_status().pending == 0


async def test_a_thousand_waiting_calls_are_rejected_without_ado() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        calls = [rig.go(rig.client.call_tool("slow")) for _ in range(1_000)]
        await rig.settle()
        await rig.client.disconnect()
        await asyncio.gather(*calls, return_exceptions=True)
        assert {failure(call).message for call in calls} == {"disconnected"}
        assert len(rig.server.sent("tools/call")) == 1


async def test_a_question_that_waits_for_a_person_ends_with_the_connection() -> None:
    never = asyncio.get_running_loop().create_future()
    async with Rig(handlers={"elicitation/create": lambda request: never}) as rig:
        rig.server.ask(1, "elicitation/create", {"message": "?"})
        await rig.settle()
        await rig.client.disconnect()
        assert never.cancelled()
