"""The ASGI application: routes paths to endpoints, after access control."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, Protocol

from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.asgi import AsgiExchange, Receive, Scope, Send, headers_of
from mcplens.inbound.refusal import HTTP_REFUSAL, INTERNAL_ERROR, Refusal
from mcplens.inbound.websocket import WebSocketEndpoint

_log = logging.getLogger("mcplens.inbound")

_HTTP_RESPONSE: Final = "websocket.http.response"


class Endpoint(Protocol):
    """Answers HTTP requests to one path."""

    async def handle(self, exchange: AsgiExchange) -> None: ...

    def close(self) -> None: ...


class AsgiApp:
    """The application that a server serves."""

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        *,
        sockets: Mapping[str, WebSocketEndpoint] | None = None,
        access: AccessControl | None = None,
    ) -> None:
        self.access = access or AccessControl()
        self._endpoints = dict(endpoints)
        self._sockets = dict(sockets or {})

    def __repr__(self) -> str:
        return f"<AsgiApp {sorted({*self._endpoints, *self._sockets})}>"

    def close(self) -> None:
        """End everything that is open."""
        endpoints: list[Endpoint | WebSocketEndpoint] = [*self._endpoints.values()]
        for endpoint in [*endpoints, *self._sockets.values()]:
            endpoint.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._serve(AsgiExchange(scope, receive, send, headers_of(scope)))
        elif scope["type"] == "websocket":
            await self._serve_socket(scope, receive, send)

    async def _serve(self, exchange: AsgiExchange) -> None:
        try:
            exchange.caller = self.access.admit(exchange.headers)
            endpoint = self._endpoints.get(exchange.path)
            if endpoint is None:
                raise _unknown(exchange.path, self._endpoints)
            await endpoint.handle(exchange)
        except Refusal as refusal:
            await exchange.refuse(refusal)
        except ConnectionError:
            pass  # the client left; there is nobody to answer
        except Exception as problem:  # a bug, ours or a handler's: only this client fails
            _log.exception("%r failed", exchange)
            if not exchange.has_begun:
                await exchange.refuse(Refusal(500, INTERNAL_ERROR, f"failed: {problem}"))

    async def _serve_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = headers_of(scope)
        try:
            caller = self.access.admit(headers)
            endpoint = self._sockets.get(scope["path"])
            if endpoint is None:
                raise _unknown(scope["path"], self._sockets)
            endpoint.make_room()
        except Refusal as refusal:
            await receive()
            await _refuse_socket(scope, send, refusal)
            return
        await endpoint.handle_socket(scope, receive, send, headers, caller)


def _unknown(path: str, known: Mapping[str, object]) -> Refusal:
    return Refusal(404, HTTP_REFUSAL, f"nothing is served at {path}; try {', '.join(known)}")


async def _refuse_socket(scope: Scope, send: Send, refusal: Refusal) -> None:
    if _HTTP_RESPONSE not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})
        return
    lines = {"Content-Type": "application/json", **refusal.headers}
    headers = [(name.encode(), value.encode()) for name, value in lines.items()]
    start = {"type": f"{_HTTP_RESPONSE}.start", "status": refusal.status, "headers": headers}
    await send(start)
    await send({"type": f"{_HTTP_RESPONSE}.body", "body": refusal.body})
