"""The bus: bounded, never blocked by a reader, and a reader is told what it missed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.bus import UNREAD_MAX_BYTES, UNREAD_MAX_EVENTS, Bus, Publisher
from mcplens.clock import ManualClock
from mcplens.events import Event, EventsMissed, Remark, StderrLine

from .session.scripted import Rig, until


def remark(bus: Bus, *texts: str, server_id: str = "s", size_bytes: int = 0) -> None:
    publish = Publisher(bus, server_id)
    for text in texts:
        publish(Remark(message=text), size_bytes)


def texts(events: list[Event]) -> list[str]:
    return [event.message for event in events if isinstance(event, Remark)]


class Reader:
    """Follows the bus in a task of its own."""

    def __init__(self, bus: Bus, after_seq: int | None = None) -> None:
        self.read: list[Event] = []
        self._subscription = bus.subscribe(after_seq)
        self.task = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        async for event in self._subscription:
            self.read.append(event)


async def test_an_event_says_where_and_when_it_stands() -> None:
    clock = ManualClock(50.0)
    bus = Bus(clock)
    remark(bus, "a", server_id="one")
    await clock.advance(5)
    remark(bus, "b", server_id="two")
    first, second = bus.kept()
    assert (first.seq, first.wall, first.mono, first.server_id) == (1, 50.0, 50.0, "one")
    assert (second.seq, second.mono, second.server_id) == (2, 55.0, "two")
    assert first.run_id == second.run_id == bus.run_id
    assert Bus(clock).run_id != bus.run_id


async def test_an_event_never_changes() -> None:
    bus = Bus(ManualClock())
    remark(bus, "a")
    (event,) = bus.kept()
    with pytest.raises(AttributeError):
        event.message = "b"  # type: ignore[attr-defined]


async def test_readers_follow_independently_and_end_when_the_bus_closes() -> None:
    bus = Bus(ManualClock())
    remark(bus, "before")
    from_now, from_start = Reader(bus), Reader(bus, 0)
    remark(bus, "a", "b")
    await until(lambda: len(from_start.read) == 3)
    remark(bus, "c")
    bus.close()
    await asyncio.gather(from_now.task, from_start.task)
    assert texts(from_now.read) == ["a", "b", "c"]
    assert texts(from_start.read) == ["before", "a", "b", "c"]


async def test_only_so_many_events_are_kept() -> None:
    bus = Bus(ManualClock(), max_events=3)
    remark(bus, *"abcde")
    assert texts(bus.kept()) == ["c", "d", "e"]
    assert bus.last_seq == 5


async def test_only_so_many_bytes_are_kept_and_the_newest_event_always() -> None:
    bus = Bus(ManualClock(), max_bytes=100)
    remark(bus, *"abcde", size_bytes=40)
    assert texts(bus.kept()) == ["d", "e"]
    remark(bus, "huge", size_bytes=1_000)
    assert texts(bus.kept()) == ["huge"]
    remark(bus, "next", size_bytes=40)
    assert texts(bus.kept()) == ["next"]


async def test_old_events_are_dropped_where_a_program_runs_for_long() -> None:
    clock = ManualClock()
    bus = Bus(clock, max_bytes=100)
    subscription = bus.subscribe(0)
    forgetting = asyncio.get_running_loop().create_task(bus.forget_older_than(20))
    remark(bus, "a", "b", size_bytes=40)
    await clock.advance(15)
    remark(bus, "c")
    await clock.advance(10)
    assert texts(bus.kept()) == ["c"]
    missed = await anext(subscription)
    assert isinstance(missed, EventsMissed)
    assert (missed.first_seq, missed.last_seq) == (1, 2)
    assert texts([await anext(subscription)]) == ["c"]
    await clock.advance(100)
    assert bus.kept() == []
    remark(bus, "d", "e", size_bytes=40)  # the bytes of those that are gone do not count
    assert texts(bus.kept()) == ["d", "e"]
    assert texts([await anext(subscription)]) == ["d"]
    forgetting.cancel()


async def test_little_is_kept_while_nobody_reads_and_more_from_the_first_reader_on() -> None:
    bus = Bus(ManualClock(), max_events=1_000, is_unread=True)
    publish = Publisher(bus, "s")
    for number in range(500):
        publish(Remark(message=str(number)))
    assert len(bus.kept()) == UNREAD_MAX_EVENTS
    subscription = bus.subscribe(0)
    for number in range(500, 1_000):
        publish(Remark(message=str(number)))
    kept = bus.kept()
    assert len(kept) == UNREAD_MAX_EVENTS + 500
    assert [event.seq for event in kept] == list(range(201, 1_001))
    missed = await anext(subscription)
    assert isinstance(missed, EventsMissed)
    assert (missed.first_seq, missed.last_seq) == (1, 200)
    assert (await anext(subscription)).seq == 201


async def test_a_large_message_is_not_held_while_nobody_reads() -> None:
    bus = Bus(ManualClock(), is_unread=True)
    remark(bus, "small", size_bytes=40)
    remark(bus, "huge", size_bytes=UNREAD_MAX_BYTES + 1)
    assert bus.kept() == []
    remark(bus, "next", size_bytes=40)
    assert texts(bus.kept()) == ["next"]
    bus.expect_readers()
    remark(bus, "huge", size_bytes=UNREAD_MAX_BYTES + 1)
    assert texts(bus.kept()) == ["next", "huge"]


async def test_a_reader_that_is_too_slow_is_told_exactly_what_it_missed() -> None:
    bus = Bus(ManualClock(), max_events=3)
    subscription = bus.subscribe(0)
    remark(bus, *"abcde")
    missed = await anext(subscription)
    assert isinstance(missed, EventsMissed)
    assert (missed.first_seq, missed.last_seq) == (1, 2)
    assert [(await anext(subscription)).seq for _ in range(3)] == [3, 4, 5]
    remark(bus, *"fghijk")
    missed = await anext(subscription)
    assert isinstance(missed, EventsMissed)
    assert (missed.first_seq, missed.last_seq) == (6, 8)
    assert (await anext(subscription)).seq == 9


async def test_a_reader_resumes_by_the_number_of_the_last_event_it_read() -> None:
    bus = Bus(ManualClock())
    remark(bus, *"abcde")
    first = bus.subscribe(0)
    read = [await anext(first) for _ in range(2)]
    second = bus.subscribe(read[-1].seq)
    assert [(await anext(second)).seq for _ in range(3)] == [3, 4, 5]


async def test_resuming_after_what_was_missed_gives_the_rest() -> None:
    bus = Bus(ManualClock(), max_events=2)
    remark(bus, *"abcd")
    missed = await anext(bus.subscribe(0))
    assert (await anext(bus.subscribe(missed.seq))).seq == 3


async def test_a_thousand_readers_do_not_hold_up_the_writer() -> None:
    bus = Bus(ManualClock(), max_events=10)
    readers = [bus.subscribe() for _ in range(1_000)]
    remark(bus, *(str(n) for n in range(1_000)))
    assert bus.last_seq == 1_000
    assert isinstance(await anext(readers[0]), EventsMissed)


async def test_a_reader_that_stops_waiting_leaves_nothing_behind() -> None:
    bus = Bus(ManualClock())
    reader = Reader(bus)
    await until(lambda: bus._wakers)
    reader.task.cancel()
    await asyncio.gather(reader.task, return_exceptions=True)
    assert bus._wakers == []
    remark(bus, "a")


async def test_a_client_reads_the_events_of_its_own_server_only() -> None:
    async with Rig() as rig:
        remark(rig.bus, "of another", server_id="other")
        remark(rig.bus, "of mine", server_id="scripted")
        rig.bus.close()
        read = [event async for event in rig.client.events()]
        assert texts(read) == ["of mine"]
        assert [event.seq for event in read] == sorted(event.seq for event in read)
        after = [event async for event in rig.client.events(after_seq=read[-2].seq)]
        assert after == read[-1:]


async def test_bytes_that_are_no_text_are_shown_as_they_are() -> None:
    bus = Bus(ManualClock())
    Publisher(bus, "s")(StderrLine(pid=7, data=b"caf\xe9", request_seq=None))
    (line,) = bus.kept()
    assert isinstance(line, StderrLine)
    assert line.data == b"caf\xe9"
    assert line.text == "caf\\xe9"


def test_what_has_a_state_shows_it() -> None:
    bus: Any = Bus(ManualClock(), max_events=2)
    remark(bus, *"abc")
    assert "at 3, 2 events kept" in repr(bus)
    assert repr(bus.subscribe(1)) == "<Subscription at 1 of 3>"


def test_what_came_since_an_event_can_be_asked_for_by_any_thread() -> None:
    bus = Bus(ManualClock(), max_events=3)
    remark(bus, *"abcde")
    assert [event.seq for event in bus.since(0)] == [3, 4, 5]
    assert [event.seq for event in bus.since(4)] == [5]
    assert bus.since(5) == []
    assert bus.since(99) == []


def test_an_event_that_has_its_number_but_not_yet_its_place_is_for_the_next_time() -> None:
    bus = Bus(ManualClock())
    remark(bus, "a", "b")
    bus._last_seq = 3
    assert bus.since(2) == []
    assert [event.seq for event in bus.since(1)] == [2]
