"""Commands about servers and settings."""

from __future__ import annotations

from typing import Any, Literal

from mcplens.config.export import Shape
from mcplens.web.commands.base import Command


class Connect(Command, frozen=True, kw_only=True):
    """Connect, or connect again. Replied to at once; what follows is Changed."""

    server_id: str


class Disconnect(Command, frozen=True, kw_only=True):
    """Disconnect, or call off connecting. Replied to when it is done."""

    server_id: str


class ConfirmationOf(Command, frozen=True, kw_only=True):
    """All that decides what a server that was not confirmed would do."""

    server_id: str


class Confirm(Command, frozen=True, kw_only=True):
    """A person has seen what it starts, which has this fingerprint, and wants it started."""

    server_id: str
    fingerprint: str


class ServerEntryOf(Command, frozen=True, kw_only=True):
    """What the file says of a server, for the form."""

    server_id: str


class ServerAdd(Command, frozen=True, kw_only=True):
    """Add a server to the user's file. `raw` is its entry; in a copy, masks stand for what the
    original has."""

    name: str
    raw: dict[str, Any]
    copy_of: str | None = None


class ServerEdit(Command, frozen=True, kw_only=True):
    """Replace a server's entry, under a new name if one is given."""

    server_id: str
    raw: dict[str, Any]
    name: str | None = None


class ServerRemove(Command, frozen=True, kw_only=True):
    """Take a server out of its file (or out of this page, if it is in none)."""

    server_id: str


class FoundServers(Command, frozen=True, kw_only=True):
    """What other tools on this computer have."""


class ServerRead(Command, frozen=True, kw_only=True):
    """The servers of a pasted text or a file, in any tool's shape.

    `choice` is the way to a registry's server, `values` what a person filled in by input id.
    """

    text: str | None = None
    file_name: str | None = None
    path: str | None = None
    choice: str | None = None
    values: dict[str, str] = {}


class ServerImport(Command, frozen=True, kw_only=True):
    """Add servers that FoundServers or ServerRead gave: name to entry.

    `offers` has the `offer_id` of those that had one: what is masked in them is as it was found.
    """

    servers: dict[str, dict[str, Any]]
    replaces: bool = False
    offers: dict[str, str] = {}


class ServerExport(Command, frozen=True, kw_only=True):
    """Servers in another tool's shape, or as commands for a shell; all, if none is named."""

    shape: Shape | Literal["commands"]
    servers: list[str] = []


class ParseTarget(Command, frozen=True, kw_only=True):
    """A pasted command line or URL as an entry."""

    text: str


class SetCapabilities(Command, frozen=True, kw_only=True):
    """What is declared to this server from the next connection on, beside what was chosen before.

    Null takes a capability away; `reset` goes back to the file first, with profile and
    roots. `save` writes it there.
    """

    server_id: str
    capabilities: dict[str, Any] = {}
    reset: bool = False
    save: bool = False


class SetSetting(Command, frozen=True, kw_only=True):
    """Null puts the default back."""

    name: str
    value: Any = None
