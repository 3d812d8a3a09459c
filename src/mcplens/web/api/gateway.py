"""The gateway as the page shows it: on or off, its clients, servers, limits and audit log.

What views publish is in published_views.py, what other clients are configured with in
gateway_entries.py. The audit log can be large, and is fetched by a command.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway import callers
from mcplens.gateway.audit_log import AuditLine, tail
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.replica_status import ReplicaStatus, replica_status
from mcplens.gateway.server_places import WAITING_CALLS
from mcplens.gateway.service import GatewayService, inbound_limits
from mcplens.inbound.limits import Limits
from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.registry import Command, command, latest_view
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace.workspace import Workspace

_MOST_CLIENTS: Final = 200
_MOST_LINES: Final = 200
_PIPES: Final = "stdio"


class GatewayClientView(msgspec.Struct, frozen=True):
    """A client of the gateway. One without a session (2026-07-28) was last seen at `last_at`.

    `client_id` is null for those: requests of the same name and caller at the same path are counted
    together. `caller` is the name of the token or the subject of the user, "" if unknown.
    """

    client_id: str | None
    name: str
    version: str | None
    protocol_version: str | None
    path: str
    transport: str
    since: float
    last_at: float
    in_flight: int
    calls: int
    errors: int
    caller: str


class SingletonView(msgspec.Struct, frozen=True):
    """Where a server runs that may run once; `replica` is null while none has its lease."""

    replica: str | None
    is_here: bool


class GatewayServerView(msgspec.Struct, frozen=True):
    """A server behind the gateway: what it publishes, and how often it was called.

    `singleton` is there where replicas share a store and the server may run on one of them only.
    """

    server_id: str
    status: str
    since: float
    error: str | None
    retry_at: float | None
    is_paused: bool
    is_loop: bool
    tools: int
    prompts: int
    resources: int
    is_stale: bool
    calls: int
    failed: int
    singleton: SingletonView | None


class GatewayLimitView(msgspec.Struct, frozen=True):
    """A limit: `most` is null where there is none, `used` where nothing is counted.

    `by` is the client or server that is nearest to it. One that `is_set` is in the configuration.
    """

    name: str
    most: int | None
    used: int | None
    by: str | None
    is_set: bool


class GatewayView(msgspec.Struct, frozen=True):
    """The gateway of this process.

    One that `is_permanent` is on for as long as the process runs. `url` is null while it is off,
    and where it serves the program that started it. `revision` is another one when what the views
    publish may have changed. `problem` says why a newer configuration is not used. `waiting` counts
    what waits for approval; it is null where no view wants one. `replicas` is null where there is
    no store that replicas share. `has_user_sign_ins` where users sign in to servers themselves.
    """

    is_on: bool
    is_permanent: bool
    is_draining: bool
    since: float | None
    url: str | None
    has_token: bool
    listen: str
    problem: ErrorView | None
    revision: int
    waiting: int | None
    in_flight: int
    clients: list[GatewayClientView]
    servers: list[GatewayServerView]
    limits: list[GatewayLimitView]
    replicas: ReplicaStatus | None
    has_user_sign_ins: bool


@latest_view("gateway")
def latest_gateway(workspace: Workspace, key: str) -> GatewayView:
    return gateway_view(workspace)


def gateway_view(workspace: Workspace) -> GatewayView:
    switch, service = workspace.gateway, workspace.gateway.service
    gateway = service.gateway if service is not None else None
    address = service.address if service is not None else None
    listen = workspace.config_files.configuration.settings.gateway.get("listen")
    return GatewayView(
        is_on=gateway is not None,
        is_permanent=switch.is_permanent,
        is_draining=gateway is not None and gateway.is_draining,
        since=switch.since,
        url=address.url("/mcp") if address is not None else None,
        has_token=service is not None and service.token is not None,
        listen=listen if isinstance(listen, str) else "",
        problem=error_view(switch.problem.to_dict()) if switch.problem is not None else None,
        revision=switch.revision,
        waiting=_waiting(service) if service is not None else None,
        in_flight=gateway.running_calls if gateway is not None else 0,
        clients=_clients(gateway) if gateway is not None else [],
        servers=[_server(gateway, one) for one in gateway.offered()] if gateway else [],
        limits=_limits(service) if service is not None else [],
        replicas=replica_status(gateway) if gateway is not None and gateway.shared else None,
        has_user_sign_ins=gateway is not None and gateway.users.sessions is not None,
    )


def _waiting(service: GatewayService) -> int | None:
    return len(service.approvals.waiting) if service.approvals.is_on else None


def _clients(gateway: Gateway) -> list[GatewayClientView]:
    found = [
        GatewayClientView(
            client.id,
            client.name,
            client.version,
            client.peer.protocol_version,
            client.path,
            client.peer.kind,
            use.since,
            use.last_at,
            use.in_flight,
            use.calls,
            use.errors,
            callers.name_of(client.peer.caller),
        )
        for client in gateway.clients.values()
        if client.is_ready
        for use in (client.use,)
    ]
    found += [
        GatewayClientView(
            None,
            one.name,
            one.version,
            "2026-07-28",
            one.path,
            _PIPES if one.path == _PIPES else "http",
            use.since,
            use.last_at,
            use.in_flight,
            use.calls,
            use.errors,
            one.caller,
        )
        for one, use in gateway.stateless_uses.uses.items()
    ]
    return sorted(found, key=lambda one: one.last_at, reverse=True)[:_MOST_CLIENTS]


def _server(gateway: Gateway, connection: ServerConnection) -> GatewayServerView:
    state, lists = connection.state, connection.lists
    counts = gateway.statistics.servers.get(connection.server_id)
    return GatewayServerView(
        connection.server_id,
        state.status.value,
        state.since,
        state.message or None,
        state.retry_at,
        state.is_paused,
        gateway.is_loop(connection),
        len(lists["tools"].items),
        len(lists["prompts"].items),
        len(lists["resources"].items) + len(lists["resource_templates"].items),
        any(each.is_stale for each in lists),
        counts.calls if counts is not None else 0,
        counts.failed if counts is not None else 0,
        _singleton(gateway, connection.server_id),
    )


def _singleton(gateway: Gateway, server_id: str) -> SingletonView | None:
    shared = gateway.shared
    if shared is None or server_id not in (holders := shared.singletons.status()):
        return None
    holder = holders[server_id]
    return SingletonView(holder, holder == gateway.replica.name)


def _limits(service: GatewayService) -> list[GatewayLimitView]:
    gateway, chosen = service.gateway, service.published.settings.limits
    inbound: Limits = inbound_limits(service.published.settings)
    nearest = gateway.call_limits.nearest()
    names = {client.key: client.name for client in gateway.clients.values()}
    waiting = WAITING_CALLS if chosen.waiting_calls is None else chosen.waiting_calls
    sessions = sum(not client.is_stateless for client in gateway.clients.values())

    def counted(name: str, most: int | None, is_set: bool) -> GatewayLimitView:
        used, by = nearest[name]
        return GatewayLimitView(name, most, used, names.get(by, by) or None, is_set)

    return [
        GatewayLimitView(
            "sessions", inbound.max_sessions, sessions, None, chosen.sessions is not None
        ),
        counted("callsPerClient", inbound.max_requests, chosen.calls_per_client is not None),
        counted("callsPerServer", chosen.calls_per_server, chosen.calls_per_server is not None),
        counted("callsPerSecond", chosen.calls_per_second, chosen.calls_per_second is not None),
        *(
            counted(name, most, True)
            for name, most in (
                ("callsPerView", chosen.calls_per_view),
                ("callsPerSecondPerView", chosen.calls_per_second_per_view),
                ("callsPerSecondPerServer", chosen.calls_per_second_per_server),
            )
            if most is not None
        ),
        counted("waitingCalls", waiting, chosen.waiting_calls is not None),
        GatewayLimitView(
            "requestBytes", inbound.max_message_bytes, None, None, chosen.request_bytes is not None
        ),
    ]


# -- on and off --------------------------------------------------------------------------------


class TurnGatewayOn(Command, frozen=True, kw_only=True):
    """Start the gateway where the configuration says; the enabled servers are connected."""


@command
async def turn_gateway_on(workspace: Workspace, command: TurnGatewayOn) -> GatewayView:
    await workspace.gateway.turn_on()
    return gateway_view(workspace)


class TurnGatewayOff(Command, frozen=True, kw_only=True):
    """Stop the gateway, once the calls that are under way have ended; servers stay connected."""


@command
async def turn_gateway_off(workspace: Workspace, command: TurnGatewayOff) -> GatewayView:
    await workspace.gateway.turn_off()
    return gateway_view(workspace)


def running_gateway(workspace: Workspace) -> GatewayService:
    """The gateway of this process.

    Raises:
        InspectorError: it is off.
    """
    service = workspace.gateway.service
    if service is None:
        raise InspectorError("INVALID_REQUEST", "the gateway is off")
    return service


# -- the audit log -----------------------------------------------------------------------------


class AuditView(msgspec.Struct, frozen=True):
    """The newest lines of the audit log, the newest first; `path` is null if none is written."""

    path: str | None
    problem: str | None
    lines: list[AuditLine]


class GatewayAudit(Command, frozen=True, kw_only=True):
    """The newest lines of the audit log."""

    count: int = 50


@command
async def gateway_audit(workspace: Workspace, command: GatewayAudit) -> AuditView:
    log = running_gateway(workspace).gateway.audit_log
    if log is None:
        return AuditView(None, None, [])
    count = max(1, min(command.count, _MOST_LINES))
    lines = await run_in_thread(partial(_lines, log.path, count))
    return AuditView(str(log.path), log.problem, lines)


def _lines(path: Path, count: int) -> list[AuditLine]:
    found = []
    for line in tail(path, count):
        try:
            found.append(msgspec.convert(line, AuditLine))
        except msgspec.ValidationError:
            continue  # of another version
    return found
