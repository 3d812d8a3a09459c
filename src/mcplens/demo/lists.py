"""Lists, page by page; and what was added to them while the server runs (changes.py, broken.py)."""

from __future__ import annotations

import base64
from typing import Any, Final

from mcplens.demo.call import Call
from mcplens.demo.prompts import PROMPTS
from mcplens.demo.registry import TOOLS, Fault, Json, method, text
from mcplens.demo.resources import RESOURCES
from mcplens.demo.templates import TEMPLATES
from mcplens.inbound.refusal import INVALID_PARAMS

# Small enough that the list of tools has several pages.
PAGE_SIZE: Final = 20


class Catalog:
    """What the lists have beyond what is written in the features' files."""

    def __init__(self) -> None:
        self.added: dict[str, list[Json]] = {"tools": [], "resources": [], "prompts": []}
        self.broken_tools: list[Any] = []  # definitions that break the protocol, when asked for
        self.note_revision = 0  # of demo://note

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(items)} {kind}" for kind, items in self.added.items())
        return f"<Catalog with {counts} added>"

    def tools(self) -> dict[str, Json]:
        """The definitions that can be called, by name."""
        added = {tool["name"]: tool for tool in self.added["tools"]}
        return {name: tool.definition for name, tool in TOOLS.items()} | added


@method("tools/list")
async def list_tools(call: Call) -> Json:
    catalog = call.demo.catalog
    tools = list(catalog.tools().values())
    if call.is_stateless:  # tasks became an extension, and this field went with them
        tools = [{key: tool[key] for key in tool if key != "execution"} for tool in tools]
    return page("tools", tools + catalog.broken_tools, call)


@method("resources/list")
async def list_resources(call: Call) -> Json:
    added = call.demo.catalog.added["resources"]
    return page("resources", [item.definition for item in RESOURCES.values()] + added, call)


@method("resources/templates/list")
async def list_templates(call: Call) -> Json:
    return page("resourceTemplates", [item.definition for item in TEMPLATES], call)


@method("prompts/list")
async def list_prompts(call: Call) -> Json:
    added = call.demo.catalog.added["prompts"]
    return page("prompts", [item.definition for item in PROMPTS.values()] + added, call)


def page(key: str, items: list[Any], call: Call, size: int = PAGE_SIZE) -> Json:
    """One page of a list, with a cursor to the next if there is one."""
    start = _start(key, call.params.get("cursor"))
    if start > len(items):
        raise Fault(INVALID_PARAMS, "this cursor leads nowhere")
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
    raise Fault(INVALID_PARAMS, f"{cursor!r} is no cursor of this list")


def added_tool(call: Call) -> Json:
    """What a tool does that was added while the server runs."""
    return text(f"{call.params.get('name')} was added later, and works")
