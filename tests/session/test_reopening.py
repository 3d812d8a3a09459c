"""A server that forgot our HTTP session, and one that is found only by another transport."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import HttpError, InspectorError
from mcplens.events import ServerRequestEnded, StateChanged
from mcplens.transports.base import Outgoing, Transport
from mcplens.transports.memory import MemoryTransport

from .scripted import SILENT, ExchangeTransport, Rig, ScriptedServer, failure, text


def forgotten() -> HttpError:
    return HttpError("SESSION_EXPIRED", "the server no longer knows our session", status=404)


class Sessions:
    """Makes transports whose sessions the test can let the server forget."""

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self.made: list[ExchangeTransport] = []

    def __call__(self) -> Transport:
        self.made.append(ExchangeTransport(self._server))
        return self.made[-1]

    def forget(self) -> None:
        self.made[-1]._receiver.session_expired(forgotten())


def reopening(answers: dict[str, Any] | None = None, **options: Any) -> tuple[Rig, Sessions]:
    server = ScriptedServer(answers)
    sessions = Sessions(server)
    return Rig(server, make_transport=sessions, **options), sessions


async def test_a_forgotten_session_is_opened_anew_at_once_even_without_retries() -> None:
    rig, sessions = reopening(max_retries=0)
    async with rig:
        sessions.forget()
        await rig.settle()
        assert rig.state == "CONNECTED"
        assert rig.transitions()[-3:] == ["connection_lost", "reconnect", "handshake_complete"]
        assert len(sessions.made) == 2
        assert (await rig.client.call_tool("add")).content


async def test_what_was_in_flight_fails_and_what_waited_goes_to_the_new_session() -> None:
    rig, sessions = reopening({"tools/call": SILENT})
    async with rig:
        in_flight, waiting = await rig.call("in flight"), await rig.call("waiting")
        rig.server.answers["tools/call"] = text("from the new session")
        sessions.forget()
        during = rig.go(rig.client.call_tool("asked meanwhile"))
        await rig.settle()
        assert failure(in_flight).code == "SESSION_EXPIRED"
        assert (await waiting).content[0].text == "from the new session"
        assert (await during).content[0].text == "from the new session"
        names = [call["params"]["name"] for call in rig.server.sent("tools/call")]
        assert names == ["in flight", "waiting", "asked meanwhile"]


async def test_a_session_that_cannot_be_opened_anew_fails_what_waits() -> None:
    rig, sessions = reopening({"tools/call": SILENT})
    async with rig:
        await rig.call("in flight")
        waiting = await rig.call("waiting")
        rig.server.answers["initialize"] = SILENT
        sessions.forget()
        await rig.advance(30)
        assert failure(waiting).code == "CONNECTION_TIMEOUT"
        assert rig.state == "DISCONNECTED"
        with pytest.raises(InspectorError, match="DISCONNECTED"):
            await rig.client.call_tool("add")


async def test_disconnecting_while_it_is_opened_anew_rejects_what_waits() -> None:
    for turns in range(6):
        rig, sessions = reopening({"tools/call": SILENT})
        async with rig:
            await rig.call("in flight")
            waiting = await rig.call("waiting")
            rig.server.answers["initialize"] = SILENT
            sessions.forget()
            for _ in range(turns):
                await asyncio.sleep(0)
            await rig.client.disconnect()
            await rig.settle()
            assert failure(waiting).category == "cancelled"
            assert rig.state == "DISCONNECTED"
            assert not rig.client.queue.is_held


async def test_a_server_that_forgets_every_session_is_not_asked_without_end() -> None:
    server = ScriptedServer()
    sessions = Sessions(server)

    class Forgetful(ExchangeTransport):
        def write(self, out: Outgoing) -> None:
            super().write(out)
            if out.method == "notifications/initialized":
                loop = asyncio.get_running_loop()
                loop.call_later(0, lambda: self._receiver.session_expired(forgotten()))

    def make() -> Transport:
        sessions.made.append(Forgetful(server))
        return sessions.made[-1]

    async with Rig(server, make_transport=make, connect=False, max_retries=3) as rig:
        await rig.client.connect()
        for _ in range(20):
            await rig.settle()
        assert len(sessions.made) <= 3
        assert rig.events(StateChanged)[-1].retry_in_s == 2.0  # now it is a loss like any other


async def test_questions_of_a_forgotten_session_are_dropped() -> None:
    never = asyncio.get_running_loop().create_future()
    rig, sessions = reopening(handlers={"elicitation/create": lambda request: never})
    async with rig:
        rig.server.ask("q", "elicitation/create")
        await rig.settle()
        sessions.forget()
        await rig.settle()
        assert never.cancelled()
        assert [event.outcome for event in rig.events(ServerRequestEnded)] == ["withdrawn"]


async def test_subscriptions_are_restored_in_the_new_session() -> None:
    rig, sessions = reopening()
    async with rig:
        await rig.client.subscribe("file:///a")
        sessions.forget()
        await rig.settle()
        assert len(rig.server.sent("resources/subscribe")) == 2


async def test_a_session_forgotten_during_the_handshake_fails_it_at_once() -> None:
    rig, sessions = reopening({"initialize": SILENT}, connect=False)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        sessions.forget()
        await rig.settle()
        assert failure(connecting).code == "SESSION_EXPIRED"


# -- the other door ------------------------------------------------------------------------------


class WrongDoor(MemoryTransport):
    """Answers every request with an HTTP status, and knows of another transport."""

    kind = "wrong door"

    def __init__(self, status: int, other: Transport | None) -> None:
        super().__init__(ScriptedServer().serve)
        self._status = status
        self._other = other

    def write(self, out: Outgoing) -> None:
        if out.id is not None:
            error = HttpError("HTTP_ERROR", f"HTTP {self._status}", status=self._status)
            self._receiver.request_failed(out.id, error)

    def fallback(self) -> Transport | None:
        return self._other


class OldDoor(MemoryTransport):
    kind = "old door"
    can_be_stateless = False


@pytest.mark.parametrize("version", ["2025-11-25", "auto"])
@pytest.mark.parametrize("status", [400, 404, 405])
async def test_a_handshake_refused_at_the_wrong_door_is_tried_at_the_other(
    status: int, version: str
) -> None:
    server = ScriptedServer()
    make = lambda: WrongDoor(status, OldDoor(server.serve))  # noqa: E731
    async with Rig(server, make_transport=make, protocol_version=version) as rig:
        assert rig.state == "CONNECTED"
        assert any("trying old door" in remark for remark in rig.remarks())
        assert rig.client.describe() == {"transport": "old door"}
        assert (await rig.client.call_tool("add")).content


@pytest.mark.parametrize("status", [401, 403, 500, 503])
async def test_other_refusals_are_no_reason_to_try_the_other_door(status: int) -> None:
    server = ScriptedServer()
    make = lambda: WrongDoor(status, OldDoor(server.serve))  # noqa: E731
    async with Rig(server, make_transport=make, connect=False) as rig:
        with pytest.raises(HttpError) as problem:
            await rig.client.connect()
        assert problem.value.status == status
        assert server.peers == []


async def test_where_neither_door_opens_the_error_tells_of_both() -> None:
    server = ScriptedServer({"initialize": SILENT})
    make = lambda: WrongDoor(405, WrongDoor(410, None))  # noqa: E731
    async with Rig(server, make_transport=make, connect=False) as rig:
        with pytest.raises(InspectorError) as problem:
            await rig.client.connect()
        assert "HTTP 405" in problem.value.message
        assert "HTTP 410" in problem.value.message
        assert rig.state == "DISCONNECTED"
