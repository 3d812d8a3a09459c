"""Replayed calls: `mcplens mock` beside a mock that was written by hand, over stdio.

`python -m bench.mocks` alone prints this table.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.measure import Effort
from bench.servers.answers import RESULT_BYTES

HEADINGS: Final = ["", "in flight", "CPU µs", "calls/s", "to the handwritten"]
WIDTHS: Final = (14, 9, 8, 8, 24)
METHOD: Final = """\
A trace with 1,000 different calls of one tool, 200 B each, served by `mcplens mock` over stdio, and
a server of the official SDK whose tool gives a fixed answer. One client that does as little as it
can calls both in turn, {calls:,} calls in each of {rounds} rounds: the CPU of the server's process
per call, and the calls per second, as medians. `mcplens mock` should reach 1,000 calls a second."""

_NAMES: Final = {"ours": "mcplens mock", "hand": "handwritten"}
_CALLS: Final = 1_000
_IN_FLIGHT: Final = (1, 32)
# Longer lines are not sent here.
_MOST_LINE: Final = 1024 * 1024
_CPU_AIM: Final = 1.0


@dataclass
class MockFigures:
    """Of one server: CPU seconds of a call, and calls in a second, of each round."""

    cpu_s: list[float] = field(default_factory=list)
    calls_per_s: list[float] = field(default_factory=list)


# Calls in flight -> server -> figures.
MockResults = dict[int, dict[str, MockFigures]]


def run_mocks(effort: Effort) -> MockResults:
    """Both servers in turn, again and again."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "calls.jsonl")
        trace.write_text("".join(f"{json.dumps(line)}\n" for line in _trace()))
        return asyncio.run(_run(effort, str(trace)))


async def _run(effort: Effort, trace: str) -> MockResults:
    results = {in_flight: {name: MockFigures() for name in _NAMES} for in_flight in _IN_FLIGHT}
    ours = [sys.executable, "-m", "mcplens", "mock", trace]
    async with (
        _started(ours) as mock,
        _started([sys.executable, "-m", "bench.servers.handwritten"]) as hand,
    ):
        servers = {"ours": mock, "hand": hand}
        for in_flight in _IN_FLIGHT:
            for number in range(effort.tap_rounds + 1):
                for name, server in servers.items():
                    cpu_s, wall_s = await server.call_all(effort.tap_calls, in_flight)
                    if number:  # the first round warms up
                        figures = results[in_flight][name]
                        figures.cpu_s.append(cpu_s / effort.tap_calls)
                        figures.calls_per_s.append(effort.tap_calls / wall_s)
    return results


def _trace() -> list[dict[str, Any]]:
    run = "8c2b4f0e9d1a7c35"
    lines: list[dict[str, Any]] = [{"format": "mcplens-trace", "version": 2}]
    lines.append({"type": "Run", "run_id": run, "started": 1.0, "title": "", "version": "0"})

    def add(kind: str, **fields: Any) -> int:
        seq = len(lines)
        place = {"run_id": run, "seq": seq, "wall": 1.0, "mono": 1.0, "server_id": "bench"}
        lines.append({"type": kind, **place, **fields})
        return seq

    info = {"name": "bench", "version": "1"}
    add("ServerIntroduced", protocol_version="2025-11-25", server_info=info,
        capabilities={"tools": {}}, instructions=None)  # fmt: skip
    for number in range(_CALLS):
        request = _request(number, number)
        answer = {"content": [{"type": "text", "text": "x" * RESULT_BYTES["small"]}]}
        reply = json.dumps({"jsonrpc": "2.0", "id": number, "result": answer})
        about = {"kind": "request", "id": number, "method": "tools/call", "raw": request.decode()}
        seq = add("FrameSent", message=about, size_bytes=len(request))
        about = {"kind": "result", "id": number, "raw": reply}
        add("FrameReceived", message=about, size_bytes=len(reply), request_seq=seq)
    return lines


def _request(identity: int, number: int) -> bytes:
    params = {"name": "small", "arguments": {"number": number % _CALLS}}
    message = {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


class _Server:
    """A server on stdio, and the client that calls it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._sent = 0

    def __repr__(self) -> str:
        return f"<_Server {self._process.pid}, {self._sent} calls>"

    @property
    def cpu_s(self) -> float:
        return time.clock_gettime((~self._process.pid << 3) | 2)  # of a process, as Linux has it

    async def shake_hands(self) -> None:
        client = {"name": "bench", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        first = {"jsonrpc": "2.0", "id": -1, "method": "initialize", "params": params}
        self._stdin.write(json.dumps(first).encode() + b"\n")
        await self._stdout.readline()
        self._stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    async def call_all(self, calls: int, in_flight: int) -> tuple[float, float]:
        """CPU of the server and time on the clock, in seconds, for so many calls."""
        before_s, began = self.cpu_s, time.perf_counter()
        left = calls
        for _ in range(min(in_flight, calls)):
            self._send()
            left -= 1
        for _ in range(calls):
            answer = await self._stdout.readline()
            assert b'"result"' in answer, answer
            if left:
                self._send()
                left -= 1
        return self.cpu_s - before_s, time.perf_counter() - began

    def _send(self) -> None:
        self._stdin.write(_request(self._sent, self._sent) + b"\n")
        self._sent += 1

    async def end(self) -> None:
        self._stdin.close()
        await self._process.wait()


@contextlib.asynccontextmanager
async def _started(argv: list[str]) -> AsyncIterator[_Server]:
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=-1, stdout=-1, stderr=asyncio.subprocess.DEVNULL, limit=_MOST_LINE
    )
    server = _Server(process)
    try:
        await server.shake_hands()
        yield server
    finally:
        await server.end()


def mock_method(effort: Effort) -> str:
    """How it was measured."""
    return METHOD.format(calls=effort.tap_calls, rounds=effort.tap_rounds)


def mock_rows(results: MockResults) -> list[list[str]]:
    """The table: CPU beside the handwritten server's."""
    from bench.report import judged

    rows = []
    for in_flight, of_all in results.items():
        hand_s = statistics.median(of_all["hand"].cpu_s)
        for name, figures in of_all.items():
            cpu_s = statistics.median(figures.cpu_s)
            ratio = judged(cpu_s / hand_s, _CPU_AIM) if name == "ours" else ""
            speed = f"{statistics.median(figures.calls_per_s):,.0f}"
            rows.append([_NAMES[name], str(in_flight), f"{cpu_s * 1e6:,.0f}", speed, ratio])
    return rows


if __name__ == "__main__":
    from bench.measure import FULL

    for cells in [HEADINGS, *mock_rows(run_mocks(FULL))]:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)))
