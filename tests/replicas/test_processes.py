"""Two `mcplens gateway` processes and a real redis-server: a session through all that can fail."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import mcplens
from tests.gateway.harness import NEW
from tests.ports import held_port
from tests.replicas.arrangement import DEMO, TOKEN, shared
from tests.replicas.choosing_client import At, Web
from tests.replicas.processes import Replica, until
from tests.replicas.redis_server import RedisServer, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}


class Processes:
    """Two replicas on one store."""

    def __init__(self, one: Replica, two: Replica, store: RedisServer) -> None:
        self.one = one
        self.two = two
        self.store = store

    async def know_each_other(self) -> None:
        async def do_they() -> bool:
            seen = [await self.status(replica) for replica in (self.one, self.two)]
            return all(len(one["replica"]["others"]) == 1 for one in seen)

        async with asyncio.timeout(30):
            await until(do_they)

    async def status(self, replica: Replica) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((await replica.fetch("/status", TOKEN))[1])
        return found

    async def count(self, replica: Replica, name: str) -> float:
        lines = (await replica.fetch("/metrics", TOKEN))[1].splitlines()
        found = [line for line in lines if line.startswith(f"mcplens_gateway_{name}")]
        return float(found[0].split()[-1])


@pytest.fixture
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    with held_port() as first, held_port() as second:
        async with redis_server(tmp_path) as store:
            replicas = []
            for name, port in (("one", first), ("two", second)):
                replica = Replica(name, tmp_path, port, "--token", TOKEN, "--no-record")
                replica.configure({"mcpServers": {"demo": DEMO}, "gateway": shared(store, replica)})
                replicas.append(replica)
            found = Processes(replicas[0], replicas[1], store)
            try:
                await asyncio.gather(found.one.start(), found.two.start())
                await found.know_each_other()
                yield found
            finally:
                await found.one.end()
                await found.two.end()


async def echoed(web: Web, where: At, text: str) -> str:
    status, answer = await web.call(where, "demo__echo", text=text)
    assert status == 200, answer
    found: str = answer["result"]["content"][0]["text"]
    return found


async def are_written(processes: Processes, count: int) -> None:
    """Wait until the store knows so many sessions: they are written behind the calls."""

    async def is_so() -> bool:
        found = await processes.store.command("KEYS", "mcplens:v1:facts:*")
        return found.startswith(b"*%d\r\n" % count)

    async with asyncio.timeout(30):
        await until(is_so)


async def test_a_session_survives_its_replicas_and_the_store(processes: Processes) -> None:
    one, two = At(processes.one.origin), At(processes.two.origin)
    async with aiohttp.ClientSession() as http:
        web = Web(http, AUTHORIZATION)
        await web.begin(one)
        kept = web.session_id
        for number in range(10):
            assert await echoed(web, (two, one)[number % 2], str(number)) == str(number)
        assert await processes.count(processes.two, "forwards_total") >= 5

        # Its owner is killed while it has a call.
        calling = asyncio.create_task(web.call(two, "demo__wait", seconds=60))

        async def is_under_way() -> bool:
            return bool((await processes.status(processes.one))["calls_in_flight"])

        async with asyncio.timeout(30):
            await until(is_under_way)
        await processes.one.end()
        status, answer = await calling
        assert (status, answer["error"]["data"]["mayHaveRun"]) == (200, True)
        assert await echoed(web, two, "after") == "after"
        assert web.session_id == kept
        assert await processes.count(processes.two, "takeovers_total") == 1

        # Another process listens where the first one was: it is not the first one.
        await processes.one.start()
        await processes.know_each_other()
        assert await echoed(web, one, "back") == "back"
        assert await processes.count(processes.one, "takeovers_total") == 0

        # The store is gone, and what needs no store goes on.
        await processes.store.kill()
        assert await echoed(web, two, "without a store") == "without a store"
        assert await echoed(web, one, "passed on without a store") == "passed on without a store"
        fresh = Web(http, AUTHORIZATION)
        await fresh.begin(two)
        assert await echoed(fresh, one, "new") == "new"

        # It comes back empty, and is told again.
        await processes.store.start()

        async def is_up() -> bool:
            seen = [await processes.status(each) for each in (processes.one, processes.two)]
            return all(each["replica"]["store"]["status"] == "up" for each in seen)

        async with asyncio.timeout(30):
            await until(is_up)
            await are_written(processes, 2)
            await processes.know_each_other()
        await processes.two.end()
        assert await echoed(web, one, "the third owner") == "the third owner"
        assert await echoed(fresh, one, "this one, too") == "this one, too"
        assert web.session_id == kept


async def test_a_replica_that_stood_still_gives_up_what_was_taken_from_it(
    processes: Processes,
) -> None:
    one, two = At(processes.one.origin), At(processes.two.origin)
    async with aiohttp.ClientSession() as http:
        web = Web(http, AUTHORIZATION)
        await web.begin(one)
        assert await echoed(web, two, "forwarded") == "forwarded"
        await are_written(processes, 1)
        os.kill(processes.one.pid, signal.SIGSTOP)
        try:
            # The machine still accepts the connection, so that only silence tells.
            status, answer = await web.call(two, "demo__echo", text="lost")
            assert (status, answer["error"]["data"]["mayHaveRun"]) == (200, True)
            assert await echoed(web, two, "taken over") == "taken over"
        finally:
            os.kill(processes.one.pid, signal.SIGCONT)
        await processes.know_each_other()

        async def has_none() -> bool:
            return not (await processes.status(processes.one))["clients"]

        async with asyncio.timeout(30):
            await until(has_none)
        assert await echoed(web, one, "passed on") == "passed on"
        assert await processes.count(processes.one, "takeovers_total") == 0


async def test_clients_of_2026_07_28_are_served_by_any_replica(processes: Processes) -> None:
    for replica in (processes.one, processes.two):
        target = mcplens.connect(
            f"{replica.origin}/mcp", headers=AUTHORIZATION, protocol_version=NEW
        )
        async with asyncio.timeout(60), target as client:
            result = await client.call_tool("demo__echo", {"text": replica.name})
            assert result.content[0].text == replica.name
