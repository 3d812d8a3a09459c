"""A server that makes a task of each call, as the extension of 2026-07-28 has tasks."""

from __future__ import annotations

import asyncio
from typing import Any

from mcplens.events import ClientTaskChanged
from mcplens.session.question_handler import ServerRequest

from .scripted import SILENT, STATELESS, Rig, ScriptedServer

EXTENSION = "io.modelcontextprotocol/tasks"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
LISTEN = "subscriptions/listen"
CREATED = "2026-07-28T10:00:00.000Z"


def task(status: str = "working", task_id: str = "t1", **more: Any) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": CREATED,
        "lastUpdatedAt": CREATED,
        "ttlMs": 60_000,
        "pollIntervalMs": 2_000,
    } | more


class TaskServer(ScriptedServer):
    """Makes a task of each call; the test says where it stands."""

    def __init__(self, answers: dict[str, Any] | None = None, *, listens: bool = False) -> None:
        self.task = task()
        self.responses: dict[str, Any] = {}
        known = {
            "tools/call": lambda request: {"resultType": "task"} | self.task,
            "tasks/get": lambda request: {"resultType": "complete"} | self.task,
            "tasks/update": self._updated,
            "tasks/cancel": self._cancelled,
        }
        if listens:
            known[LISTEN] = self._acknowledge
        super().__init__(known | (answers or {}), is_stateless=True)

    def _updated(self, request: dict[str, Any]) -> Any:
        self.responses |= request["params"]["inputResponses"]
        return {"resultType": "complete"}

    def _cancelled(self, request: dict[str, Any]) -> Any:
        self.move("cancelled")
        return {"resultType": "complete"}

    def _acknowledge(self, request: dict[str, Any]) -> Any:
        self.tell("notifications/subscriptions/acknowledged", request["params"])
        return SILENT

    def tell(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Say something on the stream."""
        meta = {"_meta": {SUBSCRIPTION: self.sent(LISTEN)[-1]["id"]}}
        self.notify(method, (params or {}) | meta)

    def wanted(self) -> Any:
        return self.sent(LISTEN)[-1]["params"]["notifications"]

    def move(self, status: str, **more: Any) -> None:
        self.task = task(status, self.task["taskId"], **more)

    def polls(self) -> int:
        return len(self.sent("tasks/get"))


def extended(server: ScriptedServer, **options: Any) -> Rig:
    capabilities: dict[str, Any] = {"extensions": {EXTENSION: {}}}
    options = {"capabilities": capabilities} | options
    return Rig(server, protocol_version=STATELESS, **options)


def changes(rig: Rig) -> list[str]:
    return ["gone" if e.is_gone else e.status for e in rig.events(ClientTaskChanged)]


class Person:
    """Sees what is asked, and answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[ServerRequest] = []
        self.withdrawn = 0
        self._answers: list[asyncio.Future[Any]] = []

    async def __call__(self, request: ServerRequest) -> Any:
        self.asked.append(request)
        self._answers.append(asyncio.get_running_loop().create_future())
        try:
            return await self._answers[-1]
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise

    def answer(self, answer: Any, which: int = -1) -> None:
        self._answers[which].set_result(answer)
