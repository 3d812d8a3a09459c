"""Tasks that we hold for the server: it asks with `task`, gets a task at once, and polls us.

Owns the records, their time to live, and the answers to tasks/list, get, result and cancel. Who
answers the question itself is the business of server_requests.py, which calls `start`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from mcplens.background import Background
from mcplens.clock import Timer
from mcplens.errors import CancelledRequest, InspectorError, ServerError, classify
from mcplens.events import ReceiverTaskChanged, Remark
from mcplens.protocol.tasks import (
    LONGEST_MS,
    IllegalTaskMove,
    Task,
    can_move,
    is_milliseconds,
    iso_time,
    moved,
    to_wire,
    with_related_task,
)
from mcplens.session.connection import Connection
from mcplens.session.question_handler import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REJECTED,
    RequestHandler,
    ServerRequest,
)

DEFAULT_TTL_S: Final = 60.0
# A day: a person answers within a working day, and forgotten tasks are gone by the next.
LONGEST_TTL_S: Final = 86_400.0
# At the default TTL, some 160 tasks a second; a server that wants more is refused.
MAX_TASKS: Final = 10_000
# Tasks in one answer to tasks/list.
PAGE_SIZE: Final = 100

_AWAITING: Final = "Awaiting user input"
_NOT_ACCEPTED: Final = {
    "decline": "the user declined to answer",
    "cancel": "the user dismissed the question",
}

Ask = Callable[[ServerRequest], Awaitable[Any]]


class ReceiverTaskRecord:
    """One task, and what its question was answered with."""

    def __init__(self, task: Task, method: str, number: int) -> None:
        self.task = task
        self.method = method
        self.number = number  # where it stands in the list
        self.request_seq: int | None = None  # the frame that carried the question
        self.call_id: str | None = None
        self.cleanup_timer: Timer | None = None
        self.work: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._result: Any = None
        self._error: InspectorError | None = None

    def __repr__(self) -> str:
        return f"<ReceiverTaskRecord {self.task.task_id[:6]}… {self.method} {self.task.status}>"

    @property
    def is_settled(self) -> bool:
        return self._settled.is_set()

    def resolve_payload(self, payload: Any) -> None:
        """The question was answered; what comes first counts."""
        if not self.is_settled:
            self._result = payload
            self._settled.set()

    def reject_payload(self, error: InspectorError) -> None:
        """The question gets no answer; what comes first counts."""
        if not self.is_settled:
            self._error = error
            self._settled.set()

    async def payload(self) -> Any:
        """The answer, once there is one.

        Raises:
            InspectorError: what it was rejected with.
        """
        await self._settled.wait()
        if self._error is not None:
            raise self._error.copy()  # each waiter gets its own traceback
        return self._result


class ReceiverTasks:
    """The tasks of one connection; each is dropped when its time is up, whatever its status."""

    def __init__(
        self,
        connection: Connection,
        *,
        ttl_s: float | Callable[[], float] = DEFAULT_TTL_S,
        longest_ttl_s: float | None = LONGEST_TTL_S,
        most_tasks: int = MAX_TASKS,
        completes_on_decline: bool = False,
    ) -> None:
        self._connection = connection
        self._ttl_s = ttl_s
        self._longest_ttl_s = longest_ttl_s
        self._most_tasks = most_tasks
        self.completes_on_decline = completes_on_decline
        self._records: dict[str, ReceiverTaskRecord] = {}
        self._works = Background()
        self._last_number = 0
        self._cursor_prefix = os.urandom(6).hex() + "."  # distinguishes our cursors from guesses

    def __repr__(self) -> str:
        waiting = sum(not record.task.is_terminal for record in self._records.values())
        return f"<ReceiverTasks {len(self._records)} kept, {waiting} waiting>"

    # -- a question that came with `task` --------------------------------------------------------

    def start(self, request: ServerRequest, ask: Ask) -> dict[str, Any]:
        """Take a question as a task: the answer for now; `ask` gets the real one meanwhile.

        Raises:
            ServerError: `task` is not what it must be, or there are too many.
        """
        wish = request.params.get("task") if isinstance(request.params, Mapping) else None
        if not isinstance(wish, Mapping):
            raise ServerError(INVALID_PARAMS, "task must be an object")
        record = self.create_receiver_task(
            ttl=wish.get("ttl", UNSET),
            initial_status="input_required",
            status_message=_AWAITING,
            method=request.method,
            request=request,
        )
        task = record.task
        expires_in_s = None if task.ttl is None else task.ttl / 1000
        asked = msgspec.structs.replace(
            request, origin="task", task_id=task.task_id, expires_in_s=expires_in_s
        )
        work = self._works.start(self._run(record, asked, ask), f"task for {request.method}")
        record.work = work
        work.add_done_callback(lambda _: self._work_ended(record))
        return {"task": to_wire(task)}

    async def _run(self, record: ReceiverTaskRecord, request: ServerRequest, ask: Ask) -> None:
        try:
            result = await ask(request)
        except ServerError as refusal:
            self._fail(record, refusal)
        except Exception as problem:  # a handler is foreign code: the server gets told
            text = f"the client's handler failed: {type(problem).__name__}: {problem}"
            self._fail(record, ServerError(INTERNAL_ERROR, text))
        else:
            self._answered(record, {} if result is None else result)

    def _answered(self, record: ReceiverTaskRecord, result: Any) -> None:
        action = result.get("action") if isinstance(result, Mapping) else None
        is_elicitation = record.method == "elicitation/create"
        if is_elicitation and action in _NOT_ACCEPTED and not self.completes_on_decline:
            self._fail(record, ServerError(REJECTED, _NOT_ACCEPTED[action]))
        elif self._is_open(record):
            record.resolve_payload(result)
            self._move(record, "completed")

    def _fail(self, record: ReceiverTaskRecord, error: ServerError) -> None:
        if self._is_open(record):
            record.reject_payload(error.copy())  # without the traceback, which holds the request
            self._move(record, "failed", error.rpc_message)

    def _work_ended(self, record: ReceiverTaskRecord) -> None:
        record.work = None
        # Cancelled elsewhere: the server must not wait until the TTL is over.
        self._fail(record, ServerError(INTERNAL_ERROR, "the question was withdrawn"))

    def _is_open(self, record: ReceiverTaskRecord) -> bool:
        """Whether an answer still counts: not after a cancel, nor after its time was up."""
        return record.task.task_id in self._records and not record.task.is_terminal

    # -- records -----------------------------------------------------------------------------------

    def create_receiver_task(
        self,
        *,
        initial_status: str,
        ttl: float | UnsetType | None = UNSET,
        status_message: str | None = None,
        poll_interval: int | None = None,
        method: str = "",
        request: ServerRequest | None = None,
    ) -> ReceiverTaskRecord:
        """A new task with its timer; `ttl` in milliseconds, None for as long as may be.

        The server learns of it by the answer to its request: a notification might overtake that.

        Raises:
            ServerError: `ttl` is not a valid time, or there are too many tasks.
        """
        if len(self._records) >= self._most_tasks:
            text = f"{self._most_tasks} tasks are kept already; no more are taken"
            raise ServerError(INTERNAL_ERROR, text)
        actual = self._actual_ttl(ttl)
        now = self._now()
        # basic/utilities/tasks#task-ids: with enough entropy that ids cannot be guessed.
        task_id = os.urandom(24).hex()
        task = Task(task_id, initial_status, now, now, actual, poll_interval, status_message)
        self._last_number += 1
        record = ReceiverTaskRecord(task, method, self._last_number)
        if request is not None:
            record.request_seq, record.call_id = request.request_seq, request.call_id
        self._records[task_id] = record
        if actual is not None:
            clock = self._connection.clock
            due = clock.monotonic() + actual / 1000
            record.cleanup_timer = clock.call_at(due, lambda: self._expire(record))
        self._publish(record)
        return record

    def emit_receiver_task_status(self, task: Task) -> None:
        """Tell the server where a task stands; if that cannot be sent, all goes on."""
        connection = self._connection
        if connection.session is None:
            return
        try:
            connection.session.sender.notify("notifications/tasks/status", to_wire(task))
        except Exception as problem:  # the notification is optional, the task is not
            text = f"the status of a task was not sent: {classify(problem).message}"
            connection.publish(Remark(message=text))

    def upsert_receiver_task(self, task: Task) -> None:
        """Update the record of a task and publish the change; a dropped task stays dropped.

        Raises:
            IllegalTaskMove: the task is over, or there is no such status.
        """
        record = self._records.get(task.task_id)
        if record is None:
            return
        if not can_move(record.task.status, task.status):
            raise IllegalTaskMove(task.task_id, record.task.status, task.status)
        record.task = task
        if task.is_terminal:
            text = task.status_message or f"the task is {task.status} without a result"
            record.reject_payload(ServerError(INTERNAL_ERROR, text))
        self._publish(record)
        self.emit_receiver_task_status(task)

    def get_receiver_task(self, task_id: str) -> ReceiverTaskRecord | None:
        """The record of a task, if it is kept."""
        return self._records.get(task_id)

    def list_receiver_tasks(self) -> list[Task]:
        """All tasks that are kept, oldest first."""
        return [record.task for record in self._records.values()]

    async def get_receiver_task_payload(self, task_id: str) -> Any:
        """What the question was answered with; waits until there is an answer.

        Raises:
            ServerError: there is no such task, or its question was refused.
        """
        return await self._known(task_id).payload()

    def cancel_receiver_task(self, task_id: str) -> Task:
        """Cancel a task; one that is over is returned as it is.

        The timer of its TTL runs on, so that its record is dropped in the end.

        Raises:
            ServerError: there is no such task.
        """
        record = self._known(task_id)
        if not record.task.is_terminal:
            record.reject_payload(ServerError(INTERNAL_ERROR, "the task was cancelled"))
            self._move(record, "cancelled", "The task was cancelled by request.")
            self._withdraw(record)
        return record.task

    def clear(self) -> None:
        """Drop all tasks: the connection is over, and they cannot be asked for again."""
        for record in list(self._records.values()):
            self._drop(record, CancelledRequest("the connection is over"))

    async def end(self) -> None:
        """Drop all tasks, and wait until nothing works on them."""
        self.clear()
        await self._works.ended()

    # -- what the server asks about them -----------------------------------------------------------

    def handlers(self) -> dict[str, RequestHandler]:
        """Who answers the four methods of tasks."""
        return {
            "tasks/list": self._answer_list,
            "tasks/get": lambda request: to_wire(self._named(request).task),
            "tasks/result": self._answer_result,
            "tasks/cancel": self._answer_cancel,
        }

    def _answer_list(self, request: ServerRequest) -> dict[str, Any]:
        cursor = request.params.get("cursor") if isinstance(request.params, Mapping) else None
        after = 0 if cursor is None else self._read_cursor(cursor)
        later = (record for record in self._records.values() if record.number > after)
        page = list(itertools.islice(later, PAGE_SIZE))
        answer: dict[str, Any] = {"tasks": [to_wire(record.task) for record in page]}
        if next(later, None) is not None:
            answer["nextCursor"] = f"{self._cursor_prefix}{page[-1].number}"
        return answer

    def _read_cursor(self, cursor: Any) -> int:
        number = 0
        if isinstance(cursor, str) and cursor.startswith(self._cursor_prefix):
            digits = cursor.removeprefix(self._cursor_prefix)
            number = int(digits) if digits.isdecimal() and len(digits) < 20 else 0
        if not 0 < number <= self._last_number:
            raise ServerError(INVALID_PARAMS, "the cursor is not one of ours")
        return number

    async def _answer_result(self, request: ServerRequest) -> Any:
        record = self._named(request)
        result = await record.payload()
        if not isinstance(result, Mapping):
            return result
        return with_related_task(result, record.task.task_id)

    def _answer_cancel(self, request: ServerRequest) -> dict[str, Any]:
        record = self._named(request)
        if record.task.is_terminal:
            # basic/utilities/tasks#task-cancellation; cancel_receiver_task is milder.
            text = f"the task is {record.task.status} and cannot be cancelled"
            raise ServerError(INVALID_PARAMS, text)
        return to_wire(self.cancel_receiver_task(record.task.task_id))

    def _named(self, request: ServerRequest) -> ReceiverTaskRecord:
        task_id = request.params.get("taskId") if isinstance(request.params, Mapping) else None
        if not isinstance(task_id, str):
            raise ServerError(INVALID_PARAMS, "taskId must be a string")
        return self._known(task_id)

    # -- beneath -----------------------------------------------------------------------------------

    def _known(self, task_id: str) -> ReceiverTaskRecord:
        record = self._records.get(task_id)
        if record is None:
            raise ServerError(INVALID_PARAMS, f"Unknown taskId: {task_id}")
        return record

    def _actual_ttl(self, asked: float | UnsetType | None) -> int | None:
        """Milliseconds that a task lives, None for no limit; what is too long is cut."""
        longest_s = self._longest_ttl_s
        longest = LONGEST_MS if longest_s is None else int(longest_s * 1000)
        if asked is None:
            return None if longest_s is None else longest
        if isinstance(asked, UnsetType):
            ttl_s = self._ttl_s() if callable(self._ttl_s) else self._ttl_s
            if not is_milliseconds(ttl_s):
                raise ValueError(f"the TTL of a task must be a number of seconds, not {ttl_s!r}")
            asked = ttl_s * 1000
        elif not is_milliseconds(asked):
            text = "task.ttl must be a number of milliseconds that is not negative, or null"
            raise ServerError(INVALID_PARAMS, text)
        return int(min(asked, longest))

    def _move(self, record: ReceiverTaskRecord, status: str, message: str | None = None) -> None:
        self.upsert_receiver_task(moved(record.task, status, self._now(), message))

    def _expire(self, record: ReceiverTaskRecord) -> None:
        """The TTL is over: drop the task, and withdraw its question."""
        text = f"the time to live of the task {record.task.task_id} is up"
        self._drop(record, ServerError(INVALID_PARAMS, text))

    def _drop(self, record: ReceiverTaskRecord, error: InspectorError) -> None:
        del self._records[record.task.task_id]
        if record.cleanup_timer is not None:
            record.cleanup_timer.cancel()
            record.cleanup_timer = None
        record.reject_payload(error)
        self._withdraw(record)
        self._publish(record, is_gone=True)

    @staticmethod
    def _withdraw(record: ReceiverTaskRecord) -> None:
        """Withdraw the question: it needs no answer any more."""
        if record.work is not None:
            record.work.cancel()

    def _publish(self, record: ReceiverTaskRecord, *, is_gone: bool = False) -> None:
        task = record.task
        self._connection.publish(
            ReceiverTaskChanged(
                task_id=task.task_id,
                method=record.method,
                status=task.status,
                task=to_wire(task),
                is_gone=is_gone,
                request_seq=record.request_seq,
                call_id=record.call_id,
            )
        )

    def _now(self) -> str:
        return iso_time(self._connection.clock.wall())
