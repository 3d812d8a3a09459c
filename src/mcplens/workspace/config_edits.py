"""Changes to configured servers and settings: written to the file, then applied to the workspace.

A server that needs confirmation still needs it after it was renamed, copied or imported. How files
are written is in config_files.py. Called by the web UI.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mcplens.config.files import Written
from mcplens.config.model import ServerEntry
from mcplens.workspace.config_files import Mark
from mcplens.workspace.workspace import Workspace


def add_server(
    workspace: Workspace, name: str, raw: Mapping[str, Any], copy_of: str | None = None
) -> Written:
    """Add a server to our file; raises as `ConfigFiles.add`."""
    copied = workspace.find(copy_of).entry if copy_of is not None else None
    mark = _mark_of(workspace, copied)
    written = workspace.config_files.add(name, raw, copied, mark)
    _take_over(workspace, name, mark)
    return written


def edit_server(
    workspace: Workspace, entry: ServerEntry, raw: dict[str, Any], name: str
) -> Written:
    """Replace a server in its own file, under this name; raises as `ConfigFiles.edit`."""
    mark = _mark_of(workspace, entry)
    written = workspace.config_files.edit(entry, raw, name, mark)
    _take_over(workspace, name, mark)
    return written


def _mark_of(workspace: Workspace, entry: ServerEntry | None) -> Mark | None:
    """Marks the new entry as unconfirmed before it is written, if the old one was."""
    is_unconfirmed = entry is not None and workspace.confirmations.is_needed(entry)
    return workspace.confirmations.imported if is_unconfirmed else None


def _take_over(workspace: Workspace, name: str, mark: Mark | None) -> None:
    if mark is not None:
        _imported(workspace, [name])
    else:
        workspace.reload()


def import_servers(
    workspace: Workspace, servers: Mapping[str, Mapping[str, Any]], *, replaces: bool
) -> Written:
    """Import servers, all or none; raises as `ConfigFiles.import_servers`."""
    # Marked before it is written: another mcplens may read the file at once.
    mark = workspace.confirmations.imported
    written = workspace.config_files.import_servers(servers, replaces=replaces, mark=mark)
    _imported(workspace, servers)
    return written


def _imported(workspace: Workspace, names: Iterable[str]) -> None:
    """Mark these servers as waiting for confirmation."""
    workspace.reload()
    entries = [workspace.servers[name].entry for name in names if name in workspace.servers]
    workspace.confirmations.imported(entries)
    for entry in entries:
        workspace.server_changed(entry.name)


def remove_server(workspace: Workspace, server_id: str) -> None:
    """Remove a server from its file, or from the workspace if it is not in a file."""
    server = workspace.find(server_id)
    if server.is_given:
        workspace.forget(server_id)
        return
    workspace.config_files.remove(server.entry)
    workspace.reload()


def set_setting(workspace: Workspace, name: str, value: Any) -> None:
    """Write a setting to our file; raises as `ConfigFiles.set`."""
    workspace.config_files.set(name, value)
    workspace.reload()
    workspace.changed("settings", name)
