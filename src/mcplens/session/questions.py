"""Answers what the server asks of us, by the handlers that were given; ping at once, by itself.

While a handler works, the clocks of the request that caused the question stand still, or, where
that is unknown, of all requests in flight.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.errors import ServerError
from mcplens.events import (
    Remark,
    RequestPaused,
    RequestResumed,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.eras import Era
from mcplens.protocol.frames import Frame, RequestId

if TYPE_CHECKING:
    from mcplens.session.connection import Connection
    from mcplens.session.queue import QueueEntry
    from mcplens.session.session import Session

METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
# Questions that may wait at once; a server that asks more is refused.
MOST_QUESTIONS: Final = 1_000

# The client capability that answering a method means.
_CAPABILITY_OF: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "sampling/createMessage": ("sampling", {}),
    "elicitation/create": ("elicitation", {"form": {}}),
    "roots/list": ("roots", {}),
}


class ServerRequest(msgspec.Struct, frozen=True):
    """A question of the server's, as a handler gets it."""

    id: RequestId
    method: str
    params: Any
    raw: bytes
    caused_by: RequestId | None = None


RequestHandler = Callable[[ServerRequest], Any | Awaitable[Any]]


class Questions:
    """What the server asked and has no answer to yet."""

    def __init__(self, connection: Callable[[], Connection]) -> None:
        self._connection = connection
        self._handlers: dict[str, RequestHandler] = {}
        self._open: dict[RequestId, asyncio.Task[None]] = {}

    def __repr__(self) -> str:
        return f"<Questions {len(self._open)} open>"

    def set_handler(self, method: str, handler: RequestHandler | None) -> None:
        if handler is None:
            self._handlers.pop(method, None)
        else:
            self._handlers[method] = handler

    def capabilities(self) -> dict[str, Any]:
        """The capabilities that the handlers amount to."""
        return {
            name: value
            for method, (name, value) in _CAPABILITY_OF.items()
            if method in self._handlers
        }

    def received(self, frame: Frame, channel: RequestId | None) -> None:
        """A request came from the server."""
        connection = self._connection()
        session = connection.session
        if session is None or frame.id is None:
            return
        if session.era is Era.STATELESS and session.version:
            text = f"the server sent a request ({frame.method}); {session.version} allows none"
            connection.publish(Remark, text)
            return
        if frame.method == "ping":
            session.answer(frame.id, {})
            return
        try:
            params = frame.value()
        except ValueError as problem:
            session.refuse(frame.id, INVALID_PARAMS, f"params cannot be read: {problem}")
            return
        connection.publish(ServerRequestReceived, frame.id, frame.method, params, channel)
        handler = self._handlers.get(frame.method)
        if handler is None:
            session.refuse(frame.id, METHOD_NOT_FOUND, f"{frame.method} is not supported")
            self._ended(frame.id, frame.method, "refused: no handler")
        elif frame.id in self._open or len(self._open) >= MOST_QUESTIONS:
            why = "its id is in use" if frame.id in self._open else "too many questions wait"
            session.refuse(frame.id, INTERNAL_ERROR, f"refused: {why}")
            self._ended(frame.id, frame.method, f"refused: {why}")
        else:
            request = ServerRequest(frame.id, frame.method, params, frame.raw, channel)
            work = self._answer(session, handler, request)
            task = asyncio.get_running_loop().create_task(work, name=f"answer {frame.method}")
            self._open[frame.id] = task
            task.add_done_callback(lambda done: self._forget(done, request))

    def _forget(self, task: asyncio.Task[None], request: ServerRequest) -> None:
        """A question that was withdrawn before work on it began ends here."""
        if self._open.get(request.id) is task:
            del self._open[request.id]
            self._ended(request.id, request.method, "withdrawn")

    def withdrawn(self, request_id: RequestId) -> None:
        """The server cancelled a question: stop work on it and do not answer."""
        task = self._open.get(request_id)
        if task is not None:
            task.cancel()

    async def end_all(self) -> None:
        """The connection is over: nothing is left waiting."""
        tasks = list(self._open.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def drop_all(self) -> None:
        for task in self._open.values():
            task.cancel()

    async def _answer(
        self, session: Session, handler: RequestHandler, request: ServerRequest
    ) -> None:
        paused = self._pause(session, request)
        outcome = "withdrawn"
        try:
            result = handler(request)
            if inspect.isawaitable(result):
                result = await result
            session.answer(request.id, {} if result is None else result)
            outcome = "answered"
        except ServerError as refusal:
            session.refuse(request.id, refusal.rpc_code, refusal.rpc_message, refusal.data)
            outcome = f"refused: {refusal.rpc_message}"
        except Exception as problem:  # a handler is foreign code: the server gets told
            text = f"{type(problem).__name__}: {problem}"
            session.refuse(request.id, INTERNAL_ERROR, f"the client's handler failed: {text}")
            outcome = f"failed: {text}"
        finally:
            self._open.pop(request.id, None)
            self._resume(session, request, paused)
            self._ended(request.id, request.method, outcome)

    def _pause(self, session: Session, request: ServerRequest) -> list[QueueEntry]:
        connection = self._connection()
        entries = session.calls()
        if request.caused_by is not None:
            entries = [entry for entry in entries if entry.id == request.caused_by] or entries
        now = connection.clock.monotonic()
        for entry in entries:
            entry.caused_questions += 1
            if entry.deadline is not None:
                entry.deadline.pause(now)
        if entries:
            connection.publish(RequestPaused, [entry.id for entry in entries], request.id)
        return entries

    def _resume(self, session: Session, request: ServerRequest, paused: list[QueueEntry]) -> None:
        connection = self._connection()
        now = connection.clock.monotonic()
        for entry in paused:
            entry.caused_questions -= 1
            if entry.deadline is not None:
                entry.deadline.resume(now)
                if not session.is_lost:
                    session.look_again(entry)
        if paused:
            connection.publish(RequestResumed, [entry.id for entry in paused], request.id)

    def _ended(self, request_id: RequestId, method: str, outcome: str) -> None:
        self._connection().publish(ServerRequestEnded, request_id, method, outcome)
