"""Outgoing messages to a client: bounded, in order, for one reader.

A SendQueue forgets messages once taken. A Stream keeps them for a while, so that a broken
connection can be resumed (Last-Event-ID of 2025-11-25); all streams of a session share one
ReplayBuffer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from mcplens.clock import Clock, Timer
from mcplens.inbound.limits import Limits


class Wakeup:
    """Wakes one reader."""

    def __init__(self) -> None:
        self._waiter: asyncio.Future[None] | None = None

    def wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def wait(self, clock: Clock | None = None, timeout_s: float | None = None) -> None:
        """Wait for `wake`, or for the timeout."""
        waiter = self._waiter = asyncio.get_running_loop().create_future()
        timer = None
        if clock is not None and timeout_s is not None:
            timer = clock.call_at(clock.monotonic() + timeout_s, self.wake)
        try:
            await waiter
        finally:
            if timer is not None:
                timer.cancel()


class SendQueue:
    """Unsent messages for a client. When they exceed the limit, `on_overrun` is called, once."""

    def __init__(self, limit_bytes: int, on_overrun: Callable[[], None]) -> None:
        self._limit = limit_bytes
        self._on_overrun = on_overrun
        self._messages: list[bytes] = []
        self._size = 0
        self._in_hand = 0  # bytes that the reader took and may still be sending
        self._is_finished = False
        self._wakeup = Wakeup()

    def __repr__(self) -> str:
        state = "finished" if self._is_finished else "open"
        return f"<SendQueue {state}, {self._size} bytes wait>"

    @property
    def size(self) -> int:
        """Bytes that are not sent yet."""
        return self._size + self._in_hand

    def put(self, data: bytes) -> None:
        if self._is_finished:
            return
        # One message always fits, however large.
        if self._size + self._in_hand and self._size + self._in_hand + len(data) > self._limit:
            self._is_finished = True
            self._messages.clear()
            self._wakeup.wake()
            self._on_overrun()
            return
        self._messages.append(data)
        self._size += len(data)
        self._wakeup.wake()

    def finish(self) -> None:
        """Mark the end: no more messages."""
        self._is_finished = True
        self._wakeup.wake()

    async def take(
        self, clock: Clock | None = None, timeout_s: float | None = None
    ) -> list[bytes] | None:
        """All queued messages; [] on timeout, None at the end."""
        self._in_hand = 0
        if not self._messages and not self._is_finished:
            await self._wakeup.wait(clock, timeout_s)
        if not self._messages:
            return None if self._is_finished else []
        messages, self._messages = self._messages, []
        self._in_hand, self._size = self._size, 0
        return messages


class ReplayBuffer:
    """The events of all streams of a session, in order.

    Delivered events are kept for replay, up to those limits, and for a while. Undelivered ones are
    kept longer, up to the backlog limit; a reader that is even further behind finds a gap.
    """

    def __init__(self, limits: Limits, clock: Clock, on_emptied: Callable[[Stream], None]) -> None:
        self._limits = limits
        self._clock = clock
        self._on_emptied = on_emptied
        self._order: deque[tuple[Stream, float]] = deque()  # and when the event came
        self._size = 0
        self._timer: Timer | None = None

    def __repr__(self) -> str:
        return f"<ReplayBuffer of {len(self._order)} events, {self._size} bytes>"

    def add(self, stream: Stream, size: int) -> None:
        self._order.append((stream, self._clock.monotonic()))
        self._size += size
        self.shrink()
        self._watch()

    def shrink(self) -> None:
        """Drop events beyond the limits; the newest is always kept."""
        order, limits = self._order, self._limits
        while len(order) > 1:
            count, size = len(order), self._size
            is_full = count > limits.max_replay_events or size > limits.max_replay_bytes
            is_overrun = size > limits.max_backlog_bytes or count > limits.max_backlog_events
            if not (is_overrun or (is_full and order[0][0].is_oldest_delivered)):
                break
            self._forget_oldest(order.popleft()[0])

    def close(self) -> None:
        """Stop looking for old events."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _forget_oldest(self, stream: Stream) -> None:
        self._size -= stream.forget_oldest()
        if stream.is_empty:
            self._on_emptied(stream)

    def _watch(self) -> None:
        if self._timer is None and self._order:
            due = self._clock.monotonic() + self._limits.max_replay_s
            self._timer = self._clock.call_at(due, self._expire)

    def _expire(self) -> None:
        """Drop old events that were delivered, also behind others that were not.

        Those of a stream that is being read stay: its reader may be sending them again.
        """
        self._timer = None
        too_old = self._clock.monotonic() - self._limits.max_replay_s
        order, self._order = self._order, deque()
        for stream, came_at in order:
            if came_at <= too_old and stream.is_oldest_delivered and not stream.has_reader:
                self._forget_oldest(stream)
            else:
                self._order.append((stream, came_at))
        self._watch()


