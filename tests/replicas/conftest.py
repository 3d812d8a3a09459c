"""Stores of both drivers, for tests that must hold over each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mcplens.clock import SystemClock
from mcplens.replicas.memory_store import MemoryStore
from mcplens.replicas.redis_store import RedisStore
from mcplens.replicas.state_store import StateStore
from tests.replicas.redis_server import RedisServer, redis_server


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    """A redis-server that a test may stop, pause and fill."""
    async with redis_server(tmp_path) as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[StateStore]:
    """A store of each driver."""
    async with AsyncExitStack() as stack:
        found: StateStore = MemoryStore(SystemClock())
        if request.param == "redis":
            server = await stack.enter_async_context(redis_server(tmp_path))
            found = RedisStore(server.settings(), SystemClock())
        await found.open()
        stack.push_async_callback(found.close)
        yield found
