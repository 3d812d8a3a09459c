"""What recording costs: calls with it beside calls without, in CPU of the client's process.

`python -m bench.recording` is the process that is measured: one client that records, one that does
not, in turn, so that both have the same memory and the same luck. Its last argument is an order.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any, Final

from bench.cores import share_one_core
from bench.measure import Case, Effort, Stand, http_server

CASES: Final = (
    Case("stdio", "small", 1),
    Case("stdio", "small", 32),
    Case("json", "small", 1),
    Case("json", "small", 32),
    Case("stdio", "large", 1),
)
AIM: Final = 0.15
HEADINGS: Final = [
    "", "result", "in flight", "off µs", "on µs", "a frame µs", "a frame to a call",
    "a call to a call",
]  # fmt: skip
_FRAMES: Final = 2  # of a call
# The recorder writes within this time after the last call.
_SETTLE_S: Final = 0.3

METHOD: Final = """\
One process has two clients, one with `record=` and one without, and calls with each in turn, as
fast as it can. CPU is that of the whole process, so of the recorder's thread too; it is read when
the recorder has had {settle_s:g} s to write the rest. What a frame costs is half of what a call
costs more, since a call has two. Both are shown as shares of what a call costs without. Median of
{rounds} rounds in {processes} processes, of about {round_s:g} s of CPU each."""


@dataclass
class RecordingFigures:
    """CPU per call of every round, without and with."""

    off_s: list[float] = field(default_factory=list)
    on_s: list[float] = field(default_factory=list)

    @property
    def call_share(self) -> float:
        """What recording adds to a call, as a share of that call."""
        pairs = zip(self.on_s, self.off_s, strict=True)
        return statistics.median(on / off - 1 for on, off in pairs)

    @property
    def frame_s(self) -> float:
        pairs = zip(self.on_s, self.off_s, strict=True)
        return statistics.median(on - off for on, off in pairs) / _FRAMES


RecordingResults = dict[Case, RecordingFigures]


def run_recording(effort: Effort) -> RecordingResults:
    """All cases, each in some processes."""
    results = {case: RecordingFigures() for case in CASES}
    with http_server("--one-core") as address:
        for _ in range(effort.recording_processes):
            for case, figures in results.items():
                for off_s, on_s in _measure(case, Stand(True, address), effort):
                    figures.off_s.append(off_s)
                    figures.on_s.append(on_s)
    return results


def _measure(case: Case, stand: Stand, effort: Effort) -> list[tuple[float, float]]:
    order = {
        "target": stand.target(case),
        "tool": case.tool,
        "concurrency": case.concurrency,
        "rounds": effort.recording_rounds,
        "round_s": effort.round_s,
    }
    command = [sys.executable, "-m", "bench.recording", json.dumps(order)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    rounds: list[tuple[float, float]] = json.loads(done.stdout)
    return rounds


def recording_rows(results: RecordingResults) -> list[list[str]]:
    """What each case costs, and whether a frame costs too much."""
    from bench.report import case_cells, judged

    rows = []
    for case, figures in results.items():
        off_s = statistics.median(figures.off_s)
        rows.append(
            [
                *case_cells(case),
                f"{off_s * 1e6:,.0f}",
                f"{statistics.median(figures.on_s) * 1e6:,.0f}",
                f"{figures.frame_s * 1e6:,.1f}",
                judged(figures.call_share / _FRAMES, AIM),
                judged(figures.call_share, None),
            ]
        )
    return rows


def recording_method(effort: Effort) -> str:
    return METHOD.format(
        settle_s=_SETTLE_S,
        rounds=effort.recording_rounds * effort.recording_processes,
        processes=effort.recording_processes,
        round_s=effort.round_s,
    )


# -- in the process that is measured -----------------------------------------------------------


async def _alternate(order: dict[str, Any]) -> list[tuple[float, float]]:
    import mcplens

    options = {"concurrency": order["concurrency"], "protocol_version": "2025-11-25"}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording.sqlite3")
        async with (
            mcplens.connect(order["target"], **options) as off,
            mcplens.connect(order["target"], **options, record=path) as on,
        ):
            warm = max(2 * order["concurrency"], 20)
            spent_s = await _call(off, order, warm)
            await _call(on, order, warm)
            calls = max(round(order["round_s"] / max(spent_s, 1e-6)), order["concurrency"])
            return [
                (await _call(off, order, calls), await _call(on, order, calls))
                for _ in range(order["rounds"])
            ]


async def _call(client: Any, order: dict[str, Any], calls: int) -> float:
    """CPU per call."""
    from bench.worker import cpu_s

    tickets = iter(range(calls))

    async def caller() -> None:
        for _ in tickets:
            await client.call_tool(order["tool"], {"n": 1})

    gc.collect()
    before = cpu_s()
    async with asyncio.TaskGroup() as group:
        for _ in range(order["concurrency"]):
            group.create_task(caller())
    await asyncio.sleep(_SETTLE_S)
    return (cpu_s() - before) / calls


if __name__ == "__main__":
    share_one_core(True)
    bytes(1 << 20)  # see worker.py
    json.dump(asyncio.run(_alternate(json.loads(sys.argv[1]))), sys.stdout)
