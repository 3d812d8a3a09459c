"""What servers ask and nobody has answered yet, of all servers together.

Follows the events that tell of it, so that whoever looks later sees the same. Answering is the
client's: `handler_of` is the one place that knows who answers what.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import msgspec

from mcplens.bus import Published
from mcplens.errors import InspectorError
from mcplens.events import QuestionClosed, QuestionOpened
from mcplens.protocol.frames import RequestId
from mcplens.session.client import Client

# Questions that ended, shown until the page has taken note.
_MOST_ENDED: Final = 100
KINDS: Final = frozenset({QuestionOpened, QuestionClosed})

_ATTRIBUTES: Final = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation"}


class Question(msgspec.Struct):
    """A question of a server's; `outcome` says how it ended."""

    question_id: str  # of all servers: "server/id"
    local_id: str  # as the server's client knows it
    server_id: str
    method: str
    params: Any
    request_id: RequestId | None
    caused_by: RequestId | None
    origin: str
    task_id: str | None
    opened: float
    deadline: float | None
    outcome: str | None = None

    @property
    def is_done(self) -> bool:
        return self.outcome is not None


class Handler(Protocol):
    """Who holds the questions of one kind, and takes their answers."""

    def resolve(self, request_id: str, result: Any, *, force: bool = False) -> None: ...
    def reject(self, request_id: str, reason: str = ...) -> None: ...
    def get_pending(self) -> list[Any]: ...


def handler_of(client: Client, method: str) -> Handler:
    """Who answers a method of the server's.

    Raises:
        InspectorError: nobody does.
    """
    handler: Handler | None = getattr(client, _ATTRIBUTES.get(method, ""), None)
    if handler is None:
        raise InspectorError("INVALID_REQUEST", f"{method} cannot be answered here")
    return handler


class Questions:
    """The questions that wait, oldest first, and the last that ended."""

    def __init__(self, changed: Callable[[str, str], None]) -> None:
        self._changed = changed
        self._questions: OrderedDict[str, Question] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Questions {len(self.waiting())} waiting>"

    def __iter__(self) -> Iterator[Question]:
        return iter(list(self._questions.values()))

    def waiting(self) -> list[Question]:
        return [question for question in self if not question.is_done]

    def get(self, question_id: str) -> Question | None:
        return self._questions.get(question_id)

    def find(self, question_id: str) -> Question:
        """A question that waits.

        Raises:
            InspectorError: it does not, or no longer.
        """
        question = self._questions.get(question_id)
        if question is None or question.is_done:
            raise InspectorError("INVALID_REQUEST", "this question was answered or withdrawn")
        return question

    def heed(self, published: Published) -> None:
        """Take note of a question that was opened or closed."""
        kind, server_id, _, wall, _, fields, _ = published
        if kind is QuestionOpened:
            self._opened(server_id, wall, QuestionOpened("", 0, wall, 0.0, server_id, *fields))
        else:
            self._closed(f"{server_id}/{fields[0]}", str(fields[2]))

    def _opened(self, server_id: str, wall: float, event: QuestionOpened) -> None:
        key = f"{server_id}/{event.question_id}"
        self._questions.pop(key, None)
        self._questions[key] = Question(
            question_id=key,
            local_id=event.question_id,
            server_id=server_id,
            method=event.method,
            params=event.params,
            request_id=event.request_id,
            caused_by=event.caused_by,
            origin=event.origin,
            task_id=event.task_id,
            opened=wall,
            deadline=None if event.timeout_s is None else wall + event.timeout_s,
        )
        self._changed(key, server_id)

    def _closed(self, key: str, outcome: str) -> None:
        question = self._questions.get(key)
        if question is None:
            return
        question.outcome = outcome
        self._changed(key, question.server_id)
        ended = [one for one in self if one.is_done]
        for old in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del self._questions[old.question_id]

    def reconcile(self, server_id: str, waiting: set[str]) -> None:
        """Events were missed: only these (by the client's ids) still wait."""
        for question in self.waiting():
            if question.server_id == server_id and question.local_id not in waiting:
                self._closed(question.question_id, "no longer waits")
