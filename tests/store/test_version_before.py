"""What the version before recorded, which wrote no links, is read, searched and exported.

Its recording and its trace of the same run are in version_before/: a server over HTTP that was
connected twice, and one over stdio.
"""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from mcplens import events
from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.errors import ConfigurationError
from mcplens.store import pins, schema
from mcplens.store.filters import Filter, SeqRanges
from mcplens.store.har import export_har
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from mcplens.store.rows import NO_LINKS
from mcplens.store.schema import SEQ_BITS, open_to_write
from mcplens.store.trace_transfer import export_trace, import_trace
from tests.store.recordings import integrity
from tests.store.samples import publish_all, stored_events

FOLDER = Path(__file__).parent / "version_before"
TRACE = FOLDER / "trace.jsonl"
EVENTS = 130
EXCHANGES = 13
LINKS = [name for name in NO_LINKS if name != "exchange_id"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "recording.sqlite3"
    file.write_bytes(gzip.decompress((FOLDER / "recording.sqlite3.gz").read_bytes()))
    return file


def version(path: Path) -> int:
    connection = sqlite3.connect(path)
    ((found,),) = connection.execute("PRAGMA user_version").fetchall()
    connection.close()
    return int(found)


def blobs(path: Path) -> list[tuple[int, bytes]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT place, data FROM blocks ORDER BY place").fetchall()
    connection.close()
    return found


def exported(path: Path, wanted: Filter | None = None) -> list[dict[str, Any]]:
    file = io.BytesIO()
    with History(path) as history:
        export_trace(history, file, wanted)
    return [json.loads(line) for line in file.getvalue().splitlines()]


def har(path: Path, wanted: Filter | None = None) -> list[dict[str, Any]]:
    file = io.BytesIO()
    with History(path) as history:
        export_har(history, file, wanted)
    entries: list[dict[str, Any]] = json.loads(file.getvalue())["log"]["entries"]
    return entries


def test_it_opens_and_nothing_in_it_is_written_anew(path: Path) -> None:
    before = blobs(path)
    assert version(path) == 2
    with History(path) as history:
        (run,) = history.runs()
    assert (run.title, run.servers, run.event_count) == ("links before", ["pipe", "web"], EVENTS)
    assert version(path) == 4
    assert blobs(path) == before
    assert integrity(path) == "ok"


@pytest.mark.parametrize("source", ["recording", "trace"])
def test_its_events_come_back_without_links(path: Path, tmp_path: Path, source: str) -> None:
    if source == "trace":
        path = tmp_path / "imported"
        assert import_trace(TRACE, path).broken == []
    found = stored_events(path)
    assert [event.seq for event in found] == list(range(1, EVENTS + 1))
    assert events.Event not in {type(event) for event in found}  # none that cannot be read
    for event in found:
        links = {name: getattr(event, name) for name in LINKS if hasattr(event, name)}
        assert links == {name: NO_LINKS[name] for name in links}
    frames = [e for e in found if isinstance(e, events.FrameSent | events.FrameReceived)]
    assert {frame.exchange_id for frame in frames} == {None}
    assert [e.exchange_id for e in found if isinstance(e, events.HttpRequestSent)][:3] == [1, 2, 3]
    logs = [event for event in found if isinstance(event, events.LogReceived)]
    assert logs[-1].data == {"alone": "\ud800", "large": 1 << 80}


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        (Filter(text="hello over http 1"), 4),
        (Filter(method="sampling/createMessage", direction="sent"), 1),
        (Filter(request_id=123456789012345678901234567890), 4),
        (Filter(server_id="pipe", kinds=frozenset({"FrameReceived"})), 7),
        (Filter(status=202), 3),
        (Filter(call_id="c1"), 0),
        (Filter(purpose="call"), 0),
        (Filter(exchange_id=1), 0),
    ],
    ids=lambda value: str(value) if isinstance(value, int) else repr(value).replace("=None", ""),
)
def test_it_is_searched(path: Path, wanted: Filter, count: int) -> None:
    with History(path) as history:
        assert len(history.events(wanted, limit=1_000)) == count


def test_what_belongs_to_a_request_is_not_guessed(path: Path) -> None:
    with History(path) as history:
        (run,) = history.runs()
        (asked, *_) = history.events(Filter(text="hello over http 0"))
        exchange = history.request_record(run.run_id, asked.seq)
        (answer, *_) = history.events(Filter(method="tools/call", status="result"))
        assert history.request_record(run.run_id, answer.seq) is None
    assert exchange is not None
    assert [entry.seq for entry in exchange.entries] == [asked.seq]
    assert (exchange.method, exchange.http, exchange.caused) == ("tools/call", [], [])


