"""Commands about servers and settings: connect, add, change, bring in, give out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from mcplens.config.export import export_commands, export_servers
from mcplens.config.files import Written
from mcplens.errors import InspectorError
from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.confirming import confirmation_view
from mcplens.web.recorded import beside
from mcplens.web.showing.entries import found_view, found_views
from mcplens.web.showing.servers import server_view
from mcplens.web.showing.settings import settings_view
from mcplens.workspace import editing
from mcplens.workspace.masked import count_secrets, masked_raw
from mcplens.workspace.reading import Found, found_on, parse_target, read_path, read_text
from mcplens.workspace.workspace import Workspace


async def connect(workspace: Workspace, command: c.Connect) -> views.ServerView:
    server = workspace.connect(command.server_id)
    await server.begun()
    return server_view(workspace, server)


async def disconnect(workspace: Workspace, command: c.Disconnect) -> views.ServerView:
    return server_view(workspace, await workspace.disconnect(command.server_id))


async def show_what_starts(
    workspace: Workspace, command: c.ConfirmationOf
) -> views.ConfirmationView:
    return confirmation_view(workspace.find(command.server_id).entry)


async def confirm(workspace: Workspace, command: c.Confirm) -> views.ServerView:
    entry = workspace.find(command.server_id).entry
    if confirmation_view(entry).fingerprint != command.fingerprint:
        text = f"{entry.name} has changed since you looked: look at what it starts again"
        raise InspectorError("INVALID_REQUEST", text, details={"needs_confirmation": True})
    return server_view(workspace, workspace.confirm(command.server_id))


async def show_entry(workspace: Workspace, command: c.ServerEntryOf) -> views.EntryView:
    entry = workspace.find(command.server_id).entry
    return views.EntryView(masked_raw(entry.raw))


async def add(workspace: Workspace, command: c.ServerAdd) -> views.WrittenView:
    name = command.name
    return _written(editing.add_server(workspace, name, command.raw, command.copy_of), [name])


async def edit(workspace: Workspace, command: c.ServerEdit) -> views.WrittenView:
    entry = workspace.find(command.server_id).entry
    name = command.name or entry.name
    return _written(editing.edit_server(workspace, entry, command.raw, name), [name])


async def remove(workspace: Workspace, command: c.ServerRemove) -> None:
    editing.remove_server(workspace, command.server_id)


async def find_others(workspace: Workspace, command: c.FoundServers) -> list[views.FoundView]:
    entries = await beside(partial(found_on, workspace.configured.here))
    return found_views(workspace, Found(entries), is_masked=True)


async def read(workspace: Workspace, command: c.ServerRead) -> list[views.FoundView]:
    here, choice, values = workspace.configured.here, command.choice, command.values
    if command.text is not None:
        look = partial(read_text, here, command.text, choice, values, command.file_name)
    elif command.path is not None:
        look = partial(read_path, here, command.path, choice, values)
    else:
        raise InspectorError("INVALID_REQUEST", "give a text or a path")
    # A text has come from the page itself.
    return found_views(workspace, await beside(look), is_masked=command.text is None)


async def bring_in(workspace: Workspace, command: c.ServerImport) -> views.WrittenView:
    servers = workspace.offered.taken(command.servers, command.offers)
    written = editing.bring_in(workspace, servers, replaces=command.replaces)
    return _written(written, list(command.servers))


async def export(workspace: Workspace, command: c.ServerExport) -> views.ExportView:
    names = command.servers or [
        name for name, server in workspace.servers.items() if not server.is_built_in
    ]
    entries = [workspace.find(name).entry for name in names]
    shape = command.shape
    exported = export_commands(entries) if shape == "commands" else export_servers(entries, shape)
    secret_count = sum(
        count_secrets(entry.raw, workspace.secret_keys.of(entry.name)) for entry in entries
    )
    return views.ExportView(exported.text, list(exported.remarks), secret_count)


async def parse(workspace: Workspace, command: c.ParseTarget) -> views.FoundView:
    entry = parse_target(workspace.configured.here, command.text)
    return found_view(workspace, entry, Found([entry]))


async def set_setting(workspace: Workspace, command: c.SetSetting) -> views.SettingView:
    editing.set_setting(workspace, command.name, command.value)
    for setting in settings_view(workspace):
        if setting.name == command.name:
            return setting
    raise InspectorError("INVALID_REQUEST", f"there is no setting {command.name!r}")


def _written(written: Written, servers: list[str]) -> views.WrittenView:
    return views.WrittenView(written.path, written.backup, servers)


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.Connect: connect,
    c.Disconnect: disconnect,
    c.ConfirmationOf: show_what_starts,
    c.Confirm: confirm,
    c.ServerEntryOf: show_entry,
    c.ServerAdd: add,
    c.ServerEdit: edit,
    c.ServerRemove: remove,
    c.FoundServers: find_others,
    c.ServerRead: read,
    c.ServerImport: bring_in,
    c.ServerExport: export,
    c.ParseTarget: parse,
    c.SetSetting: set_setting,
}
