"""What the transport tests share: a Receiver that remembers, and an HTTP server led by the test."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mcplens.bus import Bus, Publish, Publisher
from mcplens.clock import Clock, SystemClock
from mcplens.errors import InspectorError
from mcplens.events import Event, Remark
from mcplens.protocol.frames import (
    Frame,
    Kind,
    Message,
    RequestId,
    encode_notification,
    encode_request,
    encode_result,
    parse,
)
from mcplens.transports.base import Outgoing, Transport
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.wire import HEAD_LIMIT_BYTES, Request, Wire, read_request

# A test that waits longer than this has failed; nothing here takes a tenth of it.
BOUND_S = 10

E = TypeVar("E", bound=Event)


class WatchedBus(Bus):
    """A bus that says when something was published."""

    def __init__(self, clock: Clock, wake: Callable[[], None]) -> None:
        super().__init__(clock)
        self._on_publish = wake

    def publish_as(self, server_id: str) -> Publish:
        publish = super().publish_as(server_id)

        def publish_and_wake(event: Event, size_bytes: int) -> int:
            seq = publish(event, size_bytes)
            self._on_publish()
            return seq

        return publish_and_wake


class Recorder:
    """A Receiver and a bus that keep all that they hear."""

    def __init__(self, transport: Transport, clock: Clock | None = None) -> None:
        self.transport = transport
        self.clock = clock or SystemClock()
        self.messages: list[tuple[Message, RequestId | None]] = []  # and whose answer they are
        self.exchange_ids: list[int | None] = []  # what carried each of them
        self.resent: list[tuple[RequestId | None, int]] = []
        self.failures: dict[RequestId, InspectorError] = {}
        self.losses: list[InspectorError] = []
        self.expiries: list[InspectorError] = []
        self._changed = asyncio.Event()
        self.bus = WatchedBus(self.clock, self._changed.set)
        transport.attach(self, Publisher(self.bus, "test"), self.clock)

    def message_received(
        self,
        message: Message,
        size_bytes: int,
        exchange_id: int | None = None,
        carrier: Outgoing | None = None,
    ) -> None:
        is_answer = carrier is not None and carrier.is_request
        self.messages.append((message, carrier.id if carrier and is_answer else None))
        self.exchange_ids.append(exchange_id)
        self._changed.set()

    def message_resent(self, out: Outgoing, exchange_id: int) -> None:
        self.resent.append((out.id, exchange_id))

    def only_request_seq(self) -> int | None:
        return None

    def request_failed(self, request_id: RequestId, error: InspectorError) -> None:
        assert request_id not in self.failures
        self.failures[request_id] = error
        self._changed.set()

    def connection_lost(self, error: InspectorError) -> None:
        self.losses.append(error)
        self._changed.set()

    def session_expired(self, error: InspectorError) -> None:
        self.expiries.append(error)
        self._changed.set()

    def events(self, kind: type[E]) -> list[E]:
        return [event for event in self.bus.kept() if isinstance(event, kind)]

    def remarks(self) -> list[str]:
        return [event.message for event in self.events(Remark)]

    def ids(self) -> list[RequestId | None]:
        """The ids of the messages that came, in order."""
        return [message.id for message, _ in self.messages if isinstance(message, Frame)]

    async def until(self, is_so: Callable[[], object]) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(BOUND_S):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    async def message(self, count: int = 1) -> Message:
        """The message that came as the count-th."""
        await self.until(lambda: len(self.messages) >= count)
        return self.messages[count - 1][0]

    async def failure(self, request_id: RequestId) -> InspectorError:
        await self.until(lambda: request_id in self.failures)
        return self.failures[request_id]


async def most_in_one_turn(heard: Recorder, count: int) -> int:
    """How many messages are delivered between two turns of the loop, until so many have come."""
    most, before = 0, len(heard.messages)
    async with asyncio.timeout(BOUND_S):
        while len(heard.messages) < count:
            await asyncio.sleep(0)
            most, before = max(most, len(heard.messages) - before), len(heard.messages)
    return most


@dataclass
class Seen(Request):
    """A request that the server got, and on which of its connections."""

    connection: int = 0

    @property
    def message(self) -> Any:
        return parse(self.body)


Handle = Callable[[Seen, Wire], Awaitable[None]]


@dataclass
class HttpServer:
    """A server on loopback that lets a test handle each request by hand."""

    handle: Handle
    scheme: str = "http"
    port: int = 0
    requests: list[Seen] = field(default_factory=list)
    connections: int = 0
    closed: list[int] = field(default_factory=list)  # connections that the client ended
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/mcp"

    def seen(self, verb: str) -> list[Seen]:
        return [request for request in self.requests if request.verb == verb]

    async def until(self, is_so: Callable[[], object]) -> None:
        async with asyncio.timeout(BOUND_S):
            while not is_so():
                self._changed.clear()
                await self._changed.wait()

    async def until_seen(self, verb: str, count: int) -> None:
        """Wait until so many requests of that kind have come."""
        await self.until(lambda: len(self.seen(verb)) >= count)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        inbox: asyncio.Queue[Request | None] = asyncio.Queue()

        async def read_all() -> None:
            while request := await read_request(reader):
                inbox.put_nowait(request)
            inbox.put_nowait(None)

        reading = asyncio.get_running_loop().create_task(read_all())
        try:
            while (request := await inbox.get()) and not writer.is_closing():
                seen = Seen(**vars(request), connection=number)
                self.requests.append(seen)
                self._changed.set()
                await self._handle_while_connected(seen, Wire(writer), reading)
        except ConnectionError:
            pass
        finally:
            reading.cancel()
            self.closed.append(number)
            self._changed.set()

    async def _handle_while_connected(
        self, seen: Seen, wire: Wire, reading: asyncio.Task[None]
    ) -> None:
        """Handle a request; a client that leaves meanwhile ends it, as it does for real servers."""

        async def handle() -> None:
            await self.handle(seen, wire)

        handling = asyncio.get_running_loop().create_task(handle())
        try:
            await asyncio.wait([handling, reading], return_when=asyncio.FIRST_COMPLETED)
            if handling.done():
                handling.result()
        finally:
            handling.cancel()
            await asyncio.gather(handling, return_exceptions=True)


Connect = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def listening(connect: Connect, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """The port of a TCP server that ends all its connections with the block."""
    tasks: set[asyncio.Task[Any]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        # asyncio logs a connection's task that ends cancelled; the end of the test is no error.
        with contextlib.suppress(asyncio.CancelledError):
            await connect(reader, writer)
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=HEAD_LIMIT_BYTES, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


@contextlib.asynccontextmanager
async def serving(handle: Handle, tls: ssl.SSLContext | None = None) -> AsyncIterator[HttpServer]:
    """Run an HTTP server for the length of the block."""
    server = HttpServer(handle, "https" if tls else "http")
    async with listening(server.connect, tls) as server.port:
        yield server


@contextlib.asynccontextmanager
async def connected(transport: Transport, clock: Clock | None = None) -> AsyncIterator[Recorder]:
    """Enter a transport with a recorder attached."""
    recorder = Recorder(transport, clock)
    async with transport:
        yield recorder


@contextlib.asynccontextmanager
async def talking(
    handle: Handle, clock: Clock | None = None
) -> AsyncIterator[tuple[HttpServer, Recorder]]:
    """A server, and streamable HTTP connected to it."""
    async with (
        serving(handle) as server,
        connected(StreamableHttpTransport(server.url), clock) as recorder,
    ):
        yield server, recorder


def call(request_id: RequestId, method: str = "tools/list", **headers: str) -> Outgoing:
    """A request on its way out."""
    data = encode_request(request_id, method)
    return Outgoing(
        Frame(data, Kind.REQUEST, request_id, method),
        is_request=True,
        id=request_id,
        method=method,
        headers={name.replace("_", "-"): value for name, value in headers.items()} or None,
    )


def notification(method: str = "notifications/initialized") -> Outgoing:
    return Outgoing(
        Frame(encode_notification(method), Kind.NOTIFICATION, None, method), method=method
    )


def result(request_id: RequestId, value: object = "right") -> bytes:
    """A right answer."""
    return encode_result(request_id, {"value": value})
