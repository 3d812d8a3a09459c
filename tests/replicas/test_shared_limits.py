"""Limits that replicas count together, and go on counting alone while the store is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mcplens.clock import ManualClock, SystemClock
from mcplens.config.views import GatewaySettings, Limits
from mcplens.errors import ServerError, StoreUnavailable
from mcplens.events import FrameSent
from mcplens.gateway.operation_pages import status
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.shared_limits import PLACES_S, SharedLimits
from mcplens.replicas.state_store import StateStore, StoreState
from tests.gateway.harness import OLD, PATIENCE_S, STDIO_DEMO, RunningGateway, running_gateway


class FailingStore(MemoryStore):
    """A store in memory that can be gone for a while."""

    def set_gone(self, is_gone: bool) -> None:
        self._set_state(StoreState("down" if is_gone else "up", 0.0, "no route" * is_gone))

    async def take_place(self, name: str, holder: str, *, most: int, ttl_s: float) -> bool:
        self._check()
        return await super().take_place(name, holder, most=most, ttl_s=ttl_s)

    async def free_place(self, name: str, holder: str) -> None:
        self._check()
        await super().free_place(name, holder)

    async def keep_places(self, name: str, holder: str, ttl_s: float) -> int:
        self._check()
        return await super().keep_places(name, holder, ttl_s)

    def _check(self) -> None:
        if self.state.status != "up":
            raise StoreUnavailable("the store is gone")


async def test_places_are_counted_together_and_those_of_a_dead_replica_are_freed() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    first, second = (SharedLimits(store, clock, name) for name in ("first", "second"))
    first.start()
    second.start()
    await clock.settle()
    assert await first.take_place("server:db", 2)
    assert await second.take_place("server:db", 2)
    assert not await second.take_place("server:db", 2)
    await clock.advance(10 * PLACES_S)  # both are kept
    assert not await second.take_place("server:db", 2)
    await first._work.end()  # as a replica that was killed
    await clock.advance(PLACES_S + 1)
    assert await second.take_place("server:db", 2)
    assert not await second.take_place("server:db", 2)
    second.free_place("server:db")
    await clock.settle()
    assert await second.take_place("server:db", 2)
    await second.close()
    assert await first.take_place("server:db", 1)


async def test_each_driver_counts_places_and_rates_of_all_replicas(store: StateStore) -> None:
    clock = SystemClock()
    first, second = (SharedLimits(store, clock, name) for name in ("first", "second"))
    assert await first.take_place("client:ann", 2)
    assert await second.take_place("client:ann", 2)
    assert await first.take_place("client:ann", 2) is False
    assert await first.take_place("client:bob", 2)
    freed = asyncio.Event()
    second.free_place("client:ann", freed.set)
    async with asyncio.timeout(PATIENCE_S):
        await freed.wait()
    assert await first.take_place("client:ann", 2)
    taken = [await one.take_token("client:ann", 1) for one in (first, second, first)]
    assert taken[0] is True
    assert False in taken
    await first.close()
    await second.close()
    assert await second.take_place("client:ann", 1)


async def test_counts_that_drifted_apart_while_the_store_was_gone_are_set_right() -> None:
    clock = ManualClock()
    store = FailingStore(clock)
    shared = SharedLimits(store, clock, "first")
    shared.start()
    await clock.settle()
    assert await shared.take_place("a", 5)
    assert await shared.take_place("b", 5)
    store.set_gone(True)
    assert shared.problem == "the store is down: no route"
    assert await shared.take_place("a", 5) is None
    shared.free_place("b")
    await clock.advance(PLACES_S + 1)  # the store forgot `a`, which is still held
    store.set_gone(False)
    await clock.advance(PLACES_S)
    assert await store.keep_places("places:a", "first", PLACES_S) == 1
    assert await store.keep_places("places:b", "first", PLACES_S) == 0
    await shared.close()


# -- gateways -------------------------------------------------------------------------------------


@asynccontextmanager
async def two_replicas(
    store: MemoryStore, **limits: int
) -> AsyncIterator[tuple[RunningGateway, RunningGateway]]:
    servers = {"demo": STDIO_DEMO}
    settings = GatewaySettings(limits=Limits(**limits))
    async with (
        running_gateway(servers, settings=settings) as first,
        running_gateway(servers, settings=settings) as second,
        asyncio.timeout(PATIENCE_S),
    ):
        for one, name in ((first, "first"), (second, "second")):
            one.gateway.call_limits.share(SharedLimits(store, SystemClock(), name))
        yield first, second


def is_sent(event: object, tool: str) -> bool:
    name = f'"name":"{tool}"'.encode()
    return isinstance(event, FrameSent) and name in event.message.raw


async def sent(gateway: RunningGateway, tool: str) -> None:
    async for event in gateway.bus.subscribe(0):
        if is_sent(event, tool):
            return


async def test_a_server_takes_so_many_calls_of_all_replicas_and_the_others_wait() -> None:
    store = MemoryStore(SystemClock())
    async with (
        two_replicas(store, calls_per_server=1) as (first, second),
        first.connect(protocol_version=OLD, concurrency=5) as one,
        second.connect(protocol_version=OLD) as other,
    ):
        blocking = asyncio.ensure_future(one.call_tool("wait", {"seconds": 600}))
        await sent(first, "wait")
        waiting = asyncio.ensure_future(other.call_tool("add", {"a": 1, "b": 2}))
        places = None
        while places is None or not len(places.queue):
            await other.ping()  # a way there and back, so that the call has come too
            places = second.gateway.call_limits.places_of("demo")
        assert status(second.gateway)["limits"] == "shared"
        blocking.cancel()
        await waiting
        assert any(is_sent(event, "add") for event in second.bus.kept())


async def test_a_view_takes_so_many_calls_at_once_of_all_replicas() -> None:
    store = MemoryStore(SystemClock())
    async with (
        two_replicas(store, calls_per_view=1) as (first, second),
        first.connect(protocol_version=OLD) as one,
        second.connect() as other,
    ):
        blocking = asyncio.ensure_future(one.call_tool("wait", {"seconds": 600}))
        await sent(first, "wait")
        with pytest.raises(ServerError, match=r"1 calls at /mcp are under way .limits.callsPerVi"):
            await other.call_tool("add", {"a": 1, "b": 2})
        blocking.cancel()
        await asyncio.gather(blocking, return_exceptions=True)
        await one.ping()
        await other.call_tool("add", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    "limit", ["calls_per_second", "calls_per_second_per_view", "calls_per_second_per_server"]
)
async def test_rates_are_those_of_all_replicas(limit: str) -> None:
    clock = ManualClock()  # so that no token comes back meanwhile
    store = MemoryStore(clock)
    async with two_replicas(store, **{limit: 3}) as gateways:
        refused = []
        for gateway in gateways:  # of 2026-07-28: both are the same caller
            async with gateway.connect() as client:
                for _ in range(3):
                    try:
                        await client.call_tool("add", {"a": 1, "b": 2})
                    except ServerError as error:
                        refused.append(error.rpc_message)
        assert len(refused) == 3
        assert "more than 3 calls per second" in refused[0]


async def test_a_replica_without_the_store_counts_by_itself_and_says_so() -> None:
    store = FailingStore(SystemClock())
    async with (
        two_replicas(store, calls_per_server=1, calls_per_client=1) as (first, second),
        first.connect(protocol_version=OLD, concurrency=5) as one,
        second.connect(protocol_version=OLD, concurrency=5) as other,
    ):
        store.set_gone(True)
        assert status(first.gateway)["limits"] == "local, since the store is down: no route"
        blocking = asyncio.ensure_future(one.call_tool("wait", {"seconds": 600}))
        await sent(first, "wait")
        with pytest.raises(ServerError, match="1 calls of this client are under way"):
            await one.call_tool("add", {"a": 1, "b": 2})
        await other.call_tool("add", {"a": 1, "b": 2})  # the limit is that of each replica
        store.set_gone(False)
        assert status(first.gateway)["limits"] == "shared"
        blocking.cancel()
