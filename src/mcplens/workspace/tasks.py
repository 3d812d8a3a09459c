"""Tasks of all servers, in both roles: those that a server runs for us, and those that we hold.

Kept up to date from events. Tasks that ended or expired stay listed, within bounds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from mcplens.errors import InspectorError
from mcplens.events import ClientTaskChanged, ReceiverTaskChanged
from mcplens.protocol.tasks import TERMINAL, Task, to_wire

# More than a person reads; the recording has every change.
MOST_TASKS: Final = 1_000

Role = Literal["client", "receiver"]


class TaskState(msgspec.Struct):
    """The latest known state of a task."""

    key: str
    task_id: str
    server_id: str
    role: Role
    method: str
    status: str
    task: dict[str, Any]
    first_seen: float
    updated: float
    ended: float | None = None  # when it was over, or gone; on the clock of `started`
    is_gone: bool = False
    is_listed: bool = False  # first seen in tasks/list: it may have begun earlier
    request_seq: int | None = None  # the frame of the request that became this task
    call_id: str | None = None
    question_id: str | None = None  # the question that it waits or waited for

    @property
    def is_over(self) -> bool:
        return self.status in TERMINAL

    @property
    def expires(self) -> float | None:
        """When it expires, on the clock of `started`."""
        ttl_s = self.seconds("ttl", "ttlMs")
        return None if ttl_s is None else self.started + ttl_s

    @property
    def started(self) -> float:
        """When it began, by our own clock if we saw it begin: a server's clock may differ."""
        return min(self.created, self.first_seen) if self.is_listed else self.first_seen

    @property
    def created(self) -> float:
        """Its `createdAt`, if that is valid."""
        return _time_of(self.task.get("createdAt")) or self.first_seen

    @property
    def message(self) -> str | None:
        text = self.task.get("statusMessage")
        return text if isinstance(text, str) else None

    def seconds(self, *names: str) -> float | None:
        """A duration that the task gives in milliseconds, under one of these names."""
        for name in names:
            value = self.task.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return value / 1000
        return None


def _time_of(text: Any) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp() if text else None
    except (ValueError, OverflowError):
        return None


def key_of(server_id: str, role: Role, task_id: str) -> str:
    """The key of a task; both sides may choose the same id."""
    return f"{server_id}/{role}/{task_id}"


class Tasks:
    """All known tasks, oldest first."""

    def __init__(self, changed: Callable[[str, str], None]) -> None:
        self._changed = changed
        self._tasks: OrderedDict[str, TaskState] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Tasks {len(self._tasks)} known>"

    def __iter__(self) -> Iterator[TaskState]:
        return iter(list(self._tasks.values()))

    def get(self, key: str) -> TaskState | None:
        return self._tasks.get(key)

    def of_server(self, server_id: str) -> list[TaskState]:
        return [task for task in self if task.server_id == server_id]

    def find(self, server_id: str, role: Role, task_id: str) -> TaskState:
        """A known task.

        Raises:
            InspectorError: it is not known, or no longer.
        """
        task = self._tasks.get(key_of(server_id, role, task_id))
        if task is None:
            raise InspectorError("INVALID_REQUEST", f"the task {task_id} is not known here")
        return task

    def handle_event(self, event: ClientTaskChanged | ReceiverTaskChanged) -> TaskState:
        """Update a task that was created, changed, or is gone."""
        role: Role = "client" if isinstance(event, ClientTaskChanged) else "receiver"
        return self._put(
            event.server_id,
            role,
            event.task_id,
            event.method,
            event.status,
            event.task,
            event.wall,
            is_gone=event.is_gone,
            request_seq=event.request_seq,
            call_id=event.call_id,
        )

    def listed(self, server_id: str, task: Task, wall: float) -> TaskState:
        """Update a task from a reply of the server."""
        known = self._tasks.get(key_of(server_id, "client", task.task_id))
        method = known.method if known is not None else ""
        state = self._put(
            server_id, "client", task.task_id, method, task.status, to_wire(task), wall
        )
        state.is_listed = known is None or known.is_listed
        if known is None and state.is_over:  # it ended before we asked
            at = _time_of(state.task.get("lastUpdatedAt"))
            state.ended = wall if at is None else max(at, state.started)
        return state

    def asked(self, server_id: str, role: Role, task_id: str, question_id: str) -> None:
        """Link a task to the question that it waits for."""
        task = self._tasks.get(key_of(server_id, role, task_id))
        if task is not None:
            task.question_id = question_id
            self._changed(task.key, task.server_id)

    def _put(
        self,
        server_id: str,
        role: Role,
        task_id: str,
        method: str,
        status: str,
        task: dict[str, Any],
        wall: float,
        *,
        is_gone: bool = False,
        request_seq: int | None = None,
        call_id: str | None = None,
    ) -> TaskState:
        key = key_of(server_id, role, task_id)
        state = self._tasks.get(key)
        if state is None:
            state = self._tasks[key] = TaskState(
                key, task_id, server_id, role, method, status, task, wall, wall
            )
        state.method, state.status, state.task = method, status, task
        state.updated, state.is_gone = wall, is_gone
        if state.ended is None and (state.is_over or is_gone):
            state.ended = wall
        state.request_seq = request_seq if request_seq is not None else state.request_seq
        state.call_id = call_id or state.call_id
        while len(self._tasks) > MOST_TASKS:
            old, forgotten = self._tasks.popitem(last=False)
            self._changed(old, forgotten.server_id)
        self._changed(key, server_id)
        return state