class Stream:
    """One stream of a session: numbered events, read by the connection that carries it now."""

    def __init__(self, name: str, replay: ReplayBuffer) -> None:
        self.name = name
        self.is_finished = False
        self.delivered = 0  # the highest number that was written to a connection
        self._replay = replay
        self._events: deque[bytes] = deque()
        self._forgotten = 0  # numbers up to this one are no longer kept
        self._reader = 0  # a new reader replaces the previous one
        self._on_gap: Callable[[], None] | None = None
        self._wakeup = Wakeup()
        self.retry_ms: int | None = None  # set to make the reader reconnect after this time
        # Of a stream that another replica had: its events, and up to which number.
        self.earlier: list[tuple[int, bytes]] = []
        self.restored: int | None = None

    def __repr__(self) -> str:
        state = "finished" if self.is_finished else "open"
        return f"<Stream {self.name} {state}, {self._forgotten + 1}…{self.last}>"

    def restore(self, events: list[tuple[int, bytes]], *, gap: int = 0) -> None:
        """Go on with the events of another replica, which may have had some more: a gap."""
        self.restored = (events[-1][0] if events else 0) + gap
        self._forgotten = self.delivered = self.restored
        self.earlier = events

    @property
    def last(self) -> int:
        """The number of the newest event."""
        return self._forgotten + len(self._events)

    @property
    def forgotten(self) -> int:
        """The number of the newest event that is no longer kept."""
        return self._forgotten

    @property
    def is_empty(self) -> bool:
        return not self._events

    @property
    def has_reader(self) -> bool:
        return self._on_gap is not None

    @property
    def is_oldest_delivered(self) -> bool:
        return self._forgotten < self.delivered

    def put(self, data: bytes) -> None:
        if not self.is_finished:
            self._events.append(data)
            self._replay.add(self, len(data))
            self._wakeup.wake()

    def finish(self) -> None:
        """Mark the end: no more messages."""
        self.is_finished = True
        self._wakeup.wake()

    def hang_up(self, retry_ms: int) -> None:
        """Make the reader reconnect after this time."""
        self.retry_ms = retry_ms
        self._wakeup.wake()

    def forget_oldest(self) -> int:
        """Returns the freed bytes; a reader that has not received the event is notified."""
        self._forgotten += 1
        if self._forgotten > self.delivered and self._on_gap is not None:
            on_gap, self._on_gap = self._on_gap, None
            on_gap()
        return len(self._events.popleft())

    def attach(self, on_gap: Callable[[], None]) -> int:
        """Become its reader; the previous one ends."""
        self._reader += 1
        self._on_gap = on_gap
        self._wakeup.wake()
        return self._reader

    def detach(self, reader: int) -> None:
        """Read no more."""
        if reader == self._reader:
            self._on_gap = None

    def is_reader(self, reader: int) -> bool:
        return reader == self._reader

    def deliver(self, number: int) -> None:
        """An event was written to the connection."""
        if number > self.delivered:
            self.delivered = number
            self._replay.shrink()

    def peek(self, number: int) -> bytes:
        """An event by its number; it must still be kept."""
        return self._events[number - self._forgotten - 1]

    def is_silent(self, after: int) -> bool:
        """Whether a reader that has everything up to `after` is up to date."""
        return self.last <= after and not self.is_finished and self.retry_ms is None

    async def wait(self, after: int, clock: Clock, timeout_s: float) -> None:
        """Wait for something to send, or for the timeout."""
        if self.is_silent(after):
            await self._wakeup.wait(clock, timeout_s)
