"""What `mcplens tap` adds to a call: time at p50 and p99, and CPU beside a relay that only relays.

A client of raw bytes makes one call after the other, through each relay in turn, again and again,
so that noise meets all alike.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bench.measure import STDIO_SERVER, Effort, http_server

_HERE: Final = Path(__file__).parent
_MCPLENS: Final = str(Path(sys.executable).with_name("mcplens"))
_RELAY: Final = (sys.executable, str(_HERE / "servers" / "relay.py"))
_REQUEST: Final = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"small","arguments":{"n":1}}}'
)
_AIM_MS: Final = {"stdio": 0.2, "HTTP": 0.5}
_CPU_AIM: Final = 2.0
# The recorder writes within this time after the last call.
_SETTLE_S: Final = 0.3

HEADINGS: Final = [
    "",
    "between",
    "p50 ms",
    "p99 ms",
    "p50 more ms",
    "CPU µs a call",
    "to the relay",
]

METHOD: Final = """\
A client of raw bytes calls a tool with a result of 200 B, one call after the other, {calls} times
in each of {rounds} rounds, through every relay in turn. "relay" is hand-written in Python: a thread
for each direction that reads and writes, and nothing else (`bench/servers/relay.py`); "cat" is one
process for each direction. CPU is that of the processes in between, the recorder's thread among
them, read when it has had {settle_s:g} s to write the rest. A ratio is the median of the ratios
within the rounds."""


@dataclass
class TapFigures:
    """One relay: the time of each call, and CPU per call of each round."""

    call_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)

    def percentile_ms(self, share: float) -> float:
        return sorted(self.call_s)[int(len(self.call_s) * share)] * 1e3


# By channel and what is in between.
TapResults = dict[tuple[str, str], TapFigures]
Call = Callable[[int], None]


@dataclass(frozen=True)
class _Way:
    """A connection through a relay, and the processes in between."""

    call: Call
    pids: tuple[int, ...]

    def cpu_s(self) -> float:
        # The clock of what a process takes, as Linux numbers them.
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.pids)


def run_tap(effort: Effort) -> TapResults:
    """All relays over both channels."""
    results: TapResults = {}
    for channel, open_ways in (("stdio", _stdio_ways), ("HTTP", _http_ways)):
        with tempfile.TemporaryDirectory() as folder, open_ways(folder) as ways:
            for name, way in ways.items():
                results[channel, name] = TapFigures()
                for number in range(1, 50):
                    way.call(number)
            for turn in range(effort.tap_rounds):
                for name, way in ways.items():
                    _measure(way, results[channel, name], turn * effort.tap_calls, effort.tap_calls)
    return results


def _measure(way: _Way, figures: TapFigures, first: int, calls: int) -> None:
    before = way.cpu_s()
    for number in range(first + 100, first + 100 + calls):
        started = time.perf_counter()
        way.call(number)
        figures.call_s.append(time.perf_counter() - started)
    time.sleep(_SETTLE_S)
    figures.cpu_s.append((way.cpu_s() - before) / calls)


# -- stdio -------------------------------------------------------------------------------------


@contextlib.contextmanager
def _stdio_ways(folder: str) -> Iterator[dict[str, _Way]]:
    environ = os.environ | {"MCPLENS_STATE_DIR": folder}
    tap = [_MCPLENS, "tap"]
    server = list(STDIO_SERVER)
    with contextlib.ExitStack() as stack:

        def start(command: list[str]) -> subprocess.Popen[bytes]:
            pipe = subprocess.PIPE
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environ, bufsize=0)
            stack.callback(_end, process)
            return process

        def way(command: list[str], *, is_between: bool = True) -> _Way:
            process = start(command)
            return _Way(_pipe_call(process), (process.pid,) if is_between else ())

        yield {
            "nothing": way(server, is_between=False),
            "cat": _cats(stack, server),
            "relay": way([*_RELAY, *server]),
            "tap, not recording": way([*tap, "--no-record", "--", *server]),
            "tap": way([*tap, "--", *server]),
        }


def _cats(stack: contextlib.ExitStack, server: list[str]) -> _Way:
    pipe = subprocess.PIPE
    before = subprocess.Popen(["cat"], stdin=pipe, stdout=pipe, bufsize=0)
    middle = subprocess.Popen(server, stdin=before.stdout, stdout=pipe, bufsize=0)
    after = subprocess.Popen(["cat"], stdin=middle.stdout, stdout=pipe, bufsize=0)
    for process in (after, middle, before):  # ended in the other order
        stack.callback(_end, process)
    return _Way(_pipe_call(before, after), (before.pid, after.pid))


def _pipe_call(
    process: subprocess.Popen[bytes], after: subprocess.Popen[bytes] | None = None
) -> Call:
    assert process.stdin is not None
    out = (after or process).stdout
    assert out is not None
    to, back = process.stdin.fileno(), out.fileno()

    def call(number: int) -> None:
        os.write(to, _REQUEST % number + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(back, 65536)

    return call


def _end(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.terminate()
    process.wait()


# -- HTTP --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _http_ways(folder: str) -> Iterator[dict[str, _Way]]:
    environ = os.environ | {"MCPLENS_STATE_DIR": folder}
    with http_server() as address, contextlib.ExitStack() as stack:
        port = urlsplit(address).port or 0

        def way(*command: str) -> _Way:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=environ,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            stack.callback(process.wait)
            stack.callback(process.terminate)
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            listening = int(line) if line.isdecimal() else urlsplit(line).port or 0
            return _Way(_socket_call(stack, listening), (process.pid,))

        url = f"{address}/json/mcp"
        yield {
            "nothing": _Way(_socket_call(stack, port), ()),
            "relay": way(*_RELAY, str(port)),
            "tap, not recording": way(_MCPLENS, "tap", "--no-record", url),
            "tap": way(_MCPLENS, "tap", url),
        }


def _socket_call(stack: contextlib.ExitStack, port: int) -> Call:
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    head = (
        b"POST /json/mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n"
        b"Content-Length: %%d\r\n\r\n" % port
    )

    def call(number: int) -> None:
        body = _REQUEST % number
        connection.sendall(head % len(body) + body)
        answer = connection.recv(65536)
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(65536)
        start, _, rest = answer.partition(b"\r\n\r\n")
        fields = start.lower().split(b"content-length:")
        left = int(fields[1].split(b"\r\n")[0]) - len(rest)
        while left > 0:
            left -= len(connection.recv(65536))

    return call


# -- the table ---------------------------------------------------------------------------------


def tap_rows(results: TapResults) -> list[list[str]]:
    """What each relay adds, and whether the tap adds too much."""
    from bench.report import judged

    rows = []
    for (channel, name), figures in results.items():
        more_ms = figures.percentile_ms(0.5) - results[channel, "nothing"].percentile_ms(0.5)
        is_tap = name == "tap"
        cpu, to_relay = "", ""
        if name != "nothing":
            cpu = f"{statistics.median(figures.cpu_s) * 1e6:,.0f}"
            pairs = zip(figures.cpu_s, results[channel, "relay"].cpu_s, strict=True)
            ratio = statistics.median(one / other for one, other in pairs)
            to_relay = judged(ratio, _CPU_AIM if is_tap else None)
        rows.append(
            [
                channel,
                name,
                f"{figures.percentile_ms(0.5):.3f}",
                f"{figures.percentile_ms(0.99):.3f}",
                judged(more_ms, _AIM_MS[channel] if is_tap else None),
                cpu,
                to_relay,
            ]
        )
    return rows


def tap_method(effort: Effort) -> str:
    return METHOD.format(calls=effort.tap_calls, rounds=effort.tap_rounds, settle_s=_SETTLE_S)
