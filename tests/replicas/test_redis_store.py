"""A Redis that is slow, full, restarted, gone or of a newer version."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mcplens.clock import SystemClock
from mcplens.config.replica_settings import StoreSettings
from mcplens.errors import ConfigurationError, StoreUnavailable
from mcplens.replicas import opening
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.redis_store import RedisStore
from mcplens.replicas.state_store import StoreState
from tests.cli.tls import issued
from tests.ports import held_port
from tests.replicas.redis_server import RedisServer, becomes, redis_server, redis_store

LONG_S = 60.0


async def test_a_store_that_is_gone_fails_at_once_and_comes_back_by_itself(
    redis: RedisServer,
) -> None:
    async with redis_store(redis) as store:
        states: list[StoreState] = []
        store.listen_to_state(states.append)
        await store.put("a", b"1", LONG_S)
        await redis.kill()
        with pytest.raises(StoreUnavailable) as lost:
            await store.get("a")
        assert lost.value.code == "STORE_UNAVAILABLE"
        assert f"redis://127.0.0.1:{redis.port}" in lost.value.message
        assert store.state.status == "down"
        with pytest.raises(StoreUnavailable):
            await store.put("a", b"2", LONG_S)
        await redis.start()
        await becomes(store, "up")
        assert await store.get("a") is None  # it was restarted without its data
        assert await store.compare_and_set("a", None, b"3", LONG_S)  # scripts are loaded again
        assert [state.status for state in states if not state.reason] == ["up"]


async def test_however_many_operations_are_under_way_few_connections_are_open(
    redis: RedisServer,
) -> None:
    async with redis_store(redis) as store:
        await asyncio.gather(*(store.put(f"a{number}", b"1", LONG_S) for number in range(300)))
        clients = (await redis.command("CLIENT", "LIST")).split(b" addr=")[1:]
        assert 1 < len(clients) <= 16 + 2  # one listens, one is that of this very question


async def test_subscribers_are_told_that_they_may_have_missed_something(
    redis: RedisServer,
) -> None:
    async with redis_store(redis) as store:
        heard: asyncio.Queue[bytes | None] = asyncio.Queue()
        store.subscribe("wake", heard.put_nowait)
        async with asyncio.timeout(20):
            while await heard.get() is not None:
                pass
            await redis.kill()
            await redis.start()
            while await heard.get() is not None:
                pass
            await becomes(store, "up")
            await store.publish("wake", b"again")
            assert await heard.get() == b"again"


async def test_a_store_that_hangs_costs_its_time_limit_once(redis: RedisServer) -> None:
    store = RedisStore(redis.settings(timeout_s=0.2), SystemClock())
    await store.open()
    try:
        redis.pause()
        with pytest.raises(StoreUnavailable, match=r"no answer within 0\.2 s"):
            await store.get("a")
        started = asyncio.get_running_loop().time()
        for _ in range(10):
            with pytest.raises(StoreUnavailable):
                await store.get("a")
        assert asyncio.get_running_loop().time() - started < 0.2  # it was not asked again
        redis.resume()
        await becomes(store, "up")
        assert await store.get("a") is None
    finally:
        await store.close()


async def test_a_store_that_is_full_still_answers_what_only_reads(tmp_path: Path) -> None:
    async with redis_server(tmp_path) as redis, redis_store(redis) as store:
        await store.put("kept", b"1", LONG_S)
        await redis.command("CONFIG", "SET", "maxmemory", "1")
        with pytest.raises(StoreUnavailable, match="takes no more data"):
            await store.put("more", b"2", LONG_S)
        with pytest.raises(StoreUnavailable, match="takes no more data"):
            await store.append("log", [b"x"], most=1, most_bytes=9, ttl_s=LONG_S)
        assert await store.get("kept") == b"1"
        await becomes(store, "full")  # still: a read tells nothing about room
        await redis.command("CONFIG", "SET", "maxmemory", "0")
        await store.put("more", b"2", LONG_S)
        await becomes(store, "up")


async def test_a_store_that_is_not_there_yet_is_down_until_it_is(redis: RedisServer) -> None:
    await redis.kill()
    async with redis_store(redis) as store:
        assert store.state.status == "down"
        await redis.start()
        await becomes(store, "up")
        await store.put("a", b"1", LONG_S)


async def test_keys_expire_and_those_of_a_newer_version_are_left_alone(redis: RedisServer) -> None:
    async with redis_store(redis) as store:
        await redis.command("SET", "mcplens:v2:owner", "newer")
        await redis.command("HSET", "mcplens:v2:group:replicas", "new", "value")
        assert await store.get("owner") is None
        assert await store.members("replicas") == {}
        assert await store.compare_and_set("owner", None, b"ours", LONG_S)
        await store.join("replicas", "old", b"ours", LONG_S)
        await store.append("log", [b"x"], most=1, most_bytes=9, ttl_s=LONG_S)
        await store.take_tokens("bucket", per_second=1, burst=1)
        await store.take_place("places", "one", most=1, ttl_s=LONG_S)
        await store.delete("owner")
        assert b"newer" in await redis.command("GET", "mcplens:v2:owner")
        keys = [name for name in (await redis.command("KEYS", "*")).decode().split() if ":" in name]
        assert len(keys) == 7
        for key in keys:
            forever = key.startswith("mcplens:v2:")
            assert (await redis.command("TTL", key) == b":-1\r\n") == forever, key


async def test_a_store_wants_its_password(tmp_path: Path) -> None:
    async with redis_server(tmp_path, "--requirepass", "secret-of-the-store") as redis:
        stranger = RedisStore(redis.settings(), SystemClock())
        await stranger.open()
        assert stranger.state.status == "down"
        assert "refused the sign-in" in stranger.state.reason
        await stranger.close()
        store = RedisStore(redis.settings(password="secret-of-the-store"), SystemClock())
        await store.open()
        await store.put("a", b"1", LONG_S)
        assert "secret" not in repr(store) + store.name
        await store.close()


def test_the_driver_is_chosen_by_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SystemClock()
    redis = StoreSettings(url="redis://127.0.0.1:1")
    assert isinstance(opening.make_store(None, clock), MemoryStore)
    assert isinstance(opening.make_store(StoreSettings(url="memory"), clock), MemoryStore)
    assert isinstance(opening.make_store(redis, clock), RedisStore)
    import sys

    for name in [name for name in sys.modules if name.partition(".")[0] == "redis"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "mcplens.replicas.redis_store")
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(ConfigurationError, match=r"install mcplens\[redis\]"):
        opening.make_store(redis, clock)


async def test_a_task_that_is_cancelled_at_any_step_of_an_operation_ends(
    redis: RedisServer,
) -> None:
    async with redis_store(redis) as store, asyncio.timeout(20):
        for steps in range(15):

            async def work() -> None:
                await store.get("a")
                await asyncio.get_running_loop().create_future()

            task = asyncio.ensure_future(work())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])


async def test_a_store_by_tls_is_trusted_by_its_authority(tmp_path: Path) -> None:
    authority, own = issued(tmp_path, "localhost")
    with held_port() as secure:
        words = {"tls-port": str(secure), "tls-cert-file": str(own), "tls-key-file": str(own)}
        words |= {"tls-ca-cert-file": str(authority), "tls-auth-clients": "no"}
        options = [part for name, value in words.items() for part in (f"--{name}", value)]
        async with redis_server(tmp_path, *options):
            url = f"rediss://localhost:{secure}"
            stranger = RedisStore(StoreSettings(url=url), SystemClock())
            await stranger.open()
            assert stranger.state.status == "down"
            assert "certificate" in stranger.state.reason.lower()
            await stranger.close()
            store = RedisStore(StoreSettings(url=url, ca_file=str(authority)), SystemClock())
            await store.open()
            await store.put("a", b"1", LONG_S)
            assert await store.get("a") == b"1"
            await store.close()
