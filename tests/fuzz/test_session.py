"""Mutated frames through whole sessions, with requests waiting: none is lost, each request ends."""

from __future__ import annotations

import asyncio
import faulthandler
from typing import Any

import pytest

from mcplens.bus import Bus, Publish
from mcplens.clock import ManualClock
from mcplens.errors import InspectorError
from mcplens.events import Event, FrameReceived
from mcplens.session.handshake import forget_revisions
from tests.session.scripted import SILENT, Rig, ScriptedServer, text

from .mutator import Mutator

VERSIONS = ["2025-11-25", "2025-03-26", "2026-07-28", "auto"]
FRAMES_PER_SESSION = 1_000
# A few at a time, so that there are always requests which wait.
FRAMES_PER_BREATH = 25
WAITING = 6


class CountingBus(Bus):
    """Counts the frames that were shown, beyond what the ring keeps."""

    received = 0

    def publish_as(self, server_id: str) -> Publish:
        publish = super().publish_as(server_id)

        def publish_and_count(event: Event, size_bytes: int) -> int:
            self.received += isinstance(event, FrameReceived)
            return publish(event, size_bytes)

        return publish_and_count


class CountingServer(ScriptedServer):
    """Counts what it sends."""

    count = 0

    def send(self, data: bytes) -> None:
        self.count += 1
        super().send(data)


async def _sit_through(mutator: Mutator, version: str, frames: int) -> None:
    """One session: several requests wait while these frames come."""
    server = CountingServer({"tools/call": SILENT}, is_stateless=version == "2026-07-28")
    clock = ManualClock()
    bus = CountingBus(clock)
    rig = Rig(
        server,
        protocol_version=version,
        concurrency=4,
        config={"ping_interval_s": 0.0},
        handlers={"elicitation/create": lambda request: {"action": "cancel"}},
        bus=bus,
        clock=clock,
    )
    async with rig:
        await rig.client.list_tools()
        raw = b'{"jsonrpc":"2.0","id":"1","method":"tools/call"}'
        waiting: list[asyncio.Task[Any]] = [await rig.started(rig.client.send_raw(raw))]
        for _ in range(frames // FRAMES_PER_BREATH):
            while sum(not task.done() for task in waiting) < WAITING:
                waiting.append(rig.go(rig.client.call_tool("slow")))
            await rig.settle()
            ids = [i for i in rig.client.connection.correlation.waiting if isinstance(i, int)]
            for data in mutator.frames(FRAMES_PER_BREATH, ids):
                server.send(data)
            await rig.advance(0.3)
        assert bus.received == server.count, "a frame was lost"
        # Whatever is left ends by its timeout, and what was queued behind it by its own.
        await rig.advance(2 * 300 + 1)
        await asyncio.gather(*waiting, return_exceptions=True)
        for task in waiting:
            error = task.exception()
            assert error is None or isinstance(error, InspectorError), repr(error)
        assert rig.state == "CONNECTED"
        server.answers["tools/call"] = text("alive")
        assert (await rig.client.call_tool("last")).content[0].text == "alive"
        assert bus.received == server.count, "a frame was lost"


async def _fuzz(seed: int, frames: int) -> None:
    mutator = Mutator(seed)
    for session in range(frames // FRAMES_PER_SESSION):
        forget_revisions()
        await _sit_through(mutator, VERSIONS[session % len(VERSIONS)], FRAMES_PER_SESSION)


async def test_20000_mutated_frames_lose_nothing_and_hang_nobody() -> None:
    await _fuzz(seed=3, frames=20_000)


@pytest.mark.soak
@pytest.mark.timeout(1_800)
async def test_1000000_mutated_frames_lose_nothing_and_hang_nobody() -> None:
    faulthandler.cancel_dump_traceback_later()  # it takes minutes by design
    await _fuzz(seed=4, frames=1_000_000)
