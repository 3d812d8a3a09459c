"""Pages for whoever operates a gateway: `/healthz`, `/readyz`, `/status`, `/metrics`, `/sign-ins`.

The first two say yes or no to anybody who can reach the port, since probes have no token; the
others want the gateway's own token, never that of a view. Added to http_app.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs

import msgspec

from mcplens.errors import StoreUnavailable
from mcplens.gateway import callers
from mcplens.gateway.replica_status import ReplicaStatus, replica_status
from mcplens.gateway.views import EVERYTHING
from mcplens.inbound.asgi import AsgiExchange
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.http_app import GatewayApp
    from mcplens.gateway.user_tokens import KeptSignIn

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
        app.pages |= {"/sign-ins": self._sign_ins}

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

    async def _sign_ins(self, exchange: AsgiExchange) -> None:
        """Who is signed in to what; DELETE ends what `user` and `server` of the query name.

        The holder of a named token is one user, and has to do with their own sign-ins alone.
        """
        try:
            await self._answer_sign_ins(exchange)
        except StoreUnavailable as problem:
            raise Refusal(503, HTTP_REFUSAL, problem.message) from None

    async def _answer_sign_ins(self, exchange: AsgiExchange) -> None:
        sessions, caller = self._gateway.users.sessions, exchange.caller
        kept = [] if sessions is None else await sessions.sign_outs.kept()
        if callers.is_user(caller):
            kept = [one for one in kept if one.caller == caller]
        if exchange.method == "GET":
            found = [_sign_in(one) for one in kept]
            await exchange.respond(200, msgspec.json.encode(found), _JSON, _NOT_KEPT)
            return
        if exchange.method != "DELETE":
            headers = {"Allow": "GET, DELETE"}
            raise Refusal(405, HTTP_REFUSAL, "GET and DELETE are offered here", headers=headers)
        asked = parse_qs(exchange.query)
        user, server = (asked.get(name, [""])[-1] for name in ("user", "server"))
        chosen = [
            one for one in kept if (callers.name_of(one.caller), one.server_id) == (user, server)
        ]
        if sessions is None or not chosen:
            text = f"{user[:100]!r} is not signed in to {server[:100]!r}"
            raise Refusal(404, HTTP_REFUSAL, text)
        by = callers.name_of(caller) or "an operator"
        done = [
            await sessions.sign_outs.end(one.caller, one.server_id, one.server_url, by)
            for one in chosen
        ]
        await exchange.respond(200, msgspec.json.encode(done), _JSON, _NOT_KEPT)


def _sign_in(one: KeptSignIn) -> dict[str, Any]:
    return {
        "user": callers.name_of(one.caller),
        "server": one.server_id,
        "url": one.server_url,
        "renewed_at": one.renewed_at,
    }


def status(gateway: Gateway) -> dict[str, Any]:
    """Where the gateway stands: servers, clients, views."""
    shared = replica_status(gateway)
    return {
        "version": VERSION,
        "run": gateway.bus.run_id,
        "is_draining": gateway.is_draining,
        "replica": _replica(shared),
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


def _replica(shared: ReplicaStatus) -> dict[str, Any]:
    """This replica, the store that it shares, the others, and those that vanished lately."""
    this = shared.this
    return {
        "id": this.id,
        "name": this.name,
        "address": this.address or None,
        "configuration": this.configuration,
        "store": msgspec.to_builtins(shared.store),
        "others": msgspec.to_builtins(shared.others),
        "gone": msgspec.to_builtins(shared.gone),
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
