"""Session strategy `persistent`: one long-lived session, shared by all operations.

A session that is lost is opened again; an operation is repeated once, where that cannot do harm. A
server whose transport keeps failing is paused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from mcplens.background import Background
from mcplens.clock import Clock, Timer
from mcplens.downstream.breaker import (
    MOST_FAILURES,
    PAUSE_S,
    PROBE_TURN_S,
    WINDOW_S,
    Breaker,
    BreakerPeers,
)
from mcplens.downstream.live_server import LiveServer
from mcplens.downstream.sessions import Operation
from mcplens.downstream.status import STATUS_OF, ServerState, ServerStatus
from mcplens.errors import InspectorError, TimeoutExpired, TransportError
from mcplens.events import StateChanged
from mcplens.protocol.deadlines import NEVER, Deadline
from mcplens.protocol.frames import Frame
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.session.client import Client
from mcplens.session.queue import CallTag
from mcplens.transports.base import Closing

T = TypeVar("T")

# Failures of the way to the server: a request may be repeated, and they count for the breaker if
# the server did not answer.
_LOSSES: Final = frozenset({
    "CONNECTION_LOST", "CONNECTION_RESET", "SERVER_EXITED", "SESSION_EXPIRED", "NOT_CONNECTED",
    "NO_RESPONSE", "CONNECTION_REFUSED", "CONNECTION_FAILED", "HOST_NOT_FOUND",
    "CONNECTION_TIMEOUT",
})  # fmt: skip
# Of these, those after which the server cannot have seen the request.
_NEVER_REACHED: Final = frozenset({"NOT_CONNECTED", "CONNECTION_REFUSED", "HOST_NOT_FOUND"})


class _Waiter:
    """An operation that waits for one attempt to connect."""

    def __init__(self) -> None:
        self.outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.is_begun = False  # the attempt that it waits for

    def __repr__(self) -> str:
        return f"<_Waiter {'begun' if self.is_begun else 'not begun'}>"

    def succeed(self) -> None:
        if not self.outcome.done():
            self.outcome.set_result(None)

    def fail(self, error: InspectorError) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error.copy())

    def expire(self) -> None:
        text, details = "not connected in time", {"phase": "connect"}
        self.fail(TimeoutExpired("REQUEST_TIMEOUT", text, details=details))


class PersistentSession:
    """One long-lived session, shared by all operations; opened again when it is lost."""

    def __init__(
        self,
        live: LiveServer,
        clock: Clock,
        changed: Callable[[], None],
        *,
        may_pause: Callable[[], bool] = lambda: True,
    ) -> None:
        self.live = live
        self.breaker = Breaker()
        self._clock = clock
        self._changed = changed
        self._may_pause = may_pause
        self.peers: BreakerPeers | None = None
        self._waiters: list[_Waiter] = []
        self._paused_by: dict[str, Any] | None = None  # the error that opened the breaker
        self._probe: Timer | None = None
        self._work = Background()

    def __repr__(self) -> str:
        return f"<PersistentSession of {self.live!r}, {self.breaker!r}>"

    @property
    def state(self) -> ServerState:
        live = self.live
        status = STATUS_OF[live.state]
        error = live.error or self._paused_by
        retry_at = None if live.attempt is None else live.attempt.at
        is_paused = self.breaker.is_paused(self._clock.monotonic())
        if is_paused and self.breaker.paused_until is not None:
            left_s = self.breaker.paused_until - self._clock.monotonic()
            retry_at = self._clock.wall() + left_s
        if status is ServerStatus.STOPPED and error is not None:
            status = ServerStatus.ERROR  # it gave up
        return ServerState(
            status=status,
            since=live.since,
            message=str(error["message"]) if error is not None else "",
            error=error,
            retry_at=retry_at,
            is_paused=is_paused,
        )

    @property
    def ready_client(self) -> Client | None:
        client = self.live.client
        return client if client is not None and client.connection.is_connected else None

    async def run(
        self,
        operation: Operation[T],
        deadline: Deadline,
        tag: CallTag,
        is_repeatable: bool,
        begun_by: Client | None = None,
    ) -> T:
        client = begun_by or self.ready_client or await self.connected(deadline)
        try:
            return await operation(client)
        except InspectorError as problem:
            error = self._as_loss(client, problem)
            if error.code not in _LOSSES:
                raise
            self._note_failure(client, error)
            was_sent = _may_have_been_seen(error, tag)
            error.with_details(was_sent=was_sent)
            if was_sent and not is_repeatable:
                raise _not_repeated(error) from None
        return await operation(await self.connected(deadline))

    def _as_loss(self, client: Client, error: InspectorError) -> InspectorError:
        """What we disconnected ourselves is lost for the caller."""
        if error.code != "CANCELLED" or client.connection.is_connected:
            return error
        text = f"{self.live.server_id} was disconnected, or its configuration changed"
        return TransportError("CONNECTION_LOST", text, details=error.details)

    def _note_failure(self, client: Client, error: InspectorError) -> None:
        """Count a failure of one exchange; the loss of a session counts once, when it moves."""
        if client.connection.is_connected and error.code != "NOT_CONNECTED":
            self._failed(error.shortened().to_dict())

    async def connected(self, deadline: Deadline) -> Client:
        """The connected client; connects if need be, and waits for one attempt.

        Raises:
            InspectorError: it failed, or the time is up.
        """
        client = self.live.client
        if client is None or not client.connection.is_connected:
            await self._attempt(deadline)
            client = self.live.client
        assert client is not None
        return client

    async def _attempt(self, deadline: Deadline) -> None:
        waiter = _Waiter()
        waiter.is_begun = self.live.state is ConnectionState.CONNECTING
        self._waiters.append(waiter)
        due = deadline.due()
        timer = None if due == NEVER else self._clock.call_at(due, waiter.expire)
        try:
            self.start()
            await waiter.outcome
        finally:
            self._waiters.remove(waiter)
            if timer is not None:
                timer.cancel()

    def failed(self, error: InspectorError) -> None:
        """The state has it already."""

    def start(self) -> None:
        """Start connecting, if that is not under way.

        Raises:
            InspectorError: the entry cannot be used, or the server is paused.
        """
        if self.breaker.is_paused(self._clock.monotonic()):
            raise self._paused()
        if self.live.state is ConnectionState.ERROR and self.live.client is not None:
            self.live.client.retry_now()
        else:
            self.live.connect()

    def moved(self, event: StateChanged) -> None:
        """The connection changed its state: waiters learn how the attempt went."""
        if event.new == "CONNECTED":
            if self.breaker.paused_until is not None and self.peers is not None:
                self.peers.closed(self.live.server_id)
            self.breaker.succeeded()
            self._paused_by = None
            for waiter in self._waiters:
                waiter.succeed()
        elif event.new == "CONNECTING":
            for waiter in self._waiters:
                waiter.is_begun = True
        elif event.transition in ("timeout", "transport_error"):
            self._fail_waiters()
        elif event.new == "DISCONNECTED" and self._waiters:
            asyncio.get_running_loop().call_soon(self._begin_for_waiters)
        if event.new == "ERROR" and event.error is not None and event.error["code"] in _LOSSES:
            self._failed(event.error)
        self._changed()

    def _begin_for_waiters(self) -> None:
        """The former connection is gone: those who came meanwhile wait for a new one."""
        self._fail_waiters()  # of the attempt that was given up
        if any(not waiter.is_begun for waiter in self._waiters):
            try:
                self.start()
            except InspectorError as error:
                for waiter in self._waiters:
                    waiter.fail(error)

    def _fail_waiters(self) -> None:
        client = self.live.client
        error = None if client is None else client.last_error
        if not isinstance(error, InspectorError):
            error = InspectorError("NOT_CONNECTED", f"{self.live.server_id} is not connected")
        for waiter in self._waiters:
            if waiter.is_begun:
                waiter.fail(error)

    # -- a server that keeps failing -------------------------------------------------------------

    def _failed(self, error: dict[str, Any]) -> None:
        if _is_answer(error) or not self._may_pause():
            return
        is_paused_now = self.breaker.failed(self._clock.monotonic())
        if self.peers is not None:
            tell = self.peers.opened if is_paused_now else self.peers.failed
            tell(self.live.server_id, error)
        if is_paused_now:
            self._pause(error)

    def pause(self, error: dict[str, Any]) -> bool:
        """Pause the server, since replicas saw it fail too often; returns whether that is news."""
        is_news = self.breaker.open(self._clock.monotonic() + PAUSE_S)
        if is_news:
            self._pause(error)
            self._changed()
        return is_news

    def _pause(self, error: dict[str, Any]) -> None:
        self._paused_by = error
        self._arm_probe()
        # The retries of the connection itself must not disturb the pause.
        self._work.start(self.live.disconnect(Closing.KILL), f"pause {self.live.server_id}")

    def _arm_probe(self) -> None:
        until = self.breaker.paused_until
        assert until is not None
        if self._probe is not None:
            self._probe.cancel()
        self._probe = self._clock.call_at(until, self._try_again)

    def _try_again(self) -> None:
        self._probe = None
        if self.peers is None:
            self._start_probe()
        else:
            self._work.start(self._probe_in_turn(self.peers), f"probe {self.live.server_id}")

    async def _probe_in_turn(self, peers: BreakerPeers) -> None:
        """Of all replicas one probes; the others hear how that went."""
        if await peers.may_probe(self.live.server_id):
            self._start_probe()
        elif self.breaker.paused_until is not None:
            self.breaker.open(self._clock.monotonic() + PROBE_TURN_S)
            self._arm_probe()

    def _start_probe(self) -> None:
        with suppress(InspectorError):  # the entry can no longer be used; its state says so
            self.start()

    def _paused(self) -> InspectorError:
        state = self.state
        left_s = max(0.0, (state.retry_at or 0.0) - self._clock.wall())
        text = (
            f"{self.live.server_id} is paused for another {left_s:.3g} s, since its connection "
            f"failed {MOST_FAILURES} times within {WINDOW_S:g} s; the last time: {state.message}"
        )
        details = {"server_id": self.live.server_id, "retry_in_s": round(left_s, 3)}
        return InspectorError("NOT_CONNECTED", text, details=details)

    def stop_pausing(self) -> None:
        """Forget all failures: a person tries again, or the entry changed."""
        self.breaker.reset()
        self._paused_by = None
        if self._probe is not None:
            self._probe.cancel()
            self._probe = None

    async def close(self, closing: Closing = Closing.GRACEFUL) -> None:
        self.stop_pausing()
        await self._work.ended()
        await self.live.disconnect(closing)


def _is_answer(error: dict[str, Any]) -> bool:
    """Whether the server itself refused, so that it is there: it no longer knows the session."""
    status = error["details"].get("status")
    return isinstance(status, int) and status >= 400


def _may_have_been_seen(error: InspectorError, tag: CallTag) -> bool:
    """Whether the server may have begun to work on the last request of a call."""
    sent = tag.last_sent
    if sent is None or error.code in _NEVER_REACHED:
        return False
    request_id = sent.message.id if isinstance(sent.message, Frame) else None
    return error.details.get("refused_id") != request_id or request_id is None


def _not_repeated(error: InspectorError) -> InspectorError:
    """The same error, which says what that means for the caller."""
    twin = error.copy()
    twin.message += (
        "; the server may have carried it out, so it was not sent again: only calls of tools that "
        "are marked as read-only or idempotent are repeated"
    )
    twin.args = (twin.message,)
    return twin
