"""What a server says of itself, as its view has it: never more than a page can hold.

The view is sent whenever something about the server changes, so one that says too much of itself
is shown with a part of it and a remark. Called by servers.py.
"""

from __future__ import annotations

from typing import Any, Final

from mcplens.errors import size_of
from mcplens.session.client import Client

# Of the instructions, of what is told about the server, and of its capabilities. Books are longer,
# and nothing that a model should read before each question.
MOST_BYTES: Final = 256 * 1024


def text_within(text: str | None) -> str | None:
    """The text, or how it begins."""
    return text if text is None or len(text) <= MOST_BYTES else f"{text[:MOST_BYTES]}…"


def members_within(value: Any) -> Any:
    """The object with the members that fit, the smallest first; of a larger one the name alone."""
    if size_of(value) <= MOST_BYTES or not isinstance(value, dict):
        return value
    shown: dict[str, Any] = {}
    room = MOST_BYTES
    for key, item in sorted(value.items(), key=size_of):
        fits = size_of((key, item)) <= room
        kept = item if fits else type(item)() if isinstance(item, str | dict | list) else None
        weight = size_of((key, kept))
        if weight <= room:
            shown[key] = kept
            room -= weight
    return shown


def too_large(client: Client | None) -> list[str]:
    """A remark for each part of which something is left out."""
    if client is None:
        return []
    parts = {
        "instructions": client.instructions,
        "serverInfo": client.server_info,
        "capabilities": client.capabilities,
    }
    sizes = {name: size_of(part) for name, part in parts.items()}
    return [
        f"The server's {name} ({size:,} bytes) cannot be shown whole. Traffic has all of it."
        for name, size in sizes.items()
        if size > MOST_BYTES
    ]
