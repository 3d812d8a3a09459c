"""uvicorn as we run it: it logs nothing, takes no signals, and always ends.

The only module that imports uvicorn; imported by server.py when a site is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any, Final

import uvicorn

from mcplens.inbound.connections import bounded

# For responses that are being written when the site is closed.
_SHUTDOWN_S: Final = 2


class Quiet(uvicorn.Server):
    """Tells when it is up, and leaves the signals to whoever owns the process."""

    def __init__(self, config: uvicorn.Config, is_up: asyncio.Event) -> None:
        super().__init__(config)
        self._is_up = is_up

    def __repr__(self) -> str:
        return f"<Quiet server, {'up' if self._is_up.is_set() else 'not up yet'}>"

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._is_up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, but a client that does not read cannot hold it up."""
        for server in self.servers:
            server.close()
        state = self.server_state
        for connection in list(state.connections):
            try:
                connection.shutdown()
            except Exception:  # uvicorn's own fails for a socket that is closing
                connection.transport.abort()
        if state.tasks:
            await asyncio.wait(set(state.tasks), timeout=_SHUTDOWN_S)
        for connection in list(state.connections):
            connection.transport.abort()
        for task in set(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def make_server(
    app: Any, max_message_bytes: int, is_up: asyncio.Event, max_connections: int | None
) -> Quiet:
    """A server for this application, not yet started."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Longer than clients keep a connection: they close it first, and no request meets a close.
        timeout_keep_alive=75,
        ws="websockets-sansio",
        ws_max_size=max_message_bytes,
        ws_per_message_deflate=False,
    )
    config.load()
    config.http_protocol_class = bounded(config.http_protocol_class, max_connections)
    return Quiet(config, is_up)
