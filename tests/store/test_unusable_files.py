"""A file that cannot be recorded to: told once, and it hurts nobody."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.store import database, schema
from mcplens.store.history import Filter, History
from mcplens.store.recorder import Recorder
from tests.store.recordings import integrity, wait_until
from tests.store.samples import (
    publish_frames,
    stored_events,
)


def refused(bus: Bus, path: Path) -> str:
    """Record where it cannot work; what was said, once."""
    said: list[str] = []
    recording = Recorder(bus, path, warn=said.append)
    for _ in range(3):
        publish_frames(bus, 10)
    wait_until(lambda: bool(said))
    assert not recording.is_on
    publish_frames(bus, 10)
    recording.close()
    (text,) = said
    assert recording.problem == text
    assert len(bus.kept()) == 40
    assert not recording._thread.is_alive()
    return text


def test_a_folder_that_cannot_be_made_is_told_once(bus: Bus, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    text = refused(bus, tmp_path / "file" / "recording.sqlite3")
    assert text == f"not recorded: {tmp_path}/file/recording.sqlite3: not a directory"


def test_a_folder_in_place_of_the_file_is_told_once(bus: Bus, tmp_path: Path) -> None:
    text = refused(bus, tmp_path)
    assert "unable to open database file" in text


def test_a_damaged_file_is_left_alone_and_told_once(bus: Bus, path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database" * 100)
    text = refused(bus, path)
    assert f"{path} is damaged" in text
    assert "move it and its -bodies- files away" in text
    assert path.read_bytes() == b"this is no database" * 100


def test_a_file_damaged_in_its_middle_is_told_once(bus: Bus, path: Path) -> None:
    first = Bus(SystemClock())
    with Recorder(first, path):
        publish_frames(first, 2000)
    content = bytearray(path.read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)
    path.write_bytes(content)
    assert "damaged" in refused(bus, path)


def test_a_file_of_a_newer_version_is_left_alone_and_told_once(bus: Bus, path: Path) -> None:
    first = Bus(SystemClock())
    with Recorder(first, path):
        publish_frames(first, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    text = refused(bus, path)
    assert "was written by a newer mcplens (format 99" in text


def test_a_database_of_another_program_is_left_alone_and_told_once(bus: Bus, path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    text = refused(bus, path)
    assert text == f"not recorded: {path} is a database of another program"
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


def test_a_disk_that_fills_up_keeps_what_was_recorded_before(
    bus: Bus, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_to_write = schema.open_to_write

    def small_disk(path: str) -> sqlite3.Connection:
        connection = open_to_write(path)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr(database, "open_to_write", small_disk)
    said: list[str] = []
    recording = Recorder(bus, path, warn=said.append)
    publish_frames(bus, 100)
    wait_until(lambda: path.exists() and len(stored_events(path)) == 100)
    publish_frames(bus, 10_000)
    wait_until(lambda: bool(said))
    recording.close()
    assert said == [f"not recorded: {path}: database or disk is full"]
    assert stored_events(path)[:100] == bus.kept()[:100]
    assert integrity(path) == "ok"


def test_a_file_that_another_program_holds_is_waited_for(bus: Bus, path: Path) -> None:
    first = Bus(SystemClock())
    with Recorder(first, path):
        publish_frames(first, 1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    recording = Recorder(bus, path)
    publish_frames(bus, 10)
    wait_until(lambda: recording._last_seq == 10)
    holder.execute("ROLLBACK")
    holder.close()
    recording.close()
    assert recording.problem is None
    assert stored_events(path, Filter(run_id=bus.run_id)) == bus.kept()


def test_a_file_that_another_program_never_lets_go_of_ends_the_wait_at_the_close(
    bus: Bus, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BUSY_TIMEOUT_S", 0.05)
    first = Bus(SystemClock())
    with Recorder(first, path):
        publish_frames(first, 1)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    said: list[str] = []
    recording = Recorder(bus, path, warn=said.append)
    publish_frames(bus, 10)
    recording.close()
    holder.close()
    assert said == [f"not recorded: {path}: locked by another program"]


def test_a_file_of_an_older_version_is_brought_up_to_date(
    bus: Bus, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Bus(SystemClock())
    with Recorder(first, path):
        publish_frames(first, 3)
    migrations = [*schema.MIGRATIONS, ("ALTER TABLE runs ADD COLUMN label TEXT",)]
    monkeypatch.setattr(schema, "MIGRATIONS", migrations)
    with History(path) as history:  # whoever comes first does it, a reader too
        assert [run.run_id for run in history.runs()] == [first.run_id]
        columns = [row[1] for row in history._query("PRAGMA table_info(runs)")]
    assert columns[-1] == "label"
