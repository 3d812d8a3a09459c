"""`python -m tests.interaction.memory_curve SECONDS`: ten servers that are killed in turn.

A program as a user would write it: ten clients call their servers all the time, one server is
killed by SIGKILL every second, and nobody reads events. Prints a line of JSON every few seconds:
the time, the memory of this process, and what was done so far.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import mcplens
from tests.servers.run import ROOT, argv

SERVERS = 10
KILL_EVERY_S = 1.0
REPORT_EVERY_S = 5.0
# Between two calls of one client: the servers share the processor with us.
PAUSE_S = 0.05
# Now and then a large body, which must not be held.
LARGE_EVERY = 100
LARGE_CHARACTERS = 300_000


class Totals:
    """What was done so far."""

    def __init__(self) -> None:
        self.calls = 0
        self.failures = 0
        self.kills = 0

    def __repr__(self) -> str:
        return f"<Totals {self.calls} calls, {self.failures} failed, {self.kills} kills>"


def memory_bytes() -> int:
    """What this process holds now; its servers are not counted."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def call_on_and_on(client: mcplens.Client, totals: Totals) -> None:
    number = 0
    while True:
        number += 1
        text = "x" * (LARGE_CHARACTERS if number % LARGE_EVERY == 0 else 200)
        try:
            await client.call_tool("echo", {"text": text})
            totals.calls += 1
        except mcplens.InspectorError:
            totals.failures += 1
        await asyncio.sleep(PAUSE_S)


async def kill_in_turn(clients: list[mcplens.Client], totals: Totals) -> None:
    while True:
        for client in clients:
            await asyncio.sleep(KILL_EVERY_S)
            pid = client.describe().get("pid")
            if isinstance(pid, int):
                os.kill(pid, signal.SIGKILL)
                totals.kills += 1


async def report(totals: Totals, seconds: float) -> None:
    started = time.monotonic()
    while (elapsed_s := time.monotonic() - started) < seconds:
        await asyncio.sleep(REPORT_EVERY_S)
        line = {"elapsed_s": round(elapsed_s + REPORT_EVERY_S, 1), "bytes": memory_bytes()}
        print(json.dumps(line | vars(totals)), flush=True)


async def main(seconds: float) -> None:
    totals = Totals()
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                mcplens.connect(
                    argv("good"), cwd=str(ROOT), max_retries=None, retry_backoff_s=(0.1,)
                )
            )
            for _ in range(SERVERS)
        ]
        async with asyncio.TaskGroup() as group:
            work = [group.create_task(call_on_and_on(client, totals)) for client in clients]
            work.append(group.create_task(kill_in_turn(clients, totals)))
            await report(totals, seconds)
            for task in work:
                task.cancel()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
