"""Pages for whoever operates a gateway: `/healthz`, `/readyz`, `/status` and `/metrics`.

The first two say yes or no to anybody who can reach the port, since probes have no token; the
others want the gateway's own token, never that of a view. Added to http_app.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.gateway import callers
from mcplens.gateway.views import EVERYTHING
from mcplens.inbound.asgi import AsgiExchange
from mcplens.replicas.replica import Replica
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.http_app import GatewayApp

_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"
_NOT_KEPT: Final = {"Cache-Control": "no-store"}


class OperationPages:
    """Answers about one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<OperationPages of {self._gateway!r}>"

    def add_to(self, app: GatewayApp) -> None:
        app.public_pages |= {"/healthz": self._health, "/readyz": self._readiness}
        app.pages |= {"/status": self._status, "/metrics": self._metrics}

    async def _health(self, exchange: AsgiExchange) -> None:
        """The process answers, so it lives."""
        await exchange.respond(200, b"ok\n", _TEXT, _NOT_KEPT)

    async def _readiness(self, exchange: AsgiExchange) -> None:
        """Whether new calls are accepted."""
        gateway = self._gateway
        if gateway.is_draining:
            await exchange.respond(503, b"shutting down\n", _TEXT, _NOT_KEPT)
        elif not gateway.has_settled:
            await exchange.respond(503, b"servers are starting\n", _TEXT, _NOT_KEPT)
        else:
            await exchange.respond(200, b"ok\n", _TEXT, _NOT_KEPT)

    async def _status(self, exchange: AsgiExchange) -> None:
        body = msgspec.json.encode(status(self._gateway))
        await exchange.respond(200, body, _JSON, _NOT_KEPT)

    async def _metrics(self, exchange: AsgiExchange) -> None:
        from mcplens.gateway.metrics import CONTENT_TYPE, exposition

        await exchange.respond(200, exposition(self._gateway), CONTENT_TYPE, _NOT_KEPT)


def status(gateway: Gateway) -> dict[str, Any]:
    """Where the gateway stands: servers, clients, views."""
    return {
        "version": VERSION,
        "run": gateway.bus.run_id,
        "is_draining": gateway.is_draining,
        "replica": _replica(gateway.replica),
        "calls_in_flight": gateway.running_calls,
        "limits": gateway.call_limits.mode,
        "singletons": {} if gateway.shared is None else gateway.shared.singletons.status(),
        "approval": _approval(gateway),
        "servers": [_server(gateway, one) for one in gateway.offered()],
        "clients": [
            {
                "id": client.id,
                "name": client.name,
                "caller": callers.name_of(client.peer.caller),
                "path": client.path,
                "protocol_version": client.peer.protocol_version,
                "calls": len(client.calls),
            }
            for client in gateway.clients.values()
        ],
        "views": [view.name for view in (EVERYTHING, *gateway.views.values()) if view.name],
    }


def _approval(gateway: Gateway) -> dict[str, Any] | None:
    """What waits for approval; None where no view wants one."""
    approvals = gateway.approvals
    if approvals is None or not approvals.is_on:
        return None
    return {"waiting": len(approvals.waiting), "problem": approvals.problem}


def _replica(replica: Replica) -> dict[str, Any]:
    """This replica, the store that it shares, and the others."""
    state = replica.store.state
    return {
        "id": replica.id,
        "name": replica.name,
        "address": replica.address,
        "configuration": replica.configuration,
        "store": {
            "name": replica.store.name,
            "status": state.status,
            "since": state.since,
            "reason": state.reason or None,
        },
        "others": [
            {
                "id": one.id,
                "name": one.name,
                "address": one.address,
                "version": one.version,
                "since": one.since,
                "configuration": one.configuration,
                "has_same_configuration": one.configuration == replica.configuration,
            }
            for one in replica.others.values()
        ],
    }


def _server(gateway: Gateway, connection: ServerConnection) -> dict[str, Any]:
    state = connection.state
    counts = gateway.statistics.servers.get(connection.server_id)
    introduction = connection.introduction
    return {
        "id": connection.server_id,
        "status": state.status.value,
        "since": state.since,
        "error": state.message or None,
        "retry_at": state.retry_at,
        "protocol_version": introduction.version if introduction is not None else None,
        "lists": {
            each.kind: {
                "items": len(each.items),
                "is_stale": each.is_stale,
                "fetched_at": each.fetched_at,
            }
            for each in connection.lists
        },
        "calls": counts.calls if counts is not None else 0,
        "failed": counts.failed if counts is not None else 0,
    }
