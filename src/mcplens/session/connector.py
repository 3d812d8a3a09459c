"""Connects, retries, notices loss, reconnects and disconnects; alone changes a connection's state.

An automatic reconnect never sends a call again: whatever was in flight when the connection was lost
has failed. Called by the client, and by the session when its transport is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import msgspec

from mcplens.background import Background
from mcplens.errors import CancelledRequest, InspectorError, TimeoutExpired, classify
from mcplens.events import EraDecided, ServerIntroduced, StateChanged
from mcplens.logs import get_logger
from mcplens.protocol.eras import era_of
from mcplens.protocol.lifecycle import ConnectionState, IllegalTransition, Transition
from mcplens.session.attempt_timer import AttemptTimer
from mcplens.session.attribution import TaskRequests
from mcplens.session.connection import Connection
from mcplens.session.connection_task import ConnectionTask
from mcplens.session.handshake import Introduction
from mcplens.session.heartbeat import Heartbeat
from mcplens.session.message_receiver import OnMessage
from mcplens.session.retry_policy import RetryPolicy, RetryWait
from mcplens.session.session import Session
from mcplens.session.session_opener import SessionOpener
from mcplens.session.unmatched_replies import quote_unfinished
from mcplens.transports.base import Closing, Transport
from mcplens.version import VERSION

_CLIENT_INFO: Final = {"name": "mcplens", "version": VERSION}

_log: Final = get_logger(__name__)


class Connector:
    """Drives one connection through its states."""

    def __init__(
        self,
        connection: Connection,
        make_transport: Callable[[], Transport],
        *,
        on_request: OnMessage,
        on_notification: OnMessage,
        tasks: TaskRequests,
        capabilities: Callable[[], dict[str, Any]],
        on_connected: Callable[[], None],
        on_ended: Callable[[InspectorError], None],
    ) -> None:
        self.make_transport = make_transport
        self._connection = connection
        self._retry_policy = RetryPolicy(
            connection.options.retry or connection.config.retry, connection.clock
        )
        self._opener = SessionOpener(connection, self._take, self._abandon)
        self._on_request = on_request
        self._on_notification = on_notification
        self._tasks = tasks
        self._capabilities = capabilities
        self._on_connected = on_connected
        self._on_ended = on_ended
        self._heartbeat = Heartbeat(connection)
        self._task = ConnectionTask()
        self._retry_wait = RetryWait(connection.clock)
        self._timer: AttemptTimer | None = None  # of the last attempt
        self._closings = Background()
        self._attempt_began = 0.0

    def __repr__(self) -> str:
        return f"<Connector of {self._connection!r}, {self._task!r}>"

    # -- commands ------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, with the retries that the configuration allows.

        Raises:
            InspectorError: it failed, was cancelled, or the state does not allow it.
        """
        self._move(Transition.CONNECT)
        await self._task.run(self._establish(), f"connect {self._connection!r}")

    async def reconnect(self) -> None:
        """Connect at once; a retry that is waited for is made without waiting any longer.

        Raises:
            InspectorError: it failed, was cancelled, or the state is neither ERROR nor
                DISCONNECTED.
        """
        if self._connection.state is ConnectionState.DISCONNECTED:
            await self.connect()
            return
        if self._connection.state is not ConnectionState.ERROR:
            self._move(Transition.RECONNECT)  # raises
        self._retry_wait.cut_short()
        await self._task.ended()
        if not self._connection.is_connected:
            raise self._connection.lifecycle.last_error or CancelledRequest("disconnected")

    def retry_now(self) -> None:
        """Do not wait any longer for the next retry, if one is waited for."""
        if self._connection.state is ConnectionState.ERROR:
            self._retry_wait.cut_short()

    async def disconnect(self, closing: Closing = Closing.GRACEFUL) -> None:
        """Disconnect from whatever state; safe to call at any time."""
        await self._task.cancel()
        await self._closings.ended()
        if self._connection.state in (ConnectionState.CONNECTING, ConnectionState.ERROR):
            # The task was cancelled before it began, so nothing has been cleaned up.
            await self._tear_down(CancelledRequest("disconnected"), closing, keep_queue=True)
            self._connecting_cancelled()
        elif self._connection.state is ConnectionState.CONNECTED:
            self._move(Transition.DISCONNECT)
            try:
                await self._tear_down(CancelledRequest("disconnected"), closing)
            finally:
                self._move(Transition.CLEANUP_COMPLETE)

    # -- attempts ------------------------------------------------------------------------------

    async def _establish(self) -> None:
        """From CONNECTING to CONNECTED, or to DISCONNECTED with the last error."""
        try:
            while True:
                error = await self._attempt()
                if error is None:
                    return
                timed_out = error.code == "CONNECTION_TIMEOUT"
                event = Transition.TIMEOUT if timed_out else Transition.TRANSPORT_ERROR
                delay_s = self._retry_policy.delay_s(error, self._connection.lifecycle.retry_count)
                self._move(event, error, retry_in_s=delay_s)
                if delay_s is None:
                    self._give_up(error)
                    raise error
                await self._retry_wait.wait(delay_s)
                self._move(Transition.RECONNECT)
        except asyncio.CancelledError:
            self._connecting_cancelled()
            raise

    def _give_up(self, error: InspectorError) -> None:
        attempts = self._connection.lifecycle.retry_count + 1
        if attempts > 1:
            error.with_details(attempts=attempts)
        self._connection.queue.clear_pending(error)
        self._connection.queue.release()
        self._move(Transition.GIVE_UP)

    def _connecting_cancelled(self) -> None:
        self._connection.queue.clear_pending(CancelledRequest("connecting was cancelled"))
        self._connection.queue.release()
        if self._connection.state is ConnectionState.CONNECTING:
            self._move(Transition.CANCEL)
            self._move(Transition.CLEANUP_COMPLETE)
        elif self._connection.state is ConnectionState.ERROR:
            self._move(Transition.GIVE_UP)

    async def _attempt(self) -> InspectorError | None:
        """One attempt; its error, if it failed."""
        timeout_s = self._connection.config.connection_timeout_s
        self._connection.step = "opening the transport"
        self._attempt_began = self._connection.clock.monotonic()
        try:
            self._timer = AttemptTimer(self._connection.clock, timeout_s)
            await self._timer.run(self._open())
        except TimeoutError:
            message = f"not connected within {timeout_s:g} s, while {self._connection.step}"
            if self._connection.session is not None:
                transport = self._connection.session.transport
                message += f"; {transport.lack}" if transport.lack else ""
                message += quote_unfinished(transport.unfinished())
            return await self._failed(TimeoutExpired("CONNECTION_TIMEOUT", message))
        except InspectorError as error:
            return await self._failed(error)
        except asyncio.CancelledError:
            await self._failed(CancelledRequest("connecting was cancelled"))
            raise
        except Exception as problem:  # a bug of ours or a library's must not look like a hang
            return await self._failed(classify(problem, self._connection.step))
        return None

    async def _failed(self, error: InspectorError) -> InspectorError:
        """Clean up after an attempt; the error gets what the transport knows."""
        session = self._connection.session
        if session is not None:
            error.with_details(**session.transport.describe())
            if session.transport.stray_lines:
                error.retryable = False  # it would print them again
        self._connection.describe(error).with_details(step=self._connection.step)
        elapsed_s = self._connection.clock.monotonic() - self._attempt_began
        error.with_details(elapsed_s=round(elapsed_s, 3))
        await self._abandon(error)
        return error

    async def _open(self) -> None:
        self._connected(await self._opener.open(self.make_transport()))

    def _person_signs_in(self, is_waiting: bool) -> None:
        """Neither the attempt to connect nor a request times out while a person signs in."""
        session = self._connection.session
        if session is not None:
            session.in_flight.stand_still(is_waiting)
        if self._timer is None:
            return
        if is_waiting:
            self._connection.step = "waiting for a sign-in"
            self._timer.stand_still()
        else:
            self._connection.step = "waiting for the handshake"
            self._timer.go_on()

    def _take(self, transport: Transport) -> Session:
        if transport.authorizer is not None:
            transport.authorizer.on_person = self._person_signs_in
        session = self._connection.session = Session(
            transport,
            correlation=self._connection.correlation,
            publish=self._connection.publish,
            clock=self._connection.clock,
            config=self._connection.config,
            names=self._connection.names,
            client_info=self._connection.options.client_info or _CLIENT_INFO,
            client_capabilities=self._capabilities(),
            on_lost=self._lost,
            on_expired=self._expired,
            on_request=self._on_request,
            on_notification=self._on_notification,
            tasks=self._tasks,
        )
        return session

    async def _abandon(self, error: InspectorError) -> None:
        """Take down what did not come about; what waits in the queue waits on."""
        await self._tear_down(error, Closing.KILL, keep_queue=True)

    def _connected(self, introduction: Introduction) -> None:
        self._connection.introduction = introduction
        version = introduction.version
        self._connection.publish(
            EraDecided(
                era=era_of(version).value, protocol_version=version, reason=introduction.reason
            )
        )
        self._connection.publish(
            ServerIntroduced(
                protocol_version=version,
                server_info=introduction.server_info,
                capabilities=introduction.capabilities,
                instructions=introduction.instructions,
            )
        )
        self._retry_policy.connected()
        self._move(Transition.HANDSHAKE_COMPLETE)
        self._heartbeat.start()
        self._on_connected()
        self._connection.queue.release()

    # -- loss ----------------------------------------------------------------------------------

    def _lost(self, error: InspectorError) -> None:
        """The transport is gone, unasked."""
        session = self._connection.session
        if session is not None:
            error.with_details(**session.transport.describe())
        if self._connection.state is not ConnectionState.CONNECTED:
            if session is not None:
                session.fail_all(error)  # the handshake that waits takes it from here
            return
        retries = self._connection.lifecycle.retry_count
        spent = self._retry_policy.spent_retries_after_loss(retries)
        self._connection.lifecycle = msgspec.structs.replace(
            self._connection.lifecycle, retry_count=spent
        )
        delay_s = self._retry_policy.delay_s(error, self._connection.lifecycle.retry_count)
        self._move(Transition.CONNECTION_LOST, error, retry_in_s=delay_s)
        self._heartbeat.stop()
        if session is not None:
            self._fail_everything(session, error)
        self._on_ended(error)
        self._task.start(self._recover(error, delay_s), f"reconnect {self._connection!r}")

    def _expired(self, error: InspectorError) -> None:
        """The server forgot our HTTP session: open a new one at once, whatever the retries."""
        if self._connection.state is not ConnectionState.CONNECTED:
            if self._connection.session is not None:
                self._connection.session.fail_all(error)  # as above
            return
        if not self._retry_policy.may_reopen():
            self._lost(error)
            return
        self._move(Transition.CONNECTION_LOST, error, retry_in_s=0.0)
        self._heartbeat.stop()
        self._connection.queue.hold()
        if self._connection.session is not None:
            self._connection.session.fail_all(error)
        self._on_ended(error)
        self._task.start(self._recover(error, 0.0), f"reconnect {self._connection!r}")

    async def _recover(self, error: InspectorError, delay_s: float | None) -> None:
        await self._abandon(error)
        if delay_s is None:
            self._give_up(error)
            self._on_ended(error)
            return
        try:
            if delay_s:
                await self._retry_wait.wait(delay_s)
            self._move(Transition.RECONNECT)
        except asyncio.CancelledError:
            self._connecting_cancelled()
            raise
        try:
            await self._establish()
        except InspectorError as failure:
            self._on_ended(failure)

    async def _tear_down(
        self, error: InspectorError, closing: Closing, *, keep_queue: bool = False
    ) -> None:
        self._heartbeat.stop()
        session, self._connection.session = self._connection.session, None
        if session is None:
            return
        if keep_queue:
            session.fail_all(error)
        else:
            self._fail_everything(session, error)
            self._on_ended(error)
        session.transport.closing = closing
        # Even if the caller is cancelled meanwhile, the transport is closed completely.
        work = session.transport.__aexit__(None, None, None)
        try:
            await asyncio.shield(self._closings.start(work, f"close {session!r}"))
        except Exception as problem:  # a bug there must not leave us in a state without an end
            self._connection.remark(classify(problem, "closing the transport").message)

    def _fail_everything(self, session: Session, error: InspectorError) -> None:
        """Reject what runs and what waits; nothing that waits may start meanwhile."""
        self._connection.queue.hold()
        session.fail_all(error)
        self._connection.queue.clear_pending(error)
        self._connection.queue.release()

    # -- the one place that moves ------------------------------------------------------------------

    def _move(
        self,
        event: Transition,
        error: InspectorError | None = None,
        *,
        retry_in_s: float | None = None,
    ) -> None:
        old = self._connection.lifecycle
        try:
            self._connection.lifecycle = old.apply(event, error)
        except IllegalTransition as problem:
            error = InspectorError(
                "ILLEGAL_TRANSITION",
                f"{self._connection.publish.server_id}: {problem}",
                details={"from": problem.state.value, "to": problem.target.value},
            )
            raise self._connection.describe(error) from None
        self._log_move(old.state, event, error, retry_in_s)
        moved = StateChanged(
            old=old.state.value,
            new=self._connection.lifecycle.state.value,
            transition=event.value,
            retry_count=self._connection.lifecycle.retry_count,
            max_retries=self._retry_policy.max_retries,
            retry_in_s=retry_in_s,
            error=error.to_dict() if error is not None else None,
        )
        self._connection.publish(moved)
        if self._connection.on_moved is not None:
            self._connection.on_moved(moved)

    def _log_move(
        self,
        old: ConnectionState,
        event: Transition,
        error: InspectorError | None,
        retry_in_s: float | None,
    ) -> None:
        connection = self._connection
        new = connection.lifecycle
        _log.debug(
            "%s: %s -> %s (%s)", connection.server_id, old.value, new.state.value, event.value
        )
        if error is None:
            return
        # Its message may quote what the server sent: the code says enough here.
        if event is Transition.CONNECTION_LOST:
            _log.warning("%s: connection lost: %s", connection.server_id, error.code)
        else:
            _log.debug("%s: attempt to connect failed: %s", connection.server_id, error.code)
        if retry_in_s is not None:
            number, limit = new.retry_count + 1, self._retry_policy.max_retries
            name = connection.server_id
            _log.debug("%s: retry %d of %d in %g s", name, number, limit, retry_in_s)
