"""One file of another tool's on a machine, and the servers that are read from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcplens.config.model import ServerEntry, Source
from mcplens.config.other_tools import read_servers
from tests.config.machine import Machine


class Tool:
    """One tool's file on a machine."""

    def __init__(self, machine: Machine, kind: str, path: str | Path) -> None:
        self.machine, self.kind, self.path = machine, kind, path

    def read(self, content: Any, **options: Any) -> dict[str, ServerEntry]:
        path = self.machine.write(self.path, content)
        is_project = path.is_relative_to(self.machine.project)
        source = Source(self.kind, str(path), "project" if is_project else "user")
        entries = read_servers(source, self.machine.here(), **options)
        return {entry.name: entry for entry in entries}
