"""Lists that change while you look: each change is announced, and a client fetches anew."""

from __future__ import annotations

from mcplens.demo.call import Call
from mcplens.demo.registry import Json, text, tool

_LIST = {"type": "string", "enum": ["tools", "resources", "prompts"], "default": "tools"}


@tool(
    "change-add",
    "Adds an entry to a list and announces it (notifications/…/list_changed).",
    {"list": _LIST},
)
async def add(call: Call) -> Json:
    kind = call.arguments.get("list", "tools")
    added = call.demo.catalog.added[kind]
    name = f"added-{len(added) + 1}"
    if len(added) >= 100:
        return text("a hundred entries were added; that will do", isError=True)
    described = {"name": name, "description": "Was added while the server runs."}
    match kind:
        case "tools":
            added.append({**described, "inputSchema": {"type": "object"}})
        case "resources":
            added.append({**described, "uri": f"demo://added/{len(added) + 1}"})
        case _:
            added.append(described)
    call.demo.audience.list_changed(kind)
    return text(f"{name} was added to the {kind}")


@tool(
    "change-reset",
    "Takes all added entries out of a list again, and announces it.",
    {"list": _LIST},
)
async def reset(call: Call) -> Json:
    kind = call.arguments.get("list", "tools")
    added = call.demo.catalog.added[kind]
    count = len(added)
    added.clear()
    call.demo.audience.list_changed(kind)
    return text(f"{count} entries were taken out")


@tool(
    "change-announce",
    "Announces a change of a list that did not change, several times in a row.",
    {"list": _LIST, "times": {"type": "integer", "minimum": 1, "maximum": 100, "default": 3}},
)
async def announce(call: Call) -> Json:
    times = call.arguments.get("times", 3)
    for _ in range(times):
        call.demo.audience.list_changed(call.arguments.get("list", "tools"))
    return text(f"announced {times} times")
