"""Calls of tools that need no task: sent when they come, answered when the server answers.

So it is with most calls: the tool is known, its server is connected and speaks the client's
revision. A task would cost as much again as all the rest. Whatever is not so plain (a server that
is not there, an error, a call that may become a task) is handler.py's, which serves it by a task;
a call that fails here goes on there. Owned by handler.py.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.downstream.options import StartedRequest
from mcplens.downstream.server_connection import ServerConnection
from mcplens.gateway.inbound_call import MAX_NAME, InboundCall, is_stateless_server
from mcplens.gateway.orderly_end import Stage
from mcplens.gateway.tasks import TaskRequests, may_become_task
from mcplens.gateway.wire import result_message
from mcplens.protocol.frames import ABSENT, Frame
from mcplens.session.call_hooks import OnNotification, OnQuestion
from mcplens.session.queue import QueueEntry
from mcplens.session.raw_calls import read_params

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

_read_text: Final = msgspec.json.Decoder(str).decode

# The server of a tool, and its name there; None if it is not known yet.
FindTool = Callable[[str], tuple[ServerConnection, str] | None]
# Serves a call by a task, which gets its result from this.
ServeByTask = Callable[[InboundCall, Callable[[], Awaitable[bytes]]], None]


class PlainCalls:
    """Sends plain calls of tools."""

    def __init__(
        self,
        gateway: Gateway,
        tasks: TaskRequests,
        find_tool: FindTool,
        serve_by_task: ServeByTask,
    ) -> None:
        self.tasks = tasks
        self.serve_by_task = serve_by_task
        self._gateway = gateway
        self._find_tool = find_tool

    def __repr__(self) -> str:
        return f"<PlainCalls of {self._gateway!r}>"

    def send(self, call: InboundCall) -> bool:
        """Send a call, if it is a plain one; False leaves it to a task."""
        gateway = self._gateway
        is_introduced = call.is_stateless or call.client.peer.protocol_version is not None
        if gateway.ending.stage is Stage.DRAINING or not is_introduced:
            return False
        try:
            params = read_params(call.body)
            name = _read_text(params.get("name", b""))
        except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
            return False
        try:
            found = self._find_tool(name)
            if found is None:
                return False
            connection, params["name"] = found
            if not _is_plain(call, connection, params):
                return False
            call.name = name[:MAX_NAME]
            limits = gateway.call_limits
            if limits.shared is not None:
                return False  # a task asks the store
            limits.admit(call)
            if not limits.take_place(call, connection):
                return False  # a task waits for a place
            call.server_id = connection.server_id
            if call.is_stateless:
                call.add_envelope(params)
            if call.trace is not None:
                params = call.trace.passed_on(connection, call.method, params)
            sent = SentCall(self, call, connection, params)
            sent.send()
        except Exception as error:  # refused, not sent, or a bug of ours: the task tells
            self.fail(call, error)
        return True

    def fail(self, call: InboundCall, error: Exception) -> None:
        """Have a task tell what went wrong; it counts the call as ended."""
        call.sent = None
        self.serve_by_task(call, partial(_raise, error))


class SentCall:
    """A call that was sent, until it is answered: the hooks of its request."""

    __slots__ = ("_calls", "_connection", "_params", "call", "started")

    def __init__(
        self,
        calls: PlainCalls,
        call: InboundCall,
        connection: ServerConnection,
        params: dict[str, Any],
    ) -> None:
        self.call = call
        self.started: StartedRequest | None = None
        self._calls = calls
        self._connection = connection
        self._params = params

    @property
    def on_question(self) -> OnQuestion:
        return self.call.on_question

    @property
    def on_notification(self) -> OnNotification:
        return self.call.on_notification

    def send(self) -> None:
        """Raises InspectorError if it cannot be sent."""
        call = self.call
        call.sent = self
        self.started = self._connection.request_now(
            call.method,
            self._params,
            self,
            inbound_seq=call.seq,
            wants_progress=call.hop.progress_token is not ABSENT,
            headers=call.passed_headers(),
        )
        if self.started is None:  # the server is not connected
            self._go_on()
        elif self.started.entry.is_settled:  # it could not be sent
            self.on_answered(self.started.entry)

    def on_answered(self, entry: QueueEntry) -> None:
        call, frame = self.call, entry.result
        if entry.error is not None or not isinstance(frame, Frame):
            self._go_on()
            return
        call.sent = None
        call.answered_id = frame.id
        if call.trace is not None:
            call.trace.answered(call, bytes(frame.body))
        try:
            data = result_message(call.id, frame.body)
            call.client.calls.pop(call.id, None)
            call.client.peer.answer(call.id, data)
        except Exception as problem:  # a bug of ours: only this request fails
            self._calls.fail(call, problem)
            return
        call.gateway.ledger.ended(call, "ok", len(data))

    def _go_on(self) -> None:
        """Have a task do the rest: tell what went wrong, or send it again."""
        call = self.call
        call.sent = None
        call.started = self.started
        work = partial(self._calls.tasks.finish, call, self._connection, self._params)
        self._calls.serve_by_task(call, work)

    def cancel(self) -> None:
        """The client does not want the answer any more."""
        call = self.call
        call.sent = None
        if self.started is not None:
            self.started.cancel()
        call.client.calls.pop(call.id, None)
        try:
            call.client.peer.drop(call.id)
        finally:
            call.gateway.ledger.ended(call, "cancelled", 0)


def _is_plain(call: InboundCall, connection: ServerConnection, params: dict[str, Any]) -> bool:
    """Whether a call passes as it is, in a session that is there for all clients."""
    return (
        connection.mode == "persistent"
        and not connection.entry.is_per_user
        and connection.introduction is not None  # else its revision is not known yet
        and is_stateless_server(connection) is call.is_stateless
        and not may_become_task(call, params)
    )


async def _raise(error: Exception) -> bytes:
    raise error
