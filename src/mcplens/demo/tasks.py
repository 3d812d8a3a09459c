"""Tasks: calls that continue after their request was answered, for both eras.

2025-11-25: the client asks for a task; questions reach it while it waits in tasks/result.
2026-07-28 (an extension): the server decides; questions and result are in tasks/get.
The methods of either are in task_methods.py and task_extension.py, the tools in task_tools.py.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from mcplens.clock import Timer
from mcplens.demo.registry import Fault, Json, ToolFailure, failure
from mcplens.demo.request_context import RELATED_TASK, RequestContext
from mcplens.inbound.refusal import INTERNAL_ERROR, INVALID_PARAMS
from mcplens.protocol.eras import MISSING_CAPABILITY

if TYPE_CHECKING:
    from mcplens.demo.client import DemoClient
    from mcplens.demo.client_questions import ClientQuestion
    from mcplens.demo.server import Demo
    from mcplens.protocol.frames import RequestId

EXTENSION: Final = "io.modelcontextprotocol/tasks"
TERMINAL: Final = ("completed", "failed", "cancelled")

DEFAULT_TTL_MS: Final = 60_000
_MOST_TTL_MS: Final = 10 * 60_000
POLL_INTERVAL_MS: Final = 200
# More at once are refused.
_MOST_TASKS: Final = 1_000


class DemoTask:
    """One task, from working to its end."""

    def __init__(self, context: RequestContext, ttl_ms: int) -> None:
        # Hexadecimal: a command line takes what begins with a dash for an option.
        self.id = secrets.token_hex(18)
        self.context = context
        self.ttl_ms = ttl_ms
        self.status = "working"
        self.message = "The work has begun."
        self.result: Json | None = None
        self.error: Json | None = None
        self.questions: dict[str, ClientQuestion] = {}  # those that wait for an answer
        self.awaited_by: RequestId | None = None  # the tasks/result that carries questions
        self.ended = asyncio.Event()
        self.created = self.updated = context.clock.wall()
        self._answers: dict[str, asyncio.Future[Json]] = {}
        self._work: asyncio.Task[None] | None = None
        self.asked = asyncio.Event()  # there is a question, or an end

    def __repr__(self) -> str:
        return f"<DemoTask {self.id[:6]}… {self.status}, {len(self.questions)} questions>"

    @property
    def is_over(self) -> bool:
        return self.status in TERMINAL

    def summary(self) -> Json:
        """The task as 2025-11-25 writes it."""
        return {
            **self._facts(),
            "ttl": self.ttl_ms,
            "pollInterval": POLL_INTERVAL_MS,
        }

    def detailed(self) -> Json:
        """The task as the extension of 2026-07-28 writes it, with what its status brings."""
        from mcplens.demo.client_questions import requests

        detail: Json = {}
        if self.status == "input_required":
            detail = {"inputRequests": requests(self.questions)}
        elif self.status == "completed":
            detail = {"result": self.result}
        elif self.status == "failed":
            detail = {"error": self.error}
        facts = {"ttlMs": self.ttl_ms, "pollIntervalMs": POLL_INTERVAL_MS}
        return {**self._facts(), **facts, **detail}

    def _facts(self) -> Json:
        return {
            "taskId": self.id,
            "status": self.status,
            "statusMessage": self.message,
            "createdAt": _iso(self.created),
            "lastUpdatedAt": _iso(self.updated),
        }

    def start(self, work: Awaitable[Json]) -> None:
        self._work = self.context.demo.spawn(self._run(work))

    async def _run(self, work: Awaitable[Json]) -> None:
        try:
            result = await work
        except Fault as fault:
            error: Json = {"code": fault.code, "message": str(fault)}
            self.error = error if fault.data is None else {**error, "data": fault.data}
            self.move("failed", str(fault))
            return
        except ToolFailure as problem:
            result = failure(str(problem))
        except Exception as problem:  # a bug of ours must not look like a task that never ends
            self.error = {"code": INTERNAL_ERROR, "message": f"{type(problem).__name__}: {problem}"}
            self.move("failed", str(problem))
            return
        self.result = result
        # A tool's own failure fails the task in 2025-11-25, and completes it in 2026-07-28.
        is_failed = bool(result.get("isError")) and not self.context.is_stateless
        self.move("failed" if is_failed else "completed", "The work is done.")

    def move(self, status: str, message: str) -> None:
        """The one place where a task's status changes; an end is final."""
        if self.is_over:
            return
        self.status, self.message = status, message
        self.updated = self.context.clock.wall()
        if status in TERMINAL:
            self.questions.clear()
            self.ended.set()
            self.asked.set()
        if not self.context.is_stateless:
            self.context.client.notify("notifications/tasks/status", self.summary())
        self.context.demo.subscribers.task_changed(self)

    def report(self, message: str) -> None:
        """Say how far the work is."""
        self.move(self.status, message)

    def cancel(self) -> None:
        self.move("cancelled", "The task was cancelled by request.")
        if self._work is not None:
            self._work.cancel()

    # -- questions -----------------------------------------------------------------------------

    async def ask(self, questions: dict[str, ClientQuestion]) -> dict[str, Json]:
        """Ask the client, and wait as long as it takes."""
        loop = asyncio.get_running_loop()
        waiting = {key: loop.create_future() for key in questions}
        self._answers.update(waiting)
        self.questions.update(questions)
        self.move("input_required", "Waiting for an answer from the client.")
        self.asked.set()
        return {key: await answer for key, answer in waiting.items()}

    def answer(self, key: str, answer: Any) -> None:
        """An answer came; what nobody asked is ignored."""
        question = self.questions.pop(key, None)
        if question is None:
            return
        self._answers.pop(key).set_result(answer)
        if not self.questions:
            self.asked.clear()
            self.move("working", "The answer arrived; work continues.")

    def refuse(self, key: str, problem: Exception) -> None:
        """The client refuses to answer."""
        if self.questions.pop(key, None) is not None:
            self._answers.pop(key).set_exception(problem)
            if not self.questions:
                self.asked.clear()
                self.move("working", "The client refused to answer.")

    @property
    def related(self) -> Json:
        return {RELATED_TASK: {"taskId": self.id}}


