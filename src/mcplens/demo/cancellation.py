"""Tools that can be cancelled, and a list of cancelled calls."""

from __future__ import annotations

import msgspec

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext


@tool(
    "wait",
    "Waits, and stops at once when the call is cancelled; cancelled-calls then lists it.",
    {"seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 10}},
)
async def wait(context: RequestContext) -> Json:
    seconds = context.arguments.get("seconds", 10)
    await context.clock.sleep(seconds)
    return text(f"waited for {seconds:g} s")


@tool("cancelled-calls", "Which calls were cancelled since the server started, and why.")
async def cancelled(context: RequestContext) -> Json:
    calls = list(context.demo.cancelled)
    shown = msgspec.json.encode(calls).decode()
    return text(shown, structuredContent={"cancelled": calls})
