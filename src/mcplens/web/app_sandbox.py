"""The second port of the web UI: MCP Apps in frames of another origin than the page.

`/proxy` is the outer frame: it relays messages between the page and the app, and can frame nothing
but documents of this port. `/doc/<key>` is the app, byte for byte, under the policy of what it
declared and with an opaque origin. `/report/<key>` receives violations of that policy from the
browser. Nothing here needs or reads the cookie of the page.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mcplens.protocol.app_policy import SANDBOX
from mcplens.web.access_control import OwnHost
from mcplens.web.page import host_in, new_nonce, permissions
from mcplens.workspace.apps import Apps

# A violation has some addresses and a line of script.
_MOST_REPORT_BYTES: Final = 16 * 1024
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # Names of hosts that are looked up ahead of use would leave the machine unseen.
    "X-DNS-Prefetch-Control": "off",
    # What is here has no more than the frame that the page makes for it was given, which is
    # nothing unless a person granted it. Opaque origins can only be named by a star.
    "Permissions-Policy": permissions("*"),
}
_PROXY_POLICY: Final = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors {page}"
)
# It relays everything but the messages that are its own, and invents nothing.
_PROXY: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>App</title>
<style nonce="{nonce}">html,body,iframe{{margin:0;border:0;padding:0;width:100%;height:100%;display:block;background:transparent}}</style>
</head><body><script nonce="{nonce}">
"use strict";
const PAGE = {page};
const OWN = "ui/notifications/sandbox-";
let app = null;
function frame({{ key, allow }}) {{
  const next = document.createElement("iframe");
  next.setAttribute("sandbox", {sandbox});
  next.setAttribute("allow", String(allow ?? ""));
  next.title = "App";
  next.src = "/doc/" + encodeURIComponent(key);
  if (app) app.replaceWith(next);
  else document.body.append(next);
  app = next;
}}
addEventListener("message", ({{ source, origin, data }}) => {{
  const method = String(data?.method ?? "");
  if (source === parent && origin === PAGE) {{
    if (method === OWN + "resource-ready") frame(data.params);
    else if (!method.startsWith(OWN)) app?.contentWindow?.postMessage(data, "*");
  }} else if (app && source === app.contentWindow && origin === "null" && !method.startsWith(OWN)) {{
    parent.postMessage(data, PAGE);
  }}
}});
parent.postMessage({{ jsonrpc: "2.0", method: OWN + "proxy-ready", params: {{}} }}, PAGE);
</script></body></html>
"""  # noqa: E501  # a page, not prose


class AppSandbox:
    """The ASGI application of the second port."""

    def __init__(self, apps: Apps, *, host: str, port: int, page_port: int) -> None:
        self._apps = apps
        self._own = OwnHost(host, port)
        self._page_port = page_port
        routes = [
            Route("/proxy", self._proxy, methods=["GET"]),
            Route("/doc/{key}", self._document, methods=["GET"]),
            Route("/report/{key}", self._report, methods=["POST"]),
        ]
        self._app: ASGIApp = Starlette(routes=routes)

    def __repr__(self) -> str:
        return f"<AppSandbox for the page on port {self._page_port}, {self._apps!r}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        if not self._own.is_named_by(headers.get("host", "")):
            text = "this address does not belong to mcplens"
            response: ASGIApp = JSONResponse({"error": text}, 421, headers=_HEADERS)
        elif scope["method"] == "GET" and headers.get("sec-fetch-dest", "iframe") != "iframe":
            text = "apps are shown within mcplens alone"
            response = JSONResponse({"error": text}, 403, headers=_HEADERS)
        else:
            response = self._app
        await response(scope, receive, send)

    def _page_origin(self, request: Request) -> str:
        """The origin of the page that frames this: the same host, its own port."""
        return f"http://{host_in(request)}:{self._page_port}"

    async def _proxy(self, request: Request) -> Response:
        nonce, page = new_nonce(), self._page_origin(request)
        policy = _PROXY_POLICY.format(nonce=nonce, page=page)
        html = _PROXY.format(nonce=nonce, page=json.dumps(page), sandbox=json.dumps(SANDBOX))
        return HTMLResponse(html, headers={**_HEADERS, "Content-Security-Policy": policy})

    async def _document(self, request: Request) -> Response:
        app = self._apps.document(request.path_params["key"])
        if app is None:
            return Response("this app is no longer open", 404, headers=_HEADERS)
        own = f"http://{host_in(request)}:{request.url.port}"
        policy = app.policy.header(
            ancestors=(self._page_origin(request), own), report_uri=f"/report/{app.report_key}"
        )
        headers = {**_HEADERS, "Content-Security-Policy": policy}
        return Response(app.data, media_type="text/html; charset=utf-8", headers=headers)

    async def _report(self, request: Request) -> Response:
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_REPORT_BYTES:
                return Response(status_code=413, headers=_HEADERS)
        try:
            found: Any = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            found = None
        report = found.get("csp-report") if isinstance(found, dict) else None
        if isinstance(report, dict):
            self._apps.violated(request.path_params["key"], report)
        return Response(status_code=204, headers=_HEADERS)
