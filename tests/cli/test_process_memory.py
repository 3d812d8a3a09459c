"""A process that runs for weeks returns what a burst of calls needed."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import weakref
from contextlib import suppress
from pathlib import Path

import pytest

from mcplens.bus import Bus
from mcplens.cli.process_memory import RETURN_EVERY_S, return_memory
from mcplens.clock import ManualClock
from tests.store.samples import publish_frames


class Cycle:
    """Garbage that only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def _passed(*, events: int, is_quiet: bool) -> None:
    """One interval of a process in which so many events were published."""
    clock = ManualClock()
    bus = Bus(clock)
    work = asyncio.create_task(return_memory(bus, clock, lambda: is_quiet))
    await clock.settle()
    publish_frames(bus, events)
    await clock.advance(RETURN_EVERY_S)
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work


@pytest.mark.parametrize(
    ("events", "is_quiet", "is_collected"),
    [(1_000, True, True), (1_000, False, False), (10, True, False)],
    ids=["after calls", "while calls run", "idle"],
)
async def test_garbage_is_collected_after_calls_and_not_while_they_run(
    events: int, is_quiet: bool, is_collected: bool
) -> None:
    gc.disable()
    try:
        found = weakref.ref(Cycle())
        await _passed(events=events, is_quiet=is_quiet)
        assert (found() is None) is is_collected
    finally:
        gc.enable()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_freed_memory_below_the_newest_block_is_returned() -> None:
    blocks = [bytes(100_000) + b"x" for _ in range(600)]
    full = _resident_bytes()
    del blocks[:-1]
    await _passed(events=1_000, is_quiet=False)
    assert _resident_bytes() < full - 40_000_000
    assert len(blocks) == 1
