"""A million frames: written as they come, searched in a second, in the same memory."""

from __future__ import annotations

import resource
import threading
import time
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.store.filters import Filter
from mcplens.store.history import History
from mcplens.store.recorder import Recorder
from tests.store.samples import call

CALLS = 500_000
# The aim is a second; a loaded machine may take longer.
SEARCH_CPU_S = 3.0
MEMORY_BYTES = 150 * 1024 * 1024


def memory_bytes() -> int:
    """The most that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.soak
def test_a_million_frames_are_written_and_searched(tmp_path: Path) -> None:
    path = tmp_path / "recording.sqlite3"
    bus = Bus(SystemClock())
    pause = threading.Event()
    before, started, cpu = memory_bytes(), time.perf_counter(), time.process_time()
    with Recorder(bus, path) as recorder:
        for number in range(CALLS):
            call(bus, number, f"lorem ipsum dolor sit amet {number} " * 4)
            while bus.last_seq - recorder._last_seq > 15_000:
                pause.wait(0.001)
    print(f"\n{2 * CALLS:,} frames in {time.perf_counter() - started:.1f} s,", end=" ")
    print(f"{time.process_time() - cpu:.1f} s of CPU, {path.stat().st_size:,} bytes")
    assert recorder.missed_count == 0
    with History(path) as history:
        (run,) = history.runs()
        assert run.event_count == 4 * CALLS
        for wanted, count in (
            (Filter(text="sit amet 499123 "), 2),
            (Filter(text="nowhere to be found"), 0),
            (Filter(text="SIT AMET 499123 ", ignore_case=True), 2),
            (Filter(status="malformed"), 0),
            (Filter(method="tools/list"), 0),
            (Filter(request_id=499_123, kinds=frozenset({"FrameSent"})), 1),
        ):
            started, cpu = time.perf_counter(), time.process_time()
            assert len(history.events(wanted)) == count
            spent = time.process_time() - cpu
            print(f"{spent:.2f} s of CPU, {time.perf_counter() - started:.2f} s: {wanted}")
            assert spent < SEARCH_CPU_S
    assert memory_bytes() - before < MEMORY_BYTES
    print(f"memory grew by {(memory_bytes() - before) / 1e6:.0f} MB")
