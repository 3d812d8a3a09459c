"""LOGIC's state machine from DISCONNECTED to CONNECTED or to Failed, with its retries."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import (
    CancelledRequest,
    ConfigurationError,
    ConnectError,
    HttpError,
    InspectorError,
    TransportError,
)
from mcplens.events import EraDecided, ServerIntroduced, StateChanged
from mcplens.session.config import RetryConfig
from mcplens.transports.base import Closing, Transport
from mcplens.transports.memory import MemoryTransport

from .scripted import SILENT, BrokenTransport, Rig, ScriptedServer, failure, until


def refused() -> InspectorError:
    return ConnectError("CONNECTION_REFUSED", "nobody listens")


class Attempts:
    """Makes transports that fail with these errors in turn, then one that works."""

    def __init__(self, server: ScriptedServer, *errors: Exception) -> None:
        self._server = server
        self._errors = list(errors)
        self.count = 0
        self.broken: list[BrokenTransport] = []

    def __call__(self) -> Transport:
        self.count += 1
        if not self._errors:
            return MemoryTransport(self._server.serve)
        self.broken.append(BrokenTransport(self._errors.pop(0)))
        return self.broken[-1]


def failing(*errors: Exception, **options: Any) -> tuple[Rig, Attempts]:
    server = ScriptedServer()
    attempts = Attempts(server, *errors)
    return Rig(server, make_transport=attempts, connect=False, **options), attempts


async def test_a_connection_goes_from_disconnected_by_connecting_to_connected() -> None:
    async with Rig(connect=False) as rig:
        assert rig.state == "DISCONNECTED"
        await rig.client.connect()
        assert rig.states() == ["CONNECTING", "CONNECTED"]
        assert rig.transitions() == ["connect", "handshake_complete"]
        assert rig.server.methods == ["initialize", "notifications/initialized"]
        (introduced,) = rig.events(ServerIntroduced)
        assert introduced.server_info == {"name": "scripted", "version": "1"}
        (era,) = rig.events(EraDecided)
        assert (era.era, era.protocol_version) == ("handshake", "2025-11-25")
        await rig.client.disconnect()
    assert rig.states() == ["CONNECTING", "CONNECTED", "DISCONNECTING", "DISCONNECTED"]
    assert rig.client.last_error is None


async def test_retries_come_after_one_two_and_four_seconds_with_their_count_visible() -> None:
    rig, attempts = failing(*(refused() for _ in range(3)), max_retries=3)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        for retry, delay_s in enumerate((1.0, 2.0, 4.0), start=1):
            assert rig.state == "ERROR"
            shown = rig.events(StateChanged)[-1]
            assert shown.retry_in_s == delay_s
            assert shown.max_retries == 3
            assert shown.error is not None
            assert shown.error["code"] == "CONNECTION_REFUSED"
            await rig.advance(delay_s - 0.01)
            assert attempts.count == retry
            await rig.advance(0.01)
            assert attempts.count == retry + 1
            (again,) = [e for e in rig.events(StateChanged) if e.transition == "reconnect"][-1:]
            assert again.retry_count == retry
        assert connecting.done()
        assert rig.state == "CONNECTED"
        assert rig.client.last_error is None
        assert rig.events(StateChanged)[-1].retry_count == 3, "as many as it took"


@pytest.mark.parametrize("max_retries", [0, 1, 3])
async def test_max_retries_counts_the_attempts_after_the_first(max_retries: int) -> None:
    rig, attempts = failing(*(refused() for _ in range(9)), max_retries=max_retries)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(100)
        error = failure(connecting)
        assert attempts.count == max_retries + 1
        assert error.code == "CONNECTION_REFUSED"
        assert error.details.get("attempts", 1) == max_retries + 1


async def test_giving_up_leaves_it_disconnected_with_the_last_error() -> None:
    rig, _ = failing(refused(), TransportError("CONNECTION_RESET", "cut"), max_retries=1)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(1)
        error = failure(connecting)
        assert error.code == "CONNECTION_RESET"
        assert rig.state == "DISCONNECTED"
        assert rig.transitions()[-2:] == ["transport_error", "give_up"]
        assert rig.client.last_error is error
        assert rig.client.connection.lifecycle.is_failed


async def test_after_giving_up_one_can_connect_again_with_a_clean_sheet() -> None:
    rig, _ = failing(refused())
    async with rig:
        with pytest.raises(ConnectError):
            await rig.client.connect()
        await rig.client.connect()
        assert rig.state == "CONNECTED"
        assert rig.client.last_error is None


async def test_the_backoff_can_be_chosen_and_its_last_delay_is_used_on_and_on() -> None:
    errors = [refused() for _ in range(4)]
    rig, _ = failing(*errors, max_retries=4, config={"retry_backoff_s": (0.5, 3.0)})
    async with rig:
        await rig.started(rig.client.connect())
        await rig.advance(10)
        delays = [e.retry_in_s for e in rig.events(StateChanged) if e.new == "ERROR"]
        assert delays == [0.5, 3.0, 3.0, 3.0]


async def test_an_error_that_cannot_get_better_is_not_tried_again() -> None:
    rig, attempts = failing(ConfigurationError("COMMAND_NOT_FOUND", "no such"), max_retries=3)
    async with rig:
        with pytest.raises(ConfigurationError):
            await rig.client.connect()
        assert attempts.count == 1
        assert rig.state == "DISCONNECTED"


async def test_the_users_own_codes_are_tried_again() -> None:
    retry = RetryConfig(retryable_errors=("TLS_FAILED",))
    rig, attempts = failing(ConnectError("TLS_FAILED", "x"), max_retries=1, retry=retry)
    async with rig:
        await rig.started(rig.client.connect())
        await rig.advance(1)
        assert attempts.count == 2
        assert rig.state == "CONNECTED"


@pytest.mark.parametrize("codes", [(), ("TLS_FAILED",)])
async def test_what_is_not_among_the_users_own_codes_is_not_tried_again(
    codes: tuple[str, ...],
) -> None:
    retry = RetryConfig(retryable_errors=codes)
    rig, attempts = failing(refused(), retry=retry)
    async with rig:
        with pytest.raises(InspectorError):
            await rig.client.connect()
        assert attempts.count == 1


async def test_without_a_maximum_it_is_tried_for_ever() -> None:
    rig, attempts = failing(*(refused() for _ in range(50)), config={"max_retries": None})
    async with rig:
        connecting = await rig.started(rig.client.connect())
        assert rig.events(StateChanged)[-1].max_retries is None
        await rig.advance(1 + 2 + 4 * 48)
        await connecting
        assert attempts.count == 51


async def test_reconnect_makes_the_next_retry_at_once() -> None:
    rig, attempts = failing(refused(), config={"retry_backoff_s": (60.0,)}, max_retries=1)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        assert rig.state == "ERROR"
        await rig.client.reconnect()
        assert (rig.state, attempts.count) == ("CONNECTED", 2)
        await connecting
        assert rig.transitions()[-2:] == ["reconnect", "handshake_complete"]


async def test_reconnect_says_why_it_failed_too() -> None:
    rig, _ = failing(refused(), refused(), max_retries=1)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        with pytest.raises(InspectorError) as caught:
            await rig.client.reconnect()
        assert caught.value.code == failure(connecting).code == "CONNECTION_REFUSED"
        assert rig.state == "DISCONNECTED"


async def test_reconnect_connects_a_client_that_is_disconnected_and_no_other() -> None:
    async with Rig(connect=False) as rig:
        await rig.client.reconnect()
        assert rig.state == "CONNECTED"
        with pytest.raises(InspectorError) as caught:
            await rig.client.reconnect()
        assert caught.value.code == "ILLEGAL_TRANSITION"
        assert rig.state == "CONNECTED"


async def test_the_users_own_retry_config_says_how_often_and_when() -> None:
    retry = RetryConfig(max_attempts=2, backoff_s=(5.0,))
    rig, attempts = failing(*(refused() for _ in range(9)), max_retries=0, retry=retry)
    async with rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(10)
        assert failure(connecting).code == "CONNECTION_REFUSED"
        assert attempts.count == 3
        assert rig.events(StateChanged)[-1].max_retries == 2


@pytest.mark.parametrize(
    ("asked_s", "waited_s"), [(7.0, 7.0), (0.2, 1.0), (None, 1.0)], ids=["longer", "shorter", "no"]
)
async def test_retry_after_delays_the_next_attempt_but_never_shortens_it(
    asked_s: float | None, waited_s: float
) -> None:
    busy = HttpError("RATE_LIMITED", "slow down", status=429, retry_after_s=asked_s)
    rig, attempts = failing(busy, max_retries=3)
    async with rig:
        await rig.started(rig.client.connect())
        assert rig.events(StateChanged)[-1].retry_in_s == waited_s
        await rig.advance(waited_s - 0.01)
        assert attempts.count == 1
        await rig.advance(0.01)
        assert rig.state == "CONNECTED"


async def test_a_server_that_never_opens_times_out_and_is_killed_at_once() -> None:
    broken = BrokenTransport()
    async with Rig(make_transport=lambda: broken, connect=False) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(29.99)
        assert rig.state == "CONNECTING"
        await rig.advance(0.01)
        error = failure(connecting)
        assert (error.code, error.category) == ("CONNECTION_TIMEOUT", "timeout")
        assert "opening the transport" in error.message
        assert broken.closed == [Closing.KILL]
        assert rig.transitions() == ["connect", "timeout", "give_up"]


async def test_a_server_that_never_answers_times_out_in_the_handshake() -> None:
    server = ScriptedServer({"initialize": SILENT})
    async with Rig(server, connect=False, config={"connection_timeout_s": 5.0}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(5)
        error = failure(connecting)
        assert error.code == "CONNECTION_TIMEOUT"
        assert "handshake" in error.message
        # The specification forbids cancelling initialize.
        assert server.sent("notifications/cancelled") == []


async def test_without_a_connection_timeout_it_waits_for_ever() -> None:
    server = ScriptedServer({"initialize": SILENT})
    async with Rig(server, connect=False, config={"connection_timeout_s": None}) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.advance(1_000_000)
        assert not connecting.done()
        server.reply(1, server._initialized({"params": {"protocolVersion": "2025-11-25"}}))
        await connecting


async def test_a_server_that_leaves_during_the_handshake_fails_it_at_once() -> None:
    server = ScriptedServer({"initialize": SILENT})
    async with Rig(server, connect=False) as rig:
        connecting = await rig.started(rig.client.connect())
        server.leave()
        await rig.settle()
        assert failure(connecting).code == "CONNECTION_LOST"
        assert rig.state == "DISCONNECTED"


async def test_a_server_that_leaves_right_after_its_answer_is_not_taken_for_connected() -> None:
    server = ScriptedServer()
    good = server._initialized

    def answer_and_leave(request: dict[str, Any]) -> Any:
        server.reply(request["id"], good(request))
        asyncio.get_running_loop().call_soon(server.leave)
        return SILENT

    server.answers["initialize"] = answer_and_leave
    async with Rig(server, connect=False) as rig:
        connecting = await rig.started(rig.client.connect())
        await rig.settle()
        assert rig.state == "DISCONNECTED"
        assert rig.client.last_error is not None
        if "handshake_complete" not in rig.transitions():
            assert failure(connecting).code == "CONNECTION_LOST"


async def test_a_transport_that_cannot_be_made_is_a_failure_like_any_other() -> None:
    rig = Rig(make_transport=None, connect=False)
    rig.client.use_transport(_impossible)
    async with rig:
        with pytest.raises(ConfigurationError):
            await rig.client.connect()
        assert rig.state == "DISCONNECTED"
        rig.client.use_transport(lambda: MemoryTransport(rig.server.serve))
        await rig.client.connect()
        assert rig.state == "CONNECTED"


def _impossible() -> Transport:
    raise ConfigurationError("CONFIGURATION_INVALID", "no transport")


async def test_a_bug_in_a_transport_is_shown_and_no_hang() -> None:
    rig, _ = failing(ZeroDivisionError("a bug"))
    async with rig:
        with pytest.raises(InspectorError, match="a bug") as problem:
            await rig.client.connect()
        assert problem.value.code == "INTERNAL_ERROR"
        assert rig.state == "DISCONNECTED"


async def test_connecting_twice_is_an_error_that_names_both_states() -> None:
    async with Rig() as rig:
        with pytest.raises(InspectorError, match="from CONNECTED to CONNECTING") as problem:
            await rig.client.connect()
        assert problem.value.code == "ILLEGAL_TRANSITION"
        assert rig.state == "CONNECTED"
        assert (await rig.client.call_tool("add")).content[0].text == "ok"


@pytest.mark.parametrize("turns", range(12))
async def test_a_connect_can_be_called_off_at_any_moment(turns: int) -> None:
    server = ScriptedServer({"initialize": SILENT})
    async with Rig(server, connect=False) as rig:
        connecting = rig.go(rig.client.connect())
        for _ in range(turns):
            await asyncio.sleep(0)
        await rig.client.disconnect()
        await rig.settle()
        if connecting.done() and rig.transitions():
            assert isinstance(connecting.exception(), CancelledRequest)
            assert rig.state == "DISCONNECTED"
            assert rig.transitions() == ["connect", "cancel", "cleanup_complete"]
        server.answers["initialize"] = server._initialized
        if rig.state == "DISCONNECTED":
            await rig.client.connect()
        else:
            await rig.client.disconnect()


async def test_cancelling_the_caller_calls_the_connect_off() -> None:
    async with Rig(ScriptedServer({"initialize": SILENT}), connect=False) as rig:
        connecting = await rig.started(rig.client.connect())
        connecting.cancel()
        await until(connecting.done)
        assert connecting.cancelled()
        assert rig.state == "DISCONNECTED"
        assert rig.transitions() == ["connect", "cancel", "cleanup_complete"]


async def test_a_retry_can_be_called_off_while_it_waits_and_while_it_tries() -> None:
    for seconds in (0.5, 1.0):
        server = ScriptedServer({"initialize": SILENT})
        attempts = Attempts(server, refused())
        rig = Rig(server, make_transport=attempts, connect=False, max_retries=3)
        async with rig:
            connecting = await rig.started(rig.client.connect())
            await rig.advance(seconds)
            assert rig.state == ("ERROR" if seconds < 1 else "CONNECTING")
            await rig.client.disconnect()
            await rig.settle()
            assert failure(connecting).code == "CANCELLED"
            assert rig.state == "DISCONNECTED"
            await rig.advance(100)
            assert attempts.count == (1 if seconds < 1 else 2)
