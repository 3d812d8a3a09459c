"""Commands that answer what a server asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from mcplens.protocol.frames import decode_value
from mcplens.web import commands as c
from mcplens.workspace.questions import Handler, Question, handler_of
from mcplens.workspace.workspace import Workspace


async def answer_sampling(workspace: Workspace, command: c.AnswerSampling) -> None:
    question, handler = _found(workspace, command.question_id)
    handler.resolve(question.local_id, decode_value(command.result)[0], force=command.force)


async def answer_elicitation(workspace: Workspace, command: c.AnswerElicitation) -> None:
    question, handler = _found(workspace, command.question_id)
    result: dict[str, Any] = {"action": command.action}
    if bytes(command.content) not in (b"", b"null"):
        result["content"] = msgspec.json.decode(command.content)
    handler.resolve(question.local_id, result, force=command.force)


async def reject(workspace: Workspace, command: c.RejectQuestion) -> None:
    question, handler = _found(workspace, command.question_id)
    if command.reason:
        handler.reject(question.local_id, command.reason)
    else:
        handler.reject(question.local_id)


def _found(workspace: Workspace, question_id: str) -> tuple[Question, Handler]:
    workspace.follower.catch_up()
    question = workspace.questions.find(question_id)
    client = workspace.find(question.server_id).ready()
    return question, handler_of(client, question.method)


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.AnswerSampling: answer_sampling,
    c.AnswerElicitation: answer_elicitation,
    c.RejectQuestion: reject,
}
