"""Hints about what a tool does: for a client to show or to ask before, never to trust."""

from __future__ import annotations

from mcplens.demo.media import ICON
from mcplens.demo.registry import Json, text, tool
from mcplens.demo.request_context import RequestContext

_NOTES: list[str] = []


@tool(
    "notes-read",
    "Marked as read-only: a client may call it without asking.",
    title="Read the notes",
    annotations={"readOnlyHint": True, "openWorldHint": False},
    icons=[{"src": ICON, "mimeType": "image/png", "sizes": ["16x16"]}],
)
async def read(context: RequestContext) -> Json:
    return text("\n".join(_NOTES) or "no notes")


@tool(
    "notes-write",
    "Marked as neither destructive nor idempotent: each call adds a note.",
    {"note": {"type": "string", "maxLength": 200}},
    required=("note",),
    annotations={"title": "Add a note", "destructiveHint": False, "idempotentHint": False},
)
async def write(context: RequestContext) -> Json:
    _NOTES.append(context.arguments["note"])
    del _NOTES[:-100]
    return text(f"{len(_NOTES)} notes")


@tool(
    "notes-clear",
    "Marked as destructive and idempotent: a careful client asks before it calls this.",
    title="Delete all notes",
    annotations={"destructiveHint": True, "idempotentHint": True},
)
async def clear(context: RequestContext) -> Json:
    _NOTES.clear()
    return text("no notes are left")


@tool(
    "search-web",
    "Marked as open-world: it could contact external systems. (It does not.)",
    {"query": {"type": "string"}},
    required=("query",),
    annotations={"readOnlyHint": True, "openWorldHint": True},
)
async def search(context: RequestContext) -> Json:
    return text(
        f"nothing was searched for {context.arguments['query']!r}: the demo contacts nobody"
    )
