"""Serves an ASGI application with uvicorn, which is imported on demand."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import msgspec

from mcplens.errors import ConfigurationError, ConnectError, classify
from mcplens.inbound.admission import Admission
from mcplens.inbound.asgi_app import AsgiApp
from mcplens.inbound.limits import Limits
from mcplens.transports.network import is_loopback

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 512


class Address(msgspec.Struct, frozen=True):
    """The address of a server."""

    host: str
    port: int

    def url(self, path: str, scheme: str = "http") -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def serve(
    app: AsgiApp, *, host: str = LOOPBACK, port: int = 0, limits: Limits | None = None
) -> AsyncIterator[Address]:
    """Serve for as long as the block lasts; port 0 means any that is free.

    Raises:
        ConfigurationError: other machines could connect without a token.
        ConnectError: the port cannot be opened.
    """
    if not is_loopback(host) and not app.access.has_token:
        text = f"{host} can be reached from other machines: serve on {LOOPBACK}, or set a token"
        raise ConfigurationError("CONFIGURATION_INVALID", text)
    most = (limits or Limits()).max_message_bytes
    listener = listen(host, port)
    async with serve_app(
        app, listener, host=host, max_message_bytes=most, close=app.close
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
    admission: Admission | None = None,
) -> AsyncIterator[Address]:
    """Serve an ASGI application for as long as the block lasts; `close` ends what it has open."""
    from mcplens.inbound.uvicorn_server import make_server

    address = Address(host, listener.getsockname()[1])
    is_up = asyncio.Event()
    server = make_server(app, max_message_bytes, is_up, admission)
    # No TaskGroup: it would wrap what the block raises.
    serving = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]))
    serving.add_done_callback(lambda _: is_up.set())
    try:
        await is_up.wait()
        yield address
    finally:
        close()
        server.end()
        await serving


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ConnectError: the port cannot be opened.
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
            message = f"port {port} on {host} is already in use"
        raise ConnectError("CONNECTION_FAILED", message, details=error.details) from None
    return listener
