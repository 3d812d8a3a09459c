"""A server whose transport keeps failing is paused; one probe brings it back."""

from __future__ import annotations

from mcplens.downstream.breaker import Breaker
from mcplens.downstream.options import CallOptions
from mcplens.errors import ConnectError, HttpError
from mcplens.session.raw_calls import read_params
from mcplens.transports.base import Transport
from mcplens.transports.memory import MemoryTransport
from tests.downstream.rig import Rig, failure
from tests.session.scripted import BrokenTransport, ExchangeTransport, Refuse, ScriptedServer

CALL = read_params(b'{"name":"add","arguments":{}}')


def test_five_failures_within_the_window_pause_and_older_ones_do_not_count() -> None:
    breaker = Breaker()
    assert [breaker.failed(at) for at in (0.0, 10.0, 20.0, 30.0, 40.0)] == [False] * 5
    assert not breaker.failed(41.0)
    assert breaker.failed(42.0)
    assert breaker.is_paused(71.9)
    assert not breaker.is_paused(72.0)


def test_a_probe_that_fails_pauses_again_and_one_that_succeeds_ends_it() -> None:
    breaker = Breaker()
    for _ in range(5):
        breaker.failed(0.0)
    assert breaker.failed(30.0)
    assert breaker.is_paused(59.0)
    breaker.succeeded()
    assert not breaker.is_paused(59.0)
    assert not breaker.failed(59.0)


class Flaky:
    """A server that refuses connections until it is well."""

    def __init__(self) -> None:
        self.server = ScriptedServer()
        self.is_well = False
        self.attempts = 0

    def __call__(self) -> Transport:
        self.attempts += 1
        if self.is_well:
            return MemoryTransport(self.server.serve)
        return BrokenTransport(ConnectError("CONNECTION_REFUSED", "refused"))


async def test_a_paused_server_refuses_at_once_and_comes_back_by_itself() -> None:
    flaky = Flaky()
    async with Rig({"one": flaky}, start=False) as rig:
        for _ in range(5):
            error = await failure(rig.one.request("tools/call", CALL))
            assert error.code == "CONNECTION_REFUSED"
        assert rig.one.state.is_paused
        assert rig.one.state.retry_at == rig.clock.wall() + 30
        error = await failure(rig.one.request("tools/call", CALL))
        assert error.code == "NOT_CONNECTED"
        assert "paused for another 30 s" in error.message
        assert flaky.attempts == 5
        await rig.advance(30)
        assert flaky.attempts == 6
        assert rig.one.state.is_paused
        flaky.is_well = True
        await rig.advance(30)
        assert flaky.attempts == 7
        assert rig.status == "RUNNING"
        await rig.one.request("tools/call", CALL)


async def test_a_server_that_forgets_its_sessions_is_not_paused() -> None:
    made: list[ExchangeTransport] = []
    server = ScriptedServer()

    def make() -> Transport:
        made.append(ExchangeTransport(server))
        return made[-1]

    async with Rig({"one": make}) as rig:
        for count in range(2, 9):
            error = HttpError("SESSION_EXPIRED", "unknown", status=404)
            made[-1]._receiver.session_expired(error)
            await rig.settle()
            await rig.one.request("tools/call", CALL)
            assert len(made) == count
        assert not rig.one.state.is_paused


async def test_errors_that_a_server_answers_never_pause_it() -> None:
    async with Rig({"one": ScriptedServer({"tools/call": Refuse(-32000)})}) as rig:
        for _ in range(20):
            await failure(rig.one.request("tools/call", CALL, CallOptions(timeout_s=1.0)))
        assert not rig.one.state.is_paused
