"""What the demo does by the clock, in no time at all."""

from __future__ import annotations

import asyncio

import pytest

from mcplens.clock import ManualClock
from mcplens.events import ResourceRefreshed

from .doors import HANDSHAKE, STATELESS, heard, in_memory, text_of


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_the_ticker_ticks_every_second_while_somebody_listens(revision: str) -> None:
    clock = ManualClock()
    async with in_memory(clock, revision) as (client, demo):
        await clock.advance(5)
        assert demo.subscribers.ticks == 0
        await client.subscribe("demo://ticker")
        await clock.advance(3)
        assert demo.subscribers.ticks == 3
        await heard(
            client,
            ResourceRefreshed,
            lambda _: client.catalog.resources["demo://ticker"].contents[0].text == "tick 3",
        )
        await client.unsubscribe("demo://ticker")
        await clock.settle()
        await clock.advance(5)
        assert demo.subscribers.ticks == 3
        await client.subscribe("demo://ticker")
        await clock.settle()
        await clock.advance(1)
        assert demo.subscribers.ticks == 4


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
async def test_steps_take_the_time_that_was_asked_for(revision: str) -> None:
    clock = ManualClock()
    async with in_memory(clock, revision) as (client, _):
        seen: list[float] = []
        await client.list_tools()
        calling = asyncio.ensure_future(
            client.call_tool(
                "progress-steps",
                {"steps": 3, "seconds": 10},
                on_progress=lambda report: seen.append(clock.monotonic()),
            )
        )
        await clock.settle()
        started = clock.monotonic()
        for _ in range(3):
            await clock.advance(10)
        assert text_of(await calling) == "3 steps are done"
        assert [when - started for when in seen] == [10, 20, 30]


async def test_a_client_that_leaves_takes_its_work_and_its_tasks_with_it() -> None:
    clock = ManualClock()
    async with in_memory(clock) as (client, demo):
        calling = asyncio.ensure_future(client.call_tool("wait", {"seconds": 60}))
        params = {"name": "task-report", "arguments": {}, "task": {}}
        await client.request("tools/call", params)
        assert len(demo.tasks.known) == 1
        await client.disconnect()
        await asyncio.gather(calling, return_exceptions=True)
        await clock.settle()
        assert demo.clients == {}
        assert demo.tasks.known == {}
        assert clock.timer_count == 0
