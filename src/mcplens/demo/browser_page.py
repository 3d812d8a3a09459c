"""A page for a person's browser, on a port of its own: where elicitation by URL leads.

It exists until it is visited, or for a limited time. Its URL contains a secret.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from mcplens.clock import Clock, Timer

_HEADERS: Final = b"Content-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
_DONE: Final = "<h1>Done</h1><p>The mcplens demo knows that you were here. Close this page.</p>"


class BrowserPage:
    """One page, to be visited once."""

    def __init__(self, clock: Clock) -> None:
        self.id = secrets.token_urlsafe(16)
        self.url = ""
        self._over: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._clock = clock
        self._server: asyncio.Server | None = None
        self._timer: Timer | None = None

    def __repr__(self) -> str:
        return f"<BrowserPage {'visited' if self.is_visited else 'waiting'}>"

    @property
    def is_visited(self) -> bool:
        return self._over.done() and self._over.result()

    @property
    def is_gone(self) -> bool:
        """Closed without a visit."""
        return self._over.done() and not self._over.result()

    async def visited(self) -> bool:
        """Wait for a visit; False if none came while the page was there."""
        return await asyncio.shield(self._over)

    async def open(self, life_s: float) -> str:
        """Serve it for at most so long; gives its URL."""
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0, limit=8192)
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/confirm/{self.id}"
        self._timer = self._clock.call_at(self._clock.monotonic() + life_s, self.close)
        return self.url

    def close(self) -> None:
        if not self._over.done():
            self._over.set_result(False)
        if self._server is not None:
            self._server.close()
        if self._timer is not None:
            self._timer.cancel()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            is_right = head.startswith(f"GET /confirm/{self.id} ".encode())
            status, body = (b"200 OK", _DONE) if is_right else (b"404 Not Found", "Not here.")
            data = body.encode()
            length = f"Content-Length: {len(data)}\r\n\r\n".encode()
            writer.write(b"HTTP/1.1 " + status + b"\r\n" + _HEADERS + length + data)
            await writer.drain()
            if is_right and not self._over.done():
                self._over.set_result(True)
                self.close()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # the visitor disconnected
        finally:
            writer.close()
