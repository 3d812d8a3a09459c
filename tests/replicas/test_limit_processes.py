"""Limits of two real gateways with a real store: counted together, and freed when one is killed."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

import mcplens
from tests.ports import held_port
from tests.replicas.arrangement import DEMO, TOKEN
from tests.replicas.processes import Replica, until
from tests.replicas.redis_server import RedisServer

pytestmark = pytest.mark.slow

KEY = "0123456789abcdef0123456789abcdef"
BOUND_S = 90


def client_of(replica: Replica) -> mcplens.connect:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return mcplens.connect(f"{replica.origin}/mcp", headers=headers, sse_fallback=False)


async def calls_of(replica: Replica) -> int:
    _, text = await replica.fetch("/status", TOKEN)
    found: dict[str, Any] = json.loads(text)
    assert found["limits"] == "shared"
    return int(found["calls_in_flight"])


async def test_the_place_of_a_killed_replica_is_free_again(
    redis: RedisServer, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        replicas = []
        for name in ("first", "second"):
            port = stack.enter_context(held_port())
            replica = Replica(name, tmp_path, port, "--token", TOKEN, "--yes", "--no-audit")
            own = {"name": name, "address": replica.origin, "keys": [KEY]}
            limits = {"callsPerServer": 1}
            gateway = {"store": {"url": redis.url}, "replica": own, "limits": limits}
            replica.configure({"mcpServers": {"demo": DEMO}, "gateway": gateway})
            replicas.append(replica)
            stack.push_async_callback(replica.end)
        await asyncio.gather(*(one.start() for one in replicas))
        first, second = replicas
        await stack.enter_async_context(asyncio.timeout(BOUND_S))
        one = await client_of(first).__aenter__()  # its gateway is killed: nothing to close
        other = await stack.enter_async_context(client_of(second))
        blocking = asyncio.ensure_future(one.call_tool("demo__wait", {"seconds": 600}))

        async def is_under_way() -> bool:
            return await calls_of(first) == 1

        await until(is_under_way)
        waiting = asyncio.ensure_future(other.call_tool("demo__add", {"a": 1, "b": 2}))

        async def is_waiting() -> bool:
            return await calls_of(second) == 1

        await until(is_waiting)
        await first.end(signal.SIGKILL)
        await waiting
        blocking.cancel()
        await asyncio.gather(blocking, return_exceptions=True)
        await one.disconnect()
