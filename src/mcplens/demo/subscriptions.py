"""Resources that tell their subscribers when they change, when you want it."""

from __future__ import annotations

from mcplens.demo.call import Call
from mcplens.demo.registry import Json, text, tool

_NOTE = "demo://note"


@tool(
    "touch-note",
    "Changes the resource demo://note and tells its subscribers (notifications/resources/updated). "
    "demo://ticker does so by itself, every second.",
    {"times": {"type": "integer", "minimum": 1, "maximum": 100, "default": 1}},
)
async def touch(call: Call) -> Json:
    catalog = call.demo.catalog
    for _ in range(call.arguments.get("times", 1)):
        catalog.note_revision += 1
        call.demo.audience.resource_updated(_NOTE)
    return text(f"{_NOTE} is at revision {catalog.note_revision}")
