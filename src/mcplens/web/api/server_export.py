"""Servers exported for mcplens, another tool or a shell, with what is lost on the way."""

from __future__ import annotations

from typing import Literal

import msgspec

from mcplens.config.export import Shape, export_commands, export_servers
from mcplens.web.api.settings import flags_of
from mcplens.web.registry import Command, command
from mcplens.workspace.form_masking import secret_names
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace


class ExportRemarkView(msgspec.Struct, frozen=True):
    """What an export lacks of one server, or changes in its meaning."""

    server: str
    text: str


class ExportView(msgspec.Struct, frozen=True):
    """Servers in some shape, what that shape cannot say of them, and how many values in it look
    like secrets."""

    text: str
    remarks: list[ExportRemarkView]
    secret_count: int


class ServerExport(Command, frozen=True, kw_only=True):
    """Servers in our own or another tool's shape, or as commands for a shell; all, if none is
    named."""

    shape: Shape | Literal["commands"]
    servers: list[str] = []


@command
async def export_as(workspace: Workspace, command: ServerExport) -> ExportView:
    names = command.servers or [
        name for name, server in workspace.servers.items() if not server.is_built_in
    ]
    servers = [workspace.find(name) for name in names]
    entries = [server.entry for server in servers]
    shape = command.shape
    exported = export_commands(entries) if shape == "commands" else export_servers(entries, shape)
    told = [ExportRemarkView(one.server, one.text) for one in exported.remarks]
    told += [ExportRemarkView(one.server_id, text) for one in servers for text in _not_in_file(one)]
    secret_count = sum(
        len(secret_names(entry.raw, workspace.secret_keys.of(entry.name))) for entry in entries
    )
    return ExportView(exported.text, told, secret_count)


def _not_in_file(server: Server) -> list[str]:
    """What this page has of a server that its entry lacks."""
    told = []
    if flags := flags_of(server):
        told.append(f"what the command line said is not in it: {', '.join(flags)}")
    if not server.answer_settings.is_as_in(server.entry):
        told.append("profile, roots or capabilities that were not saved are not in it")
    return told
