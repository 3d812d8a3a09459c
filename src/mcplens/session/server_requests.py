"""Dispatches requests of the server to their handlers, and answers ping itself.

A handler that the user set comes first; then the client's own for sampling, elicitation and roots,
if the capability was declared to the server: what is declared is what is handled.

While a handler works, the clocks of the request that caused the question stand still, or, where
that is unknown, of all requests in flight.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

from mcplens.background import Background
from mcplens.errors import CancelledRequest, ServerError
from mcplens.events import (
    Remark,
    RequestPaused,
    RequestResumed,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.frames import Frame, RequestId
from mcplens.protocol.tasks import related_task_of
from mcplens.session.attribution import Received
from mcplens.session.call_hooks import OnQuestion
from mcplens.session.capabilities import declares_tasks
from mcplens.session.connection import Connection
from mcplens.session.question_handler import (
    CALL_CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REJECTED,
    RequestHandler,
    ServerRequest,
)
from mcplens.session.queue import QueueEntry
from mcplens.session.receiver_tasks import ReceiverTasks
from mcplens.session.session import Session

METHOD_NOT_FOUND: Final = -32601
# Questions that may wait at once; a server that asks more is refused.
MAX_QUESTIONS: Final = 1_000
# Ids of questions that are remembered, answered ones included.
_MAX_SEEN: Final = 100

# The client capability that answering a method means.
CAPABILITY_OF: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}


class ServerRequests:
    """What the server asked and has no answer to yet."""

    def __init__(
        self,
        connection: Connection,
        own_handlers: Mapping[str, RequestHandler],
        tasks: ReceiverTasks,
    ) -> None:
        self._connection = connection
        self._own_handlers = own_handlers
        self._tasks = tasks
        self._handlers: dict[str, RequestHandler | None] = {}
        self._open: dict[RequestId, asyncio.Task[None]] = {}
        self._seen: OrderedDict[RequestId, None] = OrderedDict()  # ids that the server used
        self._of_users: dict[RequestId, str | None] = {}  # calls of questions to users' handlers
        self._called_off: set[RequestId] = set()
        self._asked = Background()

    def __repr__(self) -> str:
        return f"<ServerRequests {len(self._open)} open>"

    def set_handler(self, method: str, handler: RequestHandler | None) -> None:
        self._handlers[method] = handler

    def capabilities(self) -> set[str]:
        """The capabilities that the handlers of the user's own amount to."""
        return {
            CAPABILITY_OF[method]
            for method, handler in self._handlers.items()
            if handler is not None and method in CAPABILITY_OF
        }

    def _handler_of(self, method: str) -> RequestHandler | None:
        if method in self._handlers:
            return self._handlers[method]  # None: it was taken away
        declared = self._connection.declared_capabilities
        if method.startswith("tasks/"):
            offered = declares_tasks(declared, method)
            return self._tasks.handlers().get(method) if offered else None
        return self._own_handlers.get(method) if CAPABILITY_OF.get(method) in declared else None

    def _handler_for(self, method: str, call_id: str | None) -> RequestHandler | None:
        """The handler, after the hook of the call that caused the question, if it has one."""
        handler = self._handler_of(method)
        hook = self._hook_of(call_id)
        if handler is None or hook is None or method not in CAPABILITY_OF:
            return handler

        async def hook_first(request: ServerRequest) -> Any:
            answer = await hook(request)
            return await _handled(handler, request) if answer is None else answer

        return hook_first

    def _hook_of(self, call_id: str | None) -> OnQuestion | None:
        hooks = None if call_id is None else self._connection.call_hooks.get(call_id)
        return None if hooks is None else hooks.on_question

    def received(self, frame: Frame, received: Received) -> None:
        """A request came from the server."""
        connection = self._connection
        session = connection.session
        if session is None or frame.id is None:
            return
        if session.is_stateless:
            text = f"the server sent a request ({frame.method}); {session.version} allows none"
            connection.publish(Remark(message=text))
            return
        if frame.method == "ping":
            session.sender.answer(frame.id, {})
            return
        try:
            params = frame.value()
        except ValueError as problem:
            session.sender.refuse(frame.id, INVALID_PARAMS, f"params cannot be read: {problem}")
            return
        self._remember(frame.id)
        link = received.link
        connection.publish(
            ServerRequestReceived(
                request_id=frame.id,
                method=frame.method,
                params=params,
                request_seq=received.seq,
                caused_by_seq=link.request_seq,
                is_inferred=link.is_inferred,
                call_id=link.call_id,
            )
        )
        handler = self._handler_for(frame.method, link.call_id)
        if handler is None:
            session.sender.refuse(frame.id, METHOD_NOT_FOUND, f"{frame.method} is not supported")
            self._ended(frame.id, frame.method, "refused: no handler", received.seq)
        elif frame.id in self._open or len(self._open) >= MAX_QUESTIONS:
            why = "its id is in use" if frame.id in self._open else "too many questions wait"
            session.sender.refuse(frame.id, INTERNAL_ERROR, f"refused: {why}")
            self._ended(frame.id, frame.method, f"refused: {why}", received.seq)
        else:
            request = ServerRequest(
                frame.id,
                frame.method,
                params,
                frame.raw,
                link.request_id,
                task_id=related_task_of(params),
                request_seq=received.seq,
                caused_by_seq=link.request_seq,
                is_inferred=link.is_inferred,
                call_id=link.call_id,
            )
            if _is_task(params) and self._keeps_tasks_for(frame.method):
                handler = self._as_task
            work = self._answer(session, handler, request)
            task = asyncio.get_running_loop().create_task(work, name=f"answer {frame.method}")
            self._open[frame.id] = task
            task.add_done_callback(lambda done: self._forget(done, request))

    def _remember(self, request_id: RequestId) -> None:
        self._seen[request_id] = None
        if len(self._seen) > _MAX_SEEN:
            self._seen.popitem(last=False)

    def _forget(self, task: asyncio.Task[None], request: ServerRequest) -> None:
        """A question that was withdrawn before work on it began ends here."""
        if self._open.get(request.id) is task:
            del self._open[request.id]
            self._ended(request.id, request.method, "withdrawn", request.request_seq)

    def _keeps_tasks_for(self, method: str) -> bool:
        """It was declared, and no handler of the user's own does it."""
        declared = self._connection.declared_capabilities
        return "tasks/get" not in self._handlers and declares_tasks(declared, method)

    def _as_task(self, request: ServerRequest) -> Any:
        return self._tasks.start(request, self.ask)

    async def ask(self, request: ServerRequest) -> Any:
        """Have a question answered that did not come as a request of its own.

        Raises:
            ServerError: there is no handler for such questions, or it refused.
            CancelledRequest: the connection ended meanwhile.
        """
        handler = self._handler_for(request.method, request.call_id)
        if request.origin == "app":  # its host answers, whatever was declared to the server
            handler = self._own_handlers.get(request.method)
        if handler is None:
            raise ServerError(METHOD_NOT_FOUND, f"{request.method} is not supported")
        session = self._connection.session
        # The request that a task of ours belongs to is in flight; one that wants input is not.
        paused = self._pause(session, request) if session and request.origin == "task" else []
        limits = self._connection.limits.pause(request.call_id)
        try:
            return await self._asked.start(_handled(handler, request), f"answer {request.method}")
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            text = f"the connection ended while {request.method} was being answered"
            raise CancelledRequest(text) from None
        finally:
            self._connection.limits.resume(limits)
            if session is not None:
                self._resume(session, request, paused)

    def withdrawn(self, request_id: RequestId) -> bool:
        """The server cancelled a question: stop work on it and do not answer.

        False if the server never asked anything by this id; both sides may use the same ids.
        """
        task = self._open.get(request_id)
        if task is not None:
            task.cancel()
        return request_id in self._seen

    def call_off(self, call_id: str) -> None:
        """Cancel questions of a cancelled call that handlers of the user's own are answering."""
        for request_id, caused_by in self._of_users.items():
            task = self._open.get(request_id)
            if caused_by == call_id and task is not None:
                self._called_off.add(request_id)
                task.cancel()

    async def end_all(self) -> None:
        """The connection is over: nothing is left waiting."""
        tasks = list(self._open.values())
        self.drop_all()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._asked.ended()

    def drop_all(self) -> None:
        for task in self._open.values():
            task.cancel()
        self._asked.cancel()
        self._seen.clear()

    async def _answer(
        self, session: Session, handler: RequestHandler, request: ServerRequest
    ) -> None:
        paused = self._pause(session, request)
        limits = self._connection.limits.pause(request.call_id)
        if request.method in self._handlers or self._hook_of(request.call_id) is not None:
            self._of_users[request.id] = request.call_id
        outcome = "withdrawn"
        try:
            result = await _handled(handler, request)
            session.sender.answer(request.id, {} if result is None else result)
            outcome = "answered"
        except ServerError as refusal:
            session.sender.refuse(request.id, refusal.rpc_code, refusal.rpc_message, refusal.data)
            outcome = f"refused: {refusal.rpc_message}"
        except Exception as problem:  # a handler is foreign code: the server gets told
            text = f"{type(problem).__name__}: {problem}"
            session.sender.refuse(
                request.id, INTERNAL_ERROR, f"the client's handler failed: {text}"
            )
            outcome = f"failed: {text}"
        except asyncio.CancelledError:
            if request.id not in self._called_off:
                raise
            outcome = "call cancelled"
            if request.method == "elicitation/create":
                session.sender.answer(request.id, {"action": "cancel"})
            else:
                session.sender.refuse(request.id, REJECTED, CALL_CANCELLED)
        finally:
            self._open.pop(request.id, None)
            self._of_users.pop(request.id, None)
            self._called_off.discard(request.id)
            self._connection.limits.resume(limits)
            self._resume(session, request, paused)
            self._ended(request.id, request.method, outcome, request.request_seq)

    def _pause(self, session: Session, request: ServerRequest) -> list[QueueEntry]:
        connection = self._connection
        entries = session.in_flight.calls()
        if request.caused_by is not None:
            entries = [entry for entry in entries if entry.id == request.caused_by] or entries
        now = connection.clock.monotonic()
        for entry in entries:
            entry.caused_questions += 1
            if entry.deadline is not None:
                entry.deadline.pause(now)
        if entries:
            connection.publish(
                RequestPaused(
                    request_ids=[entry.id for entry in entries],
                    question_id=request.id,
                    request_seqs=[entry.sent.seq for entry in entries if entry.sent is not None],
                    question_seq=request.request_seq,
                    call_ids=_call_ids(entries),
                )
            )
        return entries

    def _resume(self, session: Session, request: ServerRequest, paused: list[QueueEntry]) -> None:
        connection = self._connection
        now = connection.clock.monotonic()
        for entry in paused:
            entry.caused_questions -= 1
            if entry.deadline is not None:
                entry.deadline.resume(now)
                if not session.is_lost:
                    session.in_flight.deadline_changed(entry)
        if paused:
            connection.publish(
                RequestResumed(
                    request_ids=[entry.id for entry in paused],
                    question_id=request.id,
                    request_seqs=[entry.sent.seq for entry in paused if entry.sent is not None],
                    question_seq=request.request_seq,
                    call_ids=_call_ids(paused),
                )
            )

    def _ended(
        self, request_id: RequestId, method: str, outcome: str, request_seq: int | None
    ) -> None:
        self._connection.publish(
            ServerRequestEnded(
                request_id=request_id, method=method, outcome=outcome, request_seq=request_seq
            )
        )


def _call_ids(entries: list[QueueEntry]) -> list[str]:
    return [entry.tag.call_id for entry in entries if entry.tag.call_id is not None]


async def _handled(handler: RequestHandler, request: ServerRequest) -> Any:
    result = handler(request)
    return await result if inspect.isawaitable(result) else result


def _is_task(params: Any) -> bool:
    """The server wants to poll us for the answer; ignored unless we declared that."""
    return isinstance(params, dict) and params.get("task") is not None
