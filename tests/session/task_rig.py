"""A client that holds tasks for a scripted server, which asks, polls, cancels and leaves."""

from __future__ import annotations

import itertools
from typing import Any

from mcplens.events import ReceiverTaskChanged
from mcplens.session.question_handler import PendingRequest

from .scripted import Rig

SAMPLE, ELICIT = "sampling/createMessage", "elicitation/create"
STATUS = "notifications/tasks/status"
MESSAGES = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}],
    "maxTokens": 10,
}
FORM = {
    "message": "who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
PARAMS: dict[str, dict[str, Any]] = {SAMPLE: MESSAGES, ELICIT: FORM}


class TaskRig(Rig):
    """A client that holds tasks for its server, and what that server does with them."""

    def __init__(self, **options: Any) -> None:
        on = {"sampling": True, "elicitation": True, "receiver_tasks": True}
        super().__init__(**on | options)
        self._numbers = itertools.count(1)

    def send(self, method: str, params: Any = None) -> str:
        """The server sends a request; its id."""
        identity = f"q{next(self._numbers)}"
        self.server.ask(identity, method, params)
        return identity

    async def asked(self, method: str, params: Any = None) -> dict[str, Any]:
        """The server asks, and is answered at once."""
        identity = self.send(method, params)
        await self.settle()
        return self.answer(identity)

    def answer(self, identity: str) -> dict[str, Any]:
        answer = self.server.answer_to(identity)
        assert answer is not None, "not answered yet"
        return answer

    async def task(self, method: str = SAMPLE, **task: Any) -> str:
        """The server asks with `task`; the id of the task that it gets."""
        answer = await self.asked(method, {**PARAMS[method], "task": task})
        task_id: str = answer["result"]["task"]["taskId"]
        return task_id

    async def status(self, task_id: str) -> str:
        answer = await self.asked("tasks/get", {"taskId": task_id})
        return answer["result"]["status"] if "result" in answer else str(answer["error"]["code"])

    def pending(self, task_id: str) -> PendingRequest:
        """The question of a task, as the one who answers it sees it."""
        for pending in (
            *self.client.sampling.get_pending(),
            *self.client.elicitation.get_pending(),
        ):
            if pending.request.task_id == task_id:
                return pending
        raise AssertionError("nobody is asked")

    def say(self, task_id: str, words: str = "hi") -> None:
        self.client.sampling.resolve(self.pending(task_id).id, words)

    def fill_in(self, task_id: str, **answer: Any) -> None:
        self.client.elicitation.resolve(self.pending(task_id).id, answer)

    def told(self) -> list[tuple[str, str]]:
        """What the server was told on its own accord: task and status."""
        return [
            (one["params"]["taskId"], one["params"]["status"]) for one in self.server.sent(STATUS)
        ]

    def steps(self) -> list[str]:
        events = self.events(ReceiverTaskChanged)
        return ["gone" if event.is_gone else event.status for event in events]
