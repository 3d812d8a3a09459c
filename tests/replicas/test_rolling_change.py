"""Replicas are replaced one after the other under load: no call is lost that could finish."""

from __future__ import annotations

import asyncio
import itertools
import signal
from collections import Counter
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from mcplens.session.client import Client
from tests.gateway.harness import NEW, OLD
from tests.replicas.arrangement import Arrangement, arrangement, counting_server
from tests.replicas.redis_server import redis_server

PATIENCE_S = 120
CLIENTS = 6
# Longer than the balancer takes to notice, which looks every 0.1 s, also on a busy machine.
GATEWAY = {"noticeSeconds": 2, "drainSeconds": 20}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


class Load:
    """Clients that call on and on, one call after the other; `calls` were answered rightly."""

    def __init__(self) -> None:
        self.calls = 0
        self.under_way = asyncio.Event()
        self.ending = asyncio.Event()

    async def client(self, site: Arrangement, number: int) -> None:
        """Raises what it gets that is not its answer."""
        async with site.connect(protocol_version=OLD if number % 2 else NEW) as client:
            await self._call_on_and_on(client, number)

    async def _call_on_and_on(self, client: Client, number: int) -> None:
        for count in itertools.count():
            if self.ending.is_set():
                return
            key = f"{number}-{count}"
            seconds = 0.4 if count % 3 == 0 else 0  # so that some are under way at any time
            result = await client.call_tool("count__write", {"key": key, "seconds": seconds})
            assert (result.is_error, result.content[0].text) == (False, key)
            self.calls += 1
            if self.calls > CLIENTS:
                self.under_way.set()


async def test_replicas_are_replaced_under_load_and_no_call_is_lost(tmp_path: Path) -> None:
    log = tmp_path / "executions"
    servers = {"count": counting_server(log)}
    load = Load()
    async with (
        redis_server(tmp_path) as store,
        arrangement(tmp_path, servers, gateway=GATEWAY, store=store) as site,
        asyncio.timeout(PATIENCE_S),
        asyncio.TaskGroup() as group,
    ):
        for number in range(CLIENTS):
            group.create_task(load.client(site, number))
        await load.under_way.wait()
        for replica in site.replicas:
            before = load.calls
            assert await replica.end(signal.SIGTERM) == exit_codes.DONE
            assert load.calls > before
            await replica.start()
            await site.balancer.sees(replica.name)
        load.ending.set()
    assert load.calls > 10 * CLIENTS
    executed = Counter(log.read_text().split())
    assert set(executed.values()) == {1}
    assert len(executed) == load.calls
