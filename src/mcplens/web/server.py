"""The web UI as a whole: workspace, page and sockets, served on a port of this machine."""

from __future__ import annotations

import socket as sockets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import msgspec
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from mcplens.errors import ConnectError
from mcplens.inbound.admission import Admission
from mcplens.inbound.limits import Limits
from mcplens.inbound.server import LOOPBACK, Address, listen, serve_app
from mcplens.web.access_control import AccessKeys, WebAccessControl
from mcplens.web.app_sandbox import AppSandbox
from mcplens.web.feed import Feed
from mcplens.web.routes import Routes
from mcplens.web.session_resume import return_keys
from mcplens.web.socket import Socket
from mcplens.workspace.workspace import Workspace

DEFAULT_PORT: Final = 6280
# How many ports are tried if the first is taken.
_PORTS_TRIED: Final = 20
# More than one user has tabs, far fewer than the file descriptors of a process.
_MOST_SOCKETS: Final = 64
# Sockets and HTTP requests together; far fewer than the file descriptors of a process.
_MOST_CONNECTIONS: Final = 256
# Of these, connections that have not shown the cookie; a browser opens six at once.
_MOST_GUESTS: Final = 32
# Of the port of apps, whose largest request is the report of a violation.
_MOST_SANDBOX_BYTES: Final = 64 * 1024
_MOST_SANDBOX_CONNECTIONS: Final = 64
NO_SESSION: Final = 4401
TOO_MANY: Final = 4429


class Opened(msgspec.Struct, frozen=True):
    """A running web UI."""

    address: Address
    token: str
    launch: str
    path: str = ""  # of the screen that is opened first

    def __repr__(self) -> str:  # without the tokens, which are secret
        return f"<Opened at {self.url}>"

    @property
    def url(self) -> str:
        """The address, without the token."""
        return self.address.url("/")

    @property
    def url_with_token(self) -> str:
        """The address for a person; a browser never sends what follows the #."""
        return f"{self.url}{self.path}#token={self.token}"

    @property
    def url_to_open(self) -> str:
        """The address that a browser is started with; its token works once."""
        return f"{self.url}{self.path}#token={self.launch}"


@asynccontextmanager
async def open_web(
    workspace: Workspace,
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    apps_port: int | None = None,
    first_server_id: str | None = None,
) -> AsyncIterator[Opened]:
    """Serve the web UI for as long as the block lasts.

    Without a port, the first free one from the default on. Apps have the next free one after it.

    Raises:
        ConnectError: no port is free.
    """
    listener = _listen(host, port)
    number: int = listener.getsockname()[1]
    try:
        apps_listener = _listen_for_apps(host, apps_port, (port, number))
    except ConnectError:
        listener.close()
        raise
    keys = AccessKeys(number)
    here, clock = workspace.config_files.here, workspace.clock
    resumable = return_keys(here, Address(host, number), clock)
    app = _App(workspace, Routes(workspace, keys, resumable), keys, first_server_id)
    admission = Admission(_MOST_CONNECTIONS, _MOST_GUESTS)
    access_control = WebAccessControl(
        app.starlette, keys, host=host, port=number, admit=admission.admit
    )
    most = Limits().max_message_bytes
    async with (
        _served_apps(workspace, apps_listener, host, number),
        serve_app(
            access_control,
            listener,
            host=host,
            max_message_bytes=most,
            close=app.close,
            admission=admission,
        ) as address,
    ):
        yield Opened(address, keys.token, keys.launch)


@asynccontextmanager
async def _served_apps(
    workspace: Workspace, listener: sockets.socket, host: str, page_port: int
) -> AsyncIterator[None]:
    """Serve the documents of MCP Apps on a port of their own, which is another origin."""
    port: int = listener.getsockname()[1]
    apps = workspace.apps
    sandbox = AppSandbox(apps, host=host, port=port, page_port=page_port)
    async with serve_app(
        sandbox,
        listener,
        host=host,
        max_message_bytes=_MOST_SANDBOX_BYTES,
        close=lambda: None,
        admission=Admission(_MOST_SANDBOX_CONNECTIONS, _MOST_SANDBOX_CONNECTIONS),
    ):
        apps.port = port
        try:
            yield
        finally:
            apps.port = None


def _listen_for_apps(host: str, port: int | None, page: tuple[int | None, int]) -> sockets.socket:
    """The socket for apps: on the wanted port, else on one of the next after that of the page."""
    wanted, number = page
    if port is not None:
        return listen(host, port)
    if wanted != 0:
        for one in range(number + 1, min(number + 1 + _PORTS_TRIED, 65536)):
            try:
                return listen(host, one)
            except ConnectError as error:
                if error.details.get("system_code") != "EADDRINUSE":
                    raise
    return listen(host, 0)


def _listen(host: str, port: int | None) -> sockets.socket:
    if port is not None:
        return listen(host, port)
    for number in range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED):
        try:
            return listen(host, number)
        except ConnectError as error:
            if error.details.get("system_code") != "EADDRINUSE":
                raise
    return listen(host, 0)


class _App:
    """The Starlette application, and the sockets that are open."""

    def __init__(
        self, workspace: Workspace, routes: Routes, keys: AccessKeys, first_server_id: str | None
    ) -> None:
        self._workspace = workspace
        self._keys = keys
        self._first_server_id = first_server_id
        self._routes = routes
        self._feed = Feed(workspace.bus, workspace.bus_reader)
        self._sockets: set[Socket] = set()
        socket = WebSocketRoute("/api/socket", self._converse)
        self.starlette = Starlette(routes=[socket, *routes.all()])

    def __repr__(self) -> str:
        return f"<_App {len(self._sockets)} pages>"

    def close(self) -> None:
        """End all sockets, searches and transfers."""
        self._routes.close()
        for socket in list(self._sockets):
            socket.end()

    async def _converse(self, websocket: WebSocket) -> None:
        await websocket.accept()
        if not self._keys.is_known(websocket):
            await websocket.close(NO_SESSION)
            return
        if len(self._sockets) >= _MOST_SOCKETS:
            await websocket.close(TOO_MANY)
            return
        socket = Socket(websocket, self._workspace, self._feed, self._first_server_id)
        self._sockets.add(socket)
        try:
            await socket.run()
        finally:
            self._sockets.discard(socket)
