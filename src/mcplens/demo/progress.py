"""Progress, with and without a known end."""

from __future__ import annotations

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext

_SECONDS = {"type": "number", "minimum": 0, "maximum": 60, "default": 0.5}
_STEPS = {"type": "integer", "minimum": 1, "maximum": 1_000, "default": 5}


@tool(
    "progress-steps",
    "Reports progress after each step, with the total and a message.",
    {"steps": _STEPS, "seconds": {**_SECONDS, "description": "How long one step takes."}},
)
async def steps(context: RequestContext) -> Json:
    total = context.arguments.get("steps", 5)
    for step in range(1, total + 1):
        await context.clock.sleep(context.arguments.get("seconds", 0.5))
        context.progress(step, total, f"step {step} of {total}")
    return text(f"{total} steps are done")


@tool(
    "progress-unknown",
    "Reports progress without a total: nobody knows how much is left.",
    {"steps": _STEPS, "seconds": _SECONDS},
)
async def unknown(context: RequestContext) -> Json:
    for step in range(1, context.arguments.get("steps", 5) + 1):
        await context.clock.sleep(context.arguments.get("seconds", 0.5))
        context.progress(step * 1.5, None, f"{step * 1.5:g} barrels so far")
    return text("no barrel is left")
