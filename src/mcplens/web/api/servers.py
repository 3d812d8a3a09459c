"""Servers as they stand now: configuration, connection, and what a server says of itself.

Commands that connect, disconnect, ping, subscribe and set the log level. What a server offers is
in catalog.py, what its file has in server_entries.py.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from mcplens.config.configuration import KIND
from mcplens.errors import size_of
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.secret_masking import mask_url
from mcplens.session.client import Client
from mcplens.web.api.auth_views import AuthView, auth_view
from mcplens.web.api.catalog import ListSummary, list_summary
from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.api.server_entries import (
    InputView,
    SourceView,
    input_views,
    masked_command,
    reached_by,
    source_view,
)
from mcplens.web.api.server_statistics import StatisticsView, statistics_view
from mcplens.web.api.settings import flags_of
from mcplens.web.registry import Command, command, latest_view
from mcplens.web.safe_json import json_safe
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace

State = Literal["DISCONNECTED", "CONNECTING", "CONNECTED", "DISCONNECTING", "ERROR"]

# Of the instructions, of serverInfo and of the capabilities each: the view is sent whenever
# something about the server changes.
_MOST_BYTES: Final = 256 * 1024


class RetryView(msgspec.Struct, frozen=True):
    """Which attempt comes next, and when; `at` is None while it is being made."""

    count: int
    most: int | None
    at: float | None


class ExitView(msgspec.Struct, frozen=True):
    """How the process of a stdio server ended."""

    pid: int
    exit_code: int | None
    signal: str | None
    at: float
    stopped_after_s: float | None


class SubscriptionView(msgspec.Struct, frozen=True):
    """A resource that is followed; `updates` counts how often the server said it changed."""

    uri: str
    updated: float | None
    updates: int
    error: ErrorView | None


class RootView(msgspec.Struct, frozen=True):
    """A folder that is named to the server."""

    uri: str
    name: str | None


class QueueView(msgspec.Struct, frozen=True):
    """How many requests are in each state."""

    pending: int
    in_progress: int
    completed: int
    failed: int
    cancelled: int


class ServerView(msgspec.Struct, frozen=True, kw_only=True):
    """One server: what is configured, how the connection stands, what the server said of itself.

    `client_capabilities` are declared from the next connection on, `declared_capabilities` were
    by this one (null: not connected); `needs_reconnect` says that they differ, `is_outdated` that
    the entry was changed in another way, or a setting, since this connection was made. `is_saved`
    says that roots, profile and capabilities are as the file has them. `flags` are those of the
    command line that apply to this server, without the values of headers and variables.
    """

    server_id: str
    title: str | None
    source: SourceView
    transport: str | None
    shown: str
    command: list[str] | None
    url: str | None
    cwd: str | None
    env_names: list[str]
    header_names: list[str]
    flags: list[str]
    is_editable: bool
    is_removable: bool
    needs_confirmation: bool
    problem: ErrorView | None
    remarks: list[str]
    inputs: list[InputView]
    state: State
    since: float
    waiting_for: str | None
    error: ErrorView | None
    retry: RetryView | None
    latency_s: float | None
    protocol_version: str | None
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    client_capabilities: dict[str, Any]
    declared_capabilities: dict[str, Any] | None
    needs_reconnect: bool
    is_outdated: bool
    instructions: str | None
    channel: dict[str, Any]
    exit: ExitView | None
    stderr_tail: list[str]
    stray_lines: list[str]
    queue: QueueView
    statistics: StatisticsView
    lists: list[ListSummary]
    subscriptions: list[SubscriptionView]
    log_level: str | None
    roots: list[RootView]
    profile: str | None
    is_saved: bool
    auth: AuthView | None


def server_view(workspace: Workspace, server: Server) -> ServerView:
    """A server as it stands now."""
    # What only events tell must be as new as what the client is asked for.
    workspace.bus_reader.catch_up()
    return ServerView(
        **_configured(workspace, server), **_connected(server), **_introduced(workspace, server)
    )


@latest_view("servers")
def latest_server(workspace: Workspace, key: str) -> ServerView | None:
    server = workspace.servers.get(key)
    return None if server is None else server_view(workspace, server)


def _configured(workspace: Workspace, server: Server) -> dict[str, Any]:
    entry = server.entry
    return {
        "server_id": server.server_id,
        "title": entry.title,
        "source": source_view(entry.source),
        "transport": entry.transport,
        "shown": reached_by(entry),
        "command": masked_command(entry),
        "url": None if entry.url is None else mask_url(entry.url),
        "cwd": server.overrides.get("cwd") or entry.cwd,
        "env_names": sorted({*entry.env, *server.overrides.get("env", ())}),
        "header_names": sorted({*entry.headers, *server.overrides.get("headers", ())}),
        "flags": flags_of(server),
        "is_editable": entry.source.kind == KIND,
        "is_removable": entry.source.kind == KIND or server.is_given,
        "needs_confirmation": workspace.confirmations.is_needed(entry),
        "problem": error_view(entry.problem.to_dict() if entry.problem else None),
        "remarks": [*entry.remarks, *_size_remarks(server.client)],
        "inputs": input_views(entry),
        "roots": [RootView(root.uri, root.name) for root in server.answer_settings.roots],
        "profile": server.answer_settings.profile,
        "is_saved": server.answer_settings.is_as_in(entry),
        "auth": auth_view(workspace, server),
    }


def _connected(server: Server) -> dict[str, Any]:
    live = server.live
    client, attempt, gone = live.client, live.attempt, live.exit
    is_connecting = server.state is ConnectionState.CONNECTING
    status = client.queue.get_status() if client is not None else None
    return {
        "state": server.state.value,
        "since": live.since,
        "waiting_for": client.connection.step if client is not None and is_connecting else None,
        "error": error_view(live.error),
        "retry": None if attempt is None else RetryView(attempt.count, attempt.most, attempt.at),
        "latency_s": client.connection.latency_s if client is not None else None,
        "channel": json_safe(_channel(client)) if client is not None else {},
        "exit": None if gone is None else ExitView(*msgspec.structs.astuple(gone)),
        "stderr_tail": list(live.stderr),
        "stray_lines": server.stray_lines,
        "queue": QueueView(*msgspec.structs.astuple(status))
        if status is not None
        else QueueView(0, 0, 0, 0, 0),
        "statistics": statistics_view(server.statistics),
        "subscriptions": [
            SubscriptionView(one.uri, one.updated, one.updates, error_view(one.error))
            for one in server.subscriptions.values()
        ],
        "lists": [list_summary(listing) for listing in server.lists.values()],
        "log_level": server.log_level,
    }


def _channel(client: Client) -> dict[str, Any]:
    """What is known of the connection; `ServerView.command` has the command, as in its file."""
    return {key: value for key, value in client.describe().items() if key != "command"}


def _introduced(workspace: Workspace, server: Server) -> dict[str, Any]:
    client = server.client
    return {
        "protocol_version": client.protocol_version if client is not None else None,
        "server_info": _cut_members(json_safe(client.server_info)) if client is not None else {},
        "capabilities": _cut_members(json_safe(client.capabilities)) if client is not None else {},
        "client_capabilities": json_safe(server.answer_settings.capabilities),
        "declared_capabilities": json_safe(server.declared),
        "needs_reconnect": server.needs_reconnect,
        "is_outdated": server.is_outdated(workspace.config_files.configuration.settings),
        "instructions": _cut_text(client.instructions) if client is not None else None,
    }


def _cut_text(text: str | None) -> str | None:
    """The text, or its beginning."""
    return text if text is None or len(text) <= _MOST_BYTES else f"{text[:_MOST_BYTES]}…"


def _cut_members(value: Any) -> Any:
    """The object with the members that fit, the smallest first; of larger ones the name alone."""
    if size_of(value) <= _MOST_BYTES or not isinstance(value, dict):
        return value
    shown: dict[str, Any] = {}
    room = _MOST_BYTES
    for key, item in sorted(value.items(), key=size_of):
        fits = size_of((key, item)) <= room
        kept = item if fits else type(item)() if isinstance(item, str | dict | list) else None
        weight = size_of((key, kept))
        if weight <= room:
            shown[key] = kept
            room -= weight
    return shown


def _size_remarks(client: Client | None) -> list[str]:
    """A remark for each part that was cut."""
    if client is None:
        return []
    parts = {
        "instructions": client.instructions,
        "serverInfo": client.server_info,
        "capabilities": client.capabilities,
    }
    sizes = {name: size_of(part) for name, part in parts.items()}
    return [
        f"The server's {name} ({size:,} bytes) cannot be shown whole. Traffic has all of it."
        for name, size in sizes.items()
        if size > _MOST_BYTES
    ]


class Connect(Command, frozen=True, kw_only=True):
    """Connect, or connect again. Replied to at once; what follows is Changed."""

    server_id: str


@command
async def connect(workspace: Workspace, command: Connect) -> ServerView:
    server = workspace.connect(command.server_id)
    server.sign_in.person.is_wanted = True
    await server.begun()
    return server_view(workspace, server)


class Disconnect(Command, frozen=True, kw_only=True):
    """Disconnect, or stop connecting. Replied to when it is done."""

    server_id: str


@command
async def disconnect(workspace: Workspace, command: Disconnect) -> ServerView:
    return server_view(workspace, await workspace.disconnect(command.server_id))


class Subscribe(Command, frozen=True, kw_only=True):
    """Follow a resource."""

    server_id: str
    uri: str


@command
async def subscribe(workspace: Workspace, command: Subscribe) -> ServerView:
    server = workspace.find(command.server_id)
    await server.subscribe(command.uri)
    return server_view(workspace, server)


class Unsubscribe(Command, frozen=True, kw_only=True):
    server_id: str
    uri: str


@command
async def unsubscribe(workspace: Workspace, command: Unsubscribe) -> ServerView:
    server = workspace.find(command.server_id)
    await server.unsubscribe(command.uri)
    return server_view(workspace, server)


class SetLevel(Command, frozen=True, kw_only=True):
    """The level from which the server logs."""

    server_id: str
    level: str


@command
async def set_level(workspace: Workspace, command: SetLevel) -> ServerView:
    server = workspace.find(command.server_id)
    await server.set_level(command.level)
    return server_view(workspace, server)


class PingView(msgspec.Struct, frozen=True):
    latency_s: float


class Ping(Command, frozen=True, kw_only=True):
    server_id: str


@command
async def ping(workspace: Workspace, command: Ping) -> PingView:
    return PingView(await workspace.find(command.server_id).ping())
