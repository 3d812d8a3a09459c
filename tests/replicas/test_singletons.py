"""Servers that may run once, with two replicas in this process and real servers."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.config.model import Settings
from mcplens.downstream.live_servers import LiveServers
from mcplens.downstream.options import LiveOptions
from mcplens.downstream.result import Failure
from mcplens.downstream.server_connection import ServerConnection
from mcplens.events import Event, ProcessStarted
from mcplens.gateway.singletons import Singleton, Singletons
from mcplens.replicas.leases import Holder, LeaseRecord
from mcplens.replicas.memory_store import MemoryStore
from tests.gateway.harness import PATIENCE_S, entries_of, texts

from . import single_server
from .single_server import intervals, overlapping

LEASE_S = 0.6


class WatchedSingletons(Singletons):
    """Notes when another replica turns out to run a server."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.has_moved = asyncio.Event()

    def moved(self, known: Singleton, holder: Holder | None) -> None:
        super().moved(known, holder)
        self.has_moved.set()


class Replica:
    """The servers of one replica."""

    def __init__(
        self, name: str, servers: LiveServers, singletons: WatchedSingletons, bus: Bus
    ) -> None:
        self.name = name
        self.servers = servers
        self.singletons = singletons
        self.bus = bus

    @property
    def server(self) -> ServerConnection:
        return self.servers.connections["single"]

    async def started(self, count: int = 1) -> None:
        """Until its server was started so many times."""
        await self.seen(lambda event: isinstance(event, ProcessStarted), count)

    async def seen(self, is_it: Callable[[Event], bool], count: int = 1) -> None:
        async for event in self.bus.subscribe(0):
            count -= is_it(event)
            if not count:
                return

    async def whoami(self) -> str:
        result = await self.server.call_tool("whoami")
        if isinstance(result, Failure):
            return str(result.error)
        return texts(result.value)


def entry(log: Path, **more: Any) -> dict[str, Any]:
    program = str(Path(single_server.__file__))
    return {"command": sys.executable, "args": [program, str(log)], "singleton": True, **more}


@asynccontextmanager
async def replica(name: str, store: MemoryStore, log: Path) -> AsyncIterator[Replica]:
    clock = SystemClock()
    bus = Bus(clock)
    async with LiveServers(bus=bus, clock=clock, options=LiveOptions()) as servers:
        singletons = WatchedSingletons(servers, store, clock, replica=name, lease_s=LEASE_S)
        servers.apply(entries_of({"single": entry(log)}), Settings())
        servers.start()
        try:
            yield Replica(name, servers, singletons, bus)
        finally:
            singletons.stop_taking()
            await servers.close()
            await singletons.close()


async def test_it_runs_on_one_replica_and_moves_at_once_when_that_one_stops(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    store = MemoryStore(SystemClock())
    async with asyncio.timeout(PATIENCE_S):
        async with replica("first", store, log) as first:
            await first.started()
            assert (await first.whoami()).isdigit()
            async with replica("second", store, log) as second:
                await second.singletons.has_moved.wait()
                assert second.singletons.holder_of("single") == "first"
                told = await second.whoami()
                assert told == "single may run once, and runs on the replica first"
                first.singletons.stop_taking()
                await first.servers.close()
                await first.singletons.close()
                await second.started()
                assert (await second.whoami()).isdigit()
                assert second.singletons.status() == {"single": "second"}
    runs = intervals(log)
    assert len(runs) == 2
    assert not overlapping(runs)


async def test_a_holder_that_loses_the_lease_kills_the_server_before_another_starts_it(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    store = MemoryStore(SystemClock())
    async with (
        asyncio.timeout(PATIENCE_S),
        replica("first", store, log) as first,
        replica("second", store, log) as second,
    ):
        holder, other = first, second
        waiting = [asyncio.ensure_future(one.started()) for one in (first, second)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if waiting[1].done():
            holder, other = second, first
        for one in waiting:
            one.cancel()
        assert (await holder.whoami()).isdigit()
        await holder.singletons._known["single"].lease._work.end()  # it renews no more
        await other.started()
        assert (await other.whoami()).isdigit()
    runs = intervals(log)
    assert len(runs) == 2
    assert not overlapping(runs)


async def test_a_server_that_is_no_singleton_any_more_runs_on_each_replica(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    store = MemoryStore(SystemClock())
    async with (
        asyncio.timeout(PATIENCE_S),
        replica("first", store, log) as first,
        replica("second", store, log) as second,
    ):
        for one in (first, second):
            plain = entries_of({"single": entry(log, singleton=False)})
            one.servers.apply(plain, Settings())
            one.singletons.follow()
        for one in (first, second):
            await one.started()
            assert (await one.whoami()).isdigit()
            assert one.singletons.status() == {}


async def test_its_end_ends_the_servers_and_frees_their_leases_while_the_configuration_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {"single": tmp_path / "log", "other": tmp_path / "other"}
    store = MemoryStore(SystemClock())
    async with asyncio.timeout(PATIENCE_S), replica("first", store, logs["single"]) as first:
        both = entries_of({name: entry(log) for name, log in logs.items()})
        first.servers.apply(both, Settings())
        await first.started(2)
        pids = [event.pid for event in first.bus.kept() if isinstance(event, ProcessStarted)]
        give_up = first.singletons._give_up

        async def taken_out_meanwhile(known: Singleton) -> None:
            first.servers.apply(both[:1], Settings())
            first.singletons.follow()
            await give_up(known)

        monkeypatch.setattr(first.singletons, "_give_up", taken_out_meanwhile)
        await first.singletons.close()
        assert first.singletons.status() == {}
        assert len(first.singletons._work) == 0
        for name in logs:
            record = await store.get(f"lease:{name}")
            assert record is not None
            assert msgspec.json.decode(record, type=LeaseRecord).is_released
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
