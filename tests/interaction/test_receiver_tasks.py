"""server-everything asks with `task` and polls us once a second, on all its transports."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import mcplens
from mcplens.events import QuestionOpened, ReceiverTaskChanged, ServerRequestReceived

from .scenario import Ear, over, text_of
from .targets import Door, Target

pytestmark = pytest.mark.asyncio(loop_scope="module")

SAMPLE, ELICIT = "trigger-sampling-request-async", "trigger-elicitation-request-async"
ON: dict[str, Any] = {
    "sampling": True,
    "elicitation": True,
    "receiver_tasks": True,
    "request_handlers": {},
}


def is_everything(target: Target) -> bool:
    return target.server == "everything"


async def asked_by(
    client: mcplens.Client, tool: str, arguments: Any = None
) -> tuple[asyncio.Task[mcplens.ToolResult], QuestionOpened]:
    """Call a tool, and come back when it has polled the task that it asked for."""
    ear = Ear(client)
    call = asyncio.get_running_loop().create_task(client.call_tool(tool, arguments))
    question = await ear.hear(QuestionOpened)
    await ear.hear(ServerRequestReceived, lambda event: event.method == "tasks/get")
    return call, question


@over(where=is_everything)
async def test_the_answer_of_a_model_is_polled_for(door: Door) -> None:
    async with door.connect(**ON) as client:
        call, question = await asked_by(client, SAMPLE, {"prompt": "what is a task?"})
        client.sampling.resolve(question.question_id, "a promise")
        text = text_of(await call)
        assert text.startswith("[COMPLETED] Async sampling completed!")
        assert "Poll 1: input_required - Awaiting user input" in text
        assert ": completed" in text
        assert '"text": "a promise"' in text
        assert question.task_id is not None
        assert question.task_id in text  # as the task's id, and in the result as its related task


@over(where=is_everything)
async def test_a_form_is_polled_for(door: Door) -> None:
    async with door.connect(**ON) as client:
        call, question = await asked_by(client, ELICIT)
        filled = {"name": "Ada", "favoriteColor": "Green", "agreeToTerms": True}
        client.elicitation.resolve(question.question_id, {"action": "accept", "content": filled})
        text = text_of(await call)
        assert "[COMPLETED] User provided the requested information!" in text
        assert "- Name: Ada\n- Favorite Color: Green\n- Agreed to terms: true" in text


@over(where=is_everything)
async def test_a_form_that_is_declined_fails_its_task(door: Door) -> None:
    async with door.connect(**ON) as client:
        call, question = await asked_by(client, ELICIT)
        client.elicitation.resolve(question.question_id, {"action": "decline"})
        assert text_of(await call).startswith("[FAILED] the user declined to answer")
        moves = [event.status for event in Ear(client, from_start=True).heard(ReceiverTaskChanged)]
        assert moves == ["input_required", "failed"]


@over(where=is_everything)
async def test_a_form_that_is_declined_completes_its_task_by_the_switch(door: Door) -> None:
    async with door.connect(completes_declined_tasks=True, **ON) as client:
        call, question = await asked_by(client, ELICIT)
        client.elicitation.resolve(question.question_id, {"action": "decline"})
        assert "[DECLINED] User declined to provide" in text_of(await call)
