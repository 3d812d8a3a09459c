"""What servers ask (sampling, elicitation), and the answers of a person or of a profile."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.protocol.elicitation import host_of, is_openable, url_warnings
from mcplens.protocol.frames import RequestId, decode_value
from mcplens.store.lenient_json import to_json
from mcplens.web.registry import NOTHING, Command, command, latest_view
from mcplens.web.safe_json import raw_json
from mcplens.workspace.calls import Call
from mcplens.workspace.questions import Question
from mcplens.workspace.tool_choice import ProfileOptions
from mcplens.workspace.workspace import Workspace


class LinkView(msgspec.Struct, frozen=True):
    """A URL that a person is asked to open: where a browser would really go, and what is odd.

    One that is not `is_openable` must not be handed to a browser.
    """

    url: str
    host: str
    warnings: list[str]
    is_openable: bool


def link_view(question: Question) -> LinkView:
    """The URL of a question, read as a browser will."""
    url = question.params.get("url") if isinstance(question.params, dict) else None
    return LinkView(
        url if isinstance(url, str) else "",
        host_of(url),
        list(url_warnings(url)),
        is_openable(url),
    )


def awaited_links(workspace: Workspace, call: Call) -> list[LinkView]:
    """URLs that a person agreed to open for a running call, and that the server still waits for."""
    if not call.is_running:
        return []
    own = [one for one in workspace.questions if one.call_id == call.call_id]
    # Without an id no completion is reported: the next question, or the result, tells.
    awaited = [
        one
        for place, one in enumerate(own, 1)
        if one.is_awaited and (one.elicitation_id is not None or place == len(own))
    ]
    links = {link.url: link for link in map(link_view, awaited)}
    return list(links.values())


class QuestionView(msgspec.Struct, frozen=True, kw_only=True):
    """What a server asks or asked: it waits, or `is_done` with an `outcome`.

    `server_name` is how the server calls itself, `server_id` how the user does. `number` of
    `count` is its place among those that wait for the same call. `origin` says how it came: as a
    `request`, as a `task` that we hold, as `input_required` (in round `round` of `most_rounds`),
    with the `error` -32042, or from an `app` of the server. `answering_by` is a profile that is at
    work on it.
    """

    question_id: str
    server_id: str
    server_name: str | None
    method: str
    mode: str | None
    params: Raw
    request_id: RequestId | None
    request_seq: int | None
    caused_by_seq: int | None
    is_inferred: bool
    call_id: str | None
    number: int
    count: int
    origin: str
    round: int | None
    most_rounds: int | None
    task_id: str | None
    link: LinkView | None
    opened: float
    deadline: float | None
    profile: str | None
    answering_by: str | None
    answered_by: str | None
    is_done: bool
    outcome: str | None


def question_view(workspace: Workspace, question: Question) -> QuestionView:
    """A question, with the call that it belongs to."""
    server = workspace.servers.get(question.server_id)
    client = server.client if server is not None else None
    waiting = [one.question_id for one in workspace.questions.beside(question)]
    is_waiting = question.question_id in waiting
    return QuestionView(
        question_id=question.question_id,
        server_id=question.server_id,
        server_name=_name_in(client.server_info if client is not None else {}),
        method=question.method,
        mode=question.mode,
        params=raw_json(to_json(question.params)),
        request_id=question.request_id,
        request_seq=question.request_seq,
        caused_by_seq=question.caused_by_seq,
        is_inferred=question.is_inferred,
        call_id=question.call_id,
        number=waiting.index(question.question_id) + 1 if is_waiting else 0,
        count=len(waiting),
        origin=question.origin,
        round=question.round,
        most_rounds=question.most_rounds,
        task_id=question.task_id,
        link=link_view(question) if question.mode == "url" else None,
        opened=question.opened,
        deadline=question.deadline,
        profile=server.answer_settings.profile if server is not None else None,
        answering_by=question.answering_by,
        answered_by=question.answered_by,
        is_done=question.is_done,
        outcome=question.outcome,
    )


@latest_view("questions")
def latest_question(workspace: Workspace, key: str) -> QuestionView | None:
    question = workspace.questions.get(key)
    return None if question is None else question_view(workspace, question)


def _name_in(info: dict[str, Any]) -> str | None:
    name = info.get("title") or info.get("name")
    return name if isinstance(name, str) else None


class AnswerSampling(Command, frozen=True, kw_only=True):
    """`result` is a CreateMessageResult; `force` sends one that breaks the rules."""

    question_id: str
    result: Raw
    force: bool = False


@command
async def answer_sampling(workspace: Workspace, command: AnswerSampling) -> None:
    workspace.bus_reader.catch_up()
    result = _value(command.result)
    workspace.answers.resolve(command.question_id, result, force=command.force)


class AnswerElicitation(Command, frozen=True, kw_only=True):
    """`content` is sent as it is: no default is filled in. `force` sends what breaks the form."""

    question_id: str
    action: Literal["accept", "decline", "cancel"]
    content: Raw = NOTHING
    force: bool = False


@command
async def answer_elicitation(workspace: Workspace, command: AnswerElicitation) -> None:
    workspace.bus_reader.catch_up()
    result: dict[str, Any] = {"action": command.action}
    if bytes(command.content) not in (b"", b"null"):
        result["content"] = _value(command.content)
    # The form began with the defaults: what a person emptied stays out.
    workspace.answers.resolve(command.question_id, result, force=command.force, is_whole=True)


def _value(raw: Raw) -> Any:
    try:
        return decode_value(raw)[0]
    except ValueError as problem:
        raise InspectorError("INVALID_REQUEST", f"not valid JSON: {problem}") from None


class RejectQuestion(Command, frozen=True, kw_only=True):
    """Refuse to answer, with the reason that is sent to the server."""

    question_id: str
    reason: str = ""


@command
async def reject(workspace: Workspace, command: RejectQuestion) -> None:
    workspace.bus_reader.catch_up()
    workspace.answers.reject(command.question_id, command.reason)


class AutoRespond(Command, frozen=True, kw_only=True):
    """Let a testing profile answer; `auto` is one that knows what to do with any question.

    Its answer is checked like a person's, and the question stays open if it is not sent.
    `options`: `tool_choice` (auto, none, required, specific) in place of the server's, `tool` for
    specific, `force`.
    """

    question_id: str
    profile: str
    options: dict[str, Any] = {}


@command
async def auto_respond(workspace: Workspace, command: AutoRespond) -> None:
    workspace.bus_reader.catch_up()
    try:
        options = msgspec.convert(command.options, ProfileOptions)
    except msgspec.ValidationError as problem:
        raise InspectorError("INVALID_REQUEST", f"options: {problem}") from None
    await workspace.answers.auto_respond(command.question_id, command.profile, options)
