"""The composition root: the only place where transports, sessions, bus and clock are wired.

Offers the short way (`connect`) and the parts of it (`create_mcp_client` and its kin).
"""

from __future__ import annotations

import itertools
import os
import shlex
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.errors import ConfigurationError
from mcplens.session.client import Client
from mcplens.session.config import (
    ClientOptions,
    ConnectionConfig,
    HandlerConfig,
    RetryConfig,
)
from mcplens.transports.base import Closing, Transport
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.session.handler import Answering
    from mcplens.session.notifications import NotificationHandler
    from mcplens.session.questions import RequestHandler
    from mcplens.session.roots import RootLike
    from mcplens.store.recorder import Recorder
    from mcplens.transports.memory import Serve

Target = str | os.PathLike[str] | Sequence[str]
MakeTransport = Callable[[], Transport]
# Whether everything is recorded: to the user's own recording, or to the file of this name.
Record = bool | str | os.PathLike[str]

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

    `sampling` and `elicitation` say how the server's questions are answered: by a function, by a
    profile, or by whoever asks the client for what is pending (True). `roots` are paths.

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
        meta: Mapping[str, Any] | None = None,
        sampling: Answering = False,
        elicitation: Answering = False,
        roots: Sequence[RootLike] | None = None,
        receiver_tasks: bool = False,
        receiver_task_ttl_s: float | Callable[[], float] = 60.0,
        completes_declined_tasks: bool = False,
        handler: HandlerConfig | None = None,
        request_handlers: Mapping[str, RequestHandler] | None = None,
        notification_handlers: Mapping[str, NotificationHandler] | None = None,
        server_id: str | None = None,
        bus: Bus | None = None,
        clock: Clock | None = None,
        record: Record = False,
        secret_keys: Iterable[str] = (),
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
            meta=meta,
            config=config,
            retry=retry,
            concurrency=concurrency,
            protocol_version=protocol_version,
            enforce_capabilities=enforce_capabilities,
            sampling=sampling,
            elicitation=elicitation,
            roots=roots,
            receiver_tasks=receiver_tasks,
            receiver_task_ttl_s=receiver_task_ttl_s,
            completes_declined_tasks=completes_declined_tasks,
            handler=handler,
            server_id=server_id or name,
            bus=bus,
            clock=clock,
        )
        self._owned_bus = self._client._bus if bus is None else None
        self._record = record
        self._secret_keys = tuple(secret_keys)
        self._clock = clock
        self._recorder: Recorder | None = None
        for method, answer in (request_handlers or {}).items():
            self._client.set_request_handler(method, answer)
        for method, hear in (notification_handlers or {}).items():
            self._client.set_notification_handler(method, hear)

    @property
    def client(self) -> Client:
        """The client, for whoever connects it himself."""
        return self._client

    async def __aenter__(self) -> Client:
        self._recorder = _start_recording(
            self._client._bus, self._record, self._secret_keys, self._clock
        )
        try:
            await self._client.connect()
        except BaseException:
            await self._end_recording()
            raise
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
        await self._end_recording()

    async def _end_recording(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            await recorder.aclose()


def create_mcp_client(
    transport: Transport | MakeTransport | None = None,
    *,
    client_info: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    config: ConnectionConfig | None = None,
    retry: RetryConfig | None = None,
    concurrency: int = 1,
    protocol_version: str = "auto",
    enforce_capabilities: bool = True,
    sampling: Answering = False,
    elicitation: Answering = False,
    roots: Sequence[RootLike] | None = None,
    receiver_tasks: bool = False,
    receiver_task_ttl_s: float | Callable[[], float] = 60.0,
    completes_declined_tasks: bool = False,
    handler: HandlerConfig | None = None,
    server_id: str = "server",
    bus: Bus | None = None,
    clock: Clock | None = None,
    record: Record = False,
    secret_keys: Iterable[str] = (),
) -> Client:
    """A client that is not connected yet; see `connect_client`."""
    clock = clock or SystemClock()
    about: dict[str, Any] = {"client_info": dict(client_info)} if client_info else {}
    options = ClientOptions(
        capabilities=dict(capabilities or {}),
        meta=dict(meta or {}),
        protocol_version=protocol_version,
        enforce_capabilities=enforce_capabilities,
        concurrency=concurrency,
        sampling=sampling,
        elicitation=elicitation,
        roots=None if roots is None else tuple(roots),
        receiver_tasks=receiver_tasks,
        receiver_task_ttl_s=receiver_task_ttl_s,
        completes_declined_tasks=completes_declined_tasks,
        handler=handler or HandlerConfig(),
        **about,
    )
    bus = bus or Bus(clock)
    client = Client(
        _factory(transport),
        bus=bus,
        clock=clock,
        server_id=server_id,
        config=config or ConnectionConfig(),
        options=options,
        retry=retry,
    )
    recorder = _start_recording(bus, record, secret_keys, clock)
    if recorder is not None:
        weakref.finalize(client, recorder.close)
    return client


def _start_recording(
    bus: Bus, record: Record, secret_keys: Iterable[str], clock: Clock | None
) -> Recorder | None:
    if record is False:
        return None
    from mcplens.store.location import default_path
    from mcplens.store.recorder import Recorder

    path = default_path() if record is True else record
    return Recorder(
        bus,
        path,
        secret_keys=secret_keys,
        version=VERSION,
        clock=clock,
        warn=_warn_of_recording,
    )


def _warn_of_recording(text: str) -> None:
    import warnings

    warnings.warn(f"mcplens: {text}", RuntimeWarning, stacklevel=2)


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
        raise _invalid(f"{proxy_url!r} is no http(s) URL")
    url = f"{parts.scheme}://{parts.netloc}/servers/{quote(server_id, safe='')}/mcp"
    return create_http_transport(url, headers, **options)


def create_stdio_transport(command: Sequence[str] | str, **options: Any) -> MakeTransport:
    """A command that is started and spoken to over its standard streams."""
    return transport_for(command, "stdio", **options)[0]


def create_memory_transport(serve: Serve, *, name: str = "memory") -> MakeTransport:
    """A server in this process: `serve(peer)` reads and writes messages."""
    from mcplens.transports.memory import MemoryTransport

    return lambda: MemoryTransport(serve, name=name)


_SHARED_OPTIONS: Final = frozenset({"max_message_bytes"})
_STDIO_OPTIONS: Final = _SHARED_OPTIONS | {
    "env", "cwd", "inherit_env", "close_wait_s", "terminate_wait_s",
}  # fmt: skip
_NETWORK_OPTIONS: Final = _SHARED_OPTIONS | {
    "headers", "ca_file", "insecure", "connect_timeout_s",
}  # fmt: skip
_HTTP_OPTIONS: Final = _NETWORK_OPTIONS | {"sse_fallback"}

# The names that a transport may be asked for by, and what it is then.
_KINDS: Final = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "sse": "sse",
    "ws": "websocket",
    "websocket": "websocket",
}
_KIND_OF_SCHEME: Final = {"http": "http", "https": "http", "ws": "websocket", "wss": "websocket"}
_OPTIONS_OF: Final = {
    "stdio": _STDIO_OPTIONS,
    "http": _HTTP_OPTIONS,
    "sse": _NETWORK_OPTIONS,
    "websocket": _NETWORK_OPTIONS,
}


