"""The composition root: the only place where transports, sessions, bus and clock are wired.

Offers the short way (`connect`) and the parts of it (`create_mcp_client` and its kin).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import msgspec

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.session.client import Client
from mcplens.session.options import (
    ClientKeywords,
    ClientOptions,
    ConnectKeywords,
    ConnectOptions,
    SharedKeywords,
)
from mcplens.targets import MakeTransport, Target, invalid, maker_of, transport_for
from mcplens.transports.base import Closing, Transport
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.session.notifications import NotificationHandler
    from mcplens.session.question_handler import RequestHandler
    from mcplens.store.recorder import Recorder
    from mcplens.transports.memory import Serve


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

    __signature__: ClassVar[Signature]

    def __init__(
        self,
        target: Target | Transport | MakeTransport,
        *,
        transport: str | None = None,
        **keywords: Unpack[ConnectKeywords],
    ) -> None:
        given: dict[str, Any] = {**keywords}
        own = ConnectOptions(**_taken(given, ConnectOptions.__struct_fields__))
        shared = _taken(given, SharedKeywords.__annotations__)
        if "max_concurrency" in given:
            raise invalid("max_concurrency: the option of connect() is called `concurrency`")
        # What is left is for the transport, which refuses what it does not know.
        make, name = transport_for(target, transport, **given)
        options = ClientOptions(
            **shared,
            config=own.config(),
            concurrency=own.concurrency,
            server_id=own.server_id or name,
        )
        self._client = _make_client(make, options)
        self._owned_bus = self._client.bus if options.bus is None else None
        self._recording = _Recording(self._client.bus, options)
        self._handle(own.request_handlers or {}, own.notification_handlers or {})

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
    transport: Transport | MakeTransport | None = None, **keywords: Unpack[ClientKeywords]
) -> Client:
    """A client that is not connected yet; see `connect_client`."""
    options = ClientOptions(**keywords)
    client = _make_client(maker_of(transport), options)
    recorder = _Recording(client.bus, options).begin()
    if recorder is not None:
        weakref.finalize(client, recorder.close)
    return client


def _make_client(make_transport: MakeTransport, options: ClientOptions) -> Client:
    clock = options.clock or SystemClock()
    bus = options.bus
    if bus is None and options.max_kept_events is not None:
        bus = Bus(clock, max_events=options.max_kept_events)
    if bus is None:
        bus = Bus(clock, is_unread=True)
    return Client(make_transport, bus=bus, clock=clock, options=options)


def _taken(keywords: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The keywords of these names, taken out of the others."""
    return {name: keywords.pop(name) for name in names if name in keywords}


def _signature(
    function: Callable[..., Any], *kinds: type[msgspec.Struct], leave_out: frozenset[str]
) -> Signature:
    """A signature that names all keywords with their defaults, as `help()` and others show it."""
    known = [p for p in signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    named = {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints.get(name))
        for kind in kinds
        for hints in [kind.__annotations__]
        for name, default in zip(kind.__struct_fields__, kind.__struct_defaults__, strict=True)
        if name not in leave_out
    }
    return Signature([*known, *named.values()])


create_mcp_client.__signature__ = _signature(  # type: ignore[attr-defined]
    create_mcp_client, ClientOptions, leave_out=frozenset()
)
connect.__signature__ = _signature(
    connect, ClientOptions, ConnectOptions, leave_out=frozenset({"config"})
)


class _Recording:
    """What is recorded of a bus, if anything is to be."""

    def __init__(self, bus: Bus, options: ClientOptions) -> None:
        self._bus = bus
        self._record = options.record
        self._secret_keys = tuple(options.secret_keys)
        self._clock = options.clock
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
