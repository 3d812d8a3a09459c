"""What has passed through the tap and was not read yet.

Bytes are noted with their time as they pass, and read later, many at a time: when the recorder
reads the bus. So a client never waits for a message to be parsed. What waits is bounded: beyond
that, whoever passes more on reads a part of it first. Used by stdio.py and http.py.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec.structs import force_setattr

from mcplens.bus import Bus, Publisher, Subscription
from mcplens.clock import SystemClock
from mcplens.errors import classify
from mcplens.events import Event, Passed
from mcplens.logs import get_logger
from mcplens.tap.passed_events import events_of

# Half a second of a client that calls as fast as it can.
_MOST_PIECES: Final = 16 * 1024
_MOST_BYTES: Final = 4 * 1024 * 1024
# So many are read for one that passes, once there are too many.
_PIECES_AT_A_TIME: Final = 16

_log: Final = get_logger("mcplens.tap")

# When a piece passes is the one time that is not injected: it comes from another thread.
_monotonic, _wall = SystemClock.monotonic, SystemClock.wall

Warn = Callable[[str], None]


class PassedClock(SystemClock):
    """The time at which what is read now has passed; `times` is monotonic, and of the wall."""

    def __init__(self) -> None:
        self.times = [_monotonic(), _wall()]
        # Each event asks for both: these are the cheapest functions that there are.
        self.monotonic = partial(self.times.__getitem__, 0)
        self.wall = partial(self.times.__getitem__, 1)

    def __repr__(self) -> str:
        return f"<PassedClock at {self.times[1]}>"


class Backlog:
    """Pieces that have passed, each with the function that reads it; safe from any thread."""

    def __init__(self, clock: PassedClock, warn: Warn = _log.warning) -> None:
        self.is_on = False  # somebody reads the bus
        self._clock = clock
        self._warn = warn
        self._waiting: deque[tuple[float, float, Callable[[Any], None], Any, int]] = deque()
        self._size = 0  # of the bytes that wait, at least: threads may overwrite each other's sums
        self.reading = threading.Lock()  # the bus and the conversation are for one thread

    def __repr__(self) -> str:
        return f"<Backlog {'on' if self.is_on else 'off'}, {len(self._waiting)} pieces wait>"

    def add(self, take: Callable[[Any], None], what: Any, size_bytes: int = 0) -> None:
        """This passes now; `take` reads it later, after all that passed before."""
        if not self.is_on:
            return
        self._waiting.append((_monotonic(), _wall(), take, what, size_bytes))
        self._size += size_bytes
        if self._size > _MOST_BYTES or len(self._waiting) > _MOST_PIECES:
            self.read(_PIECES_AT_A_TIME)

    def read(self, most: int | None = None) -> None:
        """Have what waits be read, or a part of it; what another thread reads now is waited for."""
        with self.reading:
            count = len(self._waiting)
            try:
                self._read_some(count if most is None else min(count, most))
            except Exception as problem:  # the tap's own fault is not the client's
                self.is_on = False
                self._waiting.clear()
                self._warn(f"the rest of this session is not recorded: {classify(problem).message}")

    def _read_some(self, count: int) -> None:
        times, next_piece, size = self._clock.times, self._waiting.popleft, 0
        for _ in range(count):
            times[0], times[1], take, what, size_bytes = next_piece()
            take(what)
            size += size_bytes
        self._size = max(self._size - size, 0) if self._waiting else 0


class TapBus(Bus):
    """The bus of a tap, read by the recorder: reading it reads first what has passed."""

    def __init__(self, warn: Warn = _log.warning) -> None:
        self.clock = PassedClock()
        self.backlog = Backlog(self.clock, warn)
        super().__init__(self.clock, is_unread=True)

    def expect_readers(self) -> None:
        self.backlog.is_on = True
        super().expect_readers()

    def publish_passed(self, event: Passed, event_count: int, size_bytes: int) -> int:
        """Publish so many events as one; returns the seq of the last of them."""
        seq = self._last_seq = self._last_seq + event_count
        force_setattr(event, "seq", seq)
        bytes_before = self._bytes_before
        self._ring.append(event)
        bytes_before.append(self._total_bytes)
        self._total_bytes += size_bytes
        if self._total_bytes - bytes_before[0] > self._max_bytes:
            self._shrink()
        return seq

    @property
    def last_seq(self) -> int:
        self.backlog.read()
        return self._last_seq

    def since(self, seq: int) -> list[Event]:
        """The events after `seq`, those of a message in one; the recorder has those before."""
        with self.backlog.reading:
            self._forget_until(seq)
        self.backlog.read()
        return list(self._ring)

    def _forget_until(self, seq: int) -> None:
        if seq == self._last_seq:  # almost always
            self._ring.clear()
            self._bytes_before.clear()
        while self._ring and self._ring[0].seq <= seq:
            self._ring.popleft()
            self._bytes_before.popleft()

    def kept(self) -> list[Event]:
        self.backlog.read()
        return [each for event in super().kept() for each in events_of(event)]

    def subscribe(self, after_seq: int | None = None) -> Subscription:
        raise NotImplementedError("the bus of a tap is read by a recorder")


class TapPublisher(Publisher):
    """The bus as a tap uses it; `times` is when what is read now has passed: monotonic, wall."""

    __slots__ = ("publish_passed", "run_id", "times")

    def __init__(self, bus: TapBus, server_id: str) -> None:
        super().__init__(bus, server_id)
        self.publish_passed = bus.publish_passed
        self.run_id = bus.run_id
        self.times = bus.clock.times