def transport_for(
    target: Target | Transport | MakeTransport, kind: str | None = None, **options: Any
) -> tuple[MakeTransport, str]:
    """How to reach a target, and a name for it.

    Raises:
        ConfigurationError: the target is none, or an option has no meaning for it.
    """
    options = {name: value for name, value in options.items() if value is not None}
    if isinstance(target, Transport) or callable(target):
        _check_options("a transport of your own", options, frozenset())
        return _factory(target), "server"
    if isinstance(target, str) and "://" in target.split(" ", 1)[0]:
        return _remote(target, kind, options)
    if kind not in (None, "stdio"):
        raise _invalid(f"{kind} needs a URL; {target!r} is a command")
    command = command_of(target)
    _check_options("a command", options, _STDIO_OPTIONS)
    if "cwd" in options:
        options["cwd"] = os.fspath(options["cwd"])

    def make_stdio() -> Transport:
        from mcplens.transports.stdio import StdioTransport

        return StdioTransport(command, **options)

    return make_stdio, command_name(command)


# Programs that run another one, which is what a command should be called by.
_RUNNERS: Final = frozenset(
    (
        "python", "pypy", "node", "npx", "uvx", "uv", "bun", "bunx", "deno", "docker", "sh", "bash",
        "env",
    )
)  # fmt: skip


