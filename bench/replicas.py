"""What several replicas of a gateway cost: CPU per call of each process, forwards, idle sessions.

Needs `redis-server` or `valkey-server`; the rows of a machine without either are left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench.gateway import Client, Gateway, call_all, running
from bench.measure import STDIO_SERVER, Effort
from bench.report import judged

_ENTRY: Final = {"command": STDIO_SERVER[0], "args": list(STDIO_SERVER[1:])}
_KEY: Final = "0123456789abcdef" * 4
_STORE_AIM: Final = 1.1  # the store is not asked for a call that reaches its owner
_FORWARD_AIM_MS: Final = 1.0
_WARM: Final = 200
_START_S: Final = 20.0

HEADINGS: Final = ["", "figure", "", "to one replica"]
WIDTHS: Final = (50, 9, 9, 22)

METHOD: Final = """\
Replicas of `mcplens gateway` (without recording) in front of one server each that answers from
memory, called over streamable HTTP (2025-11-25) by one client, 200 bytes. CPU is that of each
process per call, the median of {rounds} rounds in which every arrangement takes its turn: one
replica alone, with state in memory; one that keeps it in Redis; two with Redis, called at the one
that owns the client's session, and at the other, which forwards. What a forward adds is the
difference of the medians of {calls} calls each, one after the other. Memory is what one replica
holds more with {sessions:,} sessions that have shaken hands and do nothing."""

_ALONE, _REDIS, _OWNER, _OTHER = "alone", "redis", "owner", "other"


@dataclass
class ReplicaResults:
    """CPU seconds per call of each process in each round, and the other figures."""

    cpu_s: dict[str, list[float]] = field(default_factory=dict)
    store_cpu_s: dict[str, list[float]] = field(default_factory=dict)
    call_ms: dict[str, float] = field(default_factory=dict)
    idle_kb: dict[str, float] = field(default_factory=dict)  # of each session, by its store


@contextlib.contextmanager
def _store(folder: Path) -> Iterator[tuple[str, int] | None]:
    """The address of a store and its process; None where there is no program for it."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        yield None
        return
    port = _free_port()
    process = subprocess.Popen(
        [program, "--port", str(port), "--save", "", "--dir", str(folder)],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if b"Ready to accept connections" in line:
                break
        yield f"redis://127.0.0.1:{port}", process.pid
    finally:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@contextlib.contextmanager
def _replica(folder: Path, name: str, store: str | None) -> Iterator[Gateway]:
    listen = f"127.0.0.1:{_free_port()}"
    block: dict[str, Any] = {"limits": {"sessions": 100_000}}
    if store is not None:
        own = {"name": name, "address": f"http://{listen}", "keys": [_KEY]}
        block |= {"store": {"url": store}, "replica": own}
    config = folder / f"{name}.json"
    config.write_text(json.dumps({"mcpServers": {"bench": _ENTRY}, "gateway": block}))
    options = ("--listen", listen, "--no-web", "--no-record")
    with running("ours", config, str(folder / name), *options) as gateway:
        yield gateway


def run_replicas(effort: Effort) -> ReplicaResults:
    """All figures, one after the other."""
    with tempfile.TemporaryDirectory() as given:
        folder = Path(given)
        with _store(folder) as store:
            if store is None:
                return ReplicaResults()
            return asyncio.run(_run(folder, store[0], store[1], effort))


async def _run(folder: Path, store: str, store_pid: int, effort: Effort) -> ReplicaResults:
    results = ReplicaResults()
    redis = Gateway("", store_pid)
    async with contextlib.AsyncExitStack() as stack:
        alone = stack.enter_context(_replica(folder, "alone", None))
        single = stack.enter_context(_replica(folder, "single", store))
        # Another prefix would keep them apart; sessions of the one are never asked for here.
        owner = stack.enter_context(_replica(folder, "owner", store))
        other = stack.enter_context(_replica(folder, "other", store))
        clients = {
            name: await stack.enter_async_context(Client(gateway.url).opened())
            for name, gateway in ((_ALONE, alone), (_REDIS, single), (_OWNER, owner))
        }
        clients[_OTHER] = clients[_OWNER].at(other.url)
        gateways = {_ALONE: alone, _REDIS: single, _OWNER: owner, _OTHER: other}
        calls = await _calls_of_a_round(alone, clients[_ALONE], effort)
        for _ in range(effort.rounds):
            for name, client in clients.items():
                watched = {name: gateways[name], "store": redis}
                if name == _OTHER:
                    watched["of its owner"] = owner
                before = {each: process.cpu_s for each, process in watched.items()}
                await call_all(gateways[name], [client], "small", calls)
                for each, process in watched.items():
                    spent_s = (process.cpu_s - before[each]) / calls
                    kept = results.store_cpu_s if each == "store" else results.cpu_s
                    kept.setdefault(name if each == "store" else each, []).append(spent_s)
        for name in (_OWNER, _OTHER):
            results.call_ms[name] = await _median_ms(clients[name], effort.flood_calls)
        for name in (_ALONE, _REDIS):
            results.idle_kb[name] = await _idle_kb(gateways[name], effort.idle_sessions)
    return results


async def _calls_of_a_round(gateway: Gateway, client: Client, effort: Effort) -> int:
    spent_s = await call_all(gateway, [client], "small", _WARM)
    return max(round(effort.round_s * _WARM / max(spent_s, 1e-6)), 20)


async def _median_ms(client: Client, calls: int) -> float:
    taken = []
    for _ in range(calls):
        began = time.perf_counter()
        await client.call("small")
        taken.append((time.perf_counter() - began) * 1_000)
    return statistics.median(taken)


async def _idle_kb(gateway: Gateway, sessions: int) -> float:
    """What the replica holds for each session that has shaken hands."""
    before_mb = gateway.memory_mb
    async with Client(gateway.url).opened() as client:
        for _ in range(sessions):
            await client.shake_hands()
        return (gateway.memory_mb - before_mb) * 1_000 / sessions


def replica_rows(results: ReplicaResults, effort: Effort) -> list[list[str]]:
    """Each figure, with its ratio or its aim."""
    if not results.idle_kb:
        return []
    cpu, added_ms = results.cpu_s, results.call_ms[_OTHER] - results.call_ms[_OWNER]
    sessions = f"{effort.idle_sessions:,} idle sessions"
    return [
        _cpu_row("one replica, state in memory", cpu, _ALONE, None),
        _cpu_row("one replica, state in Redis", cpu, _REDIS, _STORE_AIM),
        _cpu_row("two replicas, the owner of the session", cpu, _OWNER, _STORE_AIM),
        _cpu_row("two replicas, the other: it forwards", cpu, _OTHER, None),
        _cpu_row("two replicas, the owner of what is forwarded", cpu, "of its owner", None),
        _store_row("Redis, a call at its owner", results, _OWNER),
        _store_row("Redis, a call that is forwarded", results, _OTHER),
        [
            "what a forward adds to a call, median", f"{added_ms:.2f}", "ms",
            judged(added_ms, _FORWARD_AIM_MS).partition(" ")[2],
        ],
        [f"{sessions}, each in memory", f"{results.idle_kb[_ALONE]:.1f}", "kB", ""],
        [f"{sessions}, each with Redis", f"{results.idle_kb[_REDIS]:.1f}", "kB", ""],
    ]  # fmt: skip


def _cpu_row(what: str, cpu: dict[str, list[float]], name: str, aim: float | None) -> list[str]:
    ratios = [one / alone for one, alone in zip(cpu[name], cpu[_ALONE], strict=True)]
    verdict = "" if name == _ALONE else judged(statistics.median(ratios), aim)
    return [what, f"{statistics.median(cpu[name]) * 1e6:,.0f}", "µs CPU", verdict]


def _store_row(what: str, results: ReplicaResults, name: str) -> list[str]:
    return [what, f"{statistics.median(results.store_cpu_s[name]) * 1e6:,.0f}", "µs CPU", ""]


def replica_method(effort: Effort) -> str:
    """How it was measured."""
    return METHOD.format(
        rounds=effort.rounds, calls=effort.flood_calls, sessions=effort.idle_sessions
    )
