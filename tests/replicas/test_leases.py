"""Leases by a clock that is moved by hand: one holder at a time, whatever becomes of the store."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable

from mcplens.clock import ManualClock, SystemClock
from mcplens.errors import StoreUnavailable
from mcplens.replicas.leases import Holder, Lease
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.state_store import StateStore

LEASE_S = 10.0


class Store(MemoryStore):
    """A store in memory that can be unreachable for one replica, or lose an answer."""

    def __init__(self, shared: MemoryStore, clock: ManualClock) -> None:
        super().__init__(clock)
        self._values = shared._values
        self._subscribers = shared._subscribers
        self.is_gone = False
        self.loses_answer = False

    async def get(self, key: str) -> bytes | None:
        self._check()
        return await super().get(key)

    async def compare_and_set(
        self, key: str, expected: bytes | None, value: bytes, ttl_s: float
    ) -> bool:
        self._check()
        done = await super().compare_and_set(key, expected, value, ttl_s)
        if self.loses_answer:
            self.loses_answer = False
            raise StoreUnavailable("no answer in time")
        return done

    def _check(self) -> None:
        if self.is_gone:
            raise StoreUnavailable("the store is gone")


class Replica:
    """What one replica does under a lease: intervals in which it runs."""

    def __init__(
        self, name: str, shared: MemoryStore, clock: ManualClock, offset_s: float = 0.0
    ) -> None:
        self.store = Store(shared, clock)
        self.clock = clock
        self.runs: list[tuple[float, float | None]] = []
        self.holder: Holder | None = None
        self.until = 0.0
        self.stopped_s = 0.0
        self.lease = Lease(
            "browser",
            self.store,
            clock,
            replica=name,
            address=f"http://{name}",
            lease_s=LEASE_S,
            now=lambda: clock.monotonic() + offset_s,
            on_held=self._held,
            on_renewed=self._renewed,
            on_lost=self._lost,
            on_holder=self._moved,
        )
        self.lease.start()

    def _held(self) -> None:
        self.runs.append((self.clock.monotonic(), None))

    def _renewed(self, until: float) -> None:
        self.until = until

    def _lost(self, why: str) -> None:
        assert why
        self.runs[-1] = (self.runs[-1][0], self.clock.monotonic())

    def _moved(self, holder: Holder | None) -> None:
        self.holder = holder

    @property
    def is_running(self) -> bool:
        return bool(self.runs) and self.runs[-1][1] is None

    async def close(self) -> None:
        if self.is_running:
            self._lost("closed")
        await self.lease.close()


def running(*replicas: Replica) -> int:
    return sum(one.is_running for one in replicas)


def overlap(*replicas: Replica) -> bool:
    """Whether two of the replicas ran at the same time."""
    runs = sorted(
        (begin, float("inf") if end is None else end) for one in replicas for begin, end in one.runs
    )
    return any(first[1] > second[0] for first, second in itertools.pairwise(runs))


async def until(clock: ManualClock, is_it: Callable[[], bool], most_s: float) -> float:
    """Advance the clock until something is so; how long that took."""
    passed = 0.0
    while not is_it():
        assert passed < most_s, "it never came"
        await clock.advance(0.5)
        passed += 0.5
    return passed


async def two(offset_s: float = 0.0) -> tuple[ManualClock, MemoryStore, Replica, Replica]:
    """Two replicas, of which the first has the lease."""
    clock = ManualClock()
    shared = MemoryStore(clock)
    first = Replica("first", shared, clock)
    await until(clock, lambda: first.is_running, 20)
    second = Replica("second", shared, clock, offset_s)
    await clock.advance(1)
    return clock, shared, first, second


async def test_one_replica_has_it_for_as_long_as_it_renews_and_the_other_knows_which() -> None:
    clock, _, first, second = await two()
    await clock.advance(100)
    assert first.is_running
    assert second.runs == []
    assert second.holder == Holder("first", "http://first")
    await first.close()
    await second.close()


async def test_a_released_lease_is_taken_at_once() -> None:
    clock, _, first, second = await two()
    await first.close()
    await clock.settle()
    assert second.is_running
    assert not overlap(first, second)
    await second.close()


async def test_a_holder_that_vanished_is_followed_after_the_length_of_the_lease() -> None:
    clock, _, first, second = await two()
    await first.lease._work.end()  # as a process that was killed
    took = await until(clock, lambda: second.is_running, 30)
    assert LEASE_S - 2 <= took <= LEASE_S + 2
    await second.close()


async def test_a_holder_without_the_store_stops_before_another_begins() -> None:
    clock, _, first, second = await two()
    first.store.is_gone = True
    await until(clock, lambda: second.is_running, 30)
    assert not overlap(first, second)
    first.store.is_gone = False
    await clock.advance(30)
    assert [one.is_running for one in (first, second)] == [False, True]
    assert first.holder == Holder("second", "http://second")
    await first.close()
    await second.close()


async def test_a_store_that_is_gone_for_all_and_comes_back_has_one_holder() -> None:
    clock, _, first, second = await two()
    first.store.is_gone = second.store.is_gone = True
    await clock.advance(60)
    assert running(first, second) == 0
    first.store.is_gone = second.store.is_gone = False
    await until(clock, lambda: running(first, second) > 0, 30)
    await clock.advance(30)
    assert running(first, second) == 1
    assert not overlap(first, second)
    await first.close()
    await second.close()


async def test_a_short_loss_of_the_store_changes_nothing() -> None:
    clock, _, first, second = await two()
    first.store.is_gone = second.store.is_gone = True
    await clock.advance(LEASE_S / 2)
    first.store.is_gone = second.store.is_gone = False
    await clock.advance(30)
    assert first.is_running
    assert len(first.runs) == 1
    assert second.runs == []
    await first.close()
    await second.close()


async def test_a_store_that_lost_its_keys_has_no_second_holder() -> None:
    clock, shared, first, second = await two()
    shared._values._values.clear()
    await clock.advance(60)
    assert first.is_running
    assert len(first.runs) == 1
    assert second.runs == []
    await first.close()
    await second.close()


async def test_a_renewal_whose_answer_was_lost_is_recognised() -> None:
    clock, _, first, second = await two()
    first.store.loses_answer = True
    await clock.advance(30)
    assert len(first.runs) == 1
    assert first.is_running
    await first.close()
    await second.close()


async def test_clocks_that_differ_by_a_minute_make_no_difference() -> None:
    clock, _, first, second = await two(offset_s=60.0)
    await clock.advance(100)
    assert first.is_running
    assert second.runs == []
    await first.lease._work.end()
    took = await until(clock, lambda: second.is_running, 30)
    assert took >= LEASE_S - 2
    await second.close()


async def test_a_record_of_something_else_is_taken_over_like_one_whose_holder_is_gone() -> None:
    clock = ManualClock()
    shared = MemoryStore(clock)
    await shared.put("lease:browser", b"\xff", 1000)
    first = Replica("first", shared, clock)
    took = await until(clock, lambda: first.is_running, 30)
    assert took >= LEASE_S - 1
    await first.close()


async def test_a_replica_that_is_about_to_stop_takes_no_lease() -> None:
    clock, _, first, second = await two()
    second.lease.stop_taking()
    await first.close()
    await clock.advance(60)
    assert second.runs == []
    await second.close()


async def test_many_replicas_and_a_store_that_comes_and_goes_never_run_twice_at_once() -> None:
    clock = ManualClock()
    shared = MemoryStore(clock)
    replicas = [Replica(f"replica-{number}", shared, clock, number * 20) for number in range(4)]
    chance = random.Random(18)
    for _ in range(300):
        for one in replicas:
            if chance.random() < 0.15:
                one.store.is_gone = not one.store.is_gone
            one.store.loses_answer = chance.random() < 0.1
        if chance.random() < 0.02:
            shared._values._values.clear()
        await clock.advance(3)
        assert not overlap(*replicas)
    assert sum(len(one.runs) for one in replicas) > 10
    await asyncio.gather(*(one.close() for one in replicas))


async def test_each_driver_holds_a_lease_for_one_replica(store: StateStore) -> None:
    clock = SystemClock()
    held: list[str] = []
    changed = asyncio.Event()

    def lease_of(name: str) -> Lease:
        def note(_: object = None) -> None:
            changed.set()

        def is_held() -> None:
            held.append(name)
            changed.set()

        return Lease(
            "browser",
            store,
            clock,
            replica=name,
            lease_s=1.5,
            on_held=is_held,
            on_renewed=note,
            on_lost=lambda why: held.remove(name),
            on_holder=note,
        )

    first, second = lease_of("first"), lease_of("second")
    async with asyncio.timeout(20):
        first.start()
        while held != ["first"]:
            changed.clear()
            await changed.wait()
        second.start()
        while second.holder is None:
            changed.clear()
            await changed.wait()
        assert held == ["first"]
        held.clear()
        await first.close()
        while held != ["second"]:
            changed.clear()
            await changed.wait()
        await second.close()
