"""Servers to import: from pasted text, a file, a command line, or the files of other tools.

Only reads. A server is added to our file when a person chooses it (config_edits.py), and is not
started before a person has confirmed its command (confirmation.py).
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import msgspec

from mcplens.config import registry
from mcplens.config.configuration import read_file
from mcplens.config.entries import build_entry
from mcplens.config.environment import Environment
from mcplens.config.files import invalid, read_json
from mcplens.config.model import ServerEntry, Source
from mcplens.config.other_tools import find_sources, read_servers
from mcplens.errors import InspectorError
from mcplens.targets import command_name, host_of, url_of_host
from mcplens.workspace import pasted_config
from mcplens.workspace.form_masking import unmask_entry

# Far above any server's entry; a whole file of them may be pasted_config.
_MOST_TEXT: Final = 4 * 1024 * 1024
_ENDINGS: Final = (".json", ".jsonc", ".toml", ".yaml", ".yml")
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.I)
# More than all tools of a computer have; each search adds them again.
_MOST_OFFERS: Final = 5_000
# Line continuation of a shell.
_CONTINUATION: Final = re.compile(r"\\\r?\n[ \t]*")


class ImportCandidates(msgspec.Struct, frozen=True):
    """Servers that can be imported.

    For a registry's file, `choices` are the packages and remotes of its server, `choice` the one
    that was taken.
    """

    entries: list[ServerEntry]
    choices: list[str] = []
    choice: str | None = None


def servers_of_other_tools(here: Environment) -> list[ServerEntry]:
    """The servers of other tools on this computer; an unreadable file gives one with a problem."""
    entries: list[ServerEntry] = []
    for source in find_sources(here):
        try:
            entries += read_servers(source, here)
        except InspectorError as problem:
            source_name = os.path.basename(source.path)
            entries.append(ServerEntry(name=source_name, source=source, problem=problem))
    return entries


def read_path(
    here: Environment,
    path: str,
    choice: str | None = None,
    values: Mapping[str, str] | None = None,
) -> ImportCandidates:
    """The servers in a file of any supported format.

    Raises:
        ConfigurationError: it cannot be read.
    """
    place = here.absolute(path, here.cwd)
    known = next((one for one in find_sources(here) if one.path == place), None)
    if known is not None:  # its path says which tool it belongs to
        return ImportCandidates(list(read_servers(known, here, values=values, choice=choice)))
    entries = list(read_file(place, here=here, values=values, choice=choice))
    if not entries or entries[0].source.kind != "registry":
        return ImportCandidates(entries)
    root = read_json(place).root
    document = root.value if root is not None else None
    return ImportCandidates(
        entries, registry.choices(document), choice or registry.first_choice(document)
    )


def read_text(
    here: Environment,
    text: str,
    choice: str | None = None,
    values: Mapping[str, str] | None = None,
    file_name: str | None = None,
) -> ImportCandidates:
    """The servers in a text of any supported format; the file name helps to detect the format.

    A text without a file name may be a fragment of a file, as in the README of a server.

    Raises:
        ConfigurationError: it contains no servers.
    """
    if len(text) > _MOST_TEXT:
        raise invalid("the text is too large for a configuration file")
    shown = os.path.basename(file_name or "")
    if not shown:
        text = pasted_config.whole(pasted_config.unfenced(text), here.cwd)
    with tempfile.TemporaryDirectory(prefix="mcplens-") as folder:
        is_telling = shown.lower().endswith(_ENDINGS)
        path = os.path.join(folder, shown if is_telling else f"pasted{_ending(text)}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            found = read_path(here, path, choice, values)
        except InspectorError as error:
            raise invalid(error.message.replace(path, shown or "the text")) from None
    entries = [_placed(entry, path, shown) for entry in found.entries]
    return msgspec.structs.replace(found, entries=entries)


def _placed(entry: ServerEntry, path: str, shown: str) -> ServerEntry:
    """The entry without the path of the temporary file that it was read from."""
    problem = entry.problem
    if problem is not None:
        details = {**problem.details, "file": shown or None}
        problem = invalid(problem.message.replace(path, shown or "the text"), **details)
    source = Source(entry.source.kind, shown, entry.source.scope)
    return msgspec.structs.replace(entry, source=source, problem=problem)


def _ending(text: str) -> str:
    """The file ending for a text: that of JSON, unless it cannot be JSON."""
    start = text.lstrip("\ufeff \t\r\n")
    if start.startswith(("{", "//", "/*")):
        return ".json"
    return ".toml" if start.startswith("[") or " = " in text else ".yaml"


def parse_target(here: Environment, text: str) -> ServerEntry:
    """The server of a pasted command line or URL, or of a `claude mcp add` command.

    Raises:
        ConfigurationError: it is neither.
    """
    text = _CONTINUATION.sub(" ", pasted_config.unfenced(text).strip())
    url = text if _URL.match(text) else _url_of(text)
    if url is not None:
        return _entry(here, host_of(url), {"url": url})
    try:
        words = shlex.split(text)
    except ValueError as problem:
        raise invalid(f"not a valid command line: {problem}") from None
    if words and words[0] == "$":
        words = words[1:]
    env: dict[str, str] = {}
    while words and "=" in words[0] and words[0].split("=", 1)[0].isidentifier():
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    if not words:
        raise invalid("the text has no command")
    added = pasted_config.of_claude(words)
    if added is not None:
        return _entry(here, *added)
    raw: dict[str, Any] = {"command": words[0], "args": words[1:]}
    return _entry(here, command_name(words, here.cwd), raw | ({"env": env} if env else {}))


def _url_of(text: str) -> str | None:
    """The URL of a host with a port or a path; without either it may be a program's name."""
    return url_of_host(text) if re.match(r"localhost\b|[^/]+(:\d|/)", text) else None


def _entry(here: Environment, name: str, raw: dict[str, Any]) -> ServerEntry:
    return build_entry(name, raw, Source("page", "", "given"), here, folder=here.cwd)


class ImportOffers:
    """Entries of other tools that were offered to the page with their secrets masked.

    They are kept here, so that a chosen entry is imported whole and its secrets never reach the
    page.
    """

    def __init__(self) -> None:
        self._raws: dict[str, dict[str, Any]] = {}
        self._ids = count(1)

    def __repr__(self) -> str:
        return f"<ImportOffers, {len(self._raws)} entries>"

    def add(self, raw: dict[str, Any]) -> str:
        """Add an entry; returns the id of the offer."""
        offer_id = f"o{next(self._ids)}"
        self._raws[offer_id] = raw
        if len(self._raws) > _MOST_OFFERS:
            del self._raws[next(iter(self._raws))]
        return offer_id

    def taken(
        self, servers: Mapping[str, dict[str, Any]], offers: Mapping[str, str]
    ) -> dict[str, dict[str, Any]]:
        """The servers that were chosen, with their secrets; `offers` has the ids by name.

        Raises:
            ConfigurationError: an offer has expired.
        """
        for name, offer_id in offers.items():
            if offer_id not in self._raws:
                raise invalid(f"{name} is an offer that has expired: search for servers again")
        return {
            name: unmask_entry(raw, self._raws[offers[name]]) if name in offers else raw
            for name, raw in servers.items()
        }
