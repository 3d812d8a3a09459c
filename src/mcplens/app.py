"""The composition root: the only place where transports, sessions, bus and clock are wired.

Offers the short way (`connect`) and the parts of it (`create_mcp_client` and its kin).
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.session.client import Client
from mcplens.session.config import ClientOptions, ConnectionConfig, HandlerConfig, RetryConfig
from mcplens.targets import MakeTransport, Target, invalid, maker_of, transport_for
from mcplens.transports.base import Closing, Transport
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.session.notifications import NotificationHandler
    from mcplens.session.question_handler import Answering, RequestHandler
    from mcplens.session.roots import RootLike
    from mcplens.store.recorder import Recorder
    from mcplens.transports.memory import Serve

# Whether everything is recorded: to the user's own recording, or to the file of this name.
Record = bool | str | os.PathLike[str]


class connect:
    """Connect to a server for as long as the block lasts.

    A target is a command (a list, or one string), a URL (http, https, ws, wss), or the path of a
    script. Options are ConnectionConfig's fields, `concurrency`, `protocol_version`, `headers`,
    `env`, `cwd`, `enforce_capabilities`, and what the transport takes. One attempt by default.

    `sampling` and `elicitation` say how the server's questions are answered: by a function, by a
    profile, or by the program, which asks the client for what is pending (True). `roots` are paths.

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
        make, name = transport_for(target, transport, **transport_options)
        self._client = create_mcp_client(
            make,
            client_info=client_info,
            capabilities=capabilities,
            meta=meta,
            config=ConnectionConfig(
                connection_timeout_s=connection_timeout_s,
                request_timeout_s=request_timeout_s,
                progress_resets_timeout=progress_resets_timeout,
                max_total_timeout_s=max_total_timeout_s,
                ping_interval_s=ping_interval_s,
                max_retries=max_retries,
                retry_backoff_s=tuple(retry_backoff_s),
            ),
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
        self._owned_bus = self._client.bus if bus is None else None
        self._recording = _Recording(self._client.bus, record, secret_keys, clock)
        self._handle(request_handlers or {}, notification_handlers or {})

    def _handle(
        self,
        requests: Mapping[str, RequestHandler],
        notifications: Mapping[str, NotificationHandler],
    ) -> None:
        for method, answer in requests.items():
            self._client.set_request_handler(method, answer)
        for method, hear in notifications.items():
            self._client.set_notification_handler(method, hear)

    @property
    def client(self) -> Client:
        """The client, for callers that connect it themselves."""
        return self._client

    async def __aenter__(self) -> Client:
        self._recording.begin()
        try:
            await self._client.connect()
        except BaseException:
            await self._recording.end()
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
        await self._recording.end()


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
        maker_of(transport),
        bus=bus,
        clock=clock,
        server_id=server_id,
        config=config or ConnectionConfig(),
        options=options,
        retry=retry,
    )
    recorder = _Recording(bus, record, secret_keys, clock).begin()
    if recorder is not None:
        weakref.finalize(client, recorder.close)
    return client


class _Recording:
    """What is recorded of a bus, if anything is to be."""

    def __init__(
        self, bus: Bus, record: Record, secret_keys: Iterable[str], clock: Clock | None
    ) -> None:
        self._bus = bus
        self._record = record
        self._secret_keys = tuple(secret_keys)
        self._clock = clock
        self._recorder: Recorder | None = None

    def __repr__(self) -> str:
        return f"<_Recording {self._record} {self._recorder or 'not begun'}>"

    def begin(self) -> Recorder | None:
        if self._record is False:
            return None
        from mcplens.store.recorder import Recorder
        from mcplens.store.recording_file import default_path

        self._recorder = Recorder(
            self._bus,
            default_path() if self._record is True else self._record,
            secret_keys=self._secret_keys,
            version=VERSION,
            clock=self._clock,
            warn=_warn_of_recording,
        )
        return self._recorder

    async def end(self) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            await recorder.aclose()


def _warn_of_recording(text: str) -> None:
    import warnings

    warnings.warn(f"mcplens: {text}", RuntimeWarning, stacklevel=2)


async def connect_client(
    client: Client, transport: Transport | MakeTransport | None = None
) -> None:
    """Connect a client, over the given transport if it has none of its own."""
    if transport is not None:
        client.use_transport(maker_of(transport))
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
        raise invalid(f"{proxy_url!r} is not an http(s) URL")
    url = f"{parts.scheme}://{parts.netloc}/servers/{quote(server_id, safe='')}/mcp"
    return create_http_transport(url, headers, **options)


def create_stdio_transport(command: Sequence[str] | str, **options: Any) -> MakeTransport:
    """A command that is started and spoken to over its standard streams."""
    return transport_for(command, "stdio", **options)[0]


def create_memory_transport(serve: Serve, *, name: str = "memory") -> MakeTransport:
    """A server in this process: `serve(peer)` reads and writes messages."""
    from mcplens.transports.memory import MemoryTransport

    return lambda: MemoryTransport(serve, name=name)
