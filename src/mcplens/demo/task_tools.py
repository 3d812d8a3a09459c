"""Tools whose calls may run as background tasks.

2025-11-25: call them with `task` in the params. 2026-07-28: a client that declares the extension
io.modelcontextprotocol/tasks always gets a task.
"""

from __future__ import annotations

from typing import Final

from mcplens.demo.client_questions import ask
from mcplens.demo.elicitation import NAME_ONLY, accepted, form
from mcplens.demo.registry import Fault, Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext
from mcplens.demo.tasks import EXTENSION
from mcplens.demo.tool_calls import start_task

_OPTIONAL: Final = {"taskSupport": "optional"}
_WORK: Final = {
    "steps": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3},
    "seconds": {"type": "number", "minimum": 0, "maximum": 60, "default": 0.5},
}


async def _work(context: RequestContext) -> int:
    total: int = context.arguments.get("steps", 3)
    for step in range(1, total + 1):
        await context.clock.sleep(context.arguments.get("seconds", 0.5))
        context.progress(step, total, f"step {step}")
        if context.task is not None:
            context.task.report(f"step {step} of {total}")
    return total


@tool(
    "task-report",
    "Works for a while, as a task or as an ordinary call: see its status change as you poll.",
    _WORK,
    execution=_OPTIONAL,
)
async def report(context: RequestContext) -> Json:
    return text(f"the report has {await _work(context)} pages")


@tool(
    "task-only",
    "Can be called as a task only: an ordinary call is refused.",
    _WORK,
    execution={"taskSupport": "required"},
)
async def only(context: RequestContext) -> Json:
    return text(f"{await _work(context)} steps in the background")


@tool(
    "task-ask",
    "A task that needs to know something: its status becomes input_required until you answer.",
    execution=_OPTIONAL,
)
async def needs_input(context: RequestContext) -> Json:
    question = form("Who ordered this work?", NAME_ONLY)
    answer = await ask(context, "who", "elicitation/create", question)
    return text(f"done for {accepted(answer, NAME_ONLY)['name']}")


@tool(
    "task-after-form",
    "In 2026-07-28 asks first (input_required) and becomes a task only then; elsewhere, and for "
    "clients without the extension, it is an ordinary call.",
    _WORK,
)
async def after_form(context: RequestContext) -> Json:
    answer = await ask(context, "who", "elicitation/create", form("Who orders this?", NAME_ONLY))
    name = accepted(answer, NAME_ONLY)["name"]

    async def work() -> Json:
        return text(f"{await _work(context)} steps were done for {name}")

    if context.is_stateless and context.declares("extensions", EXTENSION):
        return start_task(context, work())
    return await work()


@tool(
    "task-fail",
    "A task that fails: as a tool's result (isError) or as a JSON-RPC error.",
    {"how": {"type": "string", "enum": ["result", "error"], "default": "result"}},
    execution=_OPTIONAL,
)
async def fails(context: RequestContext) -> Json:
    if context.arguments.get("how") == "error":
        raise Fault(-32000, "the task failed", {"how": "error"})
    raise ToolFailure("the task failed")
