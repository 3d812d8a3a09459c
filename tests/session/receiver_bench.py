"""The tasks that we hold for a server on a bench, with a clock and a wire of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.bus import Bus, Publisher
from mcplens.clock import ManualClock
from mcplens.errors import ServerError
from mcplens.events import Event, ReceiverTaskChanged
from mcplens.session.question_handler import ServerRequest
from mcplens.session.receiver_tasks import ReceiverTaskRecord, ReceiverTasks

SAMPLE, ELICIT = "sampling/createMessage", "elicitation/create"
ANSWER = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}


class Wire:
    """Where the session of a connection would be; keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Any]] = []
        self.problem: Exception | None = None

    @property
    def sender(self) -> Wire:
        return self

    def notify(self, method: str, params: Any = None) -> None:
        if self.problem is not None:
            raise self.problem
        self.sent.append((method, params))


class Bench:
    """Receiver tasks without a server, and a person who answers when the test says so."""

    def __init__(self, **options: Any) -> None:
        self.clock = ManualClock()
        self.bus = Bus(self.clock)
        self.publish = Publisher(self.bus, "bench")
        self.session: Wire | None = Wire()
        self.tasks = ReceiverTasks(self, **options)  # type: ignore[arg-type]
        self.asked: list[ServerRequest] = []
        self.answers: list[asyncio.Future[Any]] = []

    async def ask(self, request: ServerRequest) -> Any:
        self.asked.append(request)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]

    def start(self, method: str = SAMPLE, **task: Any) -> str:
        """The server asks with `task`; the id of the task that it gets."""
        request = ServerRequest(1, method, {"task": task, "a": 1}, b"{}")
        answer = self.tasks.start(request, self.ask)
        assert list(answer) == ["task"]
        task_id: str = answer["task"]["taskId"]
        return task_id

    async def started(self, method: str = SAMPLE, **task: Any) -> str:
        task_id = self.start(method, **task)
        await self.clock.settle()
        return task_id

    async def request(self, method: str, params: Any = None) -> Any:
        """What the server is answered when it asks about tasks."""
        answer = self.tasks.handlers()[method](ServerRequest(2, method, params, b"{}"))
        return await answer if asyncio.iscoroutine(answer) else answer

    async def refusal(self, method: str, params: Any = None) -> tuple[int, str]:
        with pytest.raises(ServerError) as refused:
            await self.request(method, params)
        return refused.value.rpc_code, refused.value.rpc_message

    async def settle(self) -> None:
        await self.clock.settle()

    def record(self, task_id: str) -> ReceiverTaskRecord:
        record = self.tasks.get_receiver_task(task_id)
        assert record is not None
        return record

    def status(self, task_id: str) -> str:
        return self.record(task_id).task.status

    def events(self, kind: type[Event] = ReceiverTaskChanged) -> list[Any]:
        return [event for event in self.bus.kept() if isinstance(event, kind)]

    def steps(self) -> list[str]:
        """What became of the tasks, as the events tell it."""
        return ["gone" if event.is_gone else event.status for event in self.events()]

    def notified(self) -> list[str]:
        """The statuses that the server was told."""
        assert self.session is not None
        return [params["status"] for _, params in self.session.sent]
