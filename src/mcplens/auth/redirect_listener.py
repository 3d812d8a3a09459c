"""Listens on this machine for the browser's return from a sign-in, and only during it.

A server of its own, never a route of the web UI: what comes here is a code that nobody else may
see. It answers with a page that says what happened. Used by person.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import os
from typing import Final
from urllib.parse import parse_qs, urlsplit

from mcplens.auth.addresses import is_loopback
from mcplens.errors import ConnectError

_MAX_HEAD_BYTES: Final = 32 * 1024
_READ_S: Final = 10.0
_PATH: Final = "/callback"

_PAGE: Final = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>mcplens: {title}</title>
<style>body{{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1rem}}
</style><h1>{title}</h1><p>{text}</p><p>You can close this page.</p></html>"""


class RedirectListener:
    """One address on the loopback interface that takes one answer."""

    def __init__(self, wanted: str | None = None, *, is_fixed: bool = False) -> None:
        self._wanted = wanted
        self._is_fixed = is_fixed
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[str] | None = None
        self._address = ""

    def __repr__(self) -> str:
        return f"<RedirectListener {self._address or 'closed'}>"

    async def open(self) -> str:
        """Listen; gives the redirect URI.

        Raises:
            ConnectError: the port of a fixed address is taken.
        """
        self._answer = asyncio.get_running_loop().create_future()
        parts = urlsplit(self._wanted or f"http://127.0.0.1:0{_PATH}")
        host = parts.hostname or "127.0.0.1"
        if not (parts.scheme == "http" and is_loopback(host)):
            self._address = self._wanted or ""  # elsewhere: the answer can only be pasted
            return self._address
        port = parts.port if parts.port is not None else (80 if self._is_fixed else 0)
        try:
            self._server = await self._listen(host, port)
        except OSError as problem:
            if self._is_fixed:
                raise ConnectError(
                    "CONNECTION_FAILED",
                    f"nothing can listen at {self._wanted} for the return of the browser: "
                    f"{_reason(problem)}",
                    details={
                        "expected": "a free port",
                        "hint": "free the port, or change redirectUri",
                    },
                ) from problem
            self._server = await self._listen(host, 0)
        if port and self._server.sockets[0].getsockname()[1] == port and self._wanted:
            self._address = self._wanted
        else:
            shown = f"[{host}]" if ":" in host else host
            path = parts.path or _PATH
            self._address = f"http://{shown}:{self._server.sockets[0].getsockname()[1]}{path}"
        return self._address

    async def _listen(self, host: str, port: int) -> asyncio.Server:
        at = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
        return await asyncio.start_server(self._serve, at, port, limit=_MAX_HEAD_BYTES)

    async def returned(self) -> str:
        """Wait for the browser; gives the URL that it came with."""
        assert self._answer is not None
        return await asyncio.shield(self._answer)

    async def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
            # On 3.12 it would wait for a browser that keeps its connection; ours are short.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await server.wait_closed()
        if self._answer is not None:
            self._answer.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_READ_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, page = self._take(head)
                writer.write(_response(status, page))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # not a browser that comes back
        finally:
            writer.close()

    def _take(self, head: bytes) -> tuple[str, str]:
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        expected = urlsplit(self._address).path or "/"
        if len(words) != 3 or words[0] != "GET" or words[1].partition("?")[0] != expected:
            return "404 Not Found", _page("Not found", "There is nothing here.")
        if _is_embedded(head):
            return "403 Forbidden", _page("Refused", "Only a site that you visit can answer here.")
        query = parse_qs(words[1].partition("?")[2])
        if "code" not in query and "error" not in query:
            return "400 Bad Request", _page("No answer", "This is not the answer to a sign-in.")
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(
                f"{self._address.partition('?')[0]}?{words[1].partition('?')[2]}"
            )
        if "error" in query:
            reason = (query.get("error_description") or query["error"])[-1][:300]
            return "200 OK", _page("Not signed in", f"The site answered: {reason}.")
        return "200 OK", _page("Answer received", "mcplens has the answer and continues by itself.")


def _reason(problem: OSError) -> str:
    """What the system says; asyncio's own text repeats the address."""
    return os.strerror(problem.errno).lower() if problem.errno else str(problem)


def _is_embedded(head: bytes) -> bool:
    """Whether a page that a person has open requests this as a picture, a frame or by a script.

    It could try all ports, and the first answer counts: the sign-in would fail. A browser that
    comes back visits the address itself.
    """
    lines = head.decode("latin-1").lower().split("\r\n")[1:]
    headers = {name.strip(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    return (
        headers.get("sec-fetch-mode", "navigate") != "navigate"
        or headers.get("sec-fetch-dest", "document") != "document"
    )


def _page(title: str, text: str) -> str:
    return _PAGE.format(title=html.escape(title), text=html.escape(text))


def _response(status: str, page: str) -> bytes:
    body = page.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
