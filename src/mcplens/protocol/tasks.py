"""Tasks as values: their status transitions, serialisation and parsing.

Shared by both roles: session/receiver_tasks.py holds tasks for the server, and the tasks that the
server runs for us are parsed here. 2025-11-25 has tasks in its core (basic/utilities/tasks),
2026-07-28 as an extension that names two fields differently. Timers and ids are created elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

RELATED_TASK: Final = "io.modelcontextprotocol/related-task"
IMMEDIATE_RESPONSE: Final = "io.modelcontextprotocol/model-immediate-response"

# The largest integer that is exact in every JSON parser; longer times are cut to it.
LONGEST_MS: Final = 2**53 - 1

TERMINAL: Final = frozenset({"completed", "failed", "cancelled"})
STATUSES: Final = TERMINAL | {"working", "input_required"}


class Task(msgspec.Struct, frozen=True):
    """A task at one moment; times are ISO 8601, `ttl` and `poll_interval` milliseconds."""

    task_id: str
    status: str
    created_at: str
    last_updated_at: str
    ttl: int | None = None
    poll_interval: int | None = None
    status_message: str | None = None
    immediate_response: str | None = None  # what a model may be told while the task runs

    @property
    def is_terminal(self) -> bool:
        return self.status in TERMINAL


class IllegalTaskMove(ValueError):
    """A task cannot go from one status to another."""

    def __init__(self, task_id: str, old: str, new: str) -> None:
        super().__init__(f"the task {task_id} cannot go from {old} to {new}")
        self.task_id = task_id
        self.old = old
        self.new = new


class TaskProblem(ValueError):
    """The value is not a task; the message says why."""


def can_move(old: str, new: str) -> bool:
    """Whether a task may go from `old` to `new`; staying the same is allowed."""
    return new in STATUSES and (old == new or old not in TERMINAL)


def moved(task: Task, status: str, now_iso: str, message: str | None = None) -> Task:
    """The task in its next status; a running task may also get just a new message.

    Raises:
        IllegalTaskMove: the task is over, or there is no such status.
    """
    if task.is_terminal or not can_move(task.status, status):
        raise IllegalTaskMove(task.task_id, task.status, status)
    return msgspec.structs.replace(
        task, status=status, last_updated_at=now_iso, status_message=message
    )


def iso_time(wall: float) -> str:
    """A clock time in the format of tasks."""
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds")


def to_wire(task: Task) -> dict[str, Any]:
    """The task as 2025-11-25 writes it; `ttl` is always there, null means no limit."""
    value: dict[str, Any] = {
        "taskId": task.task_id,
        "status": task.status,
        "createdAt": task.created_at,
        "lastUpdatedAt": task.last_updated_at,
        "ttl": task.ttl,
    }
    if task.poll_interval is not None:
        value["pollInterval"] = task.poll_interval
    if task.status_message is not None:
        value["statusMessage"] = task.status_message
    return value


def read_task(value: Any) -> Task:
    """Parses a task in the format of either revision.

    An id and a known status are required. Other fields are optional, but must have their type.

    Raises:
        TaskProblem: not a valid task; the message says why.
    """
    if not isinstance(value, Mapping):
        raise TaskProblem(f"a task must be an object, not {_quoted(value)}")
    task_id, status = value.get("taskId"), value.get("status")
    if not isinstance(task_id, str) or not task_id:
        raise TaskProblem(f"taskId must be a non-empty string, not {_quoted(task_id)}")
    if not isinstance(status, str) or status not in STATUSES:
        raise TaskProblem(f"status must be one of {_STATUSES_TEXT}, not {_quoted(status)}")
    created_at = _text(value, "createdAt") or ""
    return Task(
        task_id,
        status,
        created_at,
        _text(value, "lastUpdatedAt") or created_at,
        _milliseconds(value, "ttl", "ttlMs"),
        _milliseconds(value, "pollInterval", "pollIntervalMs"),
        _text(value, "statusMessage"),
    )


def related_task_of(value: Any) -> str | None:
    """The task that params or a result name in their `_meta`."""
    meta = value.get("_meta") if isinstance(value, Mapping) else None
    related = meta.get(RELATED_TASK) if isinstance(meta, Mapping) else None
    task_id = related.get("taskId") if isinstance(related, Mapping) else None
    return task_id if isinstance(task_id, str) else None


def with_related_task(value: Mapping[str, Any], task_id: str) -> dict[str, Any]:
    """The same params or result, naming the task in `_meta`."""
    meta = value.get("_meta")
    known = meta if isinstance(meta, Mapping) else {}
    return {**value, "_meta": {**known, RELATED_TASK: {"taskId": task_id}}}


_STATUSES_TEXT: Final = "working, input_required, completed, failed, cancelled"
# Longer values do not make a message clearer.
_LONGEST_QUOTE: Final = 60


def _text(value: Mapping[str, Any], key: str) -> str | None:
    found = value.get(key)
    if found is not None and not isinstance(found, str):
        raise TaskProblem(f"{key} must be a string, not {_quoted(found)}")
    return found


def _milliseconds(value: Mapping[str, Any], *keys: str) -> int | None:
    key = next((key for key in keys if key in value), keys[0])
    found = value.get(key)
    if found is None:
        return None
    if not is_milliseconds(found):
        raise TaskProblem(f"{key} must be a number of milliseconds, not {_quoted(found)}")
    return min(int(found), LONGEST_MS)


def is_milliseconds(value: Any) -> bool:
    """Whether it is a valid time to live or interval: a finite number, not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value >= 0 and (isinstance(value, int) or math.isfinite(value))


def _quoted(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 1] + "…"
