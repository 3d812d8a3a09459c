"""How much calls on one server slow down while another one floods: p99 quiet against flooded.

The flooding server is tests/servers/bad.py; its notifications come as fast as they can be read.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import mcplens
from tests.servers.run import serve

ROOT: Final = Path(__file__).parent.parent
TRANSPORTS: Final = ("stdio", "http", "sse", "ws")
AIM_MS: Final = 50.0
# Between two calls, so that the quiet server's own speed is not what is measured.
_PAUSE_S: Final = 0.002


# Transport of the flood -> p99 quiet, p99 flooded (ms), events a second.
FloodResults = dict[str, tuple[float, float, float]]


def run_flood(calls: int) -> FloodResults:
    """Flood over each transport in turn."""
    return asyncio.run(_run(calls))


async def _run(calls: int) -> FloodResults:
    command = [sys.executable, "-m", "bench.servers.stdio"]
    results = {}
    async with mcplens.connect(command, cwd=str(ROOT)) as calm:
        for transport in TRANSPORTS:
            quiet_ms = await _p99_ms(calm, calls)
            results[transport] = (quiet_ms, *await _flooded(calm, transport, calls))
    return results


async def _flooded(calm: mcplens.Client, transport: str, calls: int) -> tuple[float, float]:
    async with serve("bad", "flood", "--transport", transport) as server:
        target: Any = server.argv if transport == "stdio" else server.url
        options: dict[str, Any] = {"cwd": server.cwd} if transport == "stdio" else {}
        if transport == "sse":
            options["transport"] = "sse"
        async with mcplens.connect(target, **options) as wild:
            flood = asyncio.ensure_future(wild.call_tool("flood", timeout_s=120))
            await _until_flooding(wild)
            first, started = wild.last_seq, perf_counter()
            flooded_ms = await _p99_ms(calm, calls)
            rate = (wild.last_seq - first) / (perf_counter() - started)
            flood.cancel()
            await asyncio.gather(flood, return_exceptions=True)
    return flooded_ms, rate


async def _until_flooding(wild: mcplens.Client) -> None:
    async for event in wild.events():
        if event.seq > 1_000:
            return


async def _p99_ms(client: mcplens.Client, calls: int) -> float:
    taken = []
    for _ in range(calls):
        started = perf_counter()
        await client.call_tool("small")
        taken.append((perf_counter() - started) * 1_000)
        await asyncio.sleep(_PAUSE_S)
    return sorted(taken)[int(len(taken) * 0.99)]


def flood_rows(results: FloodResults) -> list[list[str]]:
    """The table: each growth beside its aim."""
    rows = []
    for transport, (quiet_ms, flooded_ms, rate) in results.items():
        growth = flooded_ms - quiet_ms
        holds = "yes" if growth <= AIM_MS else "NO"
        rows.append(
            [
                transport,
                f"{quiet_ms:.1f}",
                f"{flooded_ms:.1f}",
                f"{growth:.1f} (≤ {AIM_MS:g}: {holds})",
                f"{rate:,.0f}",
            ]
        )
    return rows


HEADINGS: Final = [
    "flood over", "p99 quiet ms", "p99 flooded ms", "growth ms", "events/s",
]  # fmt: skip


if __name__ == "__main__":
    for cells in [HEADINGS, *flood_rows(run_flood(500))]:
        print("  ".join(cell.ljust(16) for cell in cells))
