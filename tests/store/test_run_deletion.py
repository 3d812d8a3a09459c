"""What somebody had deleted is nowhere in the files any more."""

from __future__ import annotations

from pathlib import Path

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.store import schema
from mcplens.store.recorder import Recorder
from mcplens.store.run_deletion import delete_run
from tests.store.samples import publish_frames

SECRET = "s3cr3t-of-yesterday"


def holders(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if SECRET.encode() in path.read_bytes()]


def test_nothing_of_a_forgotten_run_stays_in_the_files_of_one_who_records(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"
    # Another mcplens: as long as it has the file open, there is a log beside it.
    other = schema.open_to_write(str(path))
    bus = Bus(SystemClock())
    with Recorder(bus, path):
        publish_frames(bus, 2_000, text=SECRET)
    assert holders(tmp_path)
    delete_run(path, bus.run_id)
    assert holders(tmp_path) == []
    other.close()
    assert holders(tmp_path) == []


def test_whoever_writes_overwrites_what_is_deleted(tmp_path: Path) -> None:
    connection = schema.open_to_write(str(tmp_path / "recording.sqlite3"))
    assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
    connection.close()
