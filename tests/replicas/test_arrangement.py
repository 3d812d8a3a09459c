"""Two and then three gateways behind a load balancer without stickiness, clients of both eras."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mcplens.session.client import Client
from tests.gateway.harness import NEW, OLD
from tests.ports import held_port
from tests.replicas.arrangement import DEMO, TOKEN, Arrangement, arrangement, counting_server
from tests.replicas.processes import START_S, HttpServer, Replica, until
from tests.replicas.redis_server import redis_server

PATIENCE_S = 60
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


async def status_of(replica: Replica) -> dict[str, Any]:
    code, text = await replica.fetch("/status", TOKEN)
    assert code == 200, text
    found: dict[str, Any] = json.loads(text)
    return found


async def answered(replica: Replica) -> int:
    """How many calls of its servers a replica has answered."""
    return sum(server["calls"] for server in (await status_of(replica))["servers"])


async def call_all(clients: list[Client], turn: int) -> None:
    """Each client calls each server several times, one call after the other."""

    async def call(number: int, client: Client) -> None:
        for count in range(4):
            key = f"{turn}-{number}-{count}"
            for server in ("pipe", "http"):
                result = await client.call_tool(f"{server}__write", {"key": f"{key}-{server}"})
                assert result.content[0].text == f"{key}-{server}"
            echoed = await client.call_tool("demo__echo", {"text": key})
            assert echoed.content[0].text == key

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*(call(number, client) for number, client in enumerate(clients)))


async def test_clients_of_both_eras_use_two_and_then_three_replicas(tmp_path: Path) -> None:
    log = tmp_path / "executions"
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(redis_server(tmp_path))
        server = HttpServer("http", tmp_path, stack.enter_context(held_port()), log)
        stack.push_async_callback(server.end)
        await server.start()
        servers = {"demo": DEMO, "pipe": counting_server(log), "http": server.entry}
        site = await stack.enter_async_context(
            arrangement(tmp_path, servers, count=2, later=1, store=store)
        )
        clients = [
            await stack.enter_async_context(site.connect(protocol_version=version))
            for version in (OLD, NEW, OLD, NEW)
        ]
        await call_all(clients, 1)
        assert all([await answered(replica) > 0 for replica in site.replicas[:2]])
        third = site.replicas[2]
        await third.start()
        await site.balancer.sees(third.name)
        rounds = 2
        await call_all(clients, rounds)
        # The balancer has seen it; on a busy machine its turn comes a round later.
        async with asyncio.timeout(START_S):
            while not await answered(third):
                rounds += 1
                await call_all(clients, rounds)
        await check_different_configurations(site)
    executed = log.read_text().split()
    assert len(executed) == len(set(executed)) == rounds * len(clients) * 4 * 2


async def check_different_configurations(site: Arrangement) -> None:
    """Each replica serves its own file, and both say that they differ."""
    first, second, third = site.replicas
    await third.end()
    changed = json.loads(second.shell.config.read_text())
    changed["mcpServers"]["demo"]["enabled"] = False
    second.configure(changed)

    async def is_shown(here: Replica, there: Replica) -> bool:
        others = (await status_of(here))["replica"]["others"]
        return [one["has_same_configuration"] for one in others if one["name"] == there.name] == [
            False
        ]

    async def is_logged(here: Replica, there: Replica) -> bool:
        text = f"{there.name} has another configuration"
        return any(text in line.get("text", "") for line in here.lines())

    async with asyncio.timeout(START_S):
        for here, there in ((first, second), (second, first)):
            await until(partial(is_shown, here, there))
            await until(partial(is_logged, here, there))
