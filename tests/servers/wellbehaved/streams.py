"""Server-sent events that can be followed from any point, and the aiohttp server under them."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web

from .brain import Brain
from .protocol import Message, encode

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
BODY_LIMIT_BYTES = 256 * 1024 * 1024
SSE_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform"}


class Stream:
    """An append-only list of messages; readers follow it, so a broken connection loses nothing."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.messages: list[Message] = []
        self.is_finished = False
        self.delivered = 0
        self._changed = asyncio.Event()

    def __repr__(self) -> str:
        state = "finished" if self.is_finished else "open"
        return f"<Stream {self.name} {state}, {len(self.messages)} messages>"

    def put(self, message: Message) -> None:
        self.messages.append(message)
        self._wake()

    def finish(self) -> None:
        self.is_finished = True
        self._wake()

    async def wait_for_first(self) -> Message | None:
        """The first message, or None when the stream ends without one."""
        while not self.messages and not self.is_finished:
            await self._changed.wait()
        return self.messages[0] if self.messages else None

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[str, Message]]:
        """Every message after that many, with its event id, until the stream is finished."""
        while True:
            changed = self._changed
            while after < len(self.messages):
                after += 1
                self.delivered = max(self.delivered, after)
                yield f"{self.name}-{after}", self.messages[after - 1]
            if self.is_finished:
                return
            await changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def event(message: Message, event_id: str | None = None) -> bytes:
    head = f"id: {event_id}\n" if event_id else ""
    return head.encode() + b"event: message\ndata: " + encode(message) + b"\n\n"


async def open_sse(
    request: web.BaseRequest, headers: dict[str, str] | None = None
) -> web.StreamResponse:
    response = web.StreamResponse(headers={**SSE_HEADERS, **(headers or {})})
    await response.prepare(request)
    return response


async def listen_http(brain: Brain, handler: Handler, listener: socket.socket) -> asyncio.Server:
    """Serve HTTP on a bound socket and count its connections; a closed one cancels its handler."""

    def make_request(message, payload, protocol, writer, task):  # type: ignore[no-untyped-def]
        loop = asyncio.get_running_loop()
        return web.BaseRequest(
            message, payload, protocol, writer, task, loop, client_max_size=BODY_LIMIT_BYTES
        )

    server = web.Server(
        handler, handler_cancellation=True, request_factory=make_request, access_log=None
    )

    def connect() -> asyncio.BaseProtocol:
        brain.record.connections += 1
        return server()

    return await asyncio.get_running_loop().create_server(connect, sock=listener)
