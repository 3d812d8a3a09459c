"""The gateway over HTTP: raw ASGI, one streamable HTTP endpoint for each path.

`/mcp` is the view to start with, `/mcp/<view>` any other, `/servers/<id>/mcp` one server untouched,
and `/sse` the view to start with over the older HTTP+SSE, if that is switched on. Beside them are
the pages of operation_pages.py. Served by inbound/server.py.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import unquote

from mcplens.config.views import View
from mcplens.gateway.access import GatewayAccess
from mcplens.gateway.gateway import Gateway
from mcplens.gateway.operation_pages import OperationPages
from mcplens.gateway.server_handler import ServerHandler, path_of
from mcplens.gateway.view_handler import ViewHandler
from mcplens.gateway.views import EVERYTHING
from mcplens.inbound.asgi import AsgiExchange, Receive, Scope, Send, headers_of
from mcplens.inbound.asgi_app import Endpoint
from mcplens.inbound.limits import Limits
from mcplens.inbound.refusal import HTTP_REFUSAL, INTERNAL_ERROR, Refusal
from mcplens.inbound.sse import HttpSse
from mcplens.inbound.streamable_http import StreamableHttp

_log = logging.getLogger("mcplens.gateway")

MCP_PATH: Final = "/mcp"
_VIEWS: Final = "/mcp/"
_SERVERS: Final = "/servers/"

# Of all paths, so many are named where one is unknown.
_SHOWN_PATHS: Final = 10

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
        self.pages: dict[str, Page] = {}
        self.public_pages: dict[str, Page] = {}  # for anybody: they tell nothing but yes or no
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

    def _publish_view(self, path: str, view: View) -> None:
        handler = ViewHandler(self.gateway, view, path)
        self.gateway.add_handler(handler)
        clock = self.gateway.clock
        self._endpoints[path] = StreamableHttp(handler, clock, limits=self._limits)
        if path == MCP_PATH and self._has_sse:
            legacy = HttpSse(handler, clock, limits=self._limits)
            self._endpoints |= {"/sse": legacy, legacy.messages_path: legacy}

    def close(self) -> None:
        """End everything that is open."""
        for endpoint in self._endpoints.values():
            endpoint.close()

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
            exchange.caller = self.access.admit(path, exchange.headers)
            endpoint = self._endpoints.get(path) or self._server_endpoint(scope)
            if endpoint is not None:
                await endpoint.handle(exchange)
            elif path in self.pages:
                await self.pages[path](exchange)
            else:
                raise self._unknown(path, scope)
        except Refusal as refusal:
            if not exchange.has_begun:
                await exchange.refuse(refusal)
        except ConnectionError:
            pass  # the client left; there is nobody to answer
        except Exception as problem:  # a bug of ours: only this client fails
            _log.exception("%r failed", exchange)
            if not exchange.has_begun:
                await exchange.refuse(Refusal(500, INTERNAL_ERROR, f"failed: {problem}"))

    def _unknown(self, path: str, scope: Scope) -> Refusal:
        """The refusal of a path, with those that there are."""
        name = _server_in(scope)
        if name in self.gateway.left_out:
            text = f"the server {name} is not served: it {self.gateway.left_out[name]}"
            return Refusal(404, HTTP_REFUSAL, text)
        servers = (path_of(one.server_id) for one in self.gateway.usable())
        known = list(dict.fromkeys([*self._endpoints, *servers]))
        shown = ", ".join(known[:_SHOWN_PATHS]) + (", …" if len(known) > _SHOWN_PATHS else "")
        return Refusal(404, HTTP_REFUSAL, f"nothing is served at {path[:200]}; try {shown}")

    def _server_endpoint(self, scope: Scope) -> Endpoint | None:
        """The endpoint of one server, made when it is first asked for."""
        server_id = _server_in(scope)
        if server_id is None or self.gateway.server(server_id) is None:
            return None
        path = path_of(server_id)
        if path not in self._endpoints:
            handler = ServerHandler(self.gateway, server_id)
            self.gateway.add_handler(handler)
            self._endpoints[path] = StreamableHttp(handler, self.gateway.clock, limits=self._limits)
        return self._endpoints[path]


def _server_in(scope: Scope) -> str | None:
    """The server whose endpoint a path is; None for any other path."""
    raw: str = scope.get("raw_path", b"").decode("latin-1") or scope["path"]
    if not (raw.startswith(_SERVERS) and raw.endswith(MCP_PATH)):
        return None
    return unquote(raw[len(_SERVERS) : -len(MCP_PATH)])
