"""Breakers that replicas share: failures count together, all of them pause, and one probes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcplens.clock import ManualClock
from mcplens.errors import StoreUnavailable
from mcplens.gateway.gateway_breakers import GatewayBreakers
from mcplens.replicas.memory_store import MemoryStore
from tests.downstream.rig import Rig, failure
from tests.downstream.test_breaker import CALL, Flaky

REMOTE: dict[str, Any] = {"transport": "http", "url": "http://127.0.0.1:1/mcp", "command": None}


class Replica:
    """A replica in front of a server that refuses connections until it is well."""

    def __init__(self, rig: Rig, flaky: Flaky) -> None:
        self.rig = rig
        self.flaky = flaky

    async def fail(self, times: int) -> None:
        for _ in range(times):
            error = await failure(self.rig.one.request("tools/call", CALL))
            assert error.code == "CONNECTION_REFUSED"

    @property
    def is_paused(self) -> bool:
        return self.rig.one.state.is_paused


def paused(*each: Replica) -> int:
    return sum(one.is_paused for one in each)


@asynccontextmanager
async def replicas(
    store: MemoryStore, clock: ManualClock, entry: dict[str, Any] = REMOTE
) -> AsyncIterator[tuple[Replica, Replica]]:
    first, second = Flaky(), Flaky()
    async with (
        Rig({"one": first}, entries={"one": entry}, start=False, clock=clock) as one,
        Rig({"one": second}, entries={"one": entry}, start=False, clock=clock) as other,
    ):
        breakers = [
            GatewayBreakers(rig.servers, store, name)
            for rig, name in ((one, "first"), (other, "second"))
        ]
        yield Replica(one, first), Replica(other, second)
        for each in breakers:
            await each.close()
        await one.servers.close()  # before either rig looks for what was left running
        await other.servers.close()


async def test_failures_of_all_replicas_pause_a_server_on_all_and_one_of_them_probes() -> None:
    clock = ManualClock()
    async with replicas(MemoryStore(clock), clock) as (first, second):
        await first.fail(3)
        await second.fail(1)
        assert paused(first, second) == 0
        await second.fail(1)
        await clock.settle()
        assert paused(first, second) == 2
        error = await failure(first.rig.one.request("tools/call", CALL))
        assert "one is paused for another 30 s" in error.message
        before = first.flaky.attempts + second.flaky.attempts
        await clock.advance(31)
        assert first.flaky.attempts + second.flaky.attempts == before + 1
        assert paused(first, second) == 2
        first.flaky.is_well = second.flaky.is_well = True
        await clock.advance(40)
        assert first.rig.status == second.rig.status == "RUNNING"
        await first.rig.one.request("tools/call", CALL)
        await second.rig.one.request("tools/call", CALL)


async def test_failures_that_are_too_old_do_not_count() -> None:
    clock = ManualClock()
    async with replicas(MemoryStore(clock), clock) as (first, second):
        await first.fail(3)
        await clock.advance(31)
        await second.fail(3)
        await clock.settle()
        assert not first.is_paused
        assert not second.is_paused


async def test_a_replica_whose_session_works_goes_on_until_it_fails_there_too() -> None:
    clock = ManualClock()
    async with replicas(MemoryStore(clock), clock) as (first, second):
        second.flaky.is_well = True
        await second.rig.one.request("tools/call", CALL)
        await first.fail(5)
        await clock.settle()
        assert first.is_paused
        assert not second.is_paused
        await second.rig.one.request("tools/call", CALL)


async def test_a_command_is_paused_only_where_it_fails() -> None:
    clock = ManualClock()
    async with replicas(MemoryStore(clock), clock, {}) as (first, second):
        await first.fail(5)
        await clock.settle()
        assert first.is_paused
        assert not second.is_paused


class GoneStore(MemoryStore):
    async def join(self, group: str, member: str, value: bytes, ttl_s: float) -> bool:
        raise StoreUnavailable("the store is gone")

    async def compare_and_set(
        self, key: str, expected: bytes | None, value: bytes, ttl_s: float
    ) -> bool:
        raise StoreUnavailable("the store is gone")

    async def publish(self, channel: str, message: bytes) -> None:
        raise StoreUnavailable("the store is gone")


async def test_without_the_store_each_replica_goes_by_what_it_sees() -> None:
    clock = ManualClock()
    async with replicas(GoneStore(clock), clock) as (first, second):
        await first.fail(5)
        await clock.settle()
        assert first.is_paused
        assert not second.is_paused
        first.flaky.is_well = True
        await clock.advance(31)
        assert first.rig.status == "RUNNING"
