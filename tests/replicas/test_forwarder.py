"""Connections between replicas: few are kept, and none is waited for without a limit."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from mcplens.clock import SystemClock
from mcplens.replicas import forwarder as forwarding
from mcplens.replicas.forwarder import Forwarder, OwnerGone
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.replica import Presence, Replica


class Owner:
    """A replica that answers when it has so many requests at once."""

    def __init__(self, at_once: int) -> None:
        self.connections = 0
        self._changed = asyncio.Condition()
        self._requests = asyncio.Barrier(at_once)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._count(1)
        try:
            while await reader.readuntil(b"\r\n\r\n{}"):
                with contextlib.suppress(asyncio.BrokenBarrierError):
                    await self._requests.wait()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        except asyncio.IncompleteReadError:
            pass  # the connection was closed
        finally:
            writer.close()
            await self._count(-1)

    async def _count(self, more: int) -> None:
        self.connections += more
        async with self._changed:
            self._changed.notify_all()

    async def has(self, connections: int) -> None:
        """Wait until it has so many connections."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.connections == connections)

    async def answer_at_once(self) -> None:
        """Wait for no other requests any more."""
        await self._requests.abort()


class Passed:
    """A request that is passed on, with its answer."""

    method, target, caller = "POST", "/mcp", "ann"
    headers: Mapping[str, str] = {}
    has_begun = False
    status = 0

    async def respond(
        self, status: int, body: bytes, content_type: str, headers: Mapping[str, str]
    ) -> None:
        self.status = status

    async def open_events(self, headers: Mapping[str, str]) -> None: ...
    async def write(self, chunk: bytes) -> None: ...
    async def end(self) -> None: ...


@asynccontextmanager
async def owned(at_once: int) -> AsyncIterator[tuple[Owner, Presence, Forwarder]]:
    clock = SystemClock()
    forwarder = Forwarder(Replica(MemoryStore(clock), clock, keys=("k" * 32,)), clock)
    owner = Owner(at_once)
    server = await asyncio.start_server(owner.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    presence = Presence(id="owner", name="owner", address=address, version="1", since=0.0)
    try:
        async with asyncio.timeout(30):
            yield owner, presence, forwarder
    finally:
        await forwarder.close()
        server.close()
        async with asyncio.timeout(30):
            await owner.has(0)


async def test_of_many_connections_to_a_replica_few_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forwarding, "_MOST_IDLE", 3)
    async with owned(at_once=20) as (owner, presence, forwarder):
        passed = [Passed() for _ in range(20)]
        await asyncio.gather(*(forwarder.forward(presence, one, b"{}") for one in passed))
        assert {one.status for one in passed} == {200}
        await owner.has(3)
        await owner.answer_at_once()
        for _ in range(5):
            await forwarder.forward(presence, Passed(), b"{}")
        assert owner.connections == 3  # those that are kept are used again


async def test_an_idle_connection_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "_KEEPALIVE_S", 0.05)
    async with owned(at_once=1) as (owner, presence, forwarder):
        await forwarder.forward(presence, Passed(), b"{}")
        await owner.has(0)


async def test_a_forward_that_gets_no_connection_was_never_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forwarding, "_CONNECTIONS", 1)
    monkeypatch.setattr(forwarding, "_CONNECT_S", 0.5)
    async with owned(at_once=2) as (owner, presence, forwarder):
        first = asyncio.ensure_future(forwarder.forward(presence, Passed(), b"{}"))
        await owner.has(1)
        with pytest.raises(OwnerGone) as gone:
            await forwarder.forward(presence, Passed(), b"{}")
        assert not gone.value.was_sent
        await owner.answer_at_once()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
