"""Polls one task that the server runs for us until it has ended, and gets its result.

Holds what tasks of 2025-11-25 and of the extension of 2026-07-28 (extension_task_poller.py) have
in common, and the poller for the former. Polls bypass the queue, no faster than the server asks
for; while the connection is lost they wait for it. Owned by client_tasks.py.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Final, Protocol

import msgspec

from mcplens.errors import (
    CancelledRequest,
    InspectorError,
    ServerError,
    TimeoutExpired,
    classify,
)
from mcplens.events import FrameSent
from mcplens.protocol.deadlines import NEVER
from mcplens.protocol.frames import Frame, RequestId
from mcplens.protocol.tasks import Task, TaskProblem, read_task
from mcplens.session.call_limit import CallLimit
from mcplens.session.question_handler import INVALID_PARAMS
from mcplens.session.queue import CallTag, Progress, QueueEntry
from mcplens.session.results import invalid
from mcplens.session.task_channel import TaskChannel

# For a server that names no interval; and the least that one can ask for.
DEFAULT_POLL_S: Final = 1.0
SHORTEST_POLL_S: Final = 0.1
# Polls that may fail in a row before the task is given up.
MAX_FAILURES: Final = 3
# Polls for the end of a task whose result has come; a server needs a moment to say so.
MAX_POLLS_AFTER: Final = 10


class Origin(msgspec.Struct, frozen=True):
    """The call that became a task; a task that was only asked about has none."""

    tool: str = ""
    request_id: RequestId | None = None
    sent: FrameSent | None = None  # the frame that carried this request
    tag: CallTag = msgspec.field(default_factory=CallTag)  # of the polls
    progress_token: RequestId | None = None  # the same for the task's whole life (TASK-13)
    on_progress: Callable[[Progress], None] | None = None

    @property
    def request_seq(self) -> int | None:
        return None if self.sent is None else self.sent.seq


class TaskTracker(Protocol):
    """Keeps track of tasks; ClientTasks is one."""

    def move(self, poller: TaskPoller, task: Task) -> bool:
        """Take over the new state of a task; False if it cannot follow the old one."""

    def drop(self, poller: TaskPoller) -> None:
        """Stop tracking a task."""


class TaskPoller(ABC):
    """One task and where it stands; `outcome` is the frame with the result of the call."""

    def __init__(
        self, channel: TaskChannel, tracker: TaskTracker, task: Task, origin: Origin
    ) -> None:
        self.task = task
        self.origin = origin
        self.outcome: asyncio.Future[Frame] = asyncio.get_running_loop().create_future()
        self.limits: set[CallLimit] = set()  # of the callers that wait for the outcome
        self.is_abandoned = False
        self._is_cancelled = False  # by us; the task may not know yet
        self._channel = channel
        self._tracker = tracker
        self._clock = channel.clock
        self._seen_at = self._clock.monotonic()
        self._next_poll = self._seen_at + self._interval_s
        self._failures = 0
        self._polls_after = 0
        self._is_overdue = False
        self._wake = asyncio.Event()
        self._work: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.task.task_id} {self.task.status}>"

    @property
    def id(self) -> str:
        return self.task.task_id

    @property
    def params(self) -> dict[str, Any]:
        return {"taskId": self.id}

    @property
    def left_s(self) -> float | None:
        """How long the server keeps the task, as far as it said."""
        if self.task.ttl is None:
            return None
        return max(0.0, self._seen_at + self.task.ttl / 1000 - self._clock.monotonic())

    @property
    def size_bytes(self) -> int:
        """What the result weighs that is kept."""
        if not self.outcome.done() or self.outcome.exception() is not None:
            return 0
        return len(self.outcome.result().raw)

    # -- its life ------------------------------------------------------------------------------

    def start(self) -> None:
        work = self._follow()
        self._work = asyncio.get_running_loop().create_task(work, name=f"follow {self.id}")

    def heard(self, task: Task, frame: Frame) -> None:
        """The server said where the task stands: in answer to a poll, or on its own."""
        if self._tracker.move(self, task):
            self._moved(frame)
            self._wake.set()
        if self.is_abandoned:
            self.cancel()

    def abandon(self) -> None:
        """The caller no longer wants the result: cancel the task, and poll until it has ended."""
        self.is_abandoned = True
        self._channel.call_off(self.origin.tag)
        self.cancel()

    def cancel(self) -> None:
        """Have the server cancel it, once; at the next poll if there is no connection now."""
        if not (self._is_cancelled or self.task.is_terminal):
            self._is_cancelled = self._channel.cancel_task(self.id, self.origin.tag)

    def give_up(self, error: InspectorError) -> asyncio.Task[None] | None:
        """Stop polling and fail the callers that wait; returns the task that is still ending."""
        self.fail(error)
        if self._work is not None:
            self._work.cancel()
        return self._work

    def fail(self, error: InspectorError) -> None:
        if not self.outcome.done():
            self._channel.describe(error)
            error.with_details(task_id=self.id, task_status=self.task.status)
            self.outcome.set_exception(error)
            self.outcome.exception()  # marks it as retrieved: perhaps no caller waits

    def _settle(self, frame: Frame) -> None:
        if not self.outcome.done():
            self.outcome.set_result(frame)

    async def _follow(self) -> None:
        try:
            while not self.task.is_terminal:
                if await self._poll_is_due():
                    await self._poll()
            if not self.outcome.done():
                self._settle(await self._result())
        except InspectorError as error:
            self._stop(error)
        except Exception as problem:  # a bug of ours must not look like a hang
            self._stop(classify(problem, f"following the task {self.id}"))
        finally:
            await self._end()

    def _stop(self, error: InspectorError) -> None:
        self.fail(error)
        if not self.task.is_terminal:
            self._tracker.drop(self)

    # -- polling -------------------------------------------------------------------------------

    @property
    def _interval_s(self) -> float:
        wanted = self.task.poll_interval
        return DEFAULT_POLL_S if wanted is None else max(wanted / 1000, SHORTEST_POLL_S)

    async def _poll_is_due(self) -> bool:
        """Wait until it is, or until something was heard."""
        timer = self._clock.call_at(self._next_poll, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()
        self._wake.clear()
        self._check()
        return self._clock.monotonic() >= self._next_poll

    async def _poll(self) -> None:
        try:
            frame = await self._channel.request("tasks/get", self.params, self.origin.tag)
            task = read_polled(frame, self.id)
        except InspectorError as error:
            await self._poll_failed(error)
        else:
            self._failures = 0
            self.heard(task, frame)
            self._next_poll = self._clock.monotonic() + self._interval_s
            self._check()
            self._remark_age()
            if self.outcome.done() and not self.task.is_terminal:
                self._linger()

    def _remark_age(self) -> None:
        """The server may delete a task after its time to live; one that lives on is polled on."""
        if not self._is_overdue and self.left_s == 0 and not self.task.is_terminal:
            self._is_overdue = True
            text = f"the task {self.id} is {self.task.status} after its time to live"
            self._channel.remark(f"{text} of {(self.task.ttl or 0) / 1000:g} s; it is polled on")

    def _linger(self) -> None:
        """Its result is here, and yet it is not over: that is looked at for a while."""
        self._polls_after += 1
        if self._polls_after >= MAX_POLLS_AFTER:
            text = f"the task {self.id} gave its result and is still {self.task.status}"
            self._channel.remark(f"{text}: it is no longer polled")
            raise CancelledRequest(text)

    async def _poll_failed(self, error: InspectorError) -> None:
        if self._channel.is_connected:
            # basic/utilities/tasks#protocol-errors: what an unknown task is answered with.
            if isinstance(error, ServerError) and error.rpc_code == INVALID_PARAMS:
                raise self._forgotten(error)
            self._count(error, "tasks/get")
            self._next_poll = self._clock.monotonic() + self._interval_s
        else:
            await self._channel.until_connected()

    def _count(self, error: InspectorError, method: str) -> None:
        """One more failure in a row; the last one is raised."""
        self._failures += 1
        count = f"{self._failures} of {MAX_FAILURES}"
        self._channel.remark(f"{method} of the task {self.id} failed ({count}): {error.message}")
        if self._failures >= MAX_FAILURES:
            raise error

    def _forgotten(self, error: ServerError) -> ServerError:
        ttl = self.task.ttl
        lived = "" if ttl is None else f", and was to live for {ttl / 1000:g} s"
        message = (
            f"the server no longer knows the task {self.id}: {error.rpc_message}; "
            f"it was {self.task.status} when last heard of{lived}"
        )
        error.message, error.args = message, (message,)
        return error

    def _cancelled(self) -> CancelledRequest:
        why = f": {self.task.status_message}" if self.task.status_message else ""
        text = f"the task {self.id} was cancelled{why}"
        return CancelledRequest(text, details={"task_id": self.id})

    def timed_out(self, waited_s: float) -> TimeoutExpired:
        """What a caller gets whose time is up; the task goes on."""
        task = self.task
        said = f" ({task.status_message})" if task.status_message else ""
        text = (
            f"the task {self.id}, which the call became, did not end within {waited_s:.3g} s; its "
            f"last status is {task.status}{said}. It was not cancelled. Look at it later by its "
            "id: get_client_task() in Python, `mcplens tasks TARGET get ID`, or Tasks in the web UI"
        )
        details = {"phase": "task", "method": "tools/call", "elapsed_s": round(waited_s, 3)}
        details |= {"task_id": self.id, "task_status": task.status}
        error = TimeoutExpired("REQUEST_TIMEOUT", text, details=details)
        self._channel.describe(error)
        return error

    # -- what the revisions differ in ------------------------------------------------------------

    @abstractmethod
    def _moved(self, frame: Frame) -> None:
        """Do what the status asks for, right after it was heard of."""

    @abstractmethod
    def _check(self) -> None:
        """Raise what went wrong beside the polls."""

    @abstractmethod
    async def _result(self) -> Frame:
        """The result of the call, once the task is over. Raises InspectorError."""

    @abstractmethod
    async def _end(self) -> None:
        """Leave nothing running."""


class CoreTaskPoller(TaskPoller):
    """A task of 2025-11-25: tasks/result has its result, and brings its questions."""

    def __init__(
        self, channel: TaskChannel, tracker: TaskTracker, task: Task, origin: Origin
    ) -> None:
        super().__init__(channel, tracker, task, origin)
        self._waiting: QueueEntry | None = None
        self._refusal: ServerError | None = None  # of a tasks/result before the end
        self._is_refused = False

    def start(self) -> None:
        self._want_result()
        super().start()

    def _moved(self, frame: Frame) -> None:
        if self._refusal is not None and not self.task.is_terminal:
            text = f"tasks/result of {self.id} was refused before the end: {self._refusal.message}"
            self._channel.remark(text)
            self._refusal, self._is_refused = None, True
        self._want_result()

    def _want_result(self) -> None:
        """On input_required at once: the server's questions arrive on it (TASK-6)."""
        if self.task.status != "input_required":
            self._is_refused = False
        elif self._waiting is None and not (self._is_refused or self.outcome.done()):
            # As long as polls find the task alive it may take any time.
            self._waiting = self._channel.start("tasks/result", self.params, self.origin.tag, NEVER)
            if self._waiting is not None:
                self._waiting.future.add_done_callback(self._answered)

    def _answered(self, _: asyncio.Future[Any]) -> None:
        entry, self._waiting = self._waiting, None
        if entry is None:
            return
        if entry.error is None:
            self._settle(entry.result)
        elif isinstance(entry.error, ServerError):
            self._refusal = entry.error  # the next poll shows what it means
        self._wake.set()

    async def _result(self) -> Frame:
        if self.task.status == "cancelled":
            raise self._cancelled()
        if self._refusal is not None:
            raise self._refusal
        self._failures = 0
        while True:
            entry = self._waiting
            if entry is not None:
                self._channel.apply_limits(entry)
                await asyncio.wait([entry.future])
            try:
                if entry is None:
                    return await self._channel.request("tasks/result", self.params, self.origin.tag)
                frame: Frame = await entry
                return frame
            except ServerError:
                raise
            except InspectorError as error:
                if self._channel.is_connected:
                    self._count(error, "tasks/result")
                    await self._clock.sleep(self._interval_s)
                else:
                    await self._channel.until_connected()

    def _check(self) -> None:
        """Nothing goes on beside the polls but tasks/result, and that is looked at with them."""

    async def _end(self) -> None:
        """Nothing runs beside the polls."""

    def _stop(self, error: InspectorError) -> None:
        if self._waiting is not None:
            self._channel.give_up(self._waiting, "the task is no longer polled")
        super()._stop(error)


def read_polled(frame: Frame, task_id: str, method: str = "tasks/get") -> Task:
    """The task that an answer to tasks/get is.

    Raises:
        ProtocolError: INVALID_RESPONSE; it is none, or another one.
    """
    try:
        task = read_task(frame.value())
    except (TaskProblem, ValueError) as problem:
        raise invalid(method, str(problem), frame) from None
    if task.task_id != task_id:
        raise invalid(method, f"it is about another task: {task.task_id!r}", frame)
    return task