def test_it_is_exported_and_imported_and_nothing_is_lost(path: Path, tmp_path: Path) -> None:
    lines = exported(path)
    assert lines[0] == {"format": "mcplens-trace", "version": 2}
    assert len(lines) == 2 + EVENTS
    # Version 1 did not say what a reply was the answer to, but the recording did.
    frames = [line for line in lines if line.get("type") == "FrameReceived"]
    assert {frame.get("method") for frame in frames if frame["message"]["kind"] == "result"} == {
        "initialize", "tools/call", "ping",
    }  # fmt: skip
    old = [json.loads(line) for line in TRACE.read_bytes().splitlines()]
    kept = [
        {name: value for name, value in line.items() if name in before}
        for line, before in zip(lines[1:], old[1:], strict=True)
    ]
    assert kept == old[1:]

    trace = tmp_path / "trace"
    with History(path) as history, trace.open("wb") as file:
        export_trace(history, file)
    import_trace(trace, tmp_path / "imported")
    assert exported(tmp_path / "imported") == lines
    assert stored_events(tmp_path / "imported") == stored_events(path)


def test_its_http_side_is_exported_though_ids_come_twice(path: Path) -> None:
    entries = har(path)
    assert len(entries) == EXCHANGES
    texts = [entry["request"].get("postData", {}).get("text", "") for entry in entries]
    assert [sum(f"hello over http {n}" in text for text in texts) for n in (0, 1)] == [1, 1]
    with History(path) as history:
        (_, sent) = history.events(Filter(text="hello over http 1", direction="sent"))
        ends = history.events(Filter(text="over http 1", kinds=frozenset({"HttpExchangeEnded"})))
    assert sent.kind == "HttpRequestSent"
    for seq in [sent.seq, *(end.seq for end in ends)]:
        (entry,) = har(path, Filter(seqs=SeqRanges([seq, seq])))
        assert "hello over http 1" in entry["request"]["postData"]["text"]
    # Which exchange carried this message was not written down.
    assert har(path, Filter(seqs=SeqRanges([sent.seq - 1, sent.seq - 1]))) == []


def test_its_pins_are_read(path: Path) -> None:
    (pin,) = pins.pins(path)
    assert (pin.label, pin.row.kind, pin.row.call_id) == ("the first call", "FrameSent", None)


def test_this_version_and_the_one_before_write_into_the_same_file(path: Path) -> None:
    old_block = blobs(path)[0][1]
    bus = Bus(SystemClock())
    with Recorder(bus, path):
        publish_all(bus)
    # An older mcplens that runs since before the file was brought up to date goes on.
    connection = open_to_write(str(path))
    connection.execute(
        "INSERT INTO runs VALUES (3, 'still running', 1, NULL, '', '0.1', '[]', 0, 0, 0, 1, 0)"
    )
    values = (3 << SEQ_BITS | 1, EVENTS, 0.0, 1e12, old_block)
    connection.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?)", values)
    connection.close()
    assert stored_events(path, Filter(run_id=bus.run_id)) == bus.kept()
    added = stored_events(path, Filter(run_id="still running"))
    assert added
    assert [type(event) for event in added] == [
        type(event) for event in stored_events(path)[: len(added)]
    ]
    assert len(exported(path)) == 1 + 3 + EVENTS + len(bus.kept()) + len(added)
    assert exported(path, Filter(call_id="c1"))


def test_the_version_before_says_that_the_file_is_newer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with History(path):
        pass
    monkeypatch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:2])
    with pytest.raises(ConfigurationError, match=r"newer mcplens \(format 4, this one knows 2\)"):
        History(path)


# -- size --------------------------------------------------------------------------------------

TWO_GB = 2 * 1024**3


def bytes_moved() -> int:
    """What this process has read and written, by any call."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["rchar"]) + int(counts["wchar"])


def opening(path: Path) -> tuple[float, int]:
    """How long it takes to bring a file up to date and list its runs, and what is moved for it."""
    began, moved = time.perf_counter(), bytes_moved()
    with History(path) as history:
        assert history.runs()
    return time.perf_counter() - began, bytes_moved() - moved


def grow(path: Path, size_bytes: int) -> None:
    """Add blocks, as the version before did, until the file has this size."""
    block = max((data for _, data in blobs(path)), key=len)
    connection = sqlite3.connect(path)
    connection.executemany(
        "INSERT INTO blocks VALUES (?, 1, 0.0, 0.0, ?)",
        (
            ((1 << SEQ_BITS) + 1_000_000 + number, block)
            for number in range(size_bytes // len(block) + 1)
        ),
    )
    connection.commit()
    connection.close()
    assert path.stat().st_size > size_bytes


def test_a_file_of_64_mb_is_opened_without_being_read(path: Path) -> None:
    grow(path, 64 * 1024**2)
    spent_s, moved = opening(path)
    assert version(path) == 4
    assert moved < 2 * 1024**2
    assert spent_s < 1
    assert integrity(path) == "ok"


@pytest.mark.soak
def test_2_gb_of_events_are_opened_in_under_a_second_and_searched(path: Path) -> None:
    grow(path, TWO_GB)
    spent_s, moved = opening(path)
    print(
        f"\n{path.stat().st_size / 1e9:.1f} GB opened in {spent_s * 1000:.0f} ms, {moved:,} bytes"
    )
    assert spent_s < 1
    assert moved < 2 * 1024**2
    with History(path) as history:
        assert len(history.events(Filter(text="hello over http 0"), limit=4)) == 4
    path.unlink()  # pytest keeps what tests leave behind
