"""Broken definitions in the list of tools; off by default, since many clients fail on them."""

from __future__ import annotations

from typing import Any, Final

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext

_OBJECT: Final = {"type": "object"}
_REGION: Final = {"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}

BROKEN_TOOLS: Final[list[Any]] = [
    {"name": "broken-no-schema", "description": "Has no input schema."},
    {
        "name": "broken-schema",
        "description": "Has an invalid input schema.",
        "inputSchema": {"type": "objekt", "properties": "many"},
    },
    {"description": "Has no name.", "inputSchema": _OBJECT},
    {"name": "", "description": "Has an empty name.", "inputSchema": _OBJECT},
    {"name": "broken name with spaces!", "description": "Odd name.", "inputSchema": _OBJECT},
    {"name": "broken-types", "description": 42, "inputSchema": _OBJECT, "annotations": "yes"},
    {"name": "broken-header", "description": "Bad x-mcp-header.", "inputSchema": _REGION},
    {
        "name": "broken-remote",
        "description": "Refers to a schema on the network, which must not be fetched.",
        "inputSchema": {"type": "object", "properties": {"x": {"$ref": "https://example.com/x"}}},
    },
    "broken: not even an object",
]


@tool(
    "broken-list",
    "Adds broken definitions to the list of tools, or removes them; a good client shows "
    "what is wrong with each, and all other tools as before.",
    {"on": {"type": "boolean", "default": True}},
)
async def broken_list(context: RequestContext) -> Json:
    is_on = context.arguments.get("on", True)
    context.demo.catalog.broken_tools = BROKEN_TOOLS if is_on else []
    context.demo.subscribers.list_changed("tools")
    state = f"{len(BROKEN_TOOLS)} broken definitions are" if is_on else "no broken definition is"
    return text(f"{state} in the list now")
