"""What the bus publishes is on the disk, and what comes too fast is left out and told."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from msgspec.structs import force_setattr

from mcplens.bus import Bus
from mcplens.clock import ManualClock, SystemClock
from mcplens.events import EventsMissed, FrameReceived
from mcplens.protocol.frames import encode_result
from mcplens.store import database, recorder, schema
from mcplens.store.history import Filter, History
from mcplens.store.recorder import Recorder
from tests.store.recordings import BOUND_S, wait_until
from tests.store.samples import (
    BROKEN,
    call,
    publish_all,
    publish_frames,
    received,
    stored_events,
)


def test_every_event_is_recorded_and_read_back_as_it_was(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_all(bus)
    assert stored_events(path) == bus.kept()


def test_a_run_is_listed_with_what_is_known_of_it(bus: Bus, path: Path) -> None:
    with Recorder(bus, path, title="call weather", version="1.2"):
        publish_frames(bus, 3, "b")
        publish_frames(bus, 2, "a")
    with History(path) as history:
        (run,) = history.runs()
    assert (run.run_id, run.title, run.version) == (bus.run_id, "call weather", "1.2")
    assert (run.servers, run.event_count, run.last_seq) == (["a", "b"], 5, 5)
    assert run.ended is not None
    assert run.started <= run.last_wall <= run.ended
    assert run.size_bytes > 5 * 60


def test_events_are_on_the_disk_within_a_second_while_the_run_goes_on(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_frames(bus, 10)
        wait_until(lambda: path.exists() and len(stored_events(path)) == 10)
        publish_frames(bus, 10)
        wait_until(lambda: len(stored_events(path)) == 20)
        with History(path) as history:
            assert history.runs()[0].ended is None
    assert recorder.FLUSH_S <= 0.5


def test_what_was_published_before_the_recorder_came_is_recorded_too(bus: Bus, path: Path) -> None:
    publish_frames(bus, 5)
    with Recorder(bus, path):
        publish_frames(bus, 5)
    assert stored_events(path) == bus.kept()


def test_small_and_large_messages_are_recorded_in_their_order(bus: Bus, path: Path) -> None:
    for text in ("small", "x" * 700_000, "small", "x" * 5_000_000, "x" * 40_000):
        publish_frames(bus, 130, text="small")
        publish_frames(bus, 2, text=text)
    with Recorder(bus, path):
        pass
    assert stored_events(path) == bus.kept()


def test_a_run_in_which_nothing_happened_leaves_nothing(bus: Bus, path: Path) -> None:
    Recorder(bus, path).close()
    with History(path) as history:
        assert history.runs() == []


def test_closing_twice_and_publishing_afterwards_are_harmless(bus: Bus, path: Path) -> None:
    recording = Recorder(bus, path)
    publish_frames(bus, 1)
    recording.close()
    recording.close()
    publish_frames(bus, 1)
    assert len(stored_events(path)) == 1
    assert "closed" in repr(recording)


def test_runs_of_one_file_stay_apart(path: Path) -> None:
    buses = [Bus(SystemClock()) for _ in range(3)]
    recorders = [Recorder(bus, path) for bus in buses]
    for number, bus in enumerate(buses):
        publish_frames(bus, 10 + number)
    for recording in recorders:
        recording.close()
    for bus in buses:
        assert stored_events(path, Filter(run_id=bus.run_id)) == bus.kept()


def test_two_recorders_of_one_bus_record_it_once(bus: Bus, path: Path) -> None:
    first = Recorder(bus, path)
    publish_frames(bus, 100)
    second = Recorder(bus, path)
    publish_frames(bus, 100)
    first.close()
    publish_frames(bus, 100)
    second.close()
    assert stored_events(path) == bus.kept()


def test_the_file_and_its_folder_are_the_users_alone(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_frames(bus, 1)
        wait_until(lambda: path.with_name(path.name + "-wal").exists())
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_fifty_megabytes_in_one_message_are_kept_byte_for_byte(bus: Bus, path: Path) -> None:
    data = encode_result(1, {"content": [{"type": "text", "text": "ab" * 25_000_000}]})
    with Recorder(bus, path):
        bus.publish(received(data), "server", len(data))
        publish_frames(bus, 1)
    with History(path) as history:
        stored = history.event(bus.run_id, 1)
        entries = history.events()
    assert stored is not None
    assert isinstance(stored.event, FrameReceived)
    assert stored.event.message.raw == data
    assert entries[0].size_bytes == len(data)
    assert entries[0].head == data[: len(entries[0].head)]


def test_bytes_that_are_no_utf8_are_kept(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        bus.publish(received(BROKEN), "server", len(BROKEN))
    with sqlite3.connect(path) as connection:
        ((data,),) = connection.execute("SELECT data FROM blocks").fetchall()
    connection.close()
    assert BROKEN in data


@pytest.fixture
def is_free(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A disk that answers nobody until this is set."""
    is_free = threading.Event()
    open_to_write = schema.open_to_write

    def slow_disk(path: str) -> sqlite3.Connection:
        is_free.wait(BOUND_S)
        return open_to_write(path)

    monkeypatch.setattr(database, "open_to_write", slow_disk)
    return is_free


