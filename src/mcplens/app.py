"""The composition root: the only place where transports, sessions, bus and clock are wired.

Offers the short way (`connect`) and LOGIC's exports in Python spelling.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.errors import ConfigurationError
from mcplens.session.client import Client
from mcplens.session.config import ClientOptions, ConnectionConfig, RetryConfig
from mcplens.session.notifications import NotificationHandler
from mcplens.session.questions import RequestHandler
from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES, Closing, Transport

if TYPE_CHECKING:
    from mcplens.transports.memory import Serve

Target = str | os.PathLike[str] | Sequence[str]
MakeTransport = Callable[[], Transport]

# How to run a script that is given as a target.
_INTERPRETERS: dict[str, list[str]] = {
    ".py": [sys.executable],
    ".js": ["node"],
    ".mjs": ["node"],
    ".cjs": ["node"],
}


class connect:
    """Connect to a server for as long as the block lasts.

    A target is a command (a list, or one string), a URL (http, https, ws, wss), or the path of a
    script. Options are ConnectionConfig's fields, `concurrency`, `protocol_version`, `headers`,
    `env`, `cwd`, `enforce_capabilities`, and what the transport takes. One attempt by default.

    Raises:
        InspectorError: the target cannot be used, or the connection failed.
    """

    def __init__(
        self,
        target: Target | Transport | MakeTransport,
        *,
        transport: str | None = None,
        connection_timeout_s: float | None = 30.0,
        request_timeout_s: float | None = 60.0,
        progress_resets_timeout: bool = True,
        max_total_timeout_s: float | None = 300.0,
        ping_interval_s: float = 30.0,
        max_retries: int = 0,
        retry_backoff_s: Sequence[float] = (1.0, 2.0, 4.0),
        retry: RetryConfig | None = None,
        concurrency: int = 1,
        protocol_version: str = "auto",
        enforce_capabilities: bool = True,
        client_info: Mapping[str, Any] | None = None,
        capabilities: Mapping[str, Any] | None = None,
        request_handlers: Mapping[str, RequestHandler] | None = None,
        notification_handlers: Mapping[str, NotificationHandler] | None = None,
        server_id: str | None = None,
        bus: Bus | None = None,
        clock: Clock | None = None,
        **transport_options: Any,
    ) -> None:
        config = ConnectionConfig(
            connection_timeout_s=connection_timeout_s,
            request_timeout_s=request_timeout_s,
            progress_resets_timeout=progress_resets_timeout,
            max_total_timeout_s=max_total_timeout_s,
            ping_interval_s=ping_interval_s,
            max_retries=max_retries,
            retry_backoff_s=tuple(retry_backoff_s),
        )
        make, name = transport_for(target, transport, **transport_options)
        self._client = create_mcp_client(
            make,
            client_info=client_info,
            capabilities=capabilities,
            config=config,
            retry=retry,
            concurrency=concurrency,
            protocol_version=protocol_version,
            enforce_capabilities=enforce_capabilities,
            server_id=server_id or name,
            bus=bus,
            clock=clock,
        )
        self._owned_bus = self._client._bus if bus is None else None
        for method, handler in (request_handlers or {}).items():
            self._client.set_request_handler(method, handler)
        for method, hear in (notification_handlers or {}).items():
            self._client.set_notification_handler(method, hear)

    async def __aenter__(self) -> Client:
        await self._client.connect()
        return self._client

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Our work is done: the watchdog sees a slow server out.
        await self._client.disconnect(Closing.HANDOVER)
        if self._owned_bus is not None:
            self._owned_bus.close()


def create_mcp_client(
    transport: Transport | MakeTransport | None = None,
    *,
    client_info: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    config: ConnectionConfig | None = None,
    retry: RetryConfig | None = None,
    concurrency: int = 1,
    protocol_version: str = "auto",
    enforce_capabilities: bool = True,
    server_id: str = "server",
    bus: Bus | None = None,
    clock: Clock | None = None,
) -> Client:
    """A client that is not connected yet; see `connect_client`."""
    clock = clock or SystemClock()
    about: dict[str, Any] = {"client_info": dict(client_info)} if client_info else {}
    options = ClientOptions(
        capabilities=dict(capabilities or {}),
        protocol_version=protocol_version,
        enforce_capabilities=enforce_capabilities,
        concurrency=concurrency,
        **about,
    )
    return Client(
        _factory(transport),
        bus=bus or Bus(clock),
        clock=clock,
        server_id=server_id,
        config=config or ConnectionConfig(),
        options=options,
        retry=retry,
    )


async def connect_client(
    client: Client, transport: Transport | MakeTransport | None = None
) -> None:
    """Connect a client, over the given transport if it has none of its own."""
    if transport is not None:
        client.use_transport(_factory(transport))
    await client.connect()


async def disconnect_client(client: Client) -> None:
    """Disconnect a client, and wait until its server is gone."""
    await client.disconnect()


def create_http_transport(
    url: str, headers: Mapping[str, str] | None = None, **options: Any
) -> MakeTransport:
    """Streamable HTTP, with automatic fallback to HTTP+SSE."""
    return transport_for(url, "http", headers=headers, **options)[0]


def create_proxy_transport(
    proxy_url: str, server_id: str, headers: Mapping[str, str] | None = None, **options: Any
) -> MakeTransport:
    """One server behind a mcplens gateway: `<origin>/servers/<server_id>/mcp`."""
    from urllib.parse import quote, urlsplit

    parts = urlsplit(proxy_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError("CONFIGURATION_INVALID", f"{proxy_url!r} is no http(s) URL")
    url = f"{parts.scheme}://{parts.netloc}/servers/{quote(server_id, safe='')}/mcp"
    return create_http_transport(url, headers, **options)


def create_stdio_transport(command: Sequence[str] | str, **options: Any) -> MakeTransport:
    """A command that is started and spoken to over its standard streams."""
    return transport_for(command, "stdio", **options)[0]


def create_memory_transport(serve: Serve, *, name: str = "memory") -> MakeTransport:
    """A server in this process: `serve(peer)` reads and writes messages."""
    from mcplens.transports.memory import MemoryTransport

    return lambda: MemoryTransport(serve, name=name)


def transport_for(
    target: Target | Transport | MakeTransport,
    kind: str | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
    **options: Any,
) -> tuple[MakeTransport, str]:
    """How to reach a target, and a name for it.

    Raises:
        ConfigurationError: the target is none.
    """
    if isinstance(target, Transport) or callable(target):
        return _factory(target), "server"
    options["max_message_bytes"] = max_message_bytes
    if isinstance(target, str) and "://" in target.split(" ", 1)[0]:
        return _remote(target, kind, headers, options)
    command = _command_of(target)
    if headers:
        raise ConfigurationError(
            "CONFIGURATION_INVALID", "headers have no meaning for a command; use env"
        )
    options |= {"env": env, "cwd": os.fspath(cwd) if cwd is not None else None}

    def make_stdio() -> Transport:
        from mcplens.transports.stdio import StdioTransport

        return StdioTransport(command, **options)

    return make_stdio, os.path.basename(command[-1] if len(command) > 1 else command[0])


def _remote(
    url: str, kind: str | None, headers: Mapping[str, str] | None, options: dict[str, Any]
) -> tuple[MakeTransport, str]:
    scheme, _, rest = url.partition("://")
    if kind is None:
        kind = {"http": "http", "https": "http", "ws": "websocket", "wss": "websocket"}.get(scheme)
    options |= {"headers": headers}

    def make() -> Transport:
        match kind:
            case "http" | "streamable-http":
                from mcplens.transports.streamable_http import StreamableHttpTransport

                return StreamableHttpTransport(url, **options)
            case "sse":
                from mcplens.transports.sse import SseTransport

                return SseTransport(url, **options)
            case _:
                from mcplens.transports.websocket import WebSocketTransport

                return WebSocketTransport(url, **options)

    if kind not in ("http", "streamable-http", "sse", "ws", "websocket"):
        known = "http, https, ws, wss"
        raise ConfigurationError(
            "CONFIGURATION_INVALID", f"{scheme}:// cannot be connected to; use {known}"
        )
    return make, rest.split("/", 1)[0].rpartition("@")[2]


def _command_of(target: Target) -> list[str]:
    if isinstance(target, str | os.PathLike):
        path = os.fspath(target)
        interpreter = _INTERPRETERS.get(os.path.splitext(path)[1])
        if interpreter is not None and os.path.isfile(path):
            return [*interpreter, path]
        command = [path] if isinstance(target, os.PathLike) else shlex.split(path)
    else:
        command = [os.fspath(part) for part in target]
    if not command:
        raise ConfigurationError(
            "CONFIGURATION_INVALID", "the target is empty: give a command, a URL or a script"
        )
    return command


def _factory(transport: Transport | MakeTransport | None) -> MakeTransport:
    if transport is None:
        return _no_transport
    if not isinstance(transport, Transport):
        return transport
    unused = [transport]

    def once() -> Transport:
        if not unused:
            raise ConfigurationError(
                "CONFIGURATION_INVALID",
                "this transport was used before: give a function that makes one, to reconnect",
            )
        return unused.pop()

    return once


def _no_transport() -> Transport:
    raise ConfigurationError(
        "CONFIGURATION_INVALID", "the client has no transport: give one to connect_client"
    )
