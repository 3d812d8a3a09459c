"""A server that may run once, with real gateways and a real store: it never runs twice at once.

The holder is killed, stopped and loses the store; each time another replica takes over, after the
server of the former one is gone.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import mcplens
from tests.ports import held_port
from tests.replicas.processes import Replica, until
from tests.replicas.redis_server import RedisServer
from tests.transports.ourselves import is_running

from . import single_server
from .single_server import intervals, overlapping

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX"),
    pytest.mark.slow,
]

TOKEN = "a-token-of-all-replicas-0123456789"
KEY = "0123456789abcdef0123456789abcdef"
LEASE_S = 2
BOUND_S = 90


class Pair:
    """Two replicas in front of one server that may run once."""

    def __init__(self, replicas: list[Replica], log: Path) -> None:
        self.replicas = replicas
        self.log = log

    def other(self, replica: Replica) -> Replica:
        return next(one for one in self.replicas if one is not replica)

    async def status(self, replica: Replica) -> dict[str, Any]:
        _, text = await replica.fetch("/status", TOKEN)
        found: dict[str, Any] = json.loads(text)
        return found

    async def runs_on(self, replica: Replica) -> None:
        """Until a replica runs the server, and it answers."""

        async def is_so() -> bool:
            found = await self.status(replica)
            is_up = found["servers"][0]["status"] == "RUNNING"
            return is_up and bool(found["singletons"].get("single") == replica.name)

        await until(is_so)

    async def reaches(self, replica: Replica) -> None:
        """Until a replica has a session with the server, wherever that runs."""

        async def is_so() -> bool:
            found = await self.status(replica)
            return bool(found["servers"][0]["status"] == "RUNNING")

        await until(is_so)

    async def holder(self) -> Replica:
        """The replica that runs the server, as soon as one does."""
        waiting = {asyncio.ensure_future(self.runs_on(one)): one for one in self.replicas}
        done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        return waiting[done.pop()]

    async def whoami(self, replica: Replica) -> int:
        """The pid of the server, asked through a replica."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        url = f"{replica.origin}/mcp"
        async with mcplens.connect(url, headers=headers, sse_fallback=False) as client:
            result = await client.call_tool("single__whoami", {})
            return int(result.content[0].text or "")

    async def check(self, runs: int) -> None:
        """Until the server has run so often: never more often, and never twice at once.

        A replica that has just taken over may still have its session by way of the former holder.
        """

        async def has_begun() -> bool:
            return len(intervals(self.log)) >= runs

        await until(has_begun)
        found = intervals(self.log)
        assert len(found) == runs
        assert not overlapping(found), found


@asynccontextmanager
async def pair(redis: RedisServer, folder: Path) -> AsyncIterator[Pair]:
    log = folder / "beats"
    program = str(Path(single_server.__file__))
    entry = {"command": sys.executable, "args": [program, str(log)], "singleton": True}
    async with AsyncExitStack() as stack:
        replicas = []
        for name in ("first", "second"):
            port = stack.enter_context(held_port())
            replica = Replica(name, folder, port, "--token", TOKEN, "--yes", "--no-audit")
            store = {"url": redis.url, "timeoutMs": 500}
            own = {"name": name, "address": replica.origin, "keys": [KEY]}
            replica.configure({
                "mcpServers": {"single": entry},
                "gateway": {"store": store, "replica": own, "leaseSeconds": LEASE_S},
            })  # fmt: skip
            replicas.append(replica)
            stack.push_async_callback(replica.end)
        await asyncio.gather(*(one.start() for one in replicas))
        async with asyncio.timeout(BOUND_S):
            yield Pair(replicas, log)


async def test_a_killed_a_stopped_and_a_cut_off_holder_are_followed_by_another(
    redis: RedisServer, tmp_path: Path
) -> None:
    async with pair(redis, tmp_path) as replicas:
        killed = await replicas.holder()
        server = await replicas.whoami(killed)
        stopped = replicas.other(killed)
        await replicas.reaches(stopped)
        assert await replicas.whoami(stopped) == server  # by way of the holder
        await killed.end(signal.SIGKILL)
        await replicas.runs_on(stopped)
        assert not is_running(server)
        await replicas.check(runs=2)

        await killed.start()
        server = await replicas.whoami(stopped)
        os.kill(stopped.pid, signal.SIGSTOP)
        await replicas.runs_on(killed)
        assert not is_running(server)
        os.kill(stopped.pid, signal.SIGCONT)

        async def knows() -> bool:
            found = await replicas.status(stopped)
            return bool(found["singletons"].get("single") == killed.name)

        await until(knows)
        await replicas.reaches(stopped)
        assert await replicas.whoami(stopped) == await replicas.whoami(killed)
        await replicas.check(runs=3)

        server = await replicas.whoami(killed)
        await redis.kill()
        await until(lambda: _has_ended(server))
        await redis.start()
        holder = await replicas.holder()
        assert await replicas.whoami(holder) != server
        await replicas.check(runs=4)

        assert await holder.end(signal.SIGTERM) == 0
        await replicas.runs_on(replicas.other(holder))
        await replicas.check(runs=5)


async def _has_ended(pid: int) -> bool:
    return not is_running(pid)
