"""Publishes events, and lets readers follow them without ever blocking a writer.

All readers share one bounded ring: a reader is a place in it. One that falls behind the ring's end
is told which events it missed. A reader resumes by (run_id, seq).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from itertools import islice
from os import urandom
from typing import Any, Final

from mcplens.clock import Clock
from mcplens.events import Event, EventsMissed

# A few seconds of a flooding server, or hours of an ordinary one.
DEFAULT_MAX_EVENTS: Final = 20_000
# One largest message (64 MiB) always fits.
DEFAULT_MAX_BYTES: Final = 96 * 1024 * 1024

# An event as it was published: kind, server_id, seq, wall, mono, its own fields, size_bytes. Most
# are never read, so the struct is made when somebody reads it.
Published = tuple[type[Event], str, int, float, float, tuple[Any, ...], int]


class Bus:
    """The stream of events of one run."""

    def __init__(
        self,
        clock: Clock,
        *,
        max_events: int = DEFAULT_MAX_EVENTS,
        max_bytes: int = DEFAULT_MAX_BYTES,
    ) -> None:
        self.run_id = urandom(8).hex()
        self._wall, self._monotonic = clock.wall, clock.monotonic
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._ring: deque[Published] = deque()
        self._bytes = 0
        self._last_seq = 0
        self._wakers: list[asyncio.Future[None]] = []
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<Bus {self.run_id} at {self._last_seq}, {len(self._ring)} events kept>"

    @property
    def last_seq(self) -> int:
        return self._last_seq

    def publish(self, kind: type[Event], server_id: str, size_bytes: int, *fields: Any) -> None:
        """Add an event; `size_bytes` is what its bytes weigh in the ring."""
        seq = self._last_seq = self._last_seq + 1
        ring = self._ring
        ring.append((kind, server_id, seq, self._wall(), self._monotonic(), fields, size_bytes))
        total = self._bytes + size_bytes
        if len(ring) > self._max_events:
            total -= ring.popleft()[-1]
        self._bytes = total
        if total > self._max_bytes:
            self._shrink()
        if self._wakers:
            self._wake()

    def close(self) -> None:
        """End every reader after what is already there."""
        self._is_closed = True
        self._wake()

    def kept(self) -> list[Event]:
        """What is in the ring now, oldest first."""
        return [self._event(published) for published in self._ring]

    def since(self, seq: int) -> list[Published]:
        """What came after `seq` and is still kept, oldest first; may be asked from any thread."""
        while True:
            try:
                # One call into C from end to end: nobody publishes meanwhile.
                found = list(islice(reversed(self._ring), max(self._last_seq - seq, 0)))
                break
            except RuntimeError:  # but on an interpreter without a lock somebody may
                continue
        found.reverse()
        # The newest may have its number, but not yet its place.
        return found if not found or found[0][2] > seq else [p for p in found if p[2] > seq]

    def subscribe(self, after_seq: int | None = None) -> Subscription:
        """Follow events from after `after_seq`; by default from now on."""
        return Subscription(self, self._last_seq if after_seq is None else after_seq)

    def _shrink(self) -> None:
        ring = self._ring
        while len(ring) > 1 and self._bytes > self._max_bytes:
            self._bytes -= ring.popleft()[-1]

    def _wake(self) -> None:
        wakers, self._wakers = self._wakers, []
        for waker in wakers:
            if not waker.done():
                waker.set_result(None)

    def _after(self, seq: int) -> Event | None:
        """The next event after `seq`, or word of what was missed, or None if there is none yet."""
        if seq >= self._last_seq:
            return None
        first = self._last_seq - len(self._ring) + 1
        if seq + 1 < first:
            return EventsMissed(
                self.run_id, first - 1, self._wall(), self._monotonic(), "", seq + 1, first - 1
            )
        return self._event(self._ring[seq + 1 - first])

    def _event(self, published: Published) -> Event:
        kind, server_id, seq, wall, mono, fields, _ = published
        return kind(self.run_id, seq, wall, mono, server_id, *fields)

    async def _more(self) -> bool:
        """Wait for another event; False once the bus is closed."""
        if self._is_closed:
            return False
        waker = asyncio.get_running_loop().create_future()
        self._wakers.append(waker)
        try:
            await waker
        finally:
            if waker in self._wakers:
                self._wakers.remove(waker)
        return True


class Subscription(AsyncIterator[Event]):
    """One reader's place in the stream; iterate over it."""

    def __init__(self, bus: Bus, after_seq: int) -> None:
        self._bus = bus
        self._seq = after_seq

    def __repr__(self) -> str:
        return f"<Subscription at {self._seq} of {self._bus.last_seq}>"

    async def __anext__(self) -> Event:
        while (event := self._bus._after(self._seq)) is None:
            if not await self._bus._more():
                raise StopAsyncIteration
        self._seq = event.seq
        return event


class Publisher:
    """A bus as one server's transport and session see it.

    What every call publishes goes by `put`, which is the bus's own `publish`: calling an object
    with a keyword costs as much as the event itself.
    """

    __slots__ = ("put", "server_id")

    def __init__(self, bus: Bus, server_id: str) -> None:
        self.put = bus.publish
        self.server_id = server_id

    def __repr__(self) -> str:
        return f"<Publisher for {self.server_id}>"

    def __call__(self, kind: type[Event], *fields: Any, size_bytes: int = 0) -> None:
        self.put(kind, self.server_id, size_bytes, *fields)
