"""Reads the bus in batches: listeners get the events of a few milliseconds at once.

There is one reader for all servers of a process, so that each event of a flood is handled only
once; the log lines of the gateway have another. It never blocks a publisher.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mcplens.bus import Bus
from mcplens.clock import Clock
from mcplens.events import Event

# Below what a person notices, above what a page can draw (16 ms).
GATHER_S: Final = 0.03

Listener = Callable[[list[Event], int], None]


class BusReader:
    """A position in the stream of events; by default, after those published so far."""

    def __init__(self, bus: Bus, clock: Clock, after_seq: int | None = None) -> None:
        self._bus = bus
        self._clock = clock
        self._seq = bus.last_seq if after_seq is None else after_seq
        self._listeners: list[Listener] = []

    def __repr__(self) -> str:
        return f"<BusReader at {self._seq} of {self._bus.last_seq}>"

    def add(self, listener: Listener) -> None:
        """Call the listener with each batch, and with the number of events missed before it."""
        self._listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        self._listeners.remove(listener)

    async def run(self) -> None:
        """Read until the bus is closed."""
        while await self._is_more():
            await self._clock.sleep(GATHER_S)
            self.catch_up()

    async def _is_more(self) -> bool:
        async for _ in self._bus.subscribe(self._seq):
            return True
        return False

    def catch_up(self) -> None:
        """Pass on what was published since the last batch, now."""
        batch = self._bus.since(self._seq)
        if not batch:
            return
        missed = batch[0].seq - self._seq - 1
        self._seq = batch[-1].seq
        for listener in list(self._listeners):
            listener(batch, missed)
