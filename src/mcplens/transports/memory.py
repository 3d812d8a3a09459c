"""Memory: two ends in one process, for tests and for embedding a server.

The client's end is a Transport; the server's end is a MemoryPeer that reads and writes bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from mcplens.errors import TransportError
from mcplens.transports.base import Closing, Outgoing, Transport

# Messages that wait for a peer that does not read; more are refused.
BACKLOG: Final = 10_000


class MemoryPeer:
    """The server's end."""

    def __init__(self) -> None:
        self._inbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._transport: MemoryTransport | None = None

    def __repr__(self) -> str:
        return f"<MemoryPeer with {self._inbox.qsize()} messages unread>"

    async def receive(self) -> bytes | None:
        """The next message from the client; None once it has left."""
        return await self._inbox.get()

    def send(self, data: bytes) -> None:
        """Give the client a message, or any bytes."""
        if self._transport is not None:
            self._transport._arrived(data)

    def close(self, reason: str = "the server closed the connection") -> None:
        """Leave, as a server does that goes away."""
        if self._transport is not None:
            self._transport._left(reason)


Serve = Callable[[MemoryPeer], Awaitable[None]]


class MemoryTransport(Transport):
    """Runs `serve(peer)` as the server for as long as the connection lasts."""

    kind = "memory"

    def __init__(self, serve: Serve, *, name: str = "memory") -> None:
        super().__init__()
        self._serve = serve
        self._name = name
        self._peer: MemoryPeer | None = None

    def __repr__(self) -> str:
        return f"<MemoryTransport {self._name} {'open' if self._peer else 'closed'}>"

    @property
    def identity(self) -> str:
        return f"memory:{self._name}:{id(self._serve)}"

    async def _open(self) -> None:
        peer = self._peer = MemoryPeer()
        peer._transport = self
        self._work.start(self._run(peer), "memory server")

    async def _run(self, peer: MemoryPeer) -> None:
        try:
            await self._serve(peer)
        except Exception as problem:  # the server is foreign code: its failure is a lost connection
            self._left(f"the server failed: {type(problem).__name__}: {problem}")
        else:
            self._left("the server ended")

    async def _close(self, how: Closing) -> None:
        peer, self._peer = self._peer, None
        if peer is not None:
            peer._transport = None
            peer._inbox.put_nowait(None)

    def write(self, out: Outgoing) -> None:
        if self._peer is None:
            return
        if self._peer._inbox.qsize() >= BACKLOG:
            if out.id is not None:
                message = f"the server does not read: {BACKLOG} messages wait"
                self._receiver.request_failed(out.id, TransportError("CONNECTION_LOST", message))
            return
        self._peer._inbox.put_nowait(out.data)

    def _arrived(self, data: bytes) -> None:
        asyncio.get_running_loop().call_soon(self._hand_over, data)

    def _hand_over(self, data: bytes) -> None:
        if self._peer is not None:
            self._deliver(data)

    def _left(self, reason: str) -> None:
        if self._peer is not None:
            self._receiver.connection_lost(TransportError("CONNECTION_LOST", reason))
