"""Questions from servers (sampling, elicitation): the open ones, and the last that were closed.

Kept up to date from events, for all servers together, so that a page that is opened later shows
the same. `handler_of` finds the client's handler that answers a question.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.events import (
    ElicitationCompleted,
    Event,
    InputRoundStarted,
    QuestionClosed,
    QuestionOpened,
)
from mcplens.protocol.elicitation import mode_of
from mcplens.protocol.frames import RequestId
from mcplens.session.client import Client
from mcplens.session.question_handler import QuestionHandler
from mcplens.store.lenient_json import to_json

# Closed questions that are still listed; of a large one only these fields are kept.
_MOST_ENDED: Final = 100
_LARGEST_ENDED: Final = 10_000
_KEPT_FIELDS: Final = ("mode", "message", "url", "elicitationId")
# Questions per call whose position is updated when one opens or closes: as many as a person sees.
# Updating thousands for each change would block everything.
_MOST_UPDATED: Final = 6
# Input rounds whose questions may still open.
_MOST_ROUNDS: Final = 200
KINDS: Final = frozenset({QuestionOpened, QuestionClosed, ElicitationCompleted, InputRoundStarted})


class Question(msgspec.Struct):
    """A question from a server; `outcome` says how it ended."""

    question_id: str  # of all servers: "server/id"
    local_id: str  # as the server's client knows it
    server_id: str
    method: str
    params: Any
    request_id: RequestId | None
    request_seq: int | None
    caused_by_seq: int | None
    is_inferred: bool
    call_id: str | None
    origin: str
    task_id: str | None
    opened: float
    deadline: float | None
    round: int | None = None
    most_rounds: int | None = None
    answering_by: str | None = None  # the profile that is answering it now
    answered_by: str | None = None
    is_accepted: bool = False  # a person agreed to open the URL
    is_completed: bool = False  # the server reported that it is
    outcome: str | None = None

    @property
    def is_done(self) -> bool:
        return self.outcome is not None

    @property
    def mode(self) -> str | None:
        """How an elicitation asks: `form` or `url`."""
        return mode_of(self.params) if self.method == "elicitation/create" else None

    @property
    def elicitation_id(self) -> str | None:
        found = self.params.get("elicitationId") if isinstance(self.params, dict) else None
        return found if isinstance(found, str) else None

    @property
    def is_awaited(self) -> bool:
        """A person agreed to open a URL, and the server has not reported that it is done."""
        return self.mode == "url" and self.is_accepted and not self.is_completed


def handler_of(client: Client, method: str) -> QuestionHandler:
    """The handler of a client that answers a method.

    Raises:
        InspectorError: there is none.
    """
    for handler in (client.sampling, client.elicitation):
        if handler.method == method:
            return handler
    raise InspectorError("INVALID_REQUEST", f"{method} cannot be answered here")


def _kept_params(params: Any) -> Any:
    """The params to keep of a closed question; the recording has all of them."""
    if len(to_json(params)) <= _LARGEST_ENDED:
        return params
    fields = params if isinstance(params, dict) else {}
    return {name: fields[name] for name in _KEPT_FIELDS if _is_short(fields.get(name))}


def _is_short(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LARGEST_ENDED // len(_KEPT_FIELDS)


class QuestionList:
    """The open questions, oldest first, and the last that were closed."""

    def __init__(self, changed: Callable[[str, str], None]) -> None:
        self._changed = changed
        self._questions: OrderedDict[str, Question] = OrderedDict()
        self._rounds: OrderedDict[int, InputRoundStarted] = OrderedDict()  # by request_seq
        self._moved: list[Question] = []  # opened or closed since `update_positions`

    def __repr__(self) -> str:
        return f"<QuestionList {len(self.waiting())} waiting>"

    def __iter__(self) -> Iterator[Question]:
        return iter(list(self._questions.values()))

    def waiting(self) -> list[Question]:
        return [question for question in self._questions.values() if not question.is_done]

    def beside(self, question: Question) -> list[Question]:
        """The open questions of the same server and call, this one included."""
        return [
            one
            for one in self.waiting()
            if one.server_id == question.server_id and one.call_id == question.call_id
        ]

    def get(self, question_id: str) -> Question | None:
        return self._questions.get(question_id)

    def find(self, question_id: str) -> Question:
        """An open question.

        Raises:
            InspectorError: QUESTION_GONE; it is closed, or not known.
        """
        question = self._questions.get(question_id)
        if question is None or question.is_done:
            raise InspectorError("QUESTION_GONE", "this question was answered or withdrawn")
        return question

    def notify(self, question: Question) -> None:
        """Notify subscribers that a question changed."""
        self._changed(question.question_id, question.server_id)

    # -- what happened -------------------------------------------------------------------------

    def handle_event(self, event: Event) -> Question | None:
        """Update the questions from an event; returns the one that it opened or closed."""
        question: Question | None = None
        if isinstance(event, QuestionOpened):
            question = self._opened(event)
        elif isinstance(event, QuestionClosed):
            key = f"{event.server_id}/{event.question_id}"
            question = self._closed(key, event.outcome, event.answered_by)
        elif isinstance(event, ElicitationCompleted):
            question = self._completed(event.server_id, event.elicitation_id)
        elif isinstance(event, InputRoundStarted) and event.request_seq is not None:
            self._rounds[event.request_seq] = event
            while len(self._rounds) > _MOST_ROUNDS:
                self._rounds.popitem(last=False)
        if question is not None:
            self._moved.append(question)
        return question

    def update_positions(self) -> set[str]:
        """Notify subscribers of questions whose position among the open ones changed.

        Returns the calls whose open questions changed.
        """
        moved, self._moved = self._moved, []
        if not moved:
            return set()
        servers = {question.server_id for question in moved}
        ids = {question.question_id for question in moved}
        seen: Counter[tuple[str, str | None]] = Counter()
        for question in self.waiting():
            if question.server_id not in servers:
                continue
            seen[question.server_id, question.call_id] += 1
            is_near = seen[question.server_id, question.call_id] <= _MOST_UPDATED
            if is_near or question.question_id in ids:
                self.notify(question)
        return {question.call_id for question in moved if question.call_id is not None}

    def _opened(self, event: QuestionOpened) -> Question:
        server_id, wall = event.server_id, event.wall
        key = f"{server_id}/{event.question_id}"
        self._questions.pop(key, None)
        round_ = None
        if event.caused_by_seq is not None and event.origin in ("input_required", "error"):
            round_ = self._rounds.get(event.caused_by_seq)
        question = self._questions[key] = Question(
            question_id=key,
            local_id=event.question_id,
            server_id=server_id,
            method=event.method,
            params=event.params,
            request_id=event.request_id,
            request_seq=event.request_seq,
            caused_by_seq=event.caused_by_seq,
            is_inferred=event.is_inferred,
            call_id=event.call_id,
            origin=event.origin,
            task_id=event.task_id,
            opened=wall,
            deadline=None if event.timeout_s is None else wall + event.timeout_s,
            round=None if round_ is None else round_.round,
            most_rounds=None if round_ is None else round_.most_rounds,
        )
        self.notify(question)
        return question

    def _closed(self, key: str, outcome: str, answered_by: str = "") -> Question | None:
        question = self._questions.get(key)
        if question is None or question.is_done:
            return None
        question.outcome = outcome
        question.answered_by = answered_by or None
        question.answering_by = None
        question.params = _kept_params(question.params)
        self.notify(question)
        ended = [one for one in self._questions.values() if one.is_done]
        for old in ended[: max(0, len(ended) - _MOST_ENDED)]:
            del self._questions[old.question_id]
            self.notify(old)
        return question

    def _completed(self, server_id: str, elicitation_id: str) -> Question | None:
        for question in reversed(self._questions.values()):
            if question.server_id == server_id and question.elicitation_id == elicitation_id:
                question.is_completed = True
                self.notify(question)
                return question
        return None

    def reconcile(self, server_id: str, client: Client) -> list[Question]:
        """Events were missed: take the open questions from the client; returns the new ones."""
        handlers: tuple[QuestionHandler, ...] = (client.sampling, client.elicitation)
        pending = {f"{server_id}/{one.id}": one for each in handlers for one in each.get_pending()}
        for question in self.waiting():
            if question.server_id == server_id and question.question_id not in pending:
                self._closed(question.question_id, "no longer waits")
        opened = []
        for key, one in pending.items():
            if key in self._questions:
                continue
            asked = one.request
            event = QuestionOpened(
                wall=one.created_at,
                server_id=server_id,
                question_id=one.id,
                method=asked.method,
                params=asked.params,
                request_id=asked.id if asked.origin in ("request", "task") else None,
                request_seq=asked.request_seq,
                caused_by_seq=asked.caused_by_seq,
                is_inferred=asked.is_inferred,
                call_id=asked.call_id,
                origin=asked.origin,
                task_id=asked.task_id,
                timeout_s=one.timeout_s,
            )
            opened.append(self._opened(event))
        self._moved += self._questions.values()
        return opened
