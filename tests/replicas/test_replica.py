"""Replicas that know of each other by the store that they share."""

from __future__ import annotations

import asyncio

import pytest

from mcplens.clock import ManualClock
from mcplens.errors import StoreUnavailable
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.replica import BEAT_S, GROUP, PRESENCE_S, Replica
from mcplens.replicas.state_store import StoreState

KEY = "k" * 32


class LosableStore(MemoryStore):
    """A store that cannot be reached for a while."""

    is_lost = False

    async def members(self, group: str) -> dict[str, bytes]:
        self._check()
        return await super().members(group)

    async def join(self, group: str, member: str, value: bytes, ttl_s: float) -> bool:
        self._check()
        return await super().join(group, member, value, ttl_s)

    def _check(self) -> None:
        if self.is_lost:
            raise StoreUnavailable("lost")


async def joined(store: MemoryStore, clock: ManualClock, name: str) -> Replica:
    replica = Replica(store, clock, name=name, keys=(KEY,))
    await replica.open()
    await replica.join(f"http://{name}")
    await clock.settle()  # its next beat is due from now
    return replica


async def test_replicas_know_of_each_other_until_one_is_gone() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await clock.advance(PRESENCE_S * 3)
    assert [other.name for other in one.others.values()] == ["two"]
    assert [other.address for other in two.others.values()] == ["http://one"]
    two.is_leaving = True
    await clock.advance(PRESENCE_S / 2)
    assert [other.is_leaving for other in one.others.values()] == [True]
    await two.close()
    await clock.advance(PRESENCE_S)
    assert (one.others, one.gone) == ({}, {})
    await one.close()


async def test_a_replica_that_died_is_gone_when_its_time_is_over() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await two._work.end()  # it does nothing any more, as after SIGKILL
    await clock.advance(PRESENCE_S / 2)
    assert len(one.others) == 1
    await clock.advance(PRESENCE_S)
    assert one.others == {}
    assert one.gone["two"].presence.id == two.id
    again = await joined(store, clock, "two")
    await clock.advance(PRESENCE_S)
    assert one.gone == {}
    await again.close()
    await one.close()


async def test_a_replica_that_was_silent_too_long_looks_at_what_it_owns() -> None:
    clock = ManualClock()
    store = LosableStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await clock.advance(PRESENCE_S)
    returned: list[str] = []
    one.on_return.append(lambda: returned.append("one"))
    store.is_lost = True
    await clock.advance(PRESENCE_S * 2)
    assert len(one.others) == 1  # nobody can say otherwise
    assert returned == []
    store.is_lost = False
    await clock.advance(PRESENCE_S / 2)
    assert returned == ["one"]
    await one.close()
    await two.close()


@pytest.mark.parametrize("value", [b"", b"[]", b'{"id": "strange"}', b"\xff", b"x {}"])
async def test_a_presence_that_no_replica_wrote_is_left_out_and_reported(value: bytes) -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one = await joined(store, clock, "one")
    reported: list[str] = []
    one.on_forged.append(reported.append)
    await store.join(GROUP, "strange", value, PRESENCE_S)
    await one.look()
    await one.look()
    assert one.others == {}
    assert reported == ["strange"]
    await one.close()


async def test_a_presence_cannot_be_used_by_another_replica() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    copied = (await store.members(GROUP))[two.id]
    await store.join(GROUP, "copy", copied, PRESENCE_S)
    await one.look()
    assert list(one.others) == [two.id]
    await one.close()
    await two.close()


async def test_replicas_are_not_gone_because_the_store_lost_its_data() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await one.look()
    await two._work.end()
    gone: list[str] = []
    one.on_gone.append(gone.append)
    store._set_state(StoreState("down", clock.wall(), "restarted"))
    await store.leave(GROUP, two.id)
    store._set_state(StoreState("up", clock.wall()))
    await one.look()
    assert (list(one.others), gone) == ([two.id], [])
    await clock.advance(PRESENCE_S * 2)
    assert (one.others, gone) == ({}, [two.id])
    await one.close()


async def test_a_store_that_lost_its_data_between_two_commands_makes_nobody_gone() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await one.look()
    gone: list[str] = []
    forgotten: list[str] = []
    one.on_gone.append(gone.append)
    one.on_return.append(lambda: forgotten.append("one"))
    store._groups.clear()  # a restart that no command failed by
    await one.look()
    assert (list(one.others), gone, forgotten) == ([two.id], [], ["one"])
    await clock.advance(PRESENCE_S * 2)
    assert (list(one.others), gone) == ([two.id], [])
    assert not one.is_recovering
    await one.close()
    await two.close()


async def test_a_replica_that_retires_is_asked_for_nothing_but_is_not_gone_yet() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await one.look()
    await two.look()
    gone: list[str] = []
    two.on_gone.append(gone.append)  # which would break off what was passed on to it
    retiring = asyncio.create_task(one.retire())
    await clock.settle()
    assert (two.owner(one.id), list(two.others), gone) == (None, [one.id], [])
    assert not retiring.done()
    await clock.advance(BEAT_S)
    await retiring
    await one.close()
    await two.look()
    assert (two.others, gone) == ({}, [one.id])
    await two.close()


async def test_an_older_look_at_the_replicas_does_not_undo_a_newer_one() -> None:
    clock = ManualClock()
    store = MemoryStore(clock)
    one, two = await joined(store, clock, "one"), await joined(store, clock, "two")
    await one.look()
    await two.close()
    go_on, members = asyncio.Event(), store.members

    async def slow_members(group: str) -> dict[str, bytes]:
        found = await members(group)
        if group != GROUP:  # who left is looked up after who is there
            await go_on.wait()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "members", slow_members)
        older = asyncio.create_task(one.look())
        await clock.settle()
    three = await joined(store, clock, "three")
    await one.look()
    go_on.set()
    await older
    assert list(one.others) == [three.id]
    await one.close()
    await three.close()
