"""What a gateway bears: calls that wait, servers that are dead, and doing nothing at all."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.gateway import Client, Gateway, running
from bench.measure import STDIO_SERVER, Effort
from bench.report import judged
from bench.servers.answers import WAITING

_ENTRY: Final = {"command": STDIO_SERVER[0], "args": list(STDIO_SERVER[1:])}
# One that never answers the handshake, one that exits at once, one that nobody listens for.
_DEAD: Final[dict[str, dict[str, Any]]] = {
    "silent": {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]},
    "gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]},
    "refusing": {"url": "http://127.0.0.1:9/mcp"},
}
_SERVERS: Final = 20
_CALLS_OF_A_SESSION: Final = 500
_PAUSE_S: Final = 0.002
_STILL_S: Final = 0.5
# Until all calls have come: ten thousand connections take two busy cores a while.
_COME_S: Final = 300.0
_MEMORY_AIM_MB: Final = 500.0
_GROWTH_AIM_MS: Final = 1.0
_IDLE_AIM_PERCENT: Final = 0.5

HEADINGS: Final = ["", "figure", "", "aim"]
WIDTHS: Final = (44, 9, 6, 14)

METHOD: Final = """\
`mcplens gateway` in front of one server with {waiting:,} calls that wait, each over a connection of
its own, 500 in a session: what the gateway's process holds in RAM once all have come. Calls one
after the other with a pause of 2 ms, {calls} of them, with that server alone and beside three dead
ones (one never answers the handshake, one exits at once, one refuses the connection). And the CPU
of a gateway in front of {servers} servers over {idle_s:g} s in which nobody calls."""


# What was measured, by its row.
LimitResults = dict[str, float]


def run_limits(effort: Effort) -> LimitResults:
    """All three, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        results = {
            "waiting": asyncio.run(_waiting(Path(folder), effort.waiting_calls)),
            "alone": asyncio.run(_p99_ms(Path(folder), {}, effort.flood_calls)),
            "beside": asyncio.run(_p99_ms(Path(folder), _DEAD, effort.flood_calls)),
            "idle": asyncio.run(_idle_percent(Path(folder), effort.idle_s)),
        }
    return results


@contextlib.contextmanager
def _gateway(folder: Path, entries: dict[str, dict[str, Any]], **settings: Any) -> Any:
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": entries, **settings}))
    with running("ours", config, str(folder)) as gateway:
        yield gateway


async def _waiting(folder: Path, calls: int) -> float:
    """MB with so many calls under way."""
    with _gateway(folder, {"bench": _ENTRY}, requestTimeoutSeconds=_COME_S * 2) as gateway:
        async with contextlib.AsyncExitStack() as stack:
            sessions = [
                await stack.enter_async_context(Client(gateway.url, call_s=_COME_S * 2).opened())
                for _ in range(-(-calls // _CALLS_OF_A_SESSION))
            ]
            waiting: list[asyncio.Task[None]] = []
            async with asyncio.TaskGroup() as group, asyncio.timeout(_COME_S):
                # One session after the other: a client that takes 10 s to send is sent away.
                for number, session in enumerate(sessions):
                    due = min(calls, (number + 1) * _CALLS_OF_A_SESSION)
                    while len(waiting) < due:
                        waiting.append(group.create_task(session.call(WAITING)))
                    await _come(session, due)
                memory_mb: float = gateway.memory_mb
                for task in waiting:
                    task.cancel()
    return memory_mb


async def _come(session: Client, calls: int) -> None:
    """Wait until the gateway works on so many calls."""
    come = 0
    while come < calls:
        await asyncio.sleep(_PAUSE_S)
        come = await session.calls_in_flight()


async def _still(gateway: Gateway) -> None:
    """Wait until the gateway has nothing more to do."""
    spent_s = -1.0
    while gateway.cpu_s - spent_s > 0.01 * _STILL_S:
        spent_s = gateway.cpu_s
        await asyncio.sleep(_STILL_S)


async def _p99_ms(folder: Path, others: dict[str, dict[str, Any]], calls: int) -> float:
    taken = []
    with _gateway(folder, {"bench": _ENTRY, **others}) as gateway:
        async with Client(gateway.url).opened() as client:
            for _ in range(calls):
                began = time.perf_counter()
                await client.call("small")
                taken.append((time.perf_counter() - began) * 1_000)
                await asyncio.sleep(_PAUSE_S)
    return sorted(taken)[int(len(taken) * 0.99)]


async def _idle_percent(folder: Path, idle_s: float) -> float:
    with _gateway(folder, {f"bench{number}": _ENTRY for number in range(_SERVERS)}) as gateway:
        async with Client(gateway.url).opened():
            await _still(gateway)
            before_s = gateway.cpu_s
            await asyncio.sleep(idle_s)
            spent_s: float = gateway.cpu_s - before_s
    return spent_s / idle_s * 100


def limit_rows(results: LimitResults, effort: Effort) -> list[list[str]]:
    """Each figure, and its aim where it has one."""
    growth_ms = results["beside"] - results["alone"]
    return [
        _row(f"{effort.waiting_calls:,} waiting calls", results["waiting"], "MB", _MEMORY_AIM_MB),
        _row("p99 of a call, the server alone", results["alone"], "ms", None),
        _row("p99 of a call, beside three dead servers", results["beside"], "ms", None),
        _row("more beside dead servers", growth_ms, "ms", _GROWTH_AIM_MS),
        _row(f"idle with {_SERVERS} servers", results["idle"], "%", _IDLE_AIM_PERCENT),
    ]


def _row(what: str, figure: float, unit: str, aim: float | None) -> list[str]:
    verdict = "" if aim is None else judged(figure, aim).partition(" ")[2]
    return [what, f"{figure:.2f}", unit, verdict]


def limit_method(effort: Effort) -> str:
    """How it was measured."""
    return METHOD.format(
        waiting=effort.waiting_calls,
        calls=effort.flood_calls,
        servers=_SERVERS,
        idle_s=effort.idle_s,
    )
