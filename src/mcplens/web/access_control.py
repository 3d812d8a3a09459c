"""Access control: which requests are let in, and what a browser may do with the answers.

Host against DNS rebinding, Origin against other sites and other ports of this machine, the token
against other users of it. The token is in the address that is opened, behind the #, so that no
request ever carries it but the one that exchanges it for a cookie. The cookie is for a folder that
no other program can name, since browsers send cookies to every port. Wraps the whole application.
"""

from __future__ import annotations

import hmac
import re
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcplens.inbound.admission import Client
from mcplens.transports.network import is_loopback

# Our pages have their own Content-Security-Policy; everything else may do nothing.
INERT: Final = "default-src 'none'; frame-ancestors 'none'; sandbox"
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
_SAFE: Final = ("GET", "HEAD")
# Where the token is exchanged, and where a page signs in again after a restart.
SESSION_PATH: Final = "/api/session"
NONCE_PATH: Final = "/api/session/nonce"
RETURN_PATH: Final = "/api/session/return"
# All else below /api needs the cookie, which browsers send only below the folder of this run.
_OPEN: Final = frozenset({SESSION_PATH, NONCE_PATH, RETURN_PATH})
_FOLDERS: Final = "/k/"
# Lets a page see that mcplens refused it, not another program on its former port.
OURS: Final = {"Mcplens": "web"}
# A program that used this port before may have left a service worker, which would answer in our
# place. The browser soon checks for a newer script, and this response removes the worker.
_FORGET: Final = {"Clear-Site-Data": '"storage"'}
# A `Host`: a name or an address, and a port. It becomes part of policies.
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]*)?", re.IGNORECASE | re.ASCII)
# For a person who opened a wrong address.
_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>mcplens</title></head>
<body><h1>mcplens refused this request</h1><p>Reason: {text}.</p>
<p>Open the address that mcplens printed when it started.</p></body></html>
"""


class Refused(Exception):
    """A refused request, with the status of the response."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers or {}


class AccessKeys:
    """The token of this run, and the cookie that it is exchanged for.

    `launch` works once, and only for this user: it is part of a browser's command line, which other
    users can see. The cookie is for `folder` only: a browser sends it to another port only if a
    page there knows the folder.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.launch = secrets.token_urlsafe(32)
        self.session = secrets.token_urlsafe(32)
        self.folder = _FOLDERS + secrets.token_urlsafe(16)
        # By port: two web UIs must not overwrite each other's cookie.
        self.cookie = f"mcplens-{port}"

    def __repr__(self) -> str:
        return f"<AccessKeys of {self.cookie}>"

    def exchange(self, token: str, *, is_by_another_user: bool = False) -> str | None:
        """The value of the cookie for the right token."""
        given = token.encode()
        if self.launch and hmac.compare_digest(given, self.launch.encode()):
            if is_by_another_user:
                return None
            self.launch = ""
            return self.session
        return self.session if hmac.compare_digest(given, self.token.encode()) else None

    def is_known(self, connection: HTTPConnection) -> bool:
        """Whether a request has the cookie."""
        # A page on another port can set a cookie of this name too, for the path /: it comes after
        # ours, and must not take its place.
        wanted = self.session.encode()
        return any(hmac.compare_digest(one, wanted) for one in self._given(connection.headers))

    def _given(self, headers: Headers) -> Iterator[bytes]:
        """The values of our cookie; a browser sends one for each path that it was set for."""
        for header in headers.getlist("cookie"):
            for part in header.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie:
                    yield value.strip('"').encode("latin-1", "replace")

    def within(self, path: str) -> str | None:
        """The rest of a path below the folder of this run."""
        _, _, name, *rest = path.split("/", 3)
        if not hmac.compare_digest(f"{_FOLDERS}{name}".encode(), self.folder.encode()):
            return None
        return "/" + "".join(rest)


class OwnHost:
    """The host names and the port by which one of our ports is reached."""

    def __init__(self, host: str, port: int) -> None:
        self._port = port
        self._names = frozenset(_names_of(host))
        self._is_everywhere = host in ("0.0.0.0", "::", "")

    def __repr__(self) -> str:
        return f"<OwnHost {sorted(self._names) or 'loopback names'} on port {self._port}>"

    def is_named_by(self, host: str) -> bool:
        """Whether this `Host` of a request is ours; it is a name or an address, and no more."""
        if _HOST.fullmatch(host) is None:
            return False
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port or 80
        except ValueError:
            return False
        if port != self._port:
            return False
        if is_loopback(name) or name in self._names:
            return True
        # DNS rebinding can make a name lead here, but not an address.
        return self._is_everywhere and _is_address(name)


class WebAccessControl:
    """Accepts requests of our own page, to a host name of ours, with the cookie."""

    def __init__(
        self,
        app: ASGIApp,
        keys: AccessKeys,
        *,
        host: str,
        port: int,
        admit: Callable[[Client], None] | None = None,
    ) -> None:
        self._app = app
        self._admit = admit
        self._keys = keys
        self._own = OwnHost(host, port)

    def __repr__(self) -> str:
        return f"<WebAccessControl of {self._own!r}>"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        try:
            scope = self._checked(scope)
        except Refused as refused:
            await _refuse(scope, receive, send, refused)
            return
        await self._app(scope, receive, _adding_headers(send))

    def _checked(self, scope: Scope) -> Scope:
        """The request as the application sees it: without the folder."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._own.is_named_by(host):
            raise Refused(421, "this address does not belong to mcplens")
        if "service-worker" in headers:
            raise Refused(404, "mcplens has no service workers", _FORGET)
        is_safe = scope["type"] == "http" and scope["method"] in _SAFE
        origin = headers.get("origin")
        if origin is None and not is_safe:
            raise Refused(403, "a request that changes something must say where it comes from")
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            raise Refused(403, "pages of other origins may not use mcplens")
        path: str = scope["path"]
        if not path.startswith(("/api/", _FOLDERS)):
            return scope
        # A picture on a page of another local site would be requested with our cookie.
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "pages of other sites may not use mcplens")
        return self._signed_in(scope, path)

    def _signed_in(self, scope: Scope, path: str) -> Scope:
        """Check the cookie; paths that need it exist only below its folder."""
        if path in _OPEN:
            return scope
        inner = self._keys.within(path) if path.startswith(_FOLDERS) else None
        is_socket = scope["type"] == "websocket"  # it is closed with a code instead
        is_known = self._keys.is_known(HTTPConnection(scope))
        if inner is None or not inner.startswith("/api/") or not (is_known or is_socket):
            raise Refused(401, "open the address that mcplens printed", OURS)
        client = scope.get("client")
        if is_known and self._admit is not None and client is not None:
            self._admit((client[0], client[1]))
        return {**scope, "path": inner}


def _names_of(host: str) -> Iterable[str]:
    if is_loopback(host):
        return
    yield host.lower()
    if host in ("0.0.0.0", "::", ""):
        yield socket.gethostname().lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _adding_headers(send: Send) -> Send:
    """Add the default headers to a response."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", INERT)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return send_with_headers


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: Refused) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})  # before accept: HTTP 403
        return
    # A browser's address bar accepts HTML by name; scripts and tools take anything.
    if "text/html" in Headers(scope=scope).get("accept", ""):
        response: Response = HTMLResponse(_PAGE.format(text=refused.text), refused.status)
    else:
        response = JSONResponse({"error": refused.text}, refused.status)
    response.headers.update(refused.headers)
    await response(scope, receive, _adding_headers(send))
