"""The two ways in which a call fails properly: as a result, and as a JSON-RPC error."""

from __future__ import annotations

from mcplens.demo.registry import Fault, Json, ToolFailure, tool
from mcplens.demo.request_context import RequestContext


@tool(
    "fail-result",
    "Fails as a tool does: the result has isError, and the model is meant to read it.",
    {"message": {"type": "string", "default": "the printer is out of paper"}},
)
async def as_result(context: RequestContext) -> Json:
    raise ToolFailure(str(context.arguments.get("message", "the printer is out of paper")))


@tool(
    "fail-error",
    "Fails as a request does: a JSON-RPC error with the code and data of your choice.",
    {
        "code": {"type": "integer", "default": -32000},
        "message": {"type": "string", "default": "it cannot be done"},
        "data": {"description": "Any JSON value."},
    },
)
async def as_error(context: RequestContext) -> Json:
    given = context.arguments
    code, message = given.get("code", -32000), given.get("message", "it cannot be done")
    raise Fault(code, message, given.get("data", {"tool": "fail-error"}))
