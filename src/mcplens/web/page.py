"""The page itself, and the assets that it loads: built into `static/`, served under a strict CSP.

Each response has its own nonce for styles, so index.html is not served as a static file. Assets are
sent compressed; each is compressed once and kept.
"""

from __future__ import annotations

import asyncio
import gzip
import secrets
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC: Final = Path(__file__).with_name("static")
_NOTICES: Final = STATIC / "NOTICES.txt"
NONCE_MARK: Final = "__CSP_NONCE__"
# Assets have their content's hash in their names.
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_PACKED: Final = frozenset({".js", ".css", ".svg"})
# 3 % larger than the best level, in a third of the time.
_LEVEL: Final = 6

_SAME: Final = ("cache-control", "last-modified", "vary")

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; "
    "style-src-attr 'none'; img-src 'self' data:; media-src 'self'; worker-src 'self'; "
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_NOT_BUILT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>mcplens</title></head>
<body><h1>The page is not built</h1>
<p>mcplens runs, but this copy of it has no page. Build it in the folder of the repository with
<code>make web</code>, and reload; an installed mcplens always has it.</p></body></html>
"""


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


def policy(nonce: str, frames: str | None = None) -> str:
    """The Content-Security-Policy of our pages; `frames` is the one origin that may be framed."""
    framed = f"; frame-src {frames}" if frames is not None else ""
    return _POLICY.format(nonce=nonce) + framed


def permissions(allowed: str) -> str:
    """The Permissions-Policy that lets these origins use what a person can grant an app."""
    granted = [f"{name}={allowed}" for name in ("camera", "microphone", "geolocation")]
    return ", ".join([*granted, "payment=()", "usb=()"])


def page_response(html: str, nonce: str, frames: str | None = None) -> Response:
    headers = {"Content-Security-Policy": policy(nonce, frames), "Cache-Control": "no-store"}
    if frames is not None:
        # A page can hand on only what it has; it asks for none of it itself.
        headers["Permissions-Policy"] = permissions(f'(self "{frames}")')
    return HTMLResponse(html, headers=headers)


def host_in(request: Request) -> str:
    """The host of a request as addresses have it: IPv6 in brackets."""
    name = request.url.hostname or ""
    return f"[{name}]" if ":" in name else name


async def show_page(request: Request, apps_port: int | None) -> Response:
    """index.html, whatever the path: the page knows what its address means.

    It may frame MCP Apps, which are served on a port of their own.
    """
    nonce = new_nonce()
    try:
        html = (STATIC / "index.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        html = _NOT_BUILT
    frames = None if apps_port is None else f"http://{host_in(request)}:{apps_port}"
    return page_response(html.replace(NONCE_MARK, nonce), nonce, frames)


async def show_notices(request: Request) -> Response:
    """The licences of all that is bundled in the page."""
    if not _NOTICES.exists():
        return PlainTextResponse("The page is not built, so nothing is bundled in it.\n", 404)
    return FileResponse(_NOTICES, media_type="text/plain; charset=utf-8")


class Assets(StaticFiles):
    """The files that index.html names."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC / "assets", check_dir=False)
        self._packed: dict[str, bytes] = {}

    def __repr__(self) -> str:
        return f"<Assets, {len(self._packed)} compressed>"

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if response.status_code == 200:
            response.headers["Cache-Control"] = _FOR_EVER
        if not isinstance(response, FileResponse) or Path(path).suffix not in _PACKED:
            return response
        response.headers["Vary"] = "Accept-Encoding"
        if "gzip" not in Headers(scope=scope).get("accept-encoding", ""):
            return response
        return await self._compressed(path, response)

    async def _compressed(self, path: str, plain: FileResponse) -> Response:
        data = self._packed.get(path)
        if data is None:
            data = await asyncio.to_thread(_compress, Path(plain.path))
            self._packed[path] = data
        headers = {name: plain.headers[name] for name in _SAME if name in plain.headers}
        # Weak: the same content in other bytes than the file's.
        headers |= {"Content-Encoding": "gzip", "ETag": f"W/{plain.headers['etag']}"}
        return Response(data, headers=headers, media_type=plain.media_type)


def _compress(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), _LEVEL, mtime=0)
