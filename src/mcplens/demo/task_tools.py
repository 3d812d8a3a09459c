"""Tools whose calls may become tasks: the server works on while the client does something else.

2025-11-25: call them with `task` in the params. 2026-07-28: a client that declares the extension
io.modelcontextprotocol/tasks is given a task whenever the server likes, which is always.
"""

from __future__ import annotations

from typing import Final

from mcplens.demo.asking import ask
from mcplens.demo.call import Call
from mcplens.demo.calling import start_task
from mcplens.demo.elicitation import NAME_ONLY, accepted, form
from mcplens.demo.registry import Failure, Fault, Json, text, tool
from mcplens.demo.tasks import EXTENSION

_OPTIONAL: Final = {"taskSupport": "optional"}
_WORK: Final = {
    "steps": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3},
    "seconds": {"type": "number", "minimum": 0, "maximum": 60, "default": 0.5},
}


async def _work(call: Call) -> int:
    total: int = call.arguments.get("steps", 3)
    for step in range(1, total + 1):
        await call.clock.sleep(call.arguments.get("seconds", 0.5))
        call.progress(step, total, f"step {step}")
        if call.task is not None:
            call.task.report(f"step {step} of {total}")
    return total


@tool(
    "task-report",
    "Works for a while, as a task or as an ordinary call: see its status change as you poll.",
    _WORK,
    execution=_OPTIONAL,
)
async def report(call: Call) -> Json:
    return text(f"the report has {await _work(call)} pages")


@tool(
    "task-only",
    "Can be called as a task only: an ordinary call is refused.",
    _WORK,
    execution={"taskSupport": "required"},
)
async def only(call: Call) -> Json:
    return text(f"{await _work(call)} steps in the background")


@tool(
    "task-ask",
    "A task that needs to know something: its status becomes input_required until you answer.",
    execution=_OPTIONAL,
)
async def needs_input(call: Call) -> Json:
    question = form("Who ordered this work?", NAME_ONLY)
    answer = await ask(call, "who", "elicitation/create", question)
    return text(f"done for {accepted(answer, NAME_ONLY)['name']}")


@tool(
    "task-after-form",
    "In 2026-07-28 asks first (input_required) and becomes a task only then; elsewhere, and for "
    "clients without the extension, it is an ordinary call.",
    _WORK,
)
async def after_form(call: Call) -> Json:
    answer = await ask(call, "who", "elicitation/create", form("Who orders this?", NAME_ONLY))
    name = accepted(answer, NAME_ONLY)["name"]

    async def work() -> Json:
        return text(f"{await _work(call)} steps were done for {name}")

    if call.is_stateless and call.declares("extensions", EXTENSION):
        return start_task(call, work())
    return await work()


@tool(
    "task-fail",
    "A task that fails: as a tool's result (isError) or as a JSON-RPC error.",
    {"how": {"type": "string", "enum": ["result", "error"], "default": "result"}},
    execution=_OPTIONAL,
)
async def fails(call: Call) -> Json:
    if call.arguments.get("how") == "error":
        raise Fault(-32000, "the task failed", {"how": "error"})
    raise Failure("the task failed")
