"""What a gateway costs a call: CPU of its process, beside a hand-written floor and a fastmcp proxy.

Each gateway is a program of its own in front of one server; the calls come from this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from bench.cores import share_one_core
from bench.gateways.token import TOKEN
from bench.measure import STDIO_SERVER, Effort, Figures, Results, http_server, ratio
from bench.servers.answers import RESULT_BYTES, VERSION, WAITING, result_text

_ROOT: Final = Path(__file__).parent.parent
_NAMES: Final = {"floor": "floor", "ours": "mcplens gateway", "fast": "fastmcp proxy"}
_CHANNELS: Final = {"stdio": "stdio", "json": "HTTP, JSON"}
_FLOOR_AIM: Final = 1.6
_FAST_AIM: Final = 0.02  # fifty times less
_START_S: Final = 60.0
_END_S: Final = 15.0
_CALL_S: Final = 60.0

HEADINGS: Final = [
    "downstream", "result", "in flight", *(f"{name} µs" for name in _NAMES.values()),
    "to the floor", "to the proxy", "floor to the proxy",
]  # fmt: skip
WIDTHS: Final = (10, 6, 9, 8, 18, 16, 19, 20, 18)

METHOD: Final = """\
A gateway in front of one server that answers from memory, called over streamable HTTP (2025-11-25)
by {most} clients at most, each with a session of its own. The figure is the CPU of the gateway's
own process per call, with that of servers which it starts and ends for a call; the gateway and its
server share one core. `mcplens gateway` runs as a user starts it, with its recording and its audit
log on; the floor (`bench/gateways/floor.py`) is bare ASGI on the same HTTP server, checks token and
envelope, maps the name of the tool, keeps the frames of both sides in memory, and does nothing
else; the proxy is fastmcp's with its defaults. Median of {rounds} rounds of about {round_s:g} s of
CPU each, in turn; a ratio is the median of the ratios within the rounds. A fiftieth of the proxy's
CPU is out of reach over stdio: there the floor itself takes a tenth to a thirtieth of it."""


@dataclass(frozen=True)
class GatewayCase:
    """What is behind the gateway, what is called, and by how many clients at a time."""

    channel: str
    tool: str
    clients: int


CASES: Final = tuple(
    GatewayCase(channel, tool, clients)
    for channel in _CHANNELS
    for tool, clients in (("small", 1), ("small", 32), ("large", 1))
)

GatewayResults = dict[GatewayCase, Results]


def run_gateways(effort: Effort) -> Iterator[tuple[GatewayCase, Results]]:
    """Every case with every gateway in turn."""
    with http_server("--one-core") as address, tempfile.TemporaryDirectory() as folder:
        entries: dict[str, dict[str, Any]] = {
            "stdio": {"command": STDIO_SERVER[0], "args": list(STDIO_SERVER[1:])},
            "json": {"url": f"{address}/json/mcp"},
        }
        for channel, entry in entries.items():
            config = Path(folder, f"{channel}.json")
            config.write_text(json.dumps({"mcpServers": {"bench": entry}}))
            with contextlib.ExitStack() as stack:
                gateways = {
                    name: stack.enter_context(running(name, config, folder)) for name in _NAMES
                }
                for case in CASES:
                    if case.channel == channel:
                        yield case, asyncio.run(_run_case(case, gateways, effort))


@dataclass(frozen=True)
class Gateway:
    """A gateway that is up."""

    url: str
    pid: int

    @property
    def cpu_s(self) -> float:
        """What its process took so far, and the servers that it started and ended again."""
        own_s = time.clock_gettime((~self.pid << 3) | 2)  # the clock of a process, as Linux has it
        ended = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[13:15]
        return own_s + sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")

    @property
    def memory_mb(self) -> float:
        """What it holds in RAM."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def _run_case(case: GatewayCase, gateways: dict[str, Gateway], effort: Effort) -> Results:
    results = {name: Figures() for name in gateways}
    async with contextlib.AsyncExitStack() as stack:
        clients: dict[str, list[Client]] = {}
        calls: dict[str, int] = {}
        for name, gateway in gateways.items():
            opened = [Client(gateway.url) for _ in range(case.clients)]
            clients[name] = [await stack.enter_async_context(client.opened()) for client in opened]
            warm = 5 * case.clients if name == "fast" else 40 * case.clients
            spent_s = await call_all(gateway, clients[name], case.tool, warm)
            calls[name] = max(round(effort.round_s * warm / max(spent_s, 1e-6)), case.clients)
        for _ in range(effort.rounds):
            for name, gateway in gateways.items():
                began = time.perf_counter()
                spent_s = await call_all(gateway, clients[name], case.tool, calls[name])
                results[name].cpu_s.append(spent_s / calls[name])
                results[name].calls_per_s.append(calls[name] / (time.perf_counter() - began))
    return results


