"""Work that can be called off, and a look at what was."""

from __future__ import annotations

import msgspec

from mcplens.demo.call import Call
from mcplens.demo.registry import Json, text, tool


@tool(
    "wait",
    "Waits, and stops at once when the call is cancelled; then cancelled-calls knows of it.",
    {"seconds": {"type": "number", "minimum": 0, "maximum": 3600, "default": 10}},
)
async def wait(call: Call) -> Json:
    seconds = call.arguments.get("seconds", 10)
    await call.clock.sleep(seconds)
    return text(f"waited for {seconds:g} s")


@tool("cancelled-calls", "Which calls were cancelled since the server started, and why.")
async def cancelled(call: Call) -> Json:
    calls = list(call.demo.cancelled)
    shown = msgspec.json.encode(calls).decode()
    return text(shown, structuredContent={"cancelled": calls})
