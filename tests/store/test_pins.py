"""What is pinned stays, with its label, whatever happens to its run."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.clock import ManualClock
from mcplens.errors import InspectorError
from mcplens.store import pins, schema
from mcplens.store.filters import Filter
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.retention import Retention
from mcplens.store.rows import Row
from tests.store.samples import publish_frames

DAY = 86_400.0
# What later formats added.
NEWER = ("pins", "segments", "bodies")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recording.sqlite3"


def record(path: Path, wall: float) -> tuple[str, list[Row]]:
    clock = ManualClock(wall)
    bus = Bus(clock)
    with Recorder(bus, path, clock=clock, retention=Retention()):
        publish_frames(bus, 10, text="x" * 100)
    with History(path) as history:
        return bus.run_id, [row for _, row in history.scan(Filter(run_id=bus.run_id))]


def test_a_pin_is_labelled_anew_and_taken_away(path: Path) -> None:
    assert pins.pins(path) == []
    run_id, rows = record(path, 0.0)
    pins.pin(path, run_id, rows[3], " odd ", 1.0)
    pins.pin(path, run_id, rows[5], "", 2.0)
    pins.pin(path, run_id, rows[3], "odder", 3.0)
    found = pins.pins(path)
    assert [(one.row.seq, one.label, one.pinned) for one in found] == [
        (rows[5].seq, "", 2.0),
        (rows[3].seq, "odder", 1.0),
    ]
    assert found[1].row == rows[3]
    pins.unpin(path, run_id, rows[5].seq)
    pins.unpin(path, run_id, rows[5].seq)
    assert [one.label for one in pins.pins(path)] == ["odder"]


def test_a_pin_outlives_its_run(path: Path) -> None:
    run_id, rows = record(path, 0.0)
    pins.pin(path, run_id, rows[3], "kept", 1.0)
    for day in (100, 200, 300):
        record(path, day * DAY)
    with History(path) as history:
        assert run_id not in [run.run_id for run in history.runs()]
    kept = pins.find_pin(path, run_id, rows[3].seq)
    assert kept is not None
    assert kept.row == rows[3]


def test_there_is_a_bound_to_pins(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "MOST_PINS", 2)
    run_id, rows = record(path, 0.0)
    for row in rows[:2]:
        pins.pin(path, run_id, row, "", 1.0)
    with pytest.raises(InspectorError, match="remove one first"):
        pins.pin(path, run_id, rows[2], "", 1.0)
    assert len(pins.pins(path)) == 2


def test_a_file_without_pins_is_brought_up_to_date(path: Path) -> None:
    run_id, rows = record(path, 0.0)
    connection = sqlite3.connect(path, isolation_level=None)
    for thing in ("TRIGGER bodies_of_deleted_block", *(f"TABLE {name}" for name in NEWER)):
        connection.execute(f"DROP {thing}")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    assert pins.pins(path) == []
    pins.pin(path, run_id, rows[0], "first", 1.0)
    connection = sqlite3.connect(path)
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    connection.close()
    assert version == len(schema.MIGRATIONS)
    with History(path) as history:
        assert [run.run_id for run in history.runs()] == [run_id]
