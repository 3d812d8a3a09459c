"""Runs the rounds: every contender in turn, again and again, so that noise meets all alike.

Owns the workers and the servers; knows nothing of aims or of how figures are shown.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

CONTENDERS: Final = ("floor", "ours", "sdk", "fast")
STDIO_SERVER: Final = (sys.executable, "-m", "bench.servers.stdio")


@dataclass(frozen=True)
class Case:
    """What is called, over what, how many at a time."""

    channel: str
    tool: str
    concurrency: int


CASES: Final = tuple(
    Case(channel, tool, concurrency)
    for channel in ("stdio", "json", "stream")
    for tool in ("small", "large")
    for concurrency in (1, 32)
)
HUGE: Final = Case("stdio", "huge", 1)


@dataclass(frozen=True)
class Effort:
    """How long it may take."""

    rounds: int  # for CPU
    huge_rounds: int
    speed_rounds: int  # 0: those for CPU must do
    round_s: float  # CPU of one contender in one round, about
    cold_rounds: int
    flood_calls: int
    recording_processes: int
    recording_rounds: int  # of each process
    frames: int
    waiting_calls: int  # of a gateway
    idle_s: float
    idle_sessions: int
    tap_rounds: int
    tap_calls: int  # of each round


FULL: Final = Effort(
    rounds=9,
    huge_rounds=5,
    speed_rounds=3,
    round_s=0.4,
    cold_rounds=15,
    flood_calls=500,
    recording_processes=3,
    recording_rounds=5,
    frames=1_000_000,
    waiting_calls=10_000,
    idle_s=20.0,
    idle_sessions=5_000,
    tap_rounds=7,
    tap_calls=2_000,
)
QUICK: Final = Effort(
    rounds=1,
    huge_rounds=1,
    speed_rounds=0,
    round_s=0.01,
    cold_rounds=1,
    flood_calls=5,
    recording_processes=1,
    recording_rounds=1,
    frames=2_000,
    waiting_calls=50,
    idle_s=0.5,
    idle_sessions=50,
    tap_rounds=1,
    tap_calls=20,
)


@dataclass
class Figures:
    """One contender in one case: CPU and calls per second of every round."""

    cpu_s: list[float] = field(default_factory=list)
    calls_per_s: list[float] = field(default_factory=list)

    @property
    def cpu_median_s(self) -> float:
        return statistics.median(self.cpu_s)

    @property
    def calls_per_s_median(self) -> float:
        return statistics.median(self.calls_per_s)


Results = dict[str, Figures]


def ratio(results: Results, of: str, to: str) -> float:
    """The median of the ratios of each round: what slows a whole round cancels out."""
    pairs = zip(results[of].cpu_s, results[to].cpu_s, strict=True)
    return statistics.median(one / other for one, other in pairs)


class Worker:
    """A contender's process, as the one who orders sees it."""

    def __init__(self, name: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, do: str, **what: Any) -> dict[str, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **what}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")
        answer: dict[str, float] = json.loads(line)
        return answer

    def end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


@contextmanager
def workers(names: Sequence[str] = CONTENDERS) -> Iterator[dict[str, Worker]]:
    """A process for each contender."""
    started = {name: Worker(name) for name in names}
    try:
        yield started
    finally:
        for worker in started.values():
            worker.end()


@contextmanager
def http_server(*options: str) -> Iterator[str]:
    """The address of an HTTP server that runs as long as the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.servers.http", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait()


@dataclass(frozen=True)
class Stand:
    """Where contenders are measured: on one core for CPU, on all for speed."""

    on_one_core: bool
    address: str

    def target(self, case: Case) -> list[str] | str:
        if case.channel == "stdio":
            return list(STDIO_SERVER)
        return f"{self.address}/{case.channel}/mcp"


def run_case(
    case: Case, contenders: dict[str, Worker], stands: Sequence[Stand], effort: Effort
) -> Results:
    """All rounds of one case."""
    results = {name: Figures() for name in contenders}
    for stand in stands:
        is_for_cpu = stand.on_one_core
        is_for_speed = not is_for_cpu or not effort.speed_rounds
        rounds = effort.huge_rounds if case == HUGE else effort.rounds
        if not is_for_cpu:
            rounds = effort.speed_rounds
        if not rounds:
            continue
        calls = {name: _prepare(worker, case, stand, effort) for name, worker in contenders.items()}
        for _ in range(rounds):
            for name, worker in contenders.items():
                spent = worker.order("run", tool=case.tool, calls=calls[name])
                if is_for_cpu:
                    results[name].cpu_s.append(spent["cpu_s"] / calls[name])
                if is_for_speed:
                    results[name].calls_per_s.append(calls[name] / spent["wall_s"])
        for worker in contenders.values():
            worker.order("close")
    return results


def _prepare(worker: Worker, case: Case, stand: Stand, effort: Effort) -> int:
    """Connect and warm up; gives how many calls fill a round."""
    worker.order(
        "open",
        target=stand.target(case),
        concurrency=case.concurrency,
        on_one_core=stand.on_one_core,
    )
    if case == HUGE:
        return 1
    warm = max(2 * case.concurrency, 20)
    spent = worker.order("run", tool=case.tool, calls=warm)
    return max(round(effort.round_s * warm / max(spent["cpu_s"], 1e-6)), case.concurrency)