def _iso(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds")


class TaskTable:
    """The tasks that exist; each is forgotten when its time to live is over."""

    def __init__(self, demo: Demo) -> None:
        self._demo = demo
        self.known: dict[str, DemoTask] = {}
        self._timers: dict[str, Timer] = {}

    def __repr__(self) -> str:
        return f"<TaskTable {len(self.known)} known>"

    def create(self, context: RequestContext, ttl_ms: Any = None) -> DemoTask:
        """A new task for a call; the caller starts it."""
        if len(self.known) >= _MOST_TASKS:
            raise Fault(INTERNAL_ERROR, f"{_MOST_TASKS} tasks exist, which is the limit")
        wanted = ttl_ms if isinstance(ttl_ms, int | float) else DEFAULT_TTL_MS
        task = context.task = DemoTask(context, int(min(max(wanted, 1_000), _MOST_TTL_MS)))
        self.known[task.id] = task
        clock = self._demo.clock
        due = clock.monotonic() + task.ttl_ms / 1000
        self._timers[task.id] = clock.call_at(due, lambda: self._forget(task))
        return task

    def get(self, context: RequestContext) -> DemoTask:
        """The task that a request names; only its owner's in 2025-11-25.

        Raises:
            Fault: there is none.
        """
        task = self.known.get(str(context.params.get("taskId")))
        if task is None or task.context.era is not context.era or not _is_owner(context, task):
            raise Fault(INVALID_PARAMS, f"there is no task {context.params.get('taskId')!r}")
        return task

    def of(self, context: RequestContext) -> list[DemoTask]:
        """All tasks of the client that asks."""
        return [
            task
            for task in self.known.values()
            if task.context.era is context.era and _is_owner(context, task)
        ]

    def left(self, client: DemoClient) -> None:
        """A client disconnected: in 2025-11-25 nobody else can access its tasks."""
        for task in list(self.known.values()):
            if task.context.client is client and not task.context.is_stateless:
                self._forget(task)

    def _forget(self, task: DemoTask) -> None:
        del self.known[task.id]
        self._timers.pop(task.id).cancel()
        task.cancel()


def _is_owner(context: RequestContext, task: DemoTask) -> bool:
    if context.is_stateless:  # anyone who knows the id, with the same credentials
        return context.client.peer.caller == task.context.client.peer.caller
    return context.client is task.context.client


def require_extension(context: RequestContext) -> None:
    """See that the client knows the extension.

    Raises:
        Fault: it does not.
    """
    if not context.declares("extensions", EXTENSION):
        needed: Json = {"extensions": {EXTENSION: {}}}
        text = f"this needs a client with the extension {EXTENSION}"
        raise Fault(MISSING_CAPABILITY, text, {"requiredCapabilities": needed})