async def call_all(gateway: Gateway, clients: list[Client], tool: str, calls: int) -> float:
    """CPU seconds that these calls took the gateway."""
    tickets = iter(range(calls))

    async def caller(client: Client) -> None:
        for _ in tickets:
            await client.call(tool)

    before_s = gateway.cpu_s
    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(caller(client))
    return gateway.cpu_s - before_s


class Client:
    """A client with a session and a connection of its own; it reads as little as it can."""

    def __init__(self, url: str, *, call_s: float = _CALL_S) -> None:
        self._url = url
        self._call_s = call_s
        self._http: aiohttp.ClientSession
        self._headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        self._tools: dict[str, str] = {}
        self._ids = itertools.count(1)

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Client]:
        """Shake hands, and learn under which names the tools are published."""
        timeout = aiohttp.ClientTimeout(total=self._call_s)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as self._http:
            await self.shake_hands()
            for tool in (await self._request("tools/list", {}))["tools"]:
                own = next(own for own in (*RESULT_BYTES, WAITING) if own in tool["name"])
                self._tools[own] = tool["name"]
            yield self

    async def shake_hands(self) -> None:
        """Begin a session; that of an earlier handshake stays, and is not used any more."""
        self._headers.pop("Mcp-Session-Id", None)
        self._headers.pop("MCP-Protocol-Version", None)
        info = {"name": "bench", "version": "1"}
        hello = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info}
        await self._post("initialize", hello)
        self._headers["MCP-Protocol-Version"] = VERSION
        await self._post("notifications/initialized", None)

    def at(self, url: str) -> Client:
        """The same session, through another replica of the gateway."""
        found = copy.copy(self)
        found._url = url
        return found

    async def call(self, tool: str) -> None:
        """Raises ValueError where the answer is not that of the tool."""
        body = await self._post("tools/call", {"name": self._tools[tool], "arguments": {"n": 1}})
        if len(body) < len(result_text(RESULT_BYTES[tool])):
            raise ValueError(f"the answer is too short: {body[:200]!r}")

    async def calls_in_flight(self) -> int:
        """How many calls the gateway says it works on, of all clients."""
        url = self._url.removesuffix("/mcp") + "/status"
        async with self._http.get(url, headers=self._headers) as response:
            return int((await response.json())["calls_in_flight"])

    async def _request(self, method: str, params: dict[str, Any]) -> Any:
        body = await self._post(method, params)
        if not body.startswith(b"{"):
            data = [line[6:] for line in body.splitlines() if line.startswith(b"data: {")]
            body = data[-1]
        return json.loads(body)["result"]

    async def _post(self, method: str, params: dict[str, Any] | None) -> bytes:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message |= {"id": next(self._ids), "params": params}
        async with self._http.post(self._url, json=message, headers=self._headers) as response:
            body = await response.read()
            if response.status >= 300:
                raise RuntimeError(f"{method}: HTTP {response.status}: {body[:200]!r}")
            if "Mcp-Session-Id" in response.headers:
                self._headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
            return body


def _command(name: str, config: Path, options: Sequence[str]) -> list[str]:
    if name != "ours":
        return [sys.executable, "-m", f"bench.gateways.{name}", str(config)]
    program = str(Path(sys.executable).with_name("mcplens"))
    given = options or ("--listen", "127.0.0.1:0")
    return [program, "gateway", "--config", str(config), "--yes", "--token", TOKEN, *given]


@contextmanager
def running(name: str, config: Path, folder: str, *options: str) -> Iterator[Gateway]:
    """The gateway as a program on one core with its server, until the block ends.

    `options` are ours, in place of those by which it listens on a free port.
    """
    share_one_core(True)
    try:
        process = subprocess.Popen(
            _command(name, config, options),
            cwd=_ROOT,
            env=os.environ | {"MCPLENS_STATE_DIR": str(Path(folder, name))},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    finally:
        share_one_core(False)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            words = [word for word in line.split() if word.startswith("http://")]
            if words:
                yield Gateway(words[0], process.pid)
                break
        else:
            raise RuntimeError(f"{process.args!r} printed no address")
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def gateway_row(case: GatewayCase, results: Results) -> list[str]:
    """CPU per call of each gateway, and the ratios of ours with their aims."""
    from bench.report import SIZES, judged

    return [
        _CHANNELS[case.channel],
        SIZES[case.tool],
        str(case.clients),
        *(f"{statistics.median(results[name].cpu_s) * 1e6:,.0f}" for name in _NAMES),
        judged(ratio(results, "ours", "floor"), _FLOOR_AIM),
        judged(ratio(results, "ours", "fast"), _FAST_AIM),
        f"{ratio(results, 'floor', 'fast'):.2f}",
    ]


def gateway_method(effort: Effort) -> str:
    """How it was measured."""
    most = max(case.clients for case in CASES)
    return METHOD.format(most=most, rounds=effort.rounds, round_s=effort.round_s)
