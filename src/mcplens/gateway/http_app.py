"""The gateway over HTTP: raw ASGI, one streamable HTTP endpoint for each path.

`/mcp` is the view to start with, `/mcp/<view>` any other, `/servers/<id>/mcp` one server untouched,
and `/sse` the view to start with over the older HTTP+SSE, if that is switched on. Beside them are
the pages of operation_pages.py and the metadata of OAuth. Served by inbound/server.py.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from math import inf
from typing import Any, Final
from urllib.parse import unquote

from mcplens.config.views import View
from mcplens.gateway.access import SERVERS_PATH, GatewayAccess
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.handler import InboundHandler
from mcplens.gateway.operation_pages import OperationPages
from mcplens.gateway.received_forwards import ReceivedForwards
from mcplens.gateway.resource_server import WELL_KNOWN, Admitted, KeysNeeded
from mcplens.gateway.server_handler import ServerHandler, path_of
from mcplens.gateway.view_handler import ViewHandler
from mcplens.gateway.views import EVERYTHING
from mcplens.inbound.asgi import AsgiExchange, Receive, Scope, Send, headers_of
from mcplens.inbound.asgi_app import Endpoint
from mcplens.inbound.exchange import DirectExchange, DirectRoute, RouteTerm, decode_headers
from mcplens.inbound.limits import Limits
from mcplens.inbound.refusal import HTTP_REFUSAL, INTERNAL_ERROR, Refusal
from mcplens.inbound.sse import HttpSse
from mcplens.inbound.streamable_http import StreamableHttp, check_post
from mcplens.replicas.request_proofs import PROOF_HEADER

_log = logging.getLogger("mcplens.gateway")

MCP_PATH: Final = "/mcp"
_VIEWS: Final = "/mcp/"
_SSE_PATH: Final = "/sse"
_MESSAGES_PATH: Final = "/messages"

# Of all paths, so many are named where one is unknown.
_SHOWN_PATHS: Final = 10

# Routes of direct POSTs that are remembered, and how many and how long the headers of each may be.
_KEPT_ROUTES: Final = 1_024
_KEPT_ROUTE_HEADERS: Final = 64
_KEPT_ROUTE_BYTES: Final = 2_048

# Answers one HTTP request, after access control.
Page = Callable[[AsgiExchange], Awaitable[None]]


class GatewayApp:
    """The ASGI application of a gateway."""

    def __init__(
        self,
        gateway: Gateway,
        access: GatewayAccess,
        *,
        limits: Limits | None = None,
        default_view: View = EVERYTHING,
        has_sse: bool = False,
    ) -> None:
        self.gateway = gateway
        self.access = access
        self._limits = limits or Limits()
        self._default_view = default_view
        self._has_sse = has_sse
        self._endpoints: dict[str, Endpoint] = {}
        self._routes: dict[tuple[Any, ...], DirectRoute] = {}  # by target and headers
        self._term = RouteTerm()
        access.on_changed = self._forget_routes
        gateway.token_expiry = access.expires_at
        self.pages: dict[str, Page] = {}
        self.public_pages: dict[str, Page] = {}  # for anybody: they tell nothing but yes or no
        self.forwards = ReceivedForwards(gateway)
        OperationPages(gateway).add_to(self)
        self.use_views()

    def __repr__(self) -> str:
        return f"<GatewayApp {sorted(self._endpoints)}>"

    def use_views(self, default_view: View | None = None) -> None:
        """Publish the views as they are now; endpoints of views that are gone are closed."""
        if default_view is not None:
            self._default_view = default_view
        wanted = {f"{_VIEWS}{name}": view for name, view in self.gateway.views.items()}
        wanted[MCP_PATH] = self._default_view
        tokens = {path: view.token for path, view in wanted.items() if view.token is not None}
        self.access.view_tokens = tokens
        self.access.view_names = {path: view.name for path, view in wanted.items()}
        if self._has_sse:
            name = self._default_view.name
            self.access.view_names |= {_SSE_PATH: name, _MESSAGES_PATH: name}
        self._forget_routes()
        for path in [path for path in self._endpoints if path.startswith(_VIEWS)]:
            if path not in wanted:
                self._endpoints.pop(path).close()
                self.gateway.remove_handler(path)
        for path, view in wanted.items():
            known = self.gateway.handler_at(path)
            if isinstance(known, ViewHandler):
                known.use_view(view)
            else:
                self._publish_view(path, view)

    def _forget_routes(self) -> None:
        """Who may use what has changed: every request is looked at again."""
        self._routes.clear()
        self._term.is_over = True
        self._term = RouteTerm()

    def _publish_view(self, path: str, view: View) -> None:
        handler = ViewHandler(self.gateway, view, path)
        self.gateway.add_handler(handler)
        clock = self.gateway.clock
        self._endpoints[path] = self._streamable(handler)
        if path == MCP_PATH and self._has_sse:
            legacy = HttpSse(handler, clock, messages_path=_MESSAGES_PATH, limits=self._limits)
            self._endpoints |= {_SSE_PATH: legacy, _MESSAGES_PATH: legacy}

    def _streamable(self, handler: InboundHandler) -> StreamableHttp:
        reason = "the session belongs to another caller"

        def note(caller: str) -> None:
            self.gateway.refused_requests.write("POST", handler.path, reason, caller)

        shared, clock = self.gateway.shared_sessions, self.gateway.clock
        sharing = None if shared is None else shared.at(handler.path)
        return StreamableHttp(handler, clock, limits=self._limits, on_foreign=note, sharing=sharing)

    def close(self) -> None:
        """End everything that is open."""
        for endpoint in self._endpoints.values():
            endpoint.close()

    def find_route(self, target: bytes, raw: list[tuple[bytes, bytes]]) -> DirectRoute | None:
        """The endpoint that a POST is for; None: `__call__` answers, with what is wrong.

        Clients send the same headers again and again, except for the length of the body: what they
        led to is remembered, and only of requests that were admitted.
        """
        key = (target, *[pair for pair in raw if pair[0] != b"content-length"])
        known = self._routes.get(key)
        if known is not None:
            if known.until == inf or self.gateway.clock.monotonic() < known.until:
                return known
            del self._routes[key]
        path = target.decode("latin-1")
        endpoint = self._endpoints.get(path)
        if not isinstance(endpoint, StreamableHttp):
            return None
        headers = decode_headers(raw)
        if PROOF_HEADER in headers:
            return self.forwards.route(path, headers, endpoint, self._term)
        try:
            admitted = self.access.admit(path, headers)
            check_post(headers)
        except (Refusal, KeysNeeded):
            return None
        caller, until = admitted.caller, admitted.until
        take = endpoint.post_now if until == inf else partial(self._post_now, endpoint, until)
        route = DirectRoute(path, headers, caller, take, self._term, until)
        size = sum(len(name) + len(value) for name, value in raw)
        if len(raw) <= _KEPT_ROUTE_HEADERS and size <= _KEPT_ROUTE_BYTES:
            if len(self._routes) >= _KEPT_ROUTES:
                self._routes.clear()
            self._routes[key] = route
        return route

    def _post_now(
        self, endpoint: StreamableHttp, until: float, exchange: DirectExchange, body: bytes
    ) -> None:
        """Take a POST, after another look at it if the caller's token expired since its headers."""
        if self.gateway.clock.monotonic() >= until:
            try:
                self.access.admit(exchange.path, exchange.headers)
            except KeysNeeded:  # a client that was that slow may come again
                raise Refusal(503, HTTP_REFUSAL, "try again in a moment") from None
        endpoint.post_now(exchange, body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        exchange = AsgiExchange(scope, receive, send, headers_of(scope))
        try:
            path = exchange.path
            if path in self.public_pages:
                await self.public_pages[path](exchange)
                return
            if path.startswith(WELL_KNOWN) and self.access.resource_server is not None:
                await self._metadata(exchange, path.removeprefix(WELL_KNOWN))
                return
            users = self.gateway.users.sessions
            if users is not None and path.startswith(users.links.path):
                self.access.check_network(exchange.headers)
                await users.pages.handle(exchange)
                return
            if PROOF_HEADER in exchange.headers:
                forwarded_to = self._endpoint_of(scope)
                await self.forwards.serve(exchange, forwarded_to, self._limits.max_message_bytes)
                return
            term = self._term
            admitted = await self._admit(exchange, _raw_path(scope))
            endpoint = self._endpoint_of(scope)
            if endpoint is not None:

                async def admit_again() -> None:
                    if term.is_over or self.gateway.clock.monotonic() >= admitted.until:
                        await self._admit(exchange, _raw_path(scope))
                        if self._endpoint_of(scope) is not endpoint:  # its view is gone
                            raise self._unknown(path, _raw_path(scope))

                exchange.admit_again = admit_again
                await self._handle(endpoint, exchange, admitted.expires_at)
            elif path in self.pages:
                await self.pages[path](exchange)
            else:
                raise self._unknown(path, _raw_path(scope))
        except Refusal as refusal:
            if not exchange.has_begun:
                await exchange.refuse(refusal)
        except ConnectionError:
            pass  # the client left; there is nobody to answer
        except Exception as problem:  # a bug of ours: only this client fails
            _log.exception("%r failed", exchange)
            if not exchange.has_begun:
                await exchange.refuse(Refusal(500, INTERNAL_ERROR, f"failed: {problem}"))

    async def _handle(self, endpoint: Endpoint, exchange: AsgiExchange, expires_at: float) -> None:
        """Answer a request; a stream of its own (GET) ends with its token."""
        if exchange.method != "GET" or expires_at == inf:
            await endpoint.handle(exchange)
            return
        timer = self.gateway.clock.call_at(expires_at, exchange.abort)
        try:
            await endpoint.handle(exchange)
        finally:
            timer.cancel()

    async def _admit(self, exchange: AsgiExchange, raw_path: str) -> Admitted:
        """Note who the caller is.

        Raises:
            Refusal: it may not use this path.
        """
        path = raw_path if raw_path.startswith(SERVERS_PATH) else exchange.path
        try:
            admitted = await self.access.admit_later(path, exchange.headers)
        except Refusal as refusal:
            refused = self.gateway.refused_requests
            refused.note(exchange.method, path, exchange.headers, refusal)
            raise
        exchange.caller = admitted.caller
        return admitted

    async def _metadata(self, exchange: AsgiExchange, place: str) -> None:
        """The metadata of a protected resource; of any path, so that none is given away."""
        if exchange.method not in ("GET", "HEAD"):
            raise Refusal(405, HTTP_REFUSAL, "GET alone is offered here", headers={"Allow": "GET"})
        body = self.access.metadata(place)
        if body is None:
            raise Refusal(404, HTTP_REFUSAL, f"nothing is served at {place[:200]}")
        await exchange.respond(200, body, "application/json", {"Cache-Control": "no-store"})

    def _unknown(self, path: str, raw_path: str) -> Refusal:
        """The refusal of a path, with those that there are."""
        name = _server_in(raw_path)
        if name in self.gateway.left_out:
            text = f"the server {name} is not served: it {self.gateway.left_out[name]}"
            return Refusal(404, HTTP_REFUSAL, text)
        servers = (path_of(one.server_id) for one in self.gateway.usable())
        known = list(dict.fromkeys([*self._endpoints, *servers]))
        shown = ", ".join(known[:_SHOWN_PATHS]) + (", …" if len(known) > _SHOWN_PATHS else "")
        return Refusal(404, HTTP_REFUSAL, f"nothing is served at {path[:200]}; try {shown}")

    def _endpoint_of(self, scope: Scope) -> Endpoint | None:
        return self._endpoints.get(scope["path"]) or self._server_endpoint(_raw_path(scope))

    def _server_endpoint(self, raw_path: str) -> Endpoint | None:
        """The endpoint of one server, made when it is first asked for."""
        server_id = _server_in(raw_path)
        if server_id is None or self.gateway.server(server_id) is None:
            return None
        path = path_of(server_id)
        if path not in self._endpoints:
            handler = ServerHandler(self.gateway, server_id)
            self.gateway.add_handler(handler)
            self._endpoints[path] = self._streamable(handler)
        return self._endpoints[path]


def _raw_path(scope: Scope) -> str:
    """The path of a request as it was sent, with its percent escapes."""
    raw: bytes = scope.get("raw_path", b"")
    path: str = scope["path"]
    return raw.decode("latin-1") or path


def _server_in(raw_path: str) -> str | None:
    """The server whose endpoint a path is; None for any other path."""
    if not (raw_path.startswith(SERVERS_PATH) and raw_path.endswith(MCP_PATH)):
        return None
    return unquote(raw_path[len(SERVERS_PATH) : -len(MCP_PATH)])
