"""Serves a site, or any ASGI application, by uvicorn, which is imported only here and only then."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from mcplens.errors import ConfigurationError, ConnectError, classify
from mcplens.inbound.connections import bounded
from mcplens.inbound.limits import Limits
from mcplens.inbound.site import Site
from mcplens.transports.network import is_loopback

if TYPE_CHECKING:
    from uvicorn import Server

LOOPBACK: Final = "127.0.0.1"
# For responses that are being written when the site is closed.
_SHUTDOWN_S: Final = 2
_BACKLOG: Final = 512


class Address(msgspec.Struct, frozen=True):
    """Where a site is served."""

    host: str
    port: int

    def url(self, path: str, scheme: str = "http") -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def serve(
    site: Site, *, host: str = LOOPBACK, port: int = 0, limits: Limits | None = None
) -> AsyncIterator[Address]:
    """Serve for as long as the block lasts; port 0 means any that is free.

    Raises:
        ConfigurationError: other machines could come in without a token.
        ConnectError: the port cannot be had.
    """
    if not is_loopback(host) and not site.gate.has_token:
        text = f"{host} can be reached by other machines: serve on {LOOPBACK}, or set a token"
        raise ConfigurationError("CONFIGURATION_INVALID", text)
    most = (limits or Limits()).max_message_bytes
    listener = listen(host, port)
    async with serve_app(
        site, listener, host=host, max_message_bytes=most, close=site.close
    ) as address:
        yield address


@asynccontextmanager
async def serve_app(
    app: Any,
    listener: socket.socket,
    *,
    host: str,
    max_message_bytes: int,
    close: Callable[[], None],
    max_connections: int | None = None,
) -> AsyncIterator[Address]:
    """Serve an ASGI application for as long as the block lasts; `close` ends what it has open."""
    address = Address(host, listener.getsockname()[1])
    is_up = asyncio.Event()
    server = _server(app, max_message_bytes, is_up, max_connections)
    # No TaskGroup: it would wrap what the block raises.
    serving = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]))
    serving.add_done_callback(lambda _: is_up.set())
    try:
        await is_up.wait()
        yield address
    finally:
        close()
        server.should_exit = True
        await serving


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ConnectError: the port cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off (40 ms a call) only for sockets that name TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as problem:
        listener.close()
        error = classify(problem, f"listening on {host}:{port}", step="listening")
        message = error.message
        if problem.errno == errno.EADDRINUSE:
            message = f"port {port} of {host} is in use"
        raise ConnectError("CONNECTION_FAILED", message, details=error.details) from None
    return listener


def _server(
    app: Any, max_message_bytes: int, is_up: asyncio.Event, max_connections: int | None
) -> Server:
    import uvicorn

    class Quiet(uvicorn.Server):
        """Tells when it is up, and leaves the signals to whoever owns the process."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            is_up.set()

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
    return Quiet(config)
