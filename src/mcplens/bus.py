"""The event bus: publishes events to readers that never block a publisher.

All readers share one bounded ring, and each has a position in it. A reader that falls behind the
ring gets an event that says what it missed. A reader resumes by (run_id, seq). The ring of a bus
that may stay unread is small until the first reader comes. The bus also allocates the ids that are
unique within a run.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from itertools import count, islice
from os import urandom
from typing import Final

from msgspec.structs import force_setattr

from mcplens.clock import Clock
from mcplens.events import Event, EventsMissed

# A few seconds of a server that floods us, or hours of an ordinary one.
DEFAULT_MAX_EVENTS: Final = 20_000
# One largest message (64 MiB) always fits.
DEFAULT_MAX_BYTES: Final = 96 * 1024 * 1024
# What is kept while nobody reads: enough to see what went wrong, in a program of many clients.
UNREAD_MAX_EVENTS: Final = 300
UNREAD_MAX_BYTES: Final = 1024 * 1024

# Publishes one event with the size of its bytes, and returns its seq.
Publish = Callable[[Event, int], int]


class Bus:
    """The stream of events of one run."""

    def __init__(
        self,
        clock: Clock,
        *,
        max_events: int = DEFAULT_MAX_EVENTS,
        max_bytes: int = DEFAULT_MAX_BYTES,
        is_unread: bool = False,
    ) -> None:
        self.run_id = urandom(8).hex()
        self._wall, self._monotonic, self._sleep = clock.wall, clock.monotonic, clock.sleep
        self._limits_when_read = max_events, max_bytes
        self._is_unread = is_unread  # nobody has asked for events so far
        if is_unread:
            max_events, max_bytes = UNREAD_MAX_EVENTS, UNREAD_MAX_BYTES
        self._max_bytes = max_bytes
        self._ring: deque[Event] = deque(maxlen=max_events)
        # Bytes published in all, and how many that were before each event in the ring.
        self._total_bytes = 0
        self._bytes_before: deque[int] = deque(maxlen=max_events)
        self._use_new_ring: list[Callable[[], None]] = []
        self._publishers: dict[str, Publish] = {}
        self._last_seq = 0
        self._exchange_ids = count(1)
        self._call_numbers = count(1)
        self._wakers: list[asyncio.Future[None]] = []
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<Bus {self.run_id} at {self._last_seq}, {len(self._ring)} events kept>"

    @property
    def last_seq(self) -> int:
        return self._last_seq

    def next_exchange_id(self) -> int:
        """A new id for an HTTP exchange, unique within this run."""
        return next(self._exchange_ids)

    def next_call_id(self) -> str:
        """A new id for an operation of a client, unique within this run."""
        return f"c{next(self._call_numbers)}"

    def publish_as(self, server_id: str) -> Publish:
        """The function that publishes the events of one server.

        It fills in the position of a new event and adds it to the ring. A call publishes four
        events, so this is a closure: what it needs is at hand.
        """
        run_id, wall, monotonic, fill_in = self.run_id, self._wall, self._monotonic, force_setattr
        ring, bytes_before = self._ring, self._bytes_before

        def publish(event: Event, size_bytes: int) -> int:
            seq = self._last_seq = self._last_seq + 1
            fill_in(event, "run_id", run_id)
            fill_in(event, "seq", seq)
            fill_in(event, "wall", wall())
            fill_in(event, "mono", monotonic())
            fill_in(event, "server_id", server_id)
            total_bytes = self._total_bytes
            ring.append(event)
            bytes_before.append(total_bytes)
            if size_bytes:
                self._total_bytes = total_bytes = total_bytes + size_bytes
                if total_bytes - bytes_before[0] > self._max_bytes:
                    self._shrink()
            if self._wakers:
                self._wake()
            return seq

        def use_new_ring() -> None:
            nonlocal ring, bytes_before
            ring, bytes_before = self._ring, self._bytes_before

        if self._is_unread:
            self._use_new_ring.append(use_new_ring)
        return publish

    def expect_readers(self) -> None:
        """Keep as much as readers need, from now on; subscribing does this too."""
        if not self._is_unread:
            return
        self._is_unread = False
        max_events, self._max_bytes = self._limits_when_read
        self._ring = deque(self._ring, max_events)
        self._bytes_before = deque(self._bytes_before, max_events)
        for use_new_ring in self._use_new_ring:
            use_new_ring()
        self._use_new_ring.clear()

    def publish(self, event: Event, server_id: str, size_bytes: int = 0) -> int:
        """Publish one event of a server; returns its seq."""
        publish = self._publishers.get(server_id)
        if publish is None:
            publish = self._publishers[server_id] = self.publish_as(server_id)
        return publish(event, size_bytes)

    def close(self) -> None:
        """End every reader after the events that are already published."""
        self._is_closed = True
        self._wake()

    def forget_before(self, mono: float) -> None:
        """Drop the events that were published before this time; who has not read them missed them.

        For programs that run for weeks: the ring is for readers that are a moment behind.
        """
        ring = self._ring
        while ring and ring[0].mono < mono:
            ring.popleft()
            self._bytes_before.popleft()

    async def forget_older_than(self, age_s: float) -> None:
        """Drop events as they get older than this, until cancelled."""
        while True:
            await self._sleep(age_s / 4)
            self.forget_before(self._monotonic() - age_s)

    def kept(self) -> list[Event]:
        """The events in the ring, oldest first."""
        return list(self._ring)

    def since(self, seq: int) -> list[Event]:
        """The events after `seq` that are still in the ring, oldest first; safe from any thread."""
        while True:
            try:
                # One call into C: nothing is published meanwhile.
                found = list(islice(reversed(self._ring), max(self._last_seq - seq, 0)))
                break
            except RuntimeError:  # except on an interpreter without a GIL
                continue
        found.reverse()
        # The newest event may have its seq, but not be in the ring yet.
        return found if not found or found[0].seq > seq else [e for e in found if e.seq > seq]

    def subscribe(self, after_seq: int | None = None) -> Subscription:
        """Read events after `after_seq`; by default those published from now on."""
        self.expect_readers()
        return Subscription(self, self._last_seq if after_seq is None else after_seq)

    def _shrink(self) -> None:
        # A reader gets the newest event, however large; without one it is not held.
        fewest = 0 if self._is_unread else 1
        ring, bytes_before = self._ring, self._bytes_before
        while len(ring) > fewest and self._total_bytes - bytes_before[0] > self._max_bytes:
            ring.popleft()
            bytes_before.popleft()

    def _wake(self) -> None:
        wakers, self._wakers = self._wakers, []
        for waker in wakers:
            if not waker.done():
                waker.set_result(None)

    def _after(self, seq: int) -> Event | None:
        """The next event after `seq`, or EventsMissed; None if there is none yet."""
        if seq >= self._last_seq:
            return None
        first = self._last_seq - len(self._ring) + 1
        if seq + 1 < first:
            return EventsMissed(
                run_id=self.run_id,
                seq=first - 1,
                wall=self._wall(),
                mono=self._monotonic(),
                first_seq=seq + 1,
                last_seq=first - 1,
            )
        return self._ring[seq + 1 - first]

    async def _more(self) -> bool:
        """Wait for the next event; False once the bus is closed."""
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
    """The position of one reader in the stream; iterate over it."""

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
    """The bus as the transport and session of one server use it.

    `publish` is what each message goes through: the function itself, without a call in between.
    """

    __slots__ = ("next_call_id", "next_exchange_id", "publish", "server_id")

    def __init__(self, bus: Bus, server_id: str) -> None:
        self.publish = bus.publish_as(server_id)
        self.next_call_id = bus.next_call_id
        self.next_exchange_id = bus.next_exchange_id
        self.server_id = server_id

    def __repr__(self) -> str:
        return f"<Publisher for {self.server_id}>"

    def __call__(self, event: Event, size_bytes: int = 0) -> int:
        """Publish an event of this server; returns its seq."""
        return self.publish(event, size_bytes)
