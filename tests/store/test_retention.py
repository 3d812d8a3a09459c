"""What is too old or too much is forgotten, little by little, and nobody waits for it."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.events import EventsMissed
from mcplens.store import recorder, retention, schema
from mcplens.store.database import Database, Run
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.retention import Retention
from tests.store.recordings import integrity
from tests.store.samples import publish_frames, stored_events

DAY = 86_400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recording.sqlite3"


def record(path: Path, wall: float, count: int = 10, limits: Retention | None = None) -> Bus:
    """A run at a time of its own."""
    clock = ManualClock(wall)
    bus = Bus(clock)
    with Recorder(bus, path, clock=clock, retention=limits or Retention()):
        publish_frames(bus, count, text="x" * 100)
    return bus


def run_ids(path: Path) -> list[str]:
    with History(path) as history:
        return [run.run_id for run in history.runs()]


def blocks(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        ((count,),) = connection.execute("SELECT count(*) FROM blocks").fetchall()
    except sqlite3.OperationalError:  # not made yet
        count = 0
    connection.close()
    return int(count)


def test_the_defaults_are_a_month_and_a_gibibyte() -> None:
    assert Retention() == Retention(max_age_s=30 * DAY, max_bytes=1 << 30)


def test_a_run_that_is_too_old_is_forgotten_by_a_later_one(path: Path) -> None:
    old = record(path, 0.0)
    young = record(path, 20 * DAY)
    assert run_ids(path) == [young.run_id, old.run_id]
    now = record(path, 31 * DAY)
    assert run_ids(path) == [now.run_id, young.run_id]
    assert blocks(path) == 2


def test_without_limits_nothing_is_forgotten(path: Path) -> None:
    for day in range(3):
        record(path, day * 1000 * DAY, limits=Retention(max_age_s=None, max_bytes=None))
    assert len(run_ids(path)) == 3


def test_many_old_runs_are_forgotten_one_step_at_a_time(path: Path) -> None:
    for _ in range(5):
        record(path, 0.0)
    record(path, 40 * DAY)
    assert 4 <= len(run_ids(path)) <= 5  # each short command pays for a step or two
    for number in range(5):
        record(path, 40 * DAY + number)
    assert len(run_ids(path)) == 6


def test_a_large_run_vanishes_at_once_and_is_taken_apart_in_steps(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "STEP_BLOCKS", 3)
    record(path, 0.0, count=2560)
    all_blocks = blocks(path)
    assert all_blocks >= 10
    new = record(path, 40 * DAY)
    assert run_ids(path) == [new.run_id]
    assert 1 < blocks(path) < all_blocks
    assert {event.run_id for event in stored_events(path)} == {new.run_id}
    with_more_time(path, 40 * DAY)
    assert blocks(path) == 1


def with_more_time(path: Path, wall: float) -> None:
    """As a command that runs for a while: one step after the other."""
    database = Database(str(path), Run("none", wall), retention=Retention())
    database.open()
    assert database._sweeper is not None
    while database._sweeper.is_due:
        database.sweep(wall)
    database.close()


def test_a_file_far_above_its_limit_is_brought_back_in_one_go_by_a_program_that_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "STEP_BLOCKS", 1)
    monkeypatch.setattr(recorder, "_SWEEP_AFTER_S", -1.0)
    for number in range(3):
        record(path, number * 10.0, count=3000)
    done, steps = threading.Event(), 0
    sweep = Database.sweep

    def counted(database: Database, wall: float) -> bool:
        nonlocal steps
        steps += 1
        has_more = sweep(database, wall)
        if not has_more:
            done.set()
        return has_more

    monkeypatch.setattr(Database, "sweep", counted)
    clock = ManualClock(1000.0)  # it does not move: the time for one go never ends
    bus = Bus(clock)
    limits = Retention(max_bytes=path.stat().st_size // 3)
    with Recorder(bus, path, clock=clock, retention=limits):
        publish_frames(bus, 1)
        assert done.wait(20)
        assert steps > 10
        assert len(run_ids(path)) < 4


def test_free_pages_go_back_to_the_disk_many_at_a_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_SPARE_PAGES", 0)
    record(path, 0.0, count=20_000)
    record(path, 40 * DAY)
    before = path.stat().st_size
    database = Database(str(path), Run("none", 40 * DAY), retention=Retention())
    database.open()
    steps = 1
    while database.sweep(40 * DAY):
        steps += 1
    database.close()
    pages = (before - path.stat().st_size) // schema._PAGE_BYTES
    assert pages > 100
    assert steps < pages / 8
    assert integrity(path) == "ok"


def test_a_short_command_pays_for_one_step_of_bringing_a_file_back(path: Path) -> None:
    for number in range(3):
        record(path, number * 10.0, count=10_000)
    before = blocks(path)
    record(path, 1000.0, limits=Retention(max_bytes=1))
    assert before - 2 * retention.STEP_BLOCKS <= blocks(path) < before


def test_the_oldest_runs_go_while_the_file_is_too_large(path: Path) -> None:
    runs = [record(path, number * 10.0, count=3000) for number in range(4)]
    size = path.stat().st_size
    limits = Retention(max_bytes=size // 2)
    clock = ManualClock(1000.0)
    bus = Bus(clock)
    database = Database(str(path), Run(bus.run_id, 1000.0), retention=limits)
    database.open()
    assert database._sweeper is not None
    while database._sweeper.is_due:
        database.sweep(1000.0)
    database.close()
    left = run_ids(path)
    assert left == [run.run_id for run in reversed(runs)][: len(left)]
    assert 1 <= len(left) <= 2
    assert integrity(path) == "ok"


def test_a_run_that_is_too_large_by_itself_loses_its_beginning_and_says_so(path: Path) -> None:
    clock = ManualClock(1000.0)
    bus = Bus(clock)
    limits = Retention(max_bytes=1_000_000)
    with Recorder(bus, path, clock=clock, retention=limits):
        publish_frames(bus, 20_000, text="x" * 100)
    database = Database(str(path), Run(bus.run_id, 1000.0), retention=limits)
    database.open()
    database.commit(None)
    database._run_no = 1
    assert database._sweeper is not None
    while database._sweeper.is_due:
        database.sweep(1000.0)
    database.close()
    first, *rest = stored_events(path)
    assert isinstance(first, EventsMissed)
    assert (first.first_seq, first.last_seq) == (1, rest[0].seq - 1)
    assert [event.seq for event in rest] == list(range(rest[0].seq, 20_001))
    assert path.stat().st_size > 1_000_000
    assert 2_500 < len(rest) < 8_000


def test_a_run_that_goes_on_elsewhere_is_spared_while_the_file_is_too_large(path: Path) -> None:
    clock = ManualClock(1000.0)
    bus = Bus(clock)
    elsewhere = Recorder(bus, path, clock=clock)
    publish_frames(bus, 3000)
    while not path.exists() or not blocks(path):
        elsewhere._is_closing.wait(0.01)
    record(path, 2000.0, count=3000)
    record(path, 3000.0, count=10, limits=Retention(max_bytes=1))
    assert bus.run_id in run_ids(path)
    elsewhere.close()


def test_a_live_run_that_was_taken_for_dead_comes_back_with_its_next_events(path: Path) -> None:
    clock = ManualClock(0.0)
    bus = Bus(clock)
    recorder = Recorder(bus, path, clock=clock)
    publish_frames(bus, 10)
    while not path.exists() or not blocks(path):
        recorder._is_closing.wait(0.01)
    for _ in range(3):
        record(path, 100 * DAY)
    assert bus.run_id not in run_ids(path)
    clock._now = 100 * DAY
    publish_frames(bus, 10)
    recorder.close()
    assert bus.run_id in run_ids(path)
    ours = [event for event in stored_events(path) if event.run_id == bus.run_id]
    assert [event.seq for event in ours] == list(range(11, 21))


def test_a_file_that_another_program_holds_is_swept_another_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BUSY_TIMEOUT_S", 0.01)
    old = record(path, 0.0)
    database = Database(str(path), Run("r", 40 * DAY), retention=Retention())
    database.open()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    database.sweep(40 * DAY)
    holder.close()
    assert run_ids(path) == [old.run_id]
    database.sweep(40 * DAY)
    assert run_ids(path) == []
    database.close()


def test_what_was_forgotten_makes_room_on_the_disk(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_SPARE_PAGES", 10)
    record(path, 0.0, count=20_000)
    before = path.stat().st_size
    record(path, 40 * DAY)
    with_more_time(path, 40 * DAY)
    assert path.stat().st_size < before / 10
