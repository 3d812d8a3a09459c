"""Tasks that the client runs for the server (2025-11-25), and the server polls.

The question is sent with `task`; the client answers with a task at once, and with the real answer
when the server asks tasks/result for it.
"""

from __future__ import annotations

from typing import Final

from mcplens.demo.elicitation import NAME_ONLY, form
from mcplens.demo.registry import Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.demo.sampling import question, spoken
from mcplens.demo.tasks import TERMINAL

_TTL_MS: Final = 60_000
# How often a client is asked that says nothing of it.
_POLL_MS: Final = 500
_MOST_POLLS: Final = 600


@tool(
    "client-task-sample",
    "Asks the client's model in a task of the client's own, and polls it until it is done. "
    "2025-11-25 alone has this.",
)
async def sample(context: RequestContext) -> Json:
    asked = question("What is a task?", 100)
    answer = await _as_task(context, "sampling", "createMessage", "sampling/createMessage", asked)
    return text(f"{answer.get('model')} says: {spoken(answer)}")


@tool(
    "client-task-elicit",
    "Asks for a form in a task of the client's own, and polls it until it is filled in. "
    "2025-11-25 alone has this.",
)
async def elicit(context: RequestContext) -> Json:
    asked = form("Take your time: what is your name?", NAME_ONLY)
    answer = await _as_task(context, "elicitation", "create", "elicitation/create", asked)
    return text(f"{answer.get('action')}: {answer.get('content')}")


async def _as_task(
    context: RequestContext, feature: str, verb: str, method: str, params: Json
) -> Json:
    if context.is_stateless:
        raise ToolFailure("2026-07-28 has no requests to clients, so they cannot run tasks")
    if not context.declares("tasks", "requests", feature, verb):
        raise ToolFailure(
            f"this needs a client with the capability tasks.requests.{feature}.{verb}"
        )
    client = context.client
    created = await client.ask(method, {**params, "task": {"ttl": _TTL_MS}}, context.id)
    task = created.get("task")
    if not isinstance(task, dict) or not isinstance(task.get("taskId"), str):
        raise ToolFailure("the client answered without a task")
    named = {"taskId": task["taskId"]}
    for number in range(1, _MOST_POLLS):
        context.progress(number, None, f"the client's task is {task.get('status')}")
        if task.get("status") in TERMINAL or task.get("status") == "input_required":
            break
        await context.clock.sleep(task.get("pollInterval", _POLL_MS) / 1000)
        task = await client.ask("tasks/get", named, context.id)
    # tasks/result waits until the task is over; it fails as the question would have failed.
    return await client.ask("tasks/result", named, context.id)
