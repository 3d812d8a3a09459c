"""Sessions while their store is slow, full or was told lies, with a real redis-server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
import pytest

from mcplens.clock import SystemClock
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.replicas.owned_ids import key_of
from mcplens.replicas.redis_store import RedisStore
from mcplens.replicas.replica import GROUP, PRESENCE_S, Replica
from tests.gateway.harness import RunningGateway, http_demo, running_gateway
from tests.replicas.choosing_client import Web
from tests.replicas.redis_server import RedisServer, becomes

KEY = "k" * 32


class Gateways:
    """Three gateways of this process, each with its own connection to one store."""

    def __init__(self, each: list[RunningGateway], redis: RedisServer) -> None:
        self.one, self.two, self.three = each
        self.redis = redis

    async def written(self) -> None:
        for each in (self.one, self.two, self.three):
            assert each.gateway.shared_sessions is not None
            await each.gateway.shared_sessions.writer.flush()

    async def taken_over(self, web: Web) -> None:
        """A session whose id names a replica that is gone: the third one has to ask the store."""
        await web.begin(self.one)
        await self.written()
        replica = self.one.gateway.replica
        await replica._work.end()  # as after SIGKILL
        await self.two.gateway.replica.store.leave(GROUP, replica.id)
        for each in (self.two, self.three):
            each.gateway.replica._recovering_until = -1.0
            await each.gateway.replica.look()
        assert (await web.ask(self.two, "ping"))[0] == 200


@pytest.fixture
async def gateways(redis: RedisServer) -> AsyncIterator[Gateways]:
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(http_demo())
        found = []
        for name in ("one", "two", "three"):
            store = RedisStore(redis.settings(timeout_s=0.5), clock)
            replica = Replica(store, clock, name=name, keys=(KEY,))
            running = running_gateway({"demo": {"url": url}}, replica=replica)
            found.append(await stack.enter_async_context(running))
        for each in found:
            await each.gateway.replica.look()
        yield Gateways(found, redis)


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with aiohttp.ClientSession() as http:
        yield Web(http)


async def test_while_the_store_hangs_sessions_go_on_where_they_are_known(
    gateways: Gateways, web: Web
) -> None:
    await gateways.taken_over(web)
    gateways.redis.pause()
    try:
        assert (await web.call(gateways.two, "echo", text="here"))[0] == 200
        status, answer = await web.call(gateways.three, "echo", text="where is it")
        assert status == 503
        assert "the shared store (redis://127.0.0.1" in answer["error"]["message"]
        assert "nothing was begun" in answer["error"]["message"]
        fresh = Web(web.http)
        await fresh.begin(gateways.two)
        assert (await fresh.call(gateways.three, "echo", text="by its id"))[0] == 200
    finally:
        gateways.redis.resume()
    await becomes(gateways.three.gateway.replica.store, "up")
    assert (await web.call(gateways.three, "echo", text="found"))[0] == 200


async def test_while_the_store_is_full_sessions_are_served_and_written_when_there_is_room(
    gateways: Gateways, web: Web
) -> None:
    await gateways.redis.command("CONFIG", "SET", "maxmemory", "1")
    await web.begin(gateways.one)
    store = gateways.one.gateway.replica.store
    await becomes(store, "full")
    for each in (gateways.one, gateways.two):
        assert (await web.call(each, "echo", text="served"))[0] == 200
    assert await store.get(f"facts:{key_of(web.session_id)}") is None
    await gateways.redis.command("CONFIG", "SET", "maxmemory", "0")
    await gateways.one.gateway.replica._beat()  # a write that succeeds tells of the room
    await gateways.written()
    assert await store.get(f"facts:{key_of(web.session_id)}") is not None


async def test_forged_owners_and_presences_in_the_store_lead_nowhere(
    gateways: Gateways, web: Web, tmp_path: Path
) -> None:
    await gateways.taken_over(web)
    third = gateways.three.gateway
    third.audit_log = AuditLog(tmp_path / "audit.jsonl")
    contacted = asyncio.Event()
    trap = await asyncio.start_server(lambda _reader, _writer: contacted.set(), "127.0.0.1", 0)
    forged, port = "f" * 16, trap.sockets[0].getsockname()[1]
    # Who can write into the store alone names a replica of its own as the owner.
    presence = f'x {{"id":"{forged}","name":"trap","address":"http://127.0.0.1:{port}"}}'
    await third.replica.store.join(GROUP, forged, presence.encode(), PRESENCE_S)
    await third.replica.store.put(f"owner:{key_of(web.session_id)}", forged.encode(), 60)
    status, answer = await web.call(gateways.three, "echo", text="mine")
    assert (status, answer["result"]["content"][0]["text"]) == (200, "mine")
    assert not contacted.is_set()
    third.audit_log.flush()
    reasons = [line.get("reason", "") for line in tail(third.audit_log.path, 20)]
    assert any(f"no key of ours signed: {forged}" in reason for reason in reasons), reasons
    trap.close()
