"""Paginated lists, and what was added to them at run time (changes.py, broken_list.py)."""

from __future__ import annotations

import base64
from typing import Any, Final

from mcplens.demo.apps import for_client
from mcplens.demo.prompts import PROMPTS
from mcplens.demo.registry import TOOLS, Fault, Json, method, text
from mcplens.demo.request_context import RequestContext
from mcplens.demo.resources import RESOURCES
from mcplens.demo.templates import TEMPLATES
from mcplens.inbound.refusal import INVALID_PARAMS

# Small enough that the list of tools has several pages.
PAGE_SIZE: Final = 20


class DemoCatalog:
    """What the lists have beyond what is written in the features' files."""

    def __init__(self) -> None:
        self.added: dict[str, list[Json]] = {"tools": [], "resources": [], "prompts": []}
        self.broken_tools: list[Any] = []  # definitions that break the protocol, when asked for
        self.note_revision = 0  # of demo://note

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(items)} {kind}" for kind, items in self.added.items())
        return f"<DemoCatalog with {counts} added>"

    def tools(self) -> dict[str, Json]:
        """The definitions that can be called, by name."""
        added = {tool["name"]: tool for tool in self.added["tools"]}
        return {name: tool.definition for name, tool in TOOLS.items()} | added


@method("tools/list")
async def list_tools(context: RequestContext) -> Json:
    catalog = context.demo.catalog
    tools = [for_client(context, tool) for tool in catalog.tools().values()]
    if context.is_stateless:  # tasks became an extension, and this field went with them
        tools = [{key: tool[key] for key in tool if key != "execution"} for tool in tools]
    return page("tools", tools + catalog.broken_tools, context)


@method("resources/list")
async def list_resources(context: RequestContext) -> Json:
    added = context.demo.catalog.added["resources"]
    listed = [item.definition for item in RESOURCES.values() if item.is_listed]
    return page("resources", listed + added, context)


@method("resources/templates/list")
async def list_templates(context: RequestContext) -> Json:
    return page("resourceTemplates", [item.definition for item in TEMPLATES], context)


@method("prompts/list")
async def list_prompts(context: RequestContext) -> Json:
    added = context.demo.catalog.added["prompts"]
    return page("prompts", [item.definition for item in PROMPTS.values()] + added, context)


def page(key: str, items: list[Any], context: RequestContext, size: int = PAGE_SIZE) -> Json:
    """One page of a list, with a cursor to the next if there is one."""
    start = _start(key, context.params.get("cursor"))
    if start > len(items):
        raise Fault(INVALID_PARAMS, "this cursor is past the end of the list")
    result: Json = {key: items[start : start + size]}
    if start + size < len(items):
        result["nextCursor"] = base64.b64encode(f"{key}:{start + size}".encode()).decode()
    return result


def _start(key: str, cursor: Any) -> int:
    if cursor is None:
        return 0
    try:
        name, _, number = base64.b64decode(str(cursor), validate=True).decode().partition(":")
        if name == key and number.isdecimal():
            return int(number)
    except ValueError:
        pass
    raise Fault(INVALID_PARAMS, f"{cursor!r} is not a cursor of this list")


def added_tool(context: RequestContext) -> Json:
    """What a tool does that was added while the server runs."""
    return text(f"{context.params.get('name')} was added later, and works")
