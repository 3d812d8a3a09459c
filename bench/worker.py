"""One contender in a process of its own: takes orders on stdin, answers with what it measured.

`python -m bench.worker floor|ours|sdk|fast`. An order is a line of JSON: `open` (target,
concurrency, on_one_core), `run` (tool, calls), `close`. CPU is user and system time of this process
alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.cores import share_one_core
from bench.servers.answers import RESULT_BYTES, result_text


def cpu_s() -> float:
    """User and system time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Worker:
    """The client that is open, and how to run it."""

    def __init__(self, name: str) -> None:
        self._open_client = importlib.import_module(f"bench.contenders.{name}").open_client
        self._stack = contextlib.AsyncExitStack()
        self._call: Callable[[str], Awaitable[str]]
        self._concurrency = 1

    async def obey(self, order: dict[str, Any]) -> dict[str, float]:
        match order["do"]:
            case "open":
                share_one_core(order["on_one_core"])
                self._concurrency = order["concurrency"]
                client = self._open_client(order["target"], self._concurrency)
                self._call = await self._stack.enter_async_context(client)
            case "run":
                return await self._run(order["tool"], order["calls"])
            case "close":
                await self._stack.aclose()
        return {}

    async def _run(self, tool: str, calls: int) -> dict[str, float]:
        call = self._call
        text_length = len(result_text(RESULT_BYTES[tool]))
        tickets = iter(range(calls))

        async def caller() -> None:
            for _ in tickets:
                text = await call(tool)
                if len(text) != text_length:
                    raise ValueError(f"the text has {len(text)} characters, not {text_length}")

        gc.collect()
        cpu, wall = cpu_s(), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrency):
                group.create_task(caller())
        return {"cpu_s": cpu_s() - cpu, "wall_s": time.perf_counter() - wall}


async def main(name: str) -> None:
    # A library that prints must not spoil the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    # glibc then keeps buffers below 1 MiB on its heap. Before the first such buffer is freed, each
    # read from a pipe maps and unmaps memory, which costs 20 µs and falls on whom it will.
    bytes(1 << 20)
    worker = Worker(name)
    while line := await asyncio.to_thread(sys.stdin.readline):
        answers.write(json.dumps(await worker.obey(json.loads(line))) + "\n")
    await worker.obey({"do": "close"})


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
