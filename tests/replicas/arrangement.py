"""Several gateways behind a load balancer, as operators run them, on ports of this machine.

Real processes throughout: HAProxy with the configuration that we ship, gateways started by the
command line, servers behind them. Clients connect through the balancer, which keeps none of them to
one replica.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcplens
from tests.ports import held_port
from tests.replicas.processes import COUNTING, Balancer, Replica
from tests.replicas.redis_server import RedisServer

TOKEN = "a-token-of-all-replicas-0123456789"
# By which replicas know each other.
KEY = "0123456789abcdef" * 4
DEMO: dict[str, Any] = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}


class Arrangement:
    """A balancer and the replicas behind it."""

    def __init__(self, balancer: Balancer, replicas: list[Replica]) -> None:
        self.balancer = balancer
        self.replicas = replicas

    def __repr__(self) -> str:
        return f"<Arrangement {self.balancer!r}, {self.replicas!r}>"

    @property
    def url(self) -> str:
        return f"{self.balancer.origin}/mcp"

    def connect(self, **options: Any) -> mcplens.connect:
        """A client of ours, through the balancer."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return mcplens.connect(self.url, sse_fallback=False, headers=headers, **options)


def counting_server(log: Path) -> dict[str, Any]:
    """A server that appends the key of each call to a file before it does anything."""
    command, *words = [*COUNTING, str(log)]
    return {"command": command, "args": words, "protocolVersion": "2025-11-25"}


def shared(store: RedisServer, replica: Replica) -> dict[str, Any]:
    """The keys of the `gateway` block by which replicas share their state."""
    own = {"name": replica.name, "address": replica.origin, "keys": [KEY]}
    return {"store": {"url": store.url}, "replica": own}


@asynccontextmanager
async def arrangement(
    folder: Path,
    servers: Mapping[str, Mapping[str, Any]],
    *,
    count: int = 2,
    later: int = 0,
    gateway: Mapping[str, Any] | None = None,
    store: RedisServer | None = None,
    options: tuple[str, ...] = ("--no-record",),
) -> AsyncIterator[Arrangement]:
    """Start `count` replicas that have these servers; `gateway` is that block of all of them.

    The balancer knows of `later` replicas more, which are not started.
    """
    async with AsyncExitStack() as stack:
        replicas = []
        for number in range(1, count + later + 1):
            port = stack.enter_context(held_port())
            replica = Replica(f"gateway-{number}", folder, port, "--token", TOKEN, *options)
            block = dict(gateway or {}) | (shared(store, replica) if store is not None else {})
            replica.configure({"mcpServers": servers, "gateway": block})
            stack.push_async_callback(replica.end)
            replicas.append(replica)
            if number <= count:
                await replica.start()
        backends = {replica.name: replica.port for replica in replicas}
        balancer = Balancer(folder, stack.enter_context(held_port()), backends)
        stack.push_async_callback(balancer.end)
        await balancer.start()
        for replica in replicas[:count]:
            await balancer.sees(replica.name)
        yield Arrangement(balancer, replicas)
