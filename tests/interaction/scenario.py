"""What the tests of this folder share: which targets a scenario runs over, and how it waits."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

import mcplens
from mcplens.events import Event

from .targets import TARGETS, Target

# No scenario takes a tenth of this on an idle machine; two SDK servers start slowly on a busy one.
BOUND_S = 60

E = TypeVar("E", bound=Event)
T = TypeVar("T")
Test = Callable[..., Awaitable[None]]


def over(*features: str, where: Callable[[Target], bool] = lambda _: True) -> Callable[[Test], Any]:
    """Run a scenario over every target that has these features; a hang fails it."""
    targets = [target for target in TARGETS if all(map(target.has, features)) and where(target)]

    def mark(test: Test) -> Any:
        @functools.wraps(test)
        async def bounded(**fixtures: Any) -> None:
            async with asyncio.timeout(BOUND_S):
                await test(**fixtures)

        # Servers of others start slowly, or are npm packages.
        doors = [
            pytest.param(target, marks=() if target.server == "good" else pytest.mark.slow)
            for target in targets
        ]
        return pytest.mark.parametrize("door", doors, indirect=True, ids=str)(bounded)

    return mark


def offered(feature: T | None) -> T:
    """What a target offers, where `over` has left out those that do not."""
    assert feature is not None
    return feature


class Ear:
    """Hears what a client publishes, from now on or from the start."""

    def __init__(self, client: mcplens.Client, *, from_start: bool = False) -> None:
        self._client = client
        self._bus = client.bus
        self._start = 0 if from_start else self._bus.last_seq

    def __repr__(self) -> str:
        return f"<Ear from {self._start} on>"

    async def hear(self, kind: type[E], is_it: Callable[[E], Any] = lambda _: True) -> E:
        """The first event of this kind that is it; waits for one to come."""
        async for event in self._client.events(self._start):
            if isinstance(event, kind) and is_it(event):
                return event
        raise AssertionError(f"the bus was closed before a {kind.__name__} came")

    def heard(self, kind: type[E]) -> list[E]:
        """The events of this kind so far."""
        kept = [event for event in self._bus.kept() if event.seq > self._start]
        return [event for event in kept if isinstance(event, kind)]


def text_of(result: mcplens.ToolResult) -> str:
    """All text of a tool's result."""
    return "\n".join(block.text for block in result.content if block.text is not None)


async def seen_by(client: mcplens.Client) -> dict[str, Any]:
    """What the well-behaved server has received so far."""
    record: dict[str, Any] = json.loads(text_of(await client.call_tool("seen")))
    return record


async def until_seen(
    client: mcplens.Client, is_so: Callable[[dict[str, Any]], Any]
) -> dict[str, Any]:
    """Ask the server again and again: what we sent on another channel takes its own time."""
    while not is_so(record := await seen_by(client)):
        pass
    return record
