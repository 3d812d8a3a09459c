"""A server as it stands now: what is configured, its connection, what it says of itself."""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.config.configuration import KIND
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.secret_masking import mask_url
from mcplens.session.client import Client
from mcplens.web import views
from mcplens.web.plain import plain
from mcplens.web.showing.entries import command_of, input_views, shown, source_view
from mcplens.web.showing.errors import error_view
from mcplens.web.showing.flags import flags_of
from mcplens.web.showing.introductions import members_within, text_within, too_large
from mcplens.web.showing.lists import list_summary
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace


def server_view(workspace: Workspace, server: Server) -> views.ServerView:
    """A server as it stands now."""
    # What only events tell must be as new as what the client is asked for.
    workspace.follower.catch_up()
    return views.ServerView(
        **_configured(workspace, server), **_connected(server), **_introduced(workspace, server)
    )


def _configured(workspace: Workspace, server: Server) -> dict[str, Any]:
    entry = server.entry
    return {
        "server_id": server.server_id,
        "title": entry.title,
        "source": source_view(entry.source),
        "transport": entry.transport,
        "shown": shown(entry),
        "command": command_of(entry),
        "url": None if entry.url is None else mask_url(entry.url),
        "cwd": server.overrides.get("cwd") or entry.cwd,
        "env_names": sorted({*entry.env, *server.overrides.get("env", ())}),
        "header_names": sorted({*entry.headers, *server.overrides.get("headers", ())}),
        "flags": flags_of(server),
        "is_editable": entry.source.kind == KIND,
        "is_removable": entry.source.kind == KIND or server.is_given,
        "needs_confirmation": workspace.confirmations.is_needed(entry),
        "problem": error_view(entry.problem.to_dict() if entry.problem else None),
        "remarks": [*entry.remarks, *too_large(server.client)],
        "inputs": input_views(entry),
        "roots": [views.RootView(root.uri, root.name) for root in server.answering.roots],
        "profile": server.answering.profile,
        "is_saved": server.answering.is_as_in(entry),
    }


def _connected(server: Server) -> dict[str, Any]:
    client, attempt, gone = server.client, server.attempt, server.exit
    is_connecting = server.state is ConnectionState.CONNECTING
    status = client.queue.get_status() if client is not None else None
    return {
        "state": server.state.value,
        "since": server.since,
        "waiting_for": client.connection.step if client is not None and is_connecting else None,
        "error": error_view(server.error),
        "retry": None
        if attempt is None
        else views.RetryView(attempt.count, attempt.most, attempt.at),
        "latency_s": client.connection.latency_s if client is not None else None,
        "channel": plain(_channel(client)) if client is not None else {},
        "exit": None
        if gone is None
        else views.ExitView(gone.pid, gone.exit_code, gone.signal, gone.at),
        "stderr_tail": list(server.stderr),
        "queue": views.QueueView(*msgspec.structs.astuple(status))
        if status is not None
        else views.QueueView(0, 0, 0, 0, 0),
        "subscriptions": [
            views.SubscriptionView(one.uri, one.updated, one.updates, error_view(one.error))
            for one in server.subscriptions.values()
        ],
        "lists": [list_summary(listing) for listing in server.lists.values()],
        "log_level": server.log_level,
    }


def _channel(client: Client) -> dict[str, Any]:
    """What is known of the connection; the command is shown elsewhere, as its file has it."""
    return {key: value for key, value in client.describe().items() if key != "command"}


def _introduced(workspace: Workspace, server: Server) -> dict[str, Any]:
    client = server.client
    return {
        "protocol_version": client.protocol_version if client is not None else None,
        "server_info": members_within(plain(client.server_info)) if client is not None else {},
        "capabilities": members_within(plain(client.capabilities)) if client is not None else {},
        "client_capabilities": plain(server.answering.capabilities),
        "declared_capabilities": plain(server.declared),
        "needs_reconnect": server.needs_reconnect,
        "is_outdated": server.is_outdated(workspace.configured.configuration.settings),
        "instructions": text_within(client.instructions) if client is not None else None,
    }
