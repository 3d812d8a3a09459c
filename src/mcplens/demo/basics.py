"""Two tools to begin with."""

from __future__ import annotations

from typing import Final

from mcplens.demo.registry import Json, failure, text, tool
from mcplens.demo.request_context import RequestContext

_NUMBER: Final = {"type": "number"}


@tool(
    "echo",
    "Gives back the text that it is given.",
    {"text": {"type": "string"}},
    required=("text",),
    checks_itself=True,
)
async def echo(context: RequestContext) -> Json:
    return text(str(context.arguments.get("text", "")))


@tool(
    "add",
    "Adds two numbers.",
    {"a": _NUMBER, "b": _NUMBER},
    required=("a", "b"),
    outputSchema={"type": "object", "properties": {"sum": _NUMBER}, "required": ["sum"]},
    checks_itself=True,
)
async def add(context: RequestContext) -> Json:
    a, b = context.arguments.get("a"), context.arguments.get("b")
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return failure("a and b must be numbers")
    return text(f"{a + b:g}", structuredContent={"sum": a + b})
