"""Large bodies in files of their own: read, searched and exported as if they were in the recording,
removed with their rows, and nothing breaks where one is missing."""

from __future__ import annotations

import errno
import io
import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcplens.bus import Bus, Publisher
from mcplens.clock import ManualClock, SystemClock
from mcplens.events import EventsMissed, FrameReceived, FrameSent, HttpExchangeEnded
from mcplens.store import database, schema, segments
from mcplens.store.database import Database, Run
from mcplens.store.filters import Filter
from mcplens.store.har import export_har
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.retention import Retention
from mcplens.store.run_deletion import delete_run
from mcplens.store.schema import insert_blocks
from mcplens.store.segments import LOST_BYTES
from mcplens.store.trace_transfer import export_trace, import_trace
from tests.store.recordings import integrity, wait_until
from tests.store.samples import call, publish_frames, received, stored_events

DAY = 86_400.0
LARGE = "x" * 40_000


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every large body is in a segment, and a segment has ten."""
    monkeypatch.setattr(database, "_OWN_LARGE_BYTES", -1)
    monkeypatch.setattr(segments, "_LEAST_BYTES", 400_000)
    monkeypatch.setattr(segments, "_MOST_BYTES", 400_000)


def files(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}-bodies-*"))


def query(path: Path, statement: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(path, isolation_level=None)
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


def record(path: Path, wall: float, count: int = 30, limits: Retention | None = None) -> Bus:
    clock = ManualClock(wall)
    bus = Bus(clock)
    with Recorder(bus, path, clock=clock, retention=limits or Retention()):
        publish_frames(bus, count, text=LARGE)
    return bus


def sweep(path: Path, wall: float, limits: Retention | None = None, run_no: int = 0) -> None:
    """As a program that runs for a while: one step after the other."""
    swept = Database(str(path), Run("none", wall), retention=limits or Retention())
    swept.open()
    swept._run_no = run_no
    assert swept._sweeper is not None
    while swept._sweeper.is_due:
        swept.sweep(wall)
    swept.close()


# -- reading -----------------------------------------------------------------------------------


def test_small_and_large_messages_are_read_back_in_their_order(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        for number in range(100):
            call(bus, number, text=LARGE if number % 3 == 0 else "small")
    assert stored_events(path) == bus.kept()
    assert len(files(path)) > 5
    assert path.stat().st_size < 300_000
    with History(path) as history:
        newest = [row.seq for _, row in history.scan(newest_first=True)]
        (run,) = history.runs()
    assert newest == [event.seq for event in reversed(bus.kept())]
    assert run.size_bytes > 34 * 2 * len(LARGE)


def test_an_http_answer_and_the_message_in_it_are_written_once(bus: Bus, path: Path) -> None:
    count = 100
    publish = Publisher(bus, "server")
    with Recorder(bus, path):
        for number in range(count):
            body = b'{"jsonrpc":"2.0","id":%d,"result":"%b"}' % (number, LARGE.encode())
            publish(HttpExchangeEnded(exchange_id=number, elapsed_s=0.1, body=body))
            publish(received(body, exchange_id=number))
    assert stored_events(path) == bus.kept()
    sizes = [file.stat().st_size for file in files(path)]
    assert len(sizes) > 10
    assert count * len(LARGE) < sum(sizes) < (count + 1) * len(LARGE)
    limits = Retention(max_bytes=2_000_000)
    sweep(path, 1000.0, limits, run_no=1)
    first, *rest = stored_events(path)
    assert isinstance(first, EventsMissed)
    assert rest == bus.kept()[-len(rest) :]
    assert 10 < len(rest) < 100


def test_a_run_with_few_large_bodies_needs_no_other_file(
    bus: Bus, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_OWN_LARGE_BYTES", 4 * 1024 * 1024)
    with Recorder(bus, path):
        publish_frames(bus, 50, text=LARGE)
    assert files(path) == []
    assert stored_events(path) == bus.kept()


def test_only_their_owner_can_read_them(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_frames(bus, 5, text=LARGE)
    assert [stat.S_IMODE(file.stat().st_mode) for file in files(path)] == [0o600]


def test_the_text_of_a_body_is_found(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_frames(bus, 40, text=LARGE)
        publish_frames(bus, 1, text=LARGE + "Needle")
        publish_frames(bus, 40, text=LARGE)
    with History(path) as history:
        (found,) = history.events(Filter(text="Needle"))
        assert found.seq == 41
        assert found.size_bytes > len(LARGE)
        assert found.head.startswith(b'{"jsonrpc"')
        assert len(history.events(Filter(text="needle", ignore_case=True))) == 1
        assert history.events(Filter(text="Needle", method="tools/call")) == []
        assert history.events(Filter(text="hay")) == []
        one = history.event(bus.run_id, 41)
        assert one is not None
        assert one.event == bus.kept()[40]


def test_a_trace_of_them_is_imported_into_segments_again(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_frames(bus, 30, text=LARGE)
    trace, other = path.with_name("trace.jsonl"), path.with_name("other")
    with History(path) as history, trace.open("wb") as file:
        export_trace(history, file)
    import_trace(trace, other)
    import_trace(trace, other)
    assert stored_events(other) == bus.kept()
    assert files(other)


def test_a_run_is_read_by_others_while_it_goes_on(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        for _ in range(3):
            publish_frames(bus, 10, text=LARGE)
            wait_until(lambda: path.exists() and stored_events(path) == bus.kept())


def test_two_recorders_of_one_bus_write_each_body_once(bus: Bus, path: Path) -> None:
    first = Recorder(bus, path)
    publish_frames(bus, 30, text=LARGE)
    second = Recorder(bus, path)
    publish_frames(bus, 30, text=LARGE)
    first.close()
    publish_frames(bus, 30, text=LARGE)
    second.close()
    assert stored_events(path) == bus.kept()
    assert sum(file.stat().st_size for file in files(path)) < 91 * (len(LARGE) + 200)


# -- what is missing ---------------------------------------------------------------------------


def remove(file: Path) -> None:
    file.unlink()


def cut(file: Path) -> None:
    os.truncate(file, 1_000)


@pytest.mark.parametrize("harm", [remove, cut])
def test_a_body_that_is_gone_is_told_and_breaks_nothing(
    bus: Bus, path: Path, harm: Callable[[Path], None]
) -> None:
    with Recorder(bus, path):
        for number in range(30):
            call(bus, number, text=LARGE)
    harm(files(path)[1])
    with History(path) as history:
        entries = history.events(limit=1000)
        lost = [entry for entry in entries if LOST_BYTES in entry.detail]
        assert 8 <= len(lost) <= 10
        assert all(entry.detail[LOST_BYTES] > len(LARGE) for entry in lost)
        assert history.request_record(bus.run_id, lost[0].seq) is not None
        assert len(history.events(Filter(text="xxx"), limit=1000)) == 60 - len(lost)
        trace = io.BytesIO()
        export_trace(history, trace)
        export_har(history, io.BytesIO())
        one = history.event(bus.run_id, lost[0].seq)
    assert lost[0].lost == f"{lost[0].detail[LOST_BYTES]:,} bytes are not recorded"
    assert isinstance(one and one.event, FrameSent | FrameReceived)
    shown = stored_events(path)
    assert [type(event) for event in shown] == [type(event) for event in bus.kept()]
    copy = path.with_name("copy")
    copy.with_suffix(".jsonl").write_bytes(trace.getvalue())
    assert import_trace(copy.with_suffix(".jsonl"), copy).broken == []
    assert stored_events(copy) == shown


def test_a_file_that_a_killed_process_left_is_replaced(bus: Bus, path: Path) -> None:
    schema.open_to_write(str(path)).close()
    path.with_name(f"{path.name}-bodies-1").write_bytes(b"left" * 100_000)
    with Recorder(bus, path):
        publish_frames(bus, 5, text=LARGE)
    assert stored_events(path) == bus.kept()
    assert b"left" not in files(path)[0].read_bytes()


def test_a_full_disk_ends_the_recording_and_keeps_what_was_recorded(
    bus: Bus, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    recorder = Recorder(bus, path, warn=said.append)
    publish_frames(bus, 10, text=LARGE)
    wait_until(lambda: path.exists() and len(stored_events(path)) == 10)

    def full(file: int, payloads: list[bytes]) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "writev", full)
    publish_frames(bus, 10, text=LARGE)
    wait_until(lambda: bool(said))
    recorder.close()
    (text,) = said
    assert text.startswith(f"not recorded: {path}-bodies-")
    assert text.endswith(": no space left on device")
    assert stored_events(path) == bus.kept()[:10]
    assert integrity(path) == "ok"


def test_a_transaction_that_fails_after_its_bodies_is_done_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []

    def fail_twice(*arguments: Any) -> None:
        insert_blocks(*arguments)
        if len(failed) < 2:
            failed.append(1)
            problem = sqlite3.OperationalError("database is locked")
            problem.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise problem

    monkeypatch.setattr(database, "insert_blocks", fail_twice)
    bus = Bus(SystemClock())
    recorder = Recorder(bus, path)
    publish_frames(bus, 25, text=LARGE)
    wait_until(lambda: len(failed) == 2)
    wait_until(lambda: len(stored_events(path)) == 25)
    publish_frames(bus, 5, text=LARGE)
    recorder.close()
    assert stored_events(path) == bus.kept()
    recorded = query(path, "SELECT sum(size_bytes) FROM segments")[0][0]
    assert recorded == sum(file.stat().st_size for file in files(path))


# -- removal -----------------------------------------------------------------------------------


def test_they_go_with_a_run_that_is_too_old(path: Path) -> None:
    record(path, 0.0)
    assert len(files(path)) >= 3
    young = record(path, 40 * DAY, count=5)
    sweep(path, 40 * DAY)
    assert stored_events(path) == young.kept()
    assert len(files(path)) == 1
    assert query(path, "SELECT count(*) FROM segments") == [(1,)]


def test_they_count_for_the_limit_of_the_recording(path: Path) -> None:
    runs = [record(path, number * 10.0) for number in range(4)]
    sweep(path, 1000.0, Retention(max_bytes=2_900_000))
    with History(path) as history:
        left = [run.run_id for run in history.runs()]
    assert left == [runs[3].run_id, runs[2].run_id]
    assert sum(file.stat().st_size for file in files(path)) < 2_900_000


def test_a_run_that_is_too_large_by_itself_loses_its_first_segments(path: Path) -> None:
    limits = Retention(max_bytes=2_000_000)
    bus = record(path, 1000.0, count=200, limits=limits)
    sweep(path, 1000.0, limits, run_no=1)
    first, *rest = stored_events(path)
    assert isinstance(first, EventsMissed)
    assert rest == bus.kept()[-len(rest) :]
    assert 10 < len(rest) < 50
    assert sum(file.stat().st_size for file in files(path)) < 2_000_000


def test_a_run_that_a_person_deletes_leaves_none(path: Path) -> None:
    bus, other = record(path, 0.0), record(path, 10.0)
    delete_run(path, bus.run_id)
    assert stored_events(path) == other.kept()
    assert len(files(path)) == 4
    delete_run(path, other.run_id)
    assert files(path) == []


def test_a_running_run_that_a_person_empties_goes_on_in_a_new_segment(bus: Bus, path: Path) -> None:
    with Recorder(bus, path):
        publish_frames(bus, 15, text=LARGE)
        wait_until(lambda: path.exists() and len(stored_events(path)) == 15)
        delete_run(path, bus.run_id, goes_on=True)
        assert files(path) == []
        publish_frames(bus, 15, text=LARGE)
    gap, *rest = stored_events(path)
    assert isinstance(gap, EventsMissed)
    assert rest == bus.kept()[15:]
    assert all(isinstance(event, FrameReceived) for event in rest)


def test_what_an_older_mcplens_deletes_is_removed_by_the_next_one(path: Path) -> None:
    record(path, 0.0)
    query(path, "DELETE FROM blocks")
    query(path, "DELETE FROM runs")
    assert query(path, "SELECT count(*) FROM bodies") == [(0,)]
    sweep(path, 10.0)
    assert files(path) == []
    assert query(path, "SELECT count(*) FROM segments") == [(0,)]
