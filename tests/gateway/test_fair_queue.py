"""Calls beyond what a server takes at once wait, the clients in turn, bounded in every way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mcplens.clock import ManualClock
from mcplens.config.views import GatewaySettings, Limits
from mcplens.errors import ServerError
from mcplens.events import Event, FrameSent, InboundAnswered, InboundReceived
from mcplens.gateway import server_places
from mcplens.gateway.fair_queue import FairQueue
from mcplens.protocol.frames import Frame
from mcplens.session.client import Client

from .harness import NEW, OLD, PATIENCE_S, STDIO_DEMO, RunningGateway, running_gateway, texts


def queue_of(waiting: str) -> FairQueue[str]:
    """A queue of items such as `a1`, whose first letter is their client."""
    queue: FairQueue[str] = FairQueue()
    for item in waiting.split():
        queue.add(item[0], item)
    return queue


def taken(queue: FairQueue[str]) -> str:
    found = []
    while (item := queue.take()) is not None:
        found.append(item)
    return " ".join(found)


def test_clients_are_served_in_turn_and_each_in_its_own_order() -> None:
    assert taken(queue_of("a1 a2 a3 b1 c1 c2")) == "a1 b1 c1 a2 c2 a3"


def test_a_client_that_comes_back_does_not_jump_the_queue() -> None:
    queue = queue_of("a1 b1 b2")
    assert queue.take() == "a1"
    queue.add("a", "a2")
    assert taken(queue) == "b1 a2 b2"


def test_what_no_longer_waits_is_not_served() -> None:
    queue = queue_of("a1 b1 a2")
    assert queue.remove("a", "a1")
    assert not queue.remove("a", "a1")
    assert len(queue) == 2
    assert taken(queue) == "a2 b1"


def test_a_full_queue_makes_room_at_the_expense_of_the_client_with_the_most() -> None:
    queue = queue_of("a1 a2 a3 b1")
    assert queue.displace("c") == "a3"
    assert queue.displace("b") is None  # it would then have as many as the longest
    assert taken(queue) == "a1 b1 a2"


# -- at a gateway ---------------------------------------------------------------------------------


def only(**more: Any) -> dict[str, Any]:
    return {"demo": {**STDIO_DEMO, **more}}


def numbers(event: Event) -> str | None:
    """Which call of `add` was sent to the server: its argument `a`."""
    if isinstance(event, FrameSent) and isinstance(event.message, Frame):
        raw = event.message.raw
        if event.server_id == "demo" and b'"name":"add"' in raw:
            return raw.partition(b'"a":')[2].partition(b",")[0].decode()
    return None


async def seen(gateway: RunningGateway, is_it: Callable[[Event], bool]) -> None:
    async for event in gateway.bus.subscribe(0):
        if is_it(event):
            return


def is_waiting_call(event: Event) -> bool:
    return isinstance(event, FrameSent) and b'"name":"wait"' in event.message.raw


async def add(client: Client, number: int) -> str:
    return texts(await client.call_tool("add", {"a": number, "b": 0}))


async def until_waiting(gateway: RunningGateway, count: int, *, refused: int = 0) -> None:
    """Until so many calls wait; each new one is an event before it waits."""
    received = 0
    async for event in gateway.bus.subscribe(0):
        received += isinstance(event, InboundReceived) and event.method == "tools/call"
        if received > count + refused:  # the first one has the place
            break
    await ManualClock.settle()
    places = gateway.gateway.call_limits.places_of("demo")
    assert places is not None
    assert len(places.queue) == count


@pytest.mark.parametrize(("version", "is_own"), [(OLD, True), (NEW, False)])
async def test_a_client_with_one_call_does_not_wait_for_all_calls_of_another(
    version: str, is_own: bool
) -> None:
    servers = only(maxConcurrency=1) if is_own else only()
    settings = GatewaySettings(limits=Limits() if is_own else Limits(calls_per_server=1))
    options: dict[str, Any] = {"concurrency": 20, "protocol_version": version}
    async with (
        running_gateway(servers, settings=settings) as gateway,
        gateway.connect(**options, client_info={"name": "greedy", "version": "1"}) as greedy,
        gateway.connect(**options, client_info={"name": "polite", "version": "1"}) as polite,
        asyncio.timeout(PATIENCE_S),
    ):
        blocking = asyncio.ensure_future(greedy.call_tool("wait", {"seconds": 600}))
        await seen(gateway, is_waiting_call)
        calls = [asyncio.ensure_future(add(greedy, number)) for number in range(5)]
        await until_waiting(gateway, 5)
        calls.append(asyncio.ensure_future(add(polite, 100)))
        await until_waiting(gateway, 6)
        blocking.cancel()
        assert await asyncio.gather(*calls)
        order = [found for event in gateway.bus.kept() if (found := numbers(event))]
        assert order[1] == "100"
        assert len(order) == 6


async def test_a_call_that_waits_ends_when_its_time_is_up_and_says_where_it_was() -> None:
    async with (
        running_gateway(only(maxConcurrency=1)) as gateway,
        gateway.connect(concurrency=9) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        blocking = asyncio.ensure_future(client.call_tool("wait", {"seconds": 600}))
        await seen(gateway, is_waiting_call)
        gateway.gateway.servers.update_call_timeout(0.05)
        with pytest.raises(ServerError) as told:
            await add(client, 1)
        assert told.value.rpc_message.startswith(
            "demo: tools/call ended after 0.05 s (limit 0.05 s), while it waited in the queue: "
            "1 other call is under way, and demo takes 1 at a time"
        )
        blocking.cancel()


async def test_a_client_has_so_many_calls_waiting_and_no_more() -> None:
    settings = GatewaySettings(limits=Limits(calls_per_server=1, waiting_calls=2))
    async with (
        running_gateway(only(), settings=settings) as gateway,
        gateway.connect(protocol_version=OLD, concurrency=9) as client,
        gateway.connect(protocol_version=OLD) as other,
        asyncio.timeout(PATIENCE_S),
    ):
        blocking = asyncio.ensure_future(client.call_tool("wait", {"seconds": 600}))
        await seen(gateway, is_waiting_call)
        calls = [asyncio.ensure_future(add(client, number)) for number in range(2)]
        await until_waiting(gateway, 2)
        with pytest.raises(ServerError, match=r"2 calls of this client wait for demo") as told:
            await add(client, 3)
        assert told.value.rpc_code == server_places.TOO_MANY_CALLS
        calls.append(asyncio.ensure_future(add(other, 4)))
        await until_waiting(gateway, 3, refused=1)
        blocking.cancel()
        await asyncio.gather(*calls)


async def test_a_call_that_is_cancelled_while_it_waits_is_never_sent() -> None:
    async with (
        running_gateway(only(maxConcurrency=1)) as gateway,
        gateway.connect(concurrency=9) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        blocking = asyncio.ensure_future(client.call_tool("wait", {"seconds": 600}))
        await seen(gateway, is_waiting_call)
        given_up = asyncio.ensure_future(add(client, 1))
        await until_waiting(gateway, 1)
        given_up.cancel()
        await seen(gateway, lambda event: isinstance(event, InboundAnswered) and _is_end(event))
        blocking.cancel()
        await add(client, 2)
        assert [found for event in gateway.bus.kept() if (found := numbers(event))] == ["2"]
        places = gateway.gateway.call_limits.places_of("demo")
        assert places is not None
        assert (places.running, len(places.queue)) == (0, 0)


def _is_end(event: InboundAnswered) -> bool:
    return event.outcome == "cancelled"


async def test_the_answer_to_a_server_that_asks_waits_for_no_place() -> None:
    """A suspended call holds the server's only place downstream: its answer must get through."""
    async with (
        running_gateway(only(maxConcurrency=1, protocolVersion=OLD)) as gateway,
        gateway.connect(protocol_version=NEW, elicitation=_accept, concurrency=9) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        first = asyncio.ensure_future(client.call_tool("elicit-form", {"form": "name"}))
        second = asyncio.ensure_future(add(client, 1))
        await first
        assert await second


def _accept(_request: Any) -> dict[str, Any]:
    return {"action": "decline"}


async def test_a_higher_limit_lets_those_who_wait_go_on() -> None:
    settings = GatewaySettings(limits=Limits(calls_per_server=1))
    async with (
        running_gateway(only(), settings=settings) as gateway,
        gateway.connect(concurrency=9) as client,
        asyncio.timeout(PATIENCE_S),
    ):
        blocking = asyncio.ensure_future(client.call_tool("wait", {"seconds": 600}))
        await seen(gateway, is_waiting_call)
        waiting = asyncio.ensure_future(add(client, 1))
        await until_waiting(gateway, 1)
        gateway.gateway.use_settings((), GatewaySettings(limits=Limits(calls_per_server=2)))
        await waiting
        blocking.cancel()
