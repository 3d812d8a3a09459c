"""Questions to the client, in both eras: roots, sampling, elicitation.

2025-11-25 sends the client a request and waits. 2026-07-28 answers the client's own request with
the questions (`input_required`); it comes again with the answers, and the work is done from the
start. What was answered in earlier rounds travels in `requestState`, sealed against tampering.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
from typing import Any, Final, NamedTuple

import msgspec

from mcplens.demo.registry import Fault, Json, ToolFailure
from mcplens.demo.request_context import RequestContext
from mcplens.inbound.refusal import INVALID_PARAMS
from mcplens.protocol.eras import MISSING_CAPABILITY

# New in every process: state from before a restart is refused.
_KEY: Final = secrets.token_bytes(32)

_CAPABILITY_OF: Final = {
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
    "roots/list": "roots",
}


class ClientQuestion(NamedTuple):
    """Something to ask the client."""

    method: str
    params: Json


class InputNeeded(Exception):
    """2026-07-28: answer with these questions."""

    def __init__(self, questions: dict[str, ClientQuestion], state: str) -> None:
        super().__init__(f"{len(questions)} questions")
        self.questions = questions
        self.state = state

    @property
    def result(self) -> Json:
        return {
            "resultType": "input_required",
            "inputRequests": requests(self.questions),
            "requestState": self.state,
        }


def requests(questions: dict[str, ClientQuestion]) -> Json:
    """Questions as 2026-07-28 writes them."""
    return {key: {"method": ask.method, "params": ask.params} for key, ask in questions.items()}


async def ask(context: RequestContext, key: str, method: str, params: Json) -> Json:
    """Ask one thing; `key` names the question among those of this request."""
    answers = await ask_all(context, {key: ClientQuestion(method, params)})
    return answers[key]


async def ask_all(context: RequestContext, questions: dict[str, ClientQuestion]) -> dict[str, Json]:
    """Ask several things at once.

    Raises:
        ToolFailure, Fault: the client lacks the capability, or refused to answer.
        InputNeeded: 2026-07-28: not everything is answered yet.
    """
    for question in questions.values():
        require(context, question)
    if context.task is not None:
        return await context.task.ask(questions)
    if not context.is_stateless:
        asked = [context.client.ask(*question, context.id) for question in questions.values()]
        return dict(zip(questions, await asyncio.gather(*asked), strict=True))
    answers = _answers(context)
    missing = {key: question for key, question in questions.items() if key not in answers}
    if missing:
        raise InputNeeded(missing, _seal(context, answers))
    for key, question in questions.items():
        check_answer(key, question, answers[key])
    return {key: answers[key] for key in questions}


def require(context: RequestContext, question: ClientQuestion) -> None:
    """Check that the client declared the capability for this question.

    Raises:
        ToolFailure, Fault: it did not.
    """
    name = _CAPABILITY_OF[question.method]
    needed: Json = {name: {}}
    if question.params.get("mode") == "url":
        needed = {name: {"url": {}}}
    elif "tools" in question.params:
        needed = {name: {"tools": {}}}
    elif name == "elicitation" and context.capabilities.get(name):
        needed = {name: {"form": {}}}  # an empty capability means forms, too
    path = (name, *needed[name])
    if not context.declares(*path):
        text = f"this needs a client with the capability {'.'.join(path)}"
        if not context.is_stateless:
            raise ToolFailure(text)
        raise Fault(MISSING_CAPABILITY, text, {"requiredCapabilities": needed})


_FIELD_OF_ANSWER: Final = {
    "sampling/createMessage": "content",
    "elicitation/create": "action",
    "roots/list": "roots",
}


def check_answer(key: str, question: ClientQuestion, answer: Any) -> None:
    """Check that an answer is valid.

    Raises:
        Fault: it is not.
    """
    field = _FIELD_OF_ANSWER[question.method]
    if not isinstance(answer, dict) or field not in answer:
        text = f"the answer to {key!r} ({question.method}) has no {field!r}"
        raise Fault(INVALID_PARAMS, text)


# -- what was answered so far ------------------------------------------------------------------


def _answers(context: RequestContext) -> dict[str, Json]:
    """The answers of earlier rounds and of this one."""
    given = context.params.get("inputResponses", {})
    if not isinstance(given, dict):
        raise Fault(INVALID_PARAMS, "inputResponses is not an object")
    state = context.params.get("requestState")
    earlier = {} if state is None else _unseal(context, state)
    return {**earlier, **given}


def _seal(context: RequestContext, answers: dict[str, Json]) -> str:
    body = msgspec.json.encode(answers)
    return base64.urlsafe_b64encode(_signature(context, body) + body).decode()


def _unseal(context: RequestContext, state: Any) -> dict[str, Json]:
    try:
        data = base64.b64decode(str(state).encode(), altchars=b"-_", validate=True)
    except ValueError:
        data = b""
    signature, body = data[:32], data[32:]
    if not hmac.compare_digest(signature, _signature(context, body)):
        raise Fault(INVALID_PARAMS, "requestState was not issued for this request")
    answers: dict[str, Json] = msgspec.json.decode(body)
    return answers


def _signature(context: RequestContext, body: bytes) -> bytes:
    """Binds state to the request that it was made for, and to who sent it."""
    about = [
        context.method,
        context.params.get("name"),
        context.params.get("uri"),
        context.arguments,
    ]
    bound = msgspec.json.encode([context.client.peer.caller, *about], order="sorted")
    return hmac.new(_KEY, bound + b"\0" + body, hashlib.sha256).digest()
