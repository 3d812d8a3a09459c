"""A person who is asked something, and the form that is mostly asked."""

from __future__ import annotations

import asyncio
from typing import Any

from mcplens.errors import ServerError
from mcplens.session.question_handler import ServerRequest

ELICIT = "elicitation/create"

FORM = {"method": ELICIT, "params": {"message": "who?", "requestedSchema": {"type": "object"}}}
ACCEPTED = {"action": "accept", "content": {"name": "Ada"}}


class Person:
    """Sees what is asked, and answers when the test says so."""

    def __init__(self) -> None:
        self.asked: dict[str, ServerRequest] = {}
        self.withdrawn: list[str] = []
        self._answers: dict[str, asyncio.Future[Any]] = {}

    async def __call__(self, request: ServerRequest) -> Any:
        key = str(request.id).partition("/")[2]
        self.asked[key] = request
        self._answers[key] = asyncio.get_running_loop().create_future()
        try:
            return await self._answers[key]
        except asyncio.CancelledError:
            self.withdrawn.append(key)
            raise

    def answer(self, key: str, answer: Any) -> None:
        self._answers[key].set_result(answer)

    def refuse(self, key: str, why: str) -> None:
        self._answers[key].set_exception(ServerError(-1, why))
