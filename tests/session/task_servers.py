"""A server that makes a task of each call that wants one, as 2025-11-25 has tasks."""

from __future__ import annotations

import asyncio
from typing import Any

from mcplens.events import ClientTaskChanged

from .scripted import EVERYTHING, Rig, ScriptedServer, text

RELATED = "io.modelcontextprotocol/related-task"
CREATED = "2025-11-25T10:00:00.000Z"
TASKS: dict[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


def task(status: str = "working", task_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": CREATED,
        "lastUpdatedAt": CREATED,
        "ttl": 60_000,
        "pollInterval": 2_000,
    } | more


def result(words: str = "done", task_id: str = "t1") -> dict[str, Any]:
    """What tasks/result gives."""
    return text(words) | {"_meta": {RELATED: {"taskId": task_id}}}


def tools(**support: str | None) -> dict[str, Any]:
    listed = []
    for name, kind in support.items():
        tool: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
        listed.append(tool if kind is None else tool | {"execution": {"taskSupport": kind}})
    return {"tools": listed}


class TaskServer(ScriptedServer):
    """Makes a task of each call that wants one; the test says where it stands."""

    def __init__(self, answers: dict[str, Any] | None = None, **capabilities: Any) -> None:
        self.task = task()
        self.finished = asyncio.Event()
        self.result: Any = result()
        super().__init__(
            {
                "tools/list": tools(
                    slow="optional", only="required", never="forbidden", plain=None
                ),
                "tools/call": self._called,
                "tasks/get": lambda request: self.task,
                "tasks/result": lambda request: self.result,
                "tasks/cancel": self._cancelled,
            }
            | (answers or {}),
            capabilities=EVERYTHING | {"tasks": TASKS} | capabilities,
        )

    def _called(self, request: dict[str, Any]) -> Any:
        if "task" not in request["params"]:
            return text("plain")
        return {"task": self.task}

    def _cancelled(self, request: dict[str, Any]) -> Any:
        self.task = self.task | {"status": "cancelled"}
        return self.task

    def move(self, status: str, **more: Any) -> None:
        self.task = self.task | {"status": status} | more

    def polls(self) -> int:
        return len(self.sent("tasks/get"))


def changes(rig: Rig) -> list[tuple[str, str]]:
    """What was told of tasks: id and status, `gone` at the end."""
    return [
        (event.task_id, "gone" if event.is_gone else event.status)
        for event in rig.events(ClientTaskChanged)
    ]
