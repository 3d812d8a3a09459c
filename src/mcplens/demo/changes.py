"""Tools that change the lists; each change is announced, and a client fetches again."""

from __future__ import annotations

from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext

_LIST = {"type": "string", "enum": ["tools", "resources", "prompts"], "default": "tools"}


@tool(
    "change-add",
    "Adds an entry to a list and announces it (notifications/…/list_changed).",
    {"list": _LIST},
)
async def add(context: RequestContext) -> Json:
    kind = context.arguments.get("list", "tools")
    added = context.demo.catalog.added[kind]
    name = f"added-{len(added) + 1}"
    if len(added) >= 100:
        return text("100 entries were added, which is the limit", isError=True)
    described = {"name": name, "description": "Was added at run time."}
    match kind:
        case "tools":
            added.append({**described, "inputSchema": {"type": "object"}})
        case "resources":
            added.append({**described, "uri": f"demo://added/{len(added) + 1}"})
        case _:
            added.append(described)
    context.demo.subscribers.list_changed(kind)
    return text(f"{name} was added to the {kind}")


@tool(
    "change-reset",
    "Removes all added entries from a list, and announces it.",
    {"list": _LIST},
)
async def reset(context: RequestContext) -> Json:
    kind = context.arguments.get("list", "tools")
    added = context.demo.catalog.added[kind]
    count = len(added)
    added.clear()
    context.demo.subscribers.list_changed(kind)
    return text(f"{count} entries were removed")


@tool(
    "change-announce",
    "Announces a change of a list that did not change, several times in a row.",
    {"list": _LIST, "times": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3}},
)
async def announce(context: RequestContext) -> Json:
    times = context.arguments.get("times", 3)
    for _ in range(times):
        context.demo.subscribers.list_changed(context.arguments.get("list", "tools"))
    return text(f"announced {times} times")
