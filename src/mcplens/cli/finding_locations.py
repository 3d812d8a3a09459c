"""Where a finding is: its line in the lock, else that of the server's entry in `mcp.json`.

Only files below the current folder count, since others are in no repository. Called by lint.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mcplens.cli.command_options import CommandOptions
from mcplens.cli.contract_sources import read_lock_file
from mcplens.contracts.lock import FILE_NAME
from mcplens.contracts.pointers import in_lock
from mcplens.errors import InspectorError
from mcplens.lint.locations import Location

if TYPE_CHECKING:
    from mcplens.cli.contract_sources import ContractSource
    from mcplens.config.jsonc import Document


class FindingLocations:
    """Looks up findings of servers that were checked together."""

    def __init__(self, flags: CommandOptions, sources: Iterable[ContractSource]) -> None:
        self._of_server = {
            name: located
            for source in sources
            for located in (_SourceLocations(flags, source),)
            for name in source.contracts
        }

    def __repr__(self) -> str:
        return f"<FindingLocations of {', '.join(self._of_server)}>"

    def locate(self, server: str, pointer: str) -> Location | None:
        """The line of a pointer into a server's contract; None if no file has the server."""
        return self._of_server[server].locate(server, pointer)


class _SourceLocations:
    """Looks up findings of one source."""

    def __init__(self, flags: CommandOptions, source: ContractSource) -> None:
        self._flags = flags
        path, text, self._names = (
            source.path,
            source.text,
            {name: name for name in source.contracts},
        )
        if text is None:
            path, text, self._names = _lock_beside(source)
        self._lock_path = None if path is None or text is None else _shown(path)
        self._lock = _parse(text) if text is not None else None
        self._entries: dict[str, Location | None] = {}

    def __repr__(self) -> str:
        return f"<_SourceLocations in {self._lock_path or 'no lock'}>"

    def locate(self, server: str, pointer: str) -> Location | None:
        if self._lock is not None and self._lock_path is not None:
            path = in_lock(self._names[server], pointer)
            while len(path) > 1:  # the nearest member that has a line of its own
                member = self._lock.find(*path)
                if member is not None:
                    return Location(self._lock_path, self._lock.position(member.start)[0])
                path.pop()
        if server not in self._entries:
            self._entries[server] = self._entry(server)
        return self._entries[server]

    def _entry(self, server: str) -> Location | None:
        from mcplens.config.configuration import load_configuration

        try:
            entry = load_configuration(self._flags.config).find(server)
        except InspectorError:
            return None
        if entry is None or (path := _shown(entry.source.path)) is None:
            return None
        try:
            with open(entry.source.path, encoding="utf-8-sig") as file:
                document = _parse(file.read())
        except (OSError, UnicodeDecodeError):
            return None
        found = document.find("mcpServers", server) if document is not None else None
        line = document.position(found.start)[0] if document and found else 1
        return Location(path, line)


def _lock_beside(source: ContractSource) -> tuple[str | None, str | None, dict[str, str]]:
    """The lock in this folder and the names in it, if it has the servers of a target or trace."""
    from mcplens.cli.diff import find_contract
    from mcplens.cli.exit_codes import CommandError

    try:
        lock = read_lock_file(FILE_NAME)
        names = {name: find_contract(lock, one).name for name, one in source.contracts.items()}
    except CommandError:
        return None, None, {}
    return FILE_NAME, lock.text, names


def _parse(text: str) -> Document | None:
    from mcplens.config.jsonc import JsonProblem, parse

    try:
        return parse(text)
    except JsonProblem:
        return None


def _shown(path: str) -> str | None:
    """A path relative to the current folder, with slashes; None if it is elsewhere."""
    shown = os.path.relpath(os.path.realpath(path), os.path.realpath(os.curdir))
    return None if shown.startswith("..") else shown.replace(os.sep, "/")
