"""A million frames: written as fast as they come, in what memory, and searched.

`python -m bench.million FOLDER FRAMES` is the process that writes and searches; it prints what it
measured. The search is done once more as a command, as a person waits for it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

SEARCH_AIM_S: Final = 1.0
# What "flat" means, between a tenth of the frames and all of them.
GROWTH_AIM_MB: Final = 16.0
HEADINGS: Final = ["", "figure", "", "aim"]
_FILE: Final = "recording.sqlite3"
_FRAMES_OF_A_CALL: Final = 2
# So far behind the recorder may be before we wait for it: the bus keeps 20,000 events.
_MOST_BEHIND: Final = 15_000

METHOD: Final = """\
A process publishes {frames:,} frames of tool calls, with the start and end of each request, as
fast as the recorder keeps up, and nothing of it is lost; the memory is what it holds in RAM after a
tenth of the frames and after all of them. Then it searches the file, which the system still has in
its cache; the text that is found stands in one call near the end. The last row is a whole command,
from exec to exit. Seconds are by the clock, the best of three."""

MillionResults = dict[str, float]


def run_million(frames: int) -> MillionResults:
    """Write, search, and search once more by command."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "bench.million", folder, str(frames)],
            stdout=subprocess.PIPE,
            check=True,
        )
        results: MillionResults = json.loads(done.stdout)
        command = [str(Path(sys.executable).parent / "mcplens"), "history", "search"]
        environ = os.environ | {"MCPLENS_STATE_DIR": folder}

        def search() -> None:
            text = _text(_wanted(frames))
            found = subprocess.run([*command, text], env=environ, capture_output=True, check=True)
            assert len(found.stdout.splitlines()) == _FRAMES_OF_A_CALL

        results["command_s"] = _best_s(search)
    return results


def million_rows(results: MillionResults) -> list[list[str]]:
    """What was measured, beside its aim."""
    frames = results["frames"]
    growth_mb = (results["memory_bytes"] - results["early_memory_bytes"]) / 1e6
    rows = [
        _row("written", results["frames"] / results["write_s"], "frames a second"),
        _row("CPU to publish and write", results["write_cpu_s"] / frames * 1e6, "µs a frame"),
        _row("file", results["file_bytes"] / frames, "bytes a frame"),
        _row("memory after a tenth", results["early_memory_bytes"] / 1e6, "MB"),
        _row("more after all", growth_mb, "MB", GROWTH_AIM_MB),
    ]
    for name, label in _SEARCHES.items():
        rows.append(_row(label, results[name], "s", SEARCH_AIM_S))
    return rows


def _row(label: str, value: float, unit: str, aim: float | None = None) -> list[str]:
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if unit == "s" else f"{value:.1f}"
    judged = "" if aim is None else f"(≤ {aim:g}: {'yes' if value <= aim else 'NO'})"
    return [label, shown, unit, judged]


_SEARCHES: Final = {
    "text_s": "search: text in one call",
    "no_text_s": "search: text that is nowhere",
    "ignore_case_s": "search: text in any case",
    "request_s": "search: one request by its id",
    "method_s": "search: a method that was not called",
    "command_s": "mcplens history search",
}


# -- in the process that writes and searches ---------------------------------------------------


def _text(number: int) -> str:
    return f"dolor sit amet {number} "


def _wanted(frames: int) -> int:
    """The number of a call near the end."""
    return int(frames / _FRAMES_OF_A_CALL * 0.99)


def _measure(path: Path, frames: int) -> dict[str, Any]:
    from mcplens.bus import Bus
    from mcplens.clock import SystemClock
    from mcplens.store.recorder import Recorder
    from tests.store.samples import call

    bus = Bus(SystemClock())
    pause = threading.Event()
    calls = frames // _FRAMES_OF_A_CALL
    early_bytes = 0
    started, cpu = time.perf_counter(), time.process_time()
    with Recorder(bus, path) as recorder:
        for number in range(calls):
            call(bus, number, _text(number) * 5)
            while bus.last_seq - recorder._last_seq > _MOST_BEHIND:
                pause.wait(0.001)
            if number == calls // 10:
                early_bytes = _memory_bytes()
    measured = {
        "frames": frames,
        "write_s": time.perf_counter() - started,
        "write_cpu_s": time.process_time() - cpu,
        "file_bytes": path.stat().st_size,
        "early_memory_bytes": early_bytes,
        "memory_bytes": _memory_bytes(),
    }
    assert not recorder.missed_count
    return measured | _search(path, frames)


def _memory_bytes() -> int:
    """What this process holds in RAM."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def _search(path: Path, frames: int) -> dict[str, float]:
    from mcplens.store.filters import Filter
    from mcplens.store.history import History

    number = _wanted(frames)
    searches = {
        "text_s": (Filter(text=_text(number)), 2),
        "no_text_s": (Filter(text="nowhere to be found"), 0),
        "ignore_case_s": (Filter(text=_text(number).upper(), ignore_case=True), 2),
        "request_s": (Filter(request_id=number), 4),
        "method_s": (Filter(method="tools/list"), 0),
    }
    measured = {}
    with History(path) as history:
        for name, (wanted, count) in searches.items():

            def search(wanted: Filter = wanted, count: int = count) -> None:
                assert len(history.events(wanted)) == count

            measured[name] = _best_s(search)
    return measured


def _best_s(search: Callable[[], None]) -> float:
    taken = []
    for _ in range(3):
        started = time.perf_counter()
        search()
        taken.append(time.perf_counter() - started)
    return min(taken)


if __name__ == "__main__":
    json.dump(_measure(Path(sys.argv[1], _FILE), int(sys.argv[2])), sys.stdout)
