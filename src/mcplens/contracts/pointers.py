"""JSON pointers (RFC 6901) into a server's contract, such as `/tools/add/inputSchema`.

In a lock the same place is below `/servers/NAME`, with `definition` after the name of an item.
"""

from __future__ import annotations

from typing import Final

# The lists of a contract, as a lock names them.
LISTS: Final = ("tools", "resources", "resourceTemplates", "prompts")


def join(pointer: str, *parts: object) -> str:
    """The pointer of something below another."""
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return "/".join([pointer, *escaped])


def split(pointer: str) -> list[str]:
    """The parts of a pointer; of the empty one none."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def in_lock(server: str, pointer: str) -> list[str]:
    """The path in a lock's JSON for a pointer into the contract of one server."""
    parts = split(pointer)
    if len(parts) > 2 and parts[0] in LISTS:
        parts.insert(2, "definition")
    return ["servers", server, *parts]