def command_name(command: Sequence[str]) -> str:
    """A short name for a command: the program, or what its runner runs; never an argument of it."""
    program = os.path.basename(command[0])
    if os.path.splitext(program)[0].rstrip("0123456789.") not in _RUNNERS:
        return program
    for flag, word in itertools.pairwise(command):
        if flag in ("-c", "-e", "--eval"):  # a program text follows
            return program
        if not word.startswith("-") and word not in ("run", "tool", "exec") and "=" not in word:
            return os.path.basename(word) or program
    return program


def host_of(url: str) -> str:
    """Host and port of a URL: a name for it that holds no secret."""
    rest = url.partition("://")[2]
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    return rest[:end].rpartition("@")[2] or "server"


def _remote(url: str, kind: str | None, options: dict[str, Any]) -> tuple[MakeTransport, str]:
    scheme = url.partition("://")[0]
    chosen = _KIND_OF_SCHEME.get(scheme.lower()) if kind is None else _KINDS.get(kind)
    if chosen is None and kind is not None:
        raise _invalid(f"there is no transport called {kind!r}: use {', '.join(_KINDS)}")
    if chosen is None:
        raise _invalid(f"{scheme}:// cannot be connected to: use http, https, ws or wss")
    if chosen == "stdio":
        raise _invalid(f"stdio needs a command; {url} is a URL")
    _check_options(f"a URL over {chosen}", options, _OPTIONS_OF[chosen])

    def make() -> Transport:
        if chosen == "http":
            from mcplens.transports.streamable_http import StreamableHttpTransport

            return StreamableHttpTransport(url, **options)
        if chosen == "sse":
            from mcplens.transports.sse import SseTransport

            return SseTransport(url, **options)
        from mcplens.transports.websocket import WebSocketTransport

        return WebSocketTransport(url, **options)

    return make, host_of(url)


def _check_options(what: str, options: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(options.keys() - known)
    if unknown:
        has = ", ".join(sorted(known)) or "none"
        raise _invalid(f"{', '.join(unknown)}: no meaning for {what}, whose options are: {has}")


def command_of(target: Target) -> list[str]:
    """The command that a target means: itself, a script's interpreter, a line in words.

    Raises:
        ConfigurationError: it is empty, or cannot be split.
    """
    if isinstance(target, str | os.PathLike):
        path = os.fspath(target)
        interpreter = _INTERPRETERS.get(os.path.splitext(path)[1])
        if interpreter is not None and os.path.isfile(path):
            return [*interpreter, path]
        command = [path] if isinstance(target, os.PathLike) else _split(path)
    else:
        command = [os.fspath(part) for part in target]
    if not command:
        raise _invalid("the target is empty: give a command, a URL or a script")
    return command


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as problem:
        raise _invalid(f"{text!r} cannot be split into a command: {problem}") from None


def _invalid(message: str) -> ConfigurationError:
    return ConfigurationError("CONFIGURATION_INVALID", message)


def _factory(transport: Transport | MakeTransport | None) -> MakeTransport:
    if transport is None:
        return _no_transport
    if not isinstance(transport, Transport):
        return transport
    unused = [transport]

    def once() -> Transport:
        if not unused:
            raise _invalid(
                "this transport was used before: give a function that makes one, to reconnect"
            )
        return unused.pop()

    return once


def _no_transport() -> Transport:
    raise _invalid("the client has no transport: give one to connect_client")
