"""The tap in another tool's configuration: what would change, and the change itself.

Only entries that were found on this computer can be changed.
"""

from __future__ import annotations

from functools import partial

import msgspec

from mcplens.config.environment import Environment
from mcplens.config.model import ServerEntry
from mcplens.config.tap_entries import install_tap, remove_tap
from mcplens.config.tool_entries import apply_change, client_title
from mcplens.errors import InspectorError
from mcplens.store.recorded_secrets import mask_argv
from mcplens.web.registry import Command, command
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace.server_import import servers_of_other_tools
from mcplens.workspace.workspace import Workspace


class TapChangeView(msgspec.Struct, frozen=True):
    """A change of one entry of another tool's file; `keys` lead to it, secrets are masked."""

    client: str
    file: str
    keys: list[str]
    command: list[str]
    changed_command: list[str]
    backup: str | None


class ChangeTap(Command, frozen=True, kw_only=True):
    """Put the tap into the entry of a server in another tool's file, or take it out.

    `path` and `scope` are those of the server's source, as FoundServers gave it. Without
    `is_written` nothing is written: the reply shows what would change.
    """

    kind: str
    path: str
    scope: str
    name: str
    is_install: bool
    is_written: bool = False


@command
async def change_tap(workspace: Workspace, command: ChangeTap) -> TapChangeView:
    return await run_in_thread(partial(_carry_out, workspace.config_files.here, command))


def _carry_out(here: Environment, command: ChangeTap) -> TapChangeView:
    entry = _found(here, command)
    change = (install_tap if command.is_install else remove_tap)(command.kind, entry, here)
    written = apply_change(change) if command.is_written else None
    place = change.place
    return TapChangeView(
        client_title(place.client),
        place.file,
        list(place.path),
        mask_argv(list(change.command)),
        mask_argv(list(change.changed_command)),
        written.backup if written is not None else None,
    )


def _found(here: Environment, command: ChangeTap) -> ServerEntry:
    for entry in servers_of_other_tools(here):
        source = entry.source
        where = (source.kind, source.path, source.scope, entry.name)
        if where == (command.kind, command.path, command.scope, command.name):
            return entry
    raise InspectorError("INVALID_REQUEST", f"{command.path} has no server {command.name!r}")
