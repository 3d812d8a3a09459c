"""A server that floods its output does not flood the recording, and nothing is lost in silence."""

from __future__ import annotations

from pathlib import Path

from mcplens.bus import Bus, Publisher
from mcplens.clock import ManualClock
from mcplens.events import (
    Event,
    FrameReceived,
    ProcessExited,
    Remark,
    StderrLine,
    StrayOutputDropped,
)
from mcplens.protocol.frames import parse
from mcplens.store.recorder import Recorder
from mcplens.store.server_output import OutputThinner
from tests.store.samples import BROKEN, REPLY, stored_events

LIMIT = 10_000


def stderr(publish: Publisher, count: int, text: str = "line") -> None:
    for number in range(count):
        data = f"{text} {number}".encode()
        publish(StderrLine(pid=1, data=data, request_seq=None), len(data))


def frame(publish: Publisher, raw: bytes) -> None:
    message = parse(raw)
    event = FrameReceived(message=message, size_bytes=len(raw), exchange_id=None, request_seq=None)
    publish(event, len(raw))


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


def recorded(path: Path, bus: Bus, limit: int = LIMIT) -> list[Event]:
    """What a recording has of the events on a bus."""
    Recorder(bus, path, output_bytes=limit).close()
    return stored_events(path)


def test_the_head_and_the_tail_of_a_flood_are_recorded_and_the_rest_is_counted(
    tmp_path: Path,
) -> None:
    bus = Bus(ManualClock())
    stderr(Publisher(bus, "s"), 5_000)
    events = recorded(tmp_path / "r.sqlite3", bus)
    assert len(events) < 100
    assert isinstance(events[0], StderrLine)
    assert (events[0].seq, events[-1].seq) == (1, 5_000)
    (dropped,) = [event for event in events if isinstance(event, StrayOutputDropped)]
    kept = [event for event in events if isinstance(event, StderrLine)]
    assert dropped.stderr_lines + len(kept) == 5_000
    assert (dropped.stdout_lines, dropped.server_id) == (0, "s")
    assert dropped.first_seq < dropped.last_seq == dropped.seq
    assert [event.seq for event in events] == sorted({event.seq for event in events})


def test_messages_in_a_flood_are_all_recorded_also_malformed_replies(tmp_path: Path) -> None:
    bus = Bus(ManualClock())
    publish = Publisher(bus, "s")
    for _ in range(50):
        for _ in range(100):
            frame(publish, b"chatter on stdout")
        frame(publish, REPLY)
        frame(publish, BROKEN)
    events = recorded(tmp_path / "r.sqlite3", bus)
    raws = [event.message.raw for event in events if isinstance(event, FrameReceived)]
    assert (raws.count(REPLY), raws.count(BROKEN)) == (50, 50)
    dropped = [event for event in events if isinstance(event, StrayOutputDropped)]
    kept = raws.count(b"chatter on stdout")
    assert sum(event.stdout_lines for event in dropped) + kept == 5_000
    assert kept < 100


def test_the_last_words_of_a_server_that_floods_are_recorded_before_its_exit(
    tmp_path: Path,
) -> None:
    bus = Bus(ManualClock())
    publish = Publisher(bus, "s")
    stderr(publish, 1_000)
    stderr(publish, 1, "Error: out of memory")
    publish(ProcessExited(pid=1, exit_code=1, signal=None))
    stderr(Publisher(bus, "other"), 3)
    events = recorded(tmp_path / "r.sqlite3", bus)
    (at,) = [at for at, event in enumerate(events) if isinstance(event, ProcessExited)]
    last = events[at - 1]
    assert isinstance(last, StderrLine)
    assert last.text == "Error: out of memory 0"
    assert kinds(events[at + 1 :]) == ["StderrLine"] * 3, "another server has a limit of its own"


def test_one_huge_line_does_not_count_as_the_latest_lines() -> None:
    bus = Bus(ManualClock())
    publish = Publisher(bus, "s")
    stderr(publish, 100, "x" * 200)
    stderr(publish, 1, "y" * 1_000_000)
    thinner = OutputThinner(LIMIT)
    thinner.thin(bus.kept())
    assert kinds(thinner.tail()) == ["StrayOutputDropped"]


def test_without_a_limit_everything_is_recorded(tmp_path: Path) -> None:
    bus = Bus(ManualClock())
    stderr(Publisher(bus, "s"), 2_000)
    assert len(recorded(tmp_path / "r.sqlite3", bus, 0)) == 2_000


def test_below_the_limit_nothing_is_left_out() -> None:
    bus = Bus(ManualClock())
    publish = Publisher(bus, "s")
    stderr(publish, 20)
    publish(Remark(message="x"))
    thinner = OutputThinner(LIMIT)
    assert thinner.thin(bus.kept()) == bus.kept()
    assert thinner.tail() == []
