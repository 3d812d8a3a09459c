"""A stream that the server closes during a call, to be resumed (2025-11-25, streamable HTTP)."""

from __future__ import annotations

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext


@tool(
    "reconnect",
    "Closes the stream during the call: the client reconnects after the time it was given "
    "(retry) with Last-Event-ID, and gets the answer. Other transports just answer.",
    {"retryMs": {"type": "integer", "minimum": 0, "maximum": 60_000, "default": 200}},
)
async def reconnect(context: RequestContext) -> Json:
    retry_ms = context.arguments.get("retryMs", 200)
    context.log("info", "about to hang up")
    has_hung_up = context.client.peer.hang_up(context.id, retry_ms)
    await context.clock.sleep(retry_ms / 2000)
    return text("hung up, and found again" if has_hung_up else "there is nothing to hang up here")
