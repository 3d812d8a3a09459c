"""What a server says of itself, as its view has it: never more than a page can hold.

The view is sent whenever something about the server changes, so one that says too much of itself
is shown with a part of it and a remark. Called by pictures.py.
"""

from __future__ import annotations

from typing import Any, Final

from mcplens.errors import size_of
from mcplens.web.plain import plain
from mcplens.workspace.server import Server

# Of the instructions, of what is told about the server, and of its capabilities. Books are longer,
# and nothing that a model should read before each question.
MOST_BYTES: Final = 256 * 1024


def introduced(server: Server) -> tuple[dict[str, Any], list[str]]:
    """These fields of the view, and a remark for each of which a part is left out."""
    client, cut = server.client, Cut()
    fields = {
        "protocol_version": client.protocol_version if client is not None else None,
        "server_info": cut.members("details", plain(client.server_info)) if client else {},
        "capabilities": cut.members("capabilities", plain(client.capabilities), is_named=True)
        if client is not None
        else {},
        "client_capabilities": plain(server.answering.capabilities),
        "declared_capabilities": plain(server.declared),
        "needs_reconnect": server.needs_reconnect,
        "instructions": cut.text("instructions", client.instructions) if client else None,
    }
    return fields, cut.remarks


class Cut:
    """Leaves out what is too large, and says so."""

    def __init__(self) -> None:
        self.remarks: list[str] = []

    def __repr__(self) -> str:
        return f"<Cut with {len(self.remarks)} remarks>"

    def text(self, what: str, text: str | None) -> str | None:
        if text is None or len(text) <= MOST_BYTES:
            return text
        self._remark(what, len(text) - MOST_BYTES, "characters")
        return f"{text[:MOST_BYTES]}…"

    def members(self, what: str, value: Any, *, is_named: bool = False) -> Any:
        """The members that fit, the smallest first; of the others the name alone, if asked for."""
        size = size_of(value)
        if size <= MOST_BYTES or not isinstance(value, dict):
            return value
        shown, room = {}, MOST_BYTES
        for key, item in sorted(value.items(), key=size_of):
            weight = size_of((key, item))
            if weight > room and is_named:
                item, weight = {}, size_of((key, {}))
            if weight <= room:
                shown[key] = item
                room -= weight
        self._remark(what, size - size_of(shown), "bytes")
        return shown

    def _remark(self, what: str, count: int, unit: str) -> None:
        self.remarks.append(
            f"The server's {what} are not shown whole: {count:,} {unit} are left out. "
            "Traffic has all of it."
        )
