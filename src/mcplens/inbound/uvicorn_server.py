"""uvicorn without logs and signals, with connection limits and a bounded shutdown.

Each connection costs a file descriptor, and any local program can open one; what happens on one is
http_protocol.py's. These two are the only modules that import uvicorn; imported by server.py on
demand.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any, Final, cast

import uvicorn

from mcplens.inbound.admission import Admission
from mcplens.inbound.http_protocol import BoundedProtocol

# For responses that are being written at shutdown.
_SHUTDOWN_S: Final = 2
# The Date header has whole seconds.
_DATE_S: Final = 1


class UvicornServer(uvicorn.Server):
    """Signals when it is up, and leaves signal handling to the owner of the process."""

    def __init__(self, config: uvicorn.Config, is_up: asyncio.Event) -> None:
        super().__init__(config)
        self._is_up = is_up
        self._is_ending = asyncio.Event()

    def __repr__(self) -> str:
        return f"<UvicornServer {'up' if self._is_up.is_set() else 'not up yet'}>"

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._is_up.set()

    async def main_loop(self) -> None:
        """As uvicorn's, but waits for `end` instead of asking ten times a second."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DATE_S):
                    await self._is_ending.wait()

    def end(self) -> None:
        """Accept nothing more, and shut down."""
        self.should_exit = True
        self._is_ending.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, but a client that does not read cannot delay it."""
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
    app: Any, max_message_bytes: int, is_up: asyncio.Event, admission: Admission | None
) -> UvicornServer:
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
    find_route = getattr(app, "find_route", None)  # of one that answers POSTs without ASGI
    config.http_protocol_class = cast(Any, partial(BoundedProtocol, admission, find_route))
    return UvicornServer(config, is_up)
