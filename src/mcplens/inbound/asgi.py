"""One HTTP exchange over ASGI: request headers and body, and the response.

Independent of MCP, except for the JSON-RPC error in a refusal's body. Used by the HTTP endpoints.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, MutableMapping
from typing import Any, Final, Protocol

from mcplens.inbound.exchange import EVENT_STREAM, JSON, NO_HEADERS, Exchange, decode_headers
from mcplens.inbound.refusal import Refusal, too_large
from mcplens.inbound.request_validation import Headers

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# The second asks proxies to pass each event on at once (2026-07-28, "Receiving Messages").
_STREAM_HEADERS: Final = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers by lower-case name; the values of one that is repeated are joined by ", "."""
    return decode_headers(scope["headers"])


def event(
    data: bytes, *, id: str | None = None, name: str = "", retry_ms: int | None = None
) -> bytes:
    """A server-sent event; data with line ends in it becomes several `data` lines."""
    parts = [f"event: {name}\n".encode()] if name else []
    if id is not None:
        parts.append(f"id: {id}\n".encode())
    if retry_ms is not None:
        parts.append(f"retry: {retry_ms}\n".encode())
    if b"\n" in data or b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\ndata: ")
    return b"".join([*parts, b"data: ", data, b"\n\n"])


def abort(send: Send) -> None:
    """Drop a connection and its unsent data: a client that does not read would keep it for ever.

    ASGI cannot express this; uvicorn's `send` is a method of the object that holds the transport.
    """
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if isinstance(transport, asyncio.WriteTransport):
        transport.abort()


class WatchedConnection(Protocol):
    """The connection of a request, where our own server serves it (uvicorn_server.py)."""

    on_lost: Callable[[], None] | None  # called once when the client disconnects


def _connection_of(send: Send) -> WatchedConnection | None:
    """The connection, if it notifies us; None under any other ASGI server, or if it is lost."""
    cycle = getattr(send, "__self__", None)
    transport = getattr(cycle, "transport", None)
    if not isinstance(transport, asyncio.Transport) or getattr(cycle, "disconnected", True):
        return None
    connection: Any = transport.get_protocol()
    return connection if hasattr(connection, "on_lost") else None


COMMENT: Final = b": still here\n\n"


class AsgiExchange(Exchange):
    """A request, and the response to it."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        query = scope["query_string"].decode("latin-1")
        super().__init__(scope["method"], scope["path"], query, headers)
        raw_path: bytes = scope.get("raw_path") or scope["path"].encode()
        # As it was sent, with its percent escapes.
        self.target = raw_path.decode("latin-1") + (f"?{query}" if query else "")
        self.has_begun = False
        # Called when the body is there: who sends it slowly may have lost access meanwhile.
        self.admit_again: Callable[[], Awaitable[None]] | None = None  # raises Refusal
        self._receive = receive
        self._send = send
        self._leave: Callable[[], object] | None = None  # ends what `attend` runs

    def __repr__(self) -> str:
        return f"<AsgiExchange {self.method} {self.path} {'begun' if self.has_begun else 'new'}>"

    async def body(self, limit_bytes: int) -> bytes:
        """The whole body.

        Raises:
            Refusal: it is longer than the limit, or may not be used any more.
            ConnectionError: the client disconnected before it was complete.
        """
        parts: list[bytes] = []
        size = 0
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError("the client left in the middle of its request")
            part = message.get("body", b"")
            size += len(part)
            if size > limit_bytes:
                raise too_large(limit_bytes)
            parts.append(part)
            if not message.get("more_body", False):
                break
        if self.admit_again is not None:
            await self.admit_again()
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def respond(
        self,
        status: int,
        body: bytes = b"",
        content_type: str = "",
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Send a whole response."""
        length = {"Content-Length": str(len(body))} if status != 204 else {}
        await self._begin(status, content_type, {**headers, **length})
        await self._send({"type": "http.response.body", "body": body})

    async def refuse(self, refusal: Refusal) -> None:
        await self.respond(refusal.status, refusal.body, JSON, refusal.headers)

    async def open_events(self, headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Begin a response that is a stream of events."""
        await self._begin(200, EVENT_STREAM, {**headers, **_STREAM_HEADERS})

    async def write(self, chunk: bytes) -> None:
        """Send a part of a stream; waits while the client does not read."""
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})

    async def end(self) -> None:
        """End a stream; without this, the client sees it broken off."""
        await self._send({"type": "http.response.body", "body": b""})

    def abort(self) -> None:
        """Drop the connection of a client that does not read."""
        if self._leave is not None:
            self._leave()
        abort(self._send)

    async def attend(self, work: Coroutine[Any, Any, None]) -> bool:
        """Run the response until it is done or the client disconnects; False if it disconnected."""
        connection = _connection_of(self._send)
        if connection is None:
            return await self._attend_by_receiving(work)
        task = asyncio.current_task()
        assert task is not None
        has_left = False

        def leave() -> None:
            nonlocal has_left
            if not has_left:
                has_left = True
                task.cancel()

        connection.on_lost = self._leave = leave
        try:
            await work
            return True
        except asyncio.CancelledError:
            # Cancelled by somebody else too: then that counts.
            if not has_left or task.uncancel() > 0:
                raise
            return False
        finally:
            connection.on_lost = self._leave = None

    async def _attend_by_receiving(self, work: Coroutine[Any, Any, None]) -> bool:
        """The same by the means of ASGI alone, which take two tasks."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(work)
        self._leave = task.cancel
        leaving = loop.create_task(self._left())
        try:
            await asyncio.wait([task, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not task.done() or task.cancelled():
                return False
            task.result()
            return True
        finally:
            self._leave = None
            task.cancel()
            leaving.cancel()
            await asyncio.gather(task, leaving, return_exceptions=True)

    async def _begin(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        self.has_begun = True
        lines = {"Content-Type": content_type, **headers} if content_type else headers
        encoded = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in lines.items()
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def _left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
