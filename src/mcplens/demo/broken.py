"""Tools that violate the protocol in their behaviour, as a broken server would."""

from __future__ import annotations

import asyncio
import sys

from mcplens.demo.registry import Answered, Json, ToolFailure, text, tool
from mcplens.demo.request_context import RequestContext

_SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}


@tool(
    "broken-output",
    "Breaks its own output schema: the sum is a word.",
    outputSchema=_SUM,
)
async def output(context: RequestContext) -> Json:
    return text("seven", structuredContent={"sum": "seven"})


@tool("broken-result", "A result whose content is not a list, as the protocol requires.")
async def result(context: RequestContext) -> Json:
    return {"content": "just a string"}


@tool("broken-content", "A result with an image that has no data, and content of a made-up type.")
async def content(context: RequestContext) -> Json:
    return {"content": [{"type": "hologram", "depth": 3}, {"type": "image"}]}


@tool("broken-silent", "Never answers: only your timeout ends this call.")
async def silent(context: RequestContext) -> Json:
    await asyncio.get_running_loop().create_future()
    raise Answered


@tool("broken-progress", "Progress that goes backwards, and progress for an unknown token.")
async def progress(context: RequestContext) -> Json:
    for value in (3, 1, 2):
        context.progress(value, 2, f"{value} of 2")
    stray = {"progressToken": "no-such-token", "progress": 1}
    context.notify("notifications/progress", stray)
    return text("the progress made no sense")


@tool(
    "broken-flood",
    "Sends thousands of log messages before it answers.",
    {"messages": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 5_000}},
)
async def flood(context: RequestContext) -> Json:
    count = context.arguments.get("messages", 5_000)
    for number in range(1, count + 1):
        message = {"level": "emergency", "logger": "flood", "data": f"message {number}"}
        context.notify("notifications/message", message)
        if number % 100 == 0:
            await asyncio.sleep(0)  # noqa: TID251 (a turn of the loop, not time)
    return text(f"{count} messages were sent")


@tool(
    "broken-question",
    "Sends the client a request that no revision defines, without waiting for the answer. "
    "2026-07-28 does not allow requests from servers at all.",
)
async def question(context: RequestContext) -> Json:
    context.client.peer.send(
        b'{"jsonrpc":"2.0","id":"odd","method":"demo/what-is-love","params":{}}', during=context.id
    )
    return text("asked")


@tool("broken-hang-up", "Closes the connection instead of answering.")
async def hang_up(context: RequestContext) -> Json:
    context.notify("notifications/message", {"level": "alert", "data": "about to hang up"})
    context.client.peer.close("broken-hang-up was called")
    raise Answered


@tool("broken-crash", "Writes a last line to stderr and ends the server's process with code 3.")
async def crash(context: RequestContext) -> Json:
    print("Traceback (most recent call last):\n  demo: crashing, as asked", file=sys.stderr)
    sys.stderr.flush()
    context.demo.exit(3)
    raise ToolFailure("the process did not end")
