"""Tasks of all servers, in both roles: those that a server runs for us, and those that we hold.

Follows the events that tell of them. What is over or gone stays to be looked at, within bounds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from mcplens.bus import Published
from mcplens.events import ClientTaskChanged, ReceiverTaskChanged

# More than anybody looks through; the recording has every change of them.
MOST_TASKS: Final = 1_000
KINDS: Final = frozenset({ClientTaskChanged, ReceiverTaskChanged})

Role = Literal["client", "receiver"]


class TaskState(msgspec.Struct):
    """Where a task stands, by the last word on it."""

    key: str
    task_id: str
    server_id: str
    role: Role
    method: str
    status: str
    task: dict[str, Any]
    first_seen: float
    updated: float
    is_gone: bool = False

    @property
    def created(self) -> float:
        """When it was made, by its own word if that can be read."""
        text = self.task.get("createdAt")
        try:
            return datetime.fromisoformat(str(text)).timestamp() if text else self.first_seen
        except ValueError:
            return self.first_seen

    @property
    def message(self) -> str | None:
        text = self.task.get("statusMessage")
        return text if isinstance(text, str) else None

    def seconds(self, *names: str) -> float | None:
        """A time that the task gives in milliseconds, under one of these names."""
        for name in names:
            value = self.task.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return value / 1000
        return None


def key_of(server_id: str, role: Role, task_id: str) -> str:
    """Both sides may choose the same id."""
    return f"{server_id}/{role}/{task_id}"


class Tasks:
    """The tasks that were heard of, oldest first."""

    def __init__(self, changed: Callable[[str, str], None]) -> None:
        self._changed = changed
        self._tasks: OrderedDict[str, TaskState] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Tasks {len(self._tasks)} known>"

    def __iter__(self) -> Iterator[TaskState]:
        return iter(list(self._tasks.values()))

    def get(self, key: str) -> TaskState | None:
        return self._tasks.get(key)

    def heed(self, published: Published) -> None:
        """Take note of a task that was made, moved, or is gone."""
        kind, server_id, _, wall, _, fields, _ = published
        task_id, method, status, task = fields[:4]
        is_gone = bool(fields[4]) if len(fields) > 4 else False
        role: Role = "client" if kind is ClientTaskChanged else "receiver"
        key = key_of(server_id, role, task_id)
        known = self._tasks.get(key)
        first = known.first_seen if known is not None else wall
        self._tasks[key] = TaskState(
            key, task_id, server_id, role, method, status, task, first, wall, is_gone
        )
        while len(self._tasks) > MOST_TASKS:
            old, state = self._tasks.popitem(last=False)
            self._changed(old, state.server_id)
        self._changed(key, server_id)