def test_what_comes_too_fast_is_left_out_and_the_recording_says_so(
    path: Path, is_free: threading.Event
) -> None:
    bus = Bus(SystemClock(), max_events=10)
    recording = Recorder(bus, path)
    publish_frames(bus, 25)
    is_free.set()
    wait_until(lambda: recording._last_seq == 25)
    publish_frames(bus, 5)
    recording.close()
    events = stored_events(path)
    (gap,) = (event for event in events if isinstance(event, EventsMissed))
    assert (gap.first_seq, gap.last_seq, gap.seq) == (1, 15, 15)
    assert [event.seq for event in events] == list(range(15, 31))
    assert recording.missed_count == 15
    assert recording.problem is None


def test_what_was_left_out_at_the_very_end_is_told_too(
    path: Path, is_free: threading.Event
) -> None:
    bus = Bus(SystemClock(), max_events=10)
    recording = Recorder(bus, path)
    publish_frames(bus, 12)
    recording.close(timeout_s=0)
    publish_frames(bus, 100)  # what is not ours any more pushes the rest out
    is_free.set()
    recording._thread.join(BOUND_S)
    (event,) = stored_events(path)
    assert isinstance(event, EventsMissed)
    assert (event.seq, event.first_seq, event.last_seq) == (12, 1, 12)


def test_what_waits_is_bounded_in_bytes_but_one_message_always_fits(
    path: Path, is_free: threading.Event
) -> None:
    bus = Bus(SystemClock(), max_bytes=1000)
    recording = Recorder(bus, path)
    data = encode_result(1, "x" * 5000)
    for _ in range(3):
        bus.publish(received(data), "server", len(data))
    is_free.set()
    recording.close()
    kinds = [type(event).__name__ for event in stored_events(path)]
    assert kinds == ["EventsMissed", "FrameReceived"]
    assert recording.missed_count == 2


def test_publishing_never_waits_for_a_disk_that_does_not_answer(
    bus: Bus, path: Path, is_free: threading.Event
) -> None:
    said: list[str] = []
    recording = Recorder(bus, path, warn=said.append)
    for _ in range(100):
        call(bus, 1)
    recording.close(timeout_s=0.05)
    assert said == ["the end of this run is not recorded: the disk did not respond in 0.05 s"]
    is_free.set()
    recording._thread.join(BOUND_S)
    assert len(stored_events(path)) == 400


async def test_the_loop_goes_on_while_a_run_is_ended(
    bus: Bus, path: Path, is_free: threading.Event
) -> None:
    recording = Recorder(bus, path)
    publish_frames(bus, 3)
    asyncio.get_running_loop().call_soon(is_free.set)  # comes only if the loop goes on
    await recording.aclose()
    await recording.aclose()
    assert len(stored_events(path)) == 3
    assert recording.problem is None


def test_the_clock_of_a_run_can_be_chosen(path: Path) -> None:
    clock = ManualClock(1000.0)
    bus = Bus(clock)
    with Recorder(bus, path, clock=clock):
        publish_frames(bus, 1)
    with History(path) as history:
        (run,) = history.runs()
    assert (run.started, run.ended, run.last_wall) == (1000.0, 1000.0, 1000.0)


def test_an_event_that_cannot_be_written_is_left_out_and_the_others_are_recorded(
    bus: Bus, path: Path
) -> None:
    warnings: list[str] = []
    with Recorder(bus, path, warn=warnings.append) as recording:
        publish_frames(bus, 2)
        event = received(BROKEN)
        force_setattr(event, "message", None)  # as no type checker lets through
        bus.publish(event, "s")
        publish_frames(bus, 2)
    assert [event.seq for event in stored_events(path)] == [1, 2, 3, 4, 5]
    assert type(stored_events(path)[2]) is EventsMissed
    assert recording.missed_count == 1
    assert warnings == ["event 3 (FrameReceived) is not recorded: AttributeError"]
