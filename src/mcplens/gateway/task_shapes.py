"""Tasks as the two revisions write them, and capabilities for tasks. Pure.

2025-11-25 has tasks in its core: a task is a status, and tasks/result has the rest. 2026-07-28 has
them as an extension: a task also holds its questions, its result or its error. Used by the modules
that carry tasks from one to the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.gateway.wire import UNREADABLE, encoded, members, text_of
from mcplens.protocol.tasks import RELATED_TASK, TERMINAL
from mcplens.session.capabilities import TASKS_EXTENSION

# What we offer a 2025-11-25 client of tasks that a 2026-07-28 server runs.
CORE_TASKS: Final[dict[str, Any]] = {
    "list": {},
    "cancel": {},
    "requests": {"tools": {"call": {}}},
}
MAY_BE_TASK: Final = Raw(b'{"taskSupport":"optional"}')
_ALIKE: Final = ("statusMessage", "createdAt", "lastUpdatedAt", "_meta")
_NULL: Final = Raw(b"null")


class _ToolResult(msgspec.Struct, gc=False):
    isError: bool = False


_decode_result = msgspec.json.Decoder(_ToolResult).decode


def status_of(task: Mapping[str, Raw]) -> str:
    """The status of a task, in either way of writing it."""
    return text_of(task.get("status")) or "working"


def is_over(status: str) -> bool:
    return status in TERMINAL


def is_error_result(result: Raw | bytes) -> bool:
    """Whether a tool's result says that the tool failed."""
    try:
        return _decode_result(result).isError
    except UNREADABLE:
        return False


def to_core(task: Mapping[str, Raw], task_id: str, *, status: str | None = None) -> dict[str, Any]:
    """A task of 2026-07-28 as 2025-11-25 writes it: a tool that failed is a failed task."""
    found = status or status_of(task)
    if found == "completed" and "result" in task and is_error_result(task["result"]):
        found = "failed"
    written: dict[str, Any] = {"taskId": task_id, "status": found}
    written |= {name: task[name] for name in _ALIKE if name in task and name != "_meta"}
    written["ttl"] = task.get("ttlMs", _NULL)
    if "pollIntervalMs" in task:
        written["pollInterval"] = task["pollIntervalMs"]
    return written


def to_extension(task: Mapping[str, Raw], task_id: str, status: str) -> dict[str, Any]:
    """A task of 2025-11-25 as 2026-07-28 writes it, without what its status brings."""
    written: dict[str, Any] = {"taskId": task_id, "status": status}
    written |= {name: task[name] for name in _ALIKE if name in task}
    written["ttlMs"] = task.get("ttl", _NULL)
    if "pollInterval" in task:
        written["pollIntervalMs"] = task["pollInterval"]
    return written


def poll_interval_s(task: Mapping[str, Raw]) -> float:
    """How long to wait between two looks at a task of 2026-07-28."""
    try:
        wanted = msgspec.json.decode(task["pollIntervalMs"], type=float) / 1000
    except (KeyError, *UNREADABLE):
        return 1.0
    return min(max(wanted, 0.1), 5.0)


def renamed(body: bytes, task_id: str) -> bytes:
    """A result or params about a task, under the id that our client knows."""
    found: dict[str, Any] = dict(members(body))
    if "taskId" in found:
        found["taskId"] = task_id
    if "task" in found:
        found["task"] = {**members(found["task"]), "taskId": task_id}
    meta = members(found["_meta"]) if "_meta" in found else {}
    if RELATED_TASK in meta:
        found["_meta"] = {**meta, RELATED_TASK: {"taskId": task_id}}
    return encoded(found)


def with_related(body: Raw | bytes, task_id: str) -> bytes:
    """A result or params that name the task they belong to."""
    found: dict[str, Any] = dict(members(body))
    meta = members(found["_meta"]) if "_meta" in found else {}
    found["_meta"] = {**meta, RELATED_TASK: {"taskId": task_id}}
    return encoded(found)


def without_related(body: Raw | bytes) -> bytes:
    """A result of 2025-11-25 as 2026-07-28 has it inside of a task, which it need not name."""
    found: dict[str, Any] = dict(members(body))
    meta = members(found.get("_meta", b""))
    if RELATED_TASK not in meta:
        return bytes(body)
    del meta[RELATED_TASK]
    if meta:
        found["_meta"] = meta
    else:
        del found["_meta"]
    return encoded(found)


# -- capabilities ------------------------------------------------------------------------------


def offers_extension(capabilities: Mapping[str, Any]) -> bool:
    """Whether a 2026-07-28 peer declares the extension."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(TASKS_EXTENSION), dict)


def offers_core(capabilities: Mapping[str, Any]) -> bool:
    """Whether a 2025-11-25 server takes calls of tools as tasks."""
    found: Any = capabilities.get("tasks")
    for name in ("requests", "tools", "call"):
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, dict)


def capabilities_for(capabilities: dict[str, Any], *, is_stateless: bool) -> dict[str, Any]:
    """What a server offers of tasks, in the words of its client's revision."""
    found = dict(capabilities)
    if is_stateless and offers_core(found):
        extensions = found.get("extensions")
        own = extensions if isinstance(extensions, dict) else {}
        found["extensions"] = {**own, TASKS_EXTENSION: {}}
        del found["tasks"]
    elif not is_stateless and offers_extension(found) and "tasks" not in found:
        found["tasks"] = CORE_TASKS
        extensions = {k: v for k, v in found["extensions"].items() if k != TASKS_EXTENSION}
        found["extensions"] = extensions
        if not extensions:
            del found["extensions"]
    return found
