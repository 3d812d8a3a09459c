"""The stream of events for the sockets of all pages: encoded once, kept in one bounded ring.

A socket has a position in the ring, and reads on when its browser has taken what was sent before.
One that falls behind the ring is told what it missed; nothing waits for it. Without an open page
nothing is encoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Final

import msgspec

from mcplens.bus import Bus
from mcplens.downstream.bus_reader import BusReader
from mcplens.events import Event
from mcplens.web.event_rows import EventEncoder

# How far a browser may fall behind before it misses events: as many as a page keeps, or the size of
# 160,000 short ones.
MOST_EVENTS: Final = 200_000
MOST_BYTES: Final = 64 * 1024 * 1024
# Largest message to the page: fast to parse, so that typing stays smooth.
BATCH_EVENTS: Final = 1_000
BATCH_BYTES: Final = 512 * 1024


class FeedBatch(msgspec.Struct, frozen=True):
    """The next events for a reader, or (`is_missed`) the range of those that are gone."""

    first_seq: int
    last_seq: int
    events: list[msgspec.Raw]

    @property
    def is_missed(self) -> bool:
        return not self.events


class Feed:
    """The newest events as JSON, as many as fit."""

    def __init__(self, bus: Bus, reader: BusReader) -> None:
        self._bus = bus
        self._reader = reader
        self._encoder = EventEncoder(bus.run_id)
        self._ring: deque[tuple[int, bytes]] = deque()
        self._bytes = 0
        self._last_seq = 0
        self._wakers: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<Feed at {self._last_seq}, {len(self._ring)} events, {len(self._wakers)} readers>"

    def join(self, wake: Callable[[], None], after_seq: int) -> None:
        """Call `wake` whenever there are events after this position."""
        if not self._wakers:
            self._take(self._bus.since(max(self._last_seq, after_seq)), 0)
            self._reader.add(self._take)
        self._wakers.append(wake)

    def leave(self, wake: Callable[[], None]) -> None:
        self._wakers.remove(wake)
        if not self._wakers:
            self._reader.remove(self._take)

    def _take(self, batch: list[Event], _missed: int) -> None:
        batch = [event for event in batch if event.seq > self._last_seq]
        if not batch:
            return
        if batch[0].seq != self._last_seq + 1:
            # The ring must be gapless; events before a gap are read from the recording.
            self._ring.clear()
            self._bytes = 0
        for event, data in zip(batch, self._encoder.encode(batch), strict=True):
            self._ring.append((event.seq, data))
            self._bytes += len(data)
        self._last_seq = batch[-1].seq
        while len(self._ring) > MOST_EVENTS or self._bytes > MOST_BYTES:
            self._bytes -= len(self._ring.popleft()[1])
        for wake in list(self._wakers):
            wake()

    def after(self, seq: int) -> FeedBatch | None:
        """The next events after this position; None if there are none yet."""
        if seq >= self._last_seq or not self._ring:
            return None
        ring = self._ring
        oldest = ring[0][0]
        if seq + 1 < oldest:
            return FeedBatch(seq + 1, oldest - 1, [])
        events: list[msgspec.Raw] = []
        size = 0
        for _, data in islice(ring, seq + 1 - oldest, None):
            events.append(msgspec.Raw(data))
            size += len(data)
            if len(events) >= BATCH_EVENTS or size >= BATCH_BYTES:
                break
        return FeedBatch(seq + 1, seq + len(events), events)
