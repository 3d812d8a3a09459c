"""Where a client's configuration has the entry of one server, and changes of that entry.

Every client that other_tools.py reads, and our own file. Nothing is written until a change is
applied, and then with a backup beside the file. Called by `install` and `remove` of `mcplens tap`
and `mcplens gateway`, and by the web UI; tap_entries.py and gateway_entries.py make the changes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mcplens.config.configuration import load_configuration
from mcplens.config.entry_text import EntryText, Path, entry_text
from mcplens.config.environment import Environment, current_environment
from mcplens.config.files import Written, invalid, read_text, write_text
from mcplens.config.mcp_servers import project_key
from mcplens.config.model import ServerEntry, Source
from mcplens.config.other_tools import TOOLS, find_server, read_servers
from mcplens.config.tool_reader import mapping

# Our own file is a client's file too: mcplens is the client.
OWN: Final = "mcplens"
# A registry's file describes a server that nobody has configured.
CLIENTS: Final = (*(kind for kind in TOOLS if kind != "registry"), OWN)

# The client's own tools may keep a `.bak` of theirs.
BACKUP_SUFFIX: Final = ".mcplens.bak"


class EntryPlace(msgspec.Struct, frozen=True, kw_only=True):
    """One server's entry: its file, the keys that lead to it, and the names of its own keys."""

    client: str
    server: str
    file: str
    path: Path
    command_key: str = "command"
    args_key: str = "args"

    @property
    def shown(self) -> str:
        return f"{client_title(self.client)}'s {self.server!r}"


class EntryChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one entry that was not written yet: the command (or URL) before and after.

    There is none before if the entry is new, and none after if it goes.
    """

    place: EntryPlace
    text: str
    changed_text: str
    command: tuple[str, ...]
    changed_command: tuple[str, ...]
    is_new_file: bool = False

    def __repr__(self) -> str:  # the texts may contain secrets
        return f"<EntryChange of {self.place.file!r} {'.'.join(self.place.path)}>"

    @property
    def is_none(self) -> bool:
        return self.text == self.changed_text


def apply_change(change: EntryChange) -> Written:
    """Write a change.

    Raises:
        ConfigurationError: the file cannot be written, or has changed meanwhile.
    """
    return write_text(
        change.place.file,
        change.changed_text,
        former_text=change.text,
        is_private=change.is_new_file,
        backup_suffix=BACKUP_SUFFIX,
    )


def own_command() -> tuple[str, ...]:
    """How a client starts us: by a full path, since it may not have the PATH of a terminal."""
    script = os.path.join(os.path.dirname(sys.executable), "mcplens")
    for path in (script, f"{script}.exe"):
        if os.path.isfile(path):
            return (path,)
    return (sys.executable, "-m", "mcplens")


def own_words(words: Sequence[str]) -> tuple[str, ...]:
    """The arguments of a command that starts mcplens; empty if it starts another program."""
    if not words:
        return ()
    program = os.path.basename(words[0].replace("\\", "/")).lower().removesuffix(".exe")
    if tuple(words[1:3]) == ("-m", "mcplens"):
        return tuple(words[3:])
    return tuple(words[1:]) if program == "mcplens" else ()


def client_title(client: str) -> str:
    return TOOLS[client].title if client in TOOLS else "mcplens"


def find_client_server(
    client: str, server: str, here: Environment | None = None, *, file: str | None = None
) -> ServerEntry:
    """A server of a client, by its name; of a file that is not where the client looks, if given.

    Raises:
        ConfigurationError: there is none; the message lists the others.
    """
    here = here or current_environment()
    if file is not None:
        entries: tuple[ServerEntry, ...]
        if client == OWN:
            entries = load_configuration(file).servers
        else:
            entries = read_servers(Source(client, os.path.abspath(file), "user"), here)
    elif client == OWN:
        entries = load_configuration(here=here).servers
    else:
        return find_server(f"{client}:{server}", here)
    for entry in entries:
        if entry.name == server:
            return entry
    names = ", ".join(entry.name for entry in entries) or "none"
    raise invalid(
        f"there is no server {server!r} in {file or 'the files of mcplens'}; known: {names}"
    )


def open_entry(
    client: str, entry: ServerEntry, here: Environment | None = None
) -> tuple[EntryPlace, EntryText]:
    """Where an entry is, and the text of its file.

    Raises:
        ConfigurationError: the file cannot be read or edited.
    """
    here = here or current_environment()
    file = entry.source.path
    text = open_text(file)
    path = (*servers_path(client, text.value, entry.source, here), entry.name)
    names = ("command", "args")
    if client == "goose":
        names = ("cmd", "args")
        # Early versions put everything but `enabled` into `config`.
        if text.find((*path, "config", "cmd")) is not None:
            path = (*path, "config")
    place = EntryPlace(
        client=client,
        server=entry.name,
        file=file,
        path=path,
        command_key=names[0],
        args_key=names[1],
    )
    return place, text


def open_text(file: str) -> EntryText:
    """The text of a client's file, ready to be edited.

    Raises:
        ConfigurationError: it cannot be read, or is in an encoding that we do not write.
    """
    text = read_text(file)
    with open(file, "rb") as opened:
        if opened.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            raise invalid(f"{file} is UTF-16, which mcplens reads but does not write", file=file)
    return entry_text(file, text)


def servers_path(client: str, value: Any, source: Source, here: Environment) -> Path:
    """The keys that lead to the servers of a client in its file."""
    document = mapping(value)
    if client == "claude-code" and source.scope == "local":
        projects = mapping(document.get("projects"))
        return ("projects", project_key(projects, here.cwd, here.platform), "mcpServers")
    if client == "vscode":
        is_older = source.path.endswith("settings.json") or "mcp" in document
        return ("mcp", "servers") if is_older and "servers" not in document else ("servers",)
    return {"codex": ("mcp_servers",), "goose": ("extensions",)}.get(client, ("mcpServers",))
