"""Messages that are read quickly are the same rows as when every line is read whole."""

from pathlib import Path

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.store.recorder import Recorder
from mcplens.store.rows import FRAME_KINDS
from mcplens.store.trace import BrokenLine, TraceRow, read_trace
from tests.store.samples import call, publish_all


def rows(path: Path, broken: list[BrokenLine], *, is_quick: bool) -> list[TraceRow]:
    def is_wanted(head: object) -> bool:
        return getattr(head, "type", "") in FRAME_KINDS

    found = read_trace(path, broken.append, is_wanted=is_wanted if is_quick else None)
    return [
        entry for entry in found if isinstance(entry, TraceRow) and entry.row.kind in FRAME_KINDS
    ]


def test_both_ways_of_reading_give_the_same_rows_and_broken_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    bus = Bus(SystemClock())
    with Recorder(bus, None, trace=str(path), secret_keys=["text"]):
        publish_all(bus)
        call(bus, 2)
    odd = [
        b'{"type":"FrameSent"}\n',
        b'{"type":"FrameSent","run_id":"r","seq":0,"wall":1,"mono":1,"server_id":"s",'
        b'"message":{"kind":"request","id":1,"method":"x","raw":"{}"},"size_bytes":2}\n',
        b"\xff\n",
        b"[]\n",
        b'{"type":"FrameRec',
    ]
    with path.open("ab") as file:
        file.writelines(odd)
    slow: list[BrokenLine] = []
    quick: list[BrokenLine] = []
    found = rows(path, slow, is_quick=False)
    assert len(found) > 3
    assert rows(path, quick, is_quick=True) == found
    assert [line.line for line in quick] == [line.line for line in slow]
    assert len(slow) == len(odd)
