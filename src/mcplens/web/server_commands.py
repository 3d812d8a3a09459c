"""Commands about servers and settings: connect, add, change, bring in, give out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcplens.config.files import Written
from mcplens.errors import InspectorError
from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.pictures import found_view, server_view, settings_view, source_view
from mcplens.workspace.configured import masked_raw
from mcplens.workspace.workspace import Workspace


async def connect(workspace: Workspace, command: c.Connect) -> views.ServerView:
    return server_view(workspace, workspace.connect(command.server_id))


async def disconnect(workspace: Workspace, command: c.Disconnect) -> views.ServerView:
    server = workspace.find(command.server_id)
    await server.disconnect()
    workspace.changed("servers", server.server_id, server.server_id)
    return server_view(workspace, server)


async def confirm(workspace: Workspace, command: c.Confirm) -> views.ServerView:
    return server_view(workspace, workspace.confirm(command.server_id))


async def show_entry(workspace: Workspace, command: c.ServerEntryOf) -> views.EntryView:
    entry = workspace.find(command.server_id).entry
    return views.EntryView(entry.name, masked_raw(entry.raw), source_view(entry.source))


async def add(workspace: Workspace, command: c.ServerAdd) -> views.WrittenView:
    written = workspace.configured.add(command.name, command.raw)
    workspace.reload()
    return _written(written, [command.name])


async def edit(workspace: Workspace, command: c.ServerEdit) -> views.WrittenView:
    entry = workspace.find(command.server_id).entry
    written = workspace.configured.edit(entry, command.raw, command.name)
    workspace.reload()
    return _written(written, [command.name or entry.name])


async def remove(workspace: Workspace, command: c.ServerRemove) -> None:
    workspace.remove(command.server_id)


async def find_others(workspace: Workspace, command: c.FoundServers) -> list[views.FoundView]:
    return [found_view(workspace, entry) for entry in workspace.configured.found()]


async def read(workspace: Workspace, command: c.ServerRead) -> list[views.FoundView]:
    configured = workspace.configured
    if command.text is not None:
        entries = configured.read_text(command.text, command.choice, command.values)
    elif command.path is not None:
        entries = configured.read_path(command.path, command.choice, command.values)
    else:
        raise InspectorError("INVALID_REQUEST", "give a text or a path")
    return [found_view(workspace, entry) for entry in entries]


async def bring_in(workspace: Workspace, command: c.ServerImport) -> views.WrittenView:
    written = workspace.configured.bring_in(command.servers, replaces=command.replaces)
    workspace.imported(command.servers)
    return _written(written, list(command.servers))


async def export(workspace: Workspace, command: c.ServerExport) -> views.ExportView:
    names = command.servers or [
        name for name, server in workspace.servers.items() if not server.is_built_in
    ]
    entries = [workspace.find(name).entry for name in names]
    exported = workspace.configured.export(entries, command.shape)
    return views.ExportView(exported.text, list(exported.remarks))


async def parse_target(workspace: Workspace, command: c.ParseTarget) -> views.FoundView:
    return found_view(workspace, workspace.configured.parse_target(command.text))


async def set_setting(workspace: Workspace, command: c.SetSetting) -> views.SettingView:
    workspace.configured.set(command.name, command.value)
    workspace.reload()
    workspace.changed("settings", command.name)
    for setting in settings_view(workspace):
        if setting.name == command.name:
            return setting
    raise InspectorError("INVALID_REQUEST", f"there is no setting {command.name!r}")


def _written(written: Written, servers: list[str]) -> views.WrittenView:
    return views.WrittenView(written.path, written.backup, servers)


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.Connect: connect,
    c.Disconnect: disconnect,
    c.Confirm: confirm,
    c.ServerEntryOf: show_entry,
    c.ServerAdd: add,
    c.ServerEdit: edit,
    c.ServerRemove: remove,
    c.FoundServers: find_others,
    c.ServerRead: read,
    c.ServerImport: bring_in,
    c.ServerExport: export,
    c.ParseTarget: parse_target,
    c.SetSetting: set_setting,
}
