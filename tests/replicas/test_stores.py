"""What every driver of the shared store does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mcplens.clock import SystemClock
from mcplens.replicas.state_store import StateStore

# Long enough for a slow machine, short enough to wait for in a test.
SHORT_S = 0.05
LONG_S = 60.0


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what the store's own clock brings about."""
    async with asyncio.timeout(20):
        while not await condition():
            await SystemClock().sleep(0.01)


async def test_a_value_is_there_until_its_time_is_over(store: StateStore) -> None:
    await store.put("a", b"\x00\xff one", LONG_S)
    assert await store.get("a") == b"\x00\xff one"
    await store.put("a", b"two", SHORT_S)

    async def is_gone() -> bool:
        return await store.get("a") is None

    await until(is_gone)
    assert await store.delete("a") is False


async def test_a_value_is_set_only_where_the_expected_one_is(store: StateStore) -> None:
    assert not await store.compare_and_set("owner", b"one", b"two", LONG_S)
    assert await store.compare_and_set("owner", None, b"one", LONG_S)
    assert not await store.compare_and_set("owner", None, b"two", LONG_S)
    assert await store.compare_and_set("owner", b"one", b"two", LONG_S)
    assert await store.get("owner") == b"two"
    assert not await store.delete("owner", b"one")
    assert await store.delete("owner", b"two")


async def test_of_many_who_want_a_key_one_gets_it(store: StateStore) -> None:
    wants = [store.compare_and_set("owner", None, b"%d" % n, LONG_S) for n in range(20)]
    assert sum(await asyncio.gather(*wants)) == 1


async def test_members_of_a_group_expire_one_by_one(store: StateStore) -> None:
    await store.join("replicas", "one", b"http://one", LONG_S)
    await store.join("replicas", "two", b"http://two", SHORT_S)

    async def is_alone() -> bool:
        return await store.members("replicas") == {"one": b"http://one"}

    await until(is_alone)
    await store.leave("replicas", "one")
    assert await store.members("replicas") == {}


async def test_a_log_keeps_its_newest_entries_and_says_what_is_missing(store: StateStore) -> None:
    last = 0
    for part in ([b"1"], [b"2", b"3"], [b"4"]):
        last = await store.append("stream", part, most=3, most_bytes=1000, ttl_s=LONG_S)
    assert last == 4
    all_of_it = await store.read("stream")
    assert (all_of_it.entries, all_of_it.first, all_of_it.is_complete) == (
        (b"2", b"3", b"4"),
        2,
        False,
    )
    rest = await store.read("stream", after=2)
    assert (rest.entries, rest.first, rest.is_complete) == ((b"3", b"4"), 3, True)
    assert (await store.read("stream", after=4)).entries == ()
    await store.append("stream", [b"x" * 900], most=9, most_bytes=901, ttl_s=LONG_S)
    assert (await store.read("stream")).entries == (b"4", b"x" * 900)
    await store.drop_log("stream")
    assert (await store.read("stream")).entries == ()


async def test_an_entry_that_is_larger_than_its_log_is_dropped(store: StateStore) -> None:
    assert await store.append("stream", [b"x" * 10], most=9, most_bytes=5, ttl_s=LONG_S) == 1
    found = await store.read("stream")
    assert (found.entries, found.is_complete) == ((), False)


async def test_a_message_wakes_the_subscribers_of_its_channel(store: StateStore) -> None:
    heard: asyncio.Queue[bytes | None] = asyncio.Queue()
    end = store.subscribe("wake", heard.put_nowait)
    other: list[bytes | None] = []
    store.subscribe("other", other.append)

    async def is_heard() -> bool:
        await store.publish("wake", b"now")
        await asyncio.sleep(0)
        return b"now" in _all_of(heard)

    await until(is_heard)
    end()
    assert b"now" not in other


def _all_of(queue: asyncio.Queue[bytes | None]) -> list[bytes | None]:
    return [queue.get_nowait() for _ in range(queue.qsize())]


async def test_a_bucket_gives_its_burst_and_then_its_rate(store: StateStore) -> None:
    first = await store.take_tokens("calls", per_second=0.5, burst=3, most=2)
    assert first.taken == 2
    second = await store.take_tokens("calls", per_second=0.5, burst=3, most=2)
    assert second.taken == 1
    third = await store.take_tokens("calls", per_second=0.5, burst=3)
    assert third.taken == 0
    assert 0 < third.wait_s <= 2
    quick = await store.take_tokens("quick", per_second=1000, burst=1)
    assert quick.taken == 1

    async def has_one() -> bool:
        return (await store.take_tokens("quick", per_second=1000, burst=1)).taken == 1

    await until(has_one)


async def test_places_are_counted_over_all_holders(store: StateStore) -> None:
    assert await store.take_place("server", "one", most=2, ttl_s=LONG_S)
    assert await store.take_place("server", "two", most=2, ttl_s=LONG_S)
    assert not await store.take_place("server", "one", most=2, ttl_s=LONG_S)
    await store.free_place("server", "two")
    assert await store.take_place("server", "one", most=2, ttl_s=LONG_S)
    assert await store.keep_places("server", "one", LONG_S) == 2
    assert await store.keep_places("server", "two", LONG_S) == 0
    for _ in range(3):  # once too often, as after a restart of the store
        await store.free_place("server", "one")
    assert await store.keep_places("server", "one", LONG_S) == 0


async def test_the_places_of_a_holder_that_died_are_freed(store: StateStore) -> None:
    assert await store.take_place("server", "dead", most=1, ttl_s=SHORT_S)

    async def is_free() -> bool:
        return await store.take_place("server", "alive", most=1, ttl_s=LONG_S)

    await until(is_free)
