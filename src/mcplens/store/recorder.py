"""Records a run while it happens: from the bus into the store, and into a trace file.

The bus hands every event over without waiting; a thread of the recorder's own writes them down,
many at a time. What comes faster than it can be written is left out, and the recording says so.
Whatever goes wrong with the disk is told once; nothing else suffers from it.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Final, Protocol, Self

from mcplens.bus import Bus, Published
from mcplens.clock import Clock, SystemClock
from mcplens.events import EventsMissed
from mcplens.store.database import Database, Run
from mcplens.store.retention import Retention
from mcplens.store.rows import Row, RowEncoder
from mcplens.store.schema import Locked, Unusable

# A kill -9 loses what came since the last flush: this, and the time that writing takes.
FLUSH_S: Final = 0.25
# What waits to be written: less than a second's work, and room for one largest message (64 MiB).
MAX_EVENTS: Final = 20_000
MAX_BYTES: Final = 96 * 1024 * 1024
# From here on the writer does not wait for the next flush.
_HURRY_EVENTS: Final = 5_000
_HURRY_BYTES: Final = 4 * 1024 * 1024
# One transaction is at most this, so that others who write wait a moment only.
_BATCH_EVENTS: Final = 4_096
_BATCH_BYTES: Final = 8 * 1024 * 1024
# Rows are made and packed so many at a time, while they are in the processor's cache.
_SLICE_EVENTS: Final = 256
# How long the end of a run may wait for a disk that does not answer.
CLOSE_TIMEOUT_S: Final = 5.0

Warn = Callable[[str], None]


class Destination(Protocol):
    """Where rows go; used by the recorder's thread alone."""

    def open(self) -> None: ...
    def add(self, rows: list[Row]) -> None: ...
    def commit(self, ended: float | None = None) -> object: ...
    def sweep(self, wall: float) -> None: ...
    def close(self) -> None: ...


class Recorder:
    """Records everything that a bus publishes, until it is closed."""

    def __init__(
        self,
        bus: Bus,
        path: str | os.PathLike[str] | None,
        *,
        trace: str | os.PathLike[str] | None = None,
        secret_keys: Iterable[str] = (),
        title: str = "",
        version: str = "",
        warn: Warn | None = None,
        retention: Retention | None = None,
        clock: Clock | None = None,
        max_events: int = MAX_EVENTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.problem: str | None = None
        self.missed_count = 0
        self._bus = bus
        self._clock = clock or SystemClock()
        self._warn = warn
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._queue: deque[Published] = deque()
        self._taken_bytes = 0  # counted by the publisher alone
        self._written_bytes = 0  # counted by the writer alone
        self._last_seq = 0
        self._end_seq = 0
        self._is_waiting = False
        self._is_closing = False
        self._something = threading.Event()
        self._hurry = threading.Event()
        self._encoder = RowEncoder(secret_keys)
        run = Run(bus.run_id, self._clock.wall(), title, version)
        self._destinations = self._open_to(path, trace, run, retention or Retention())
        self._thread = threading.Thread(target=self._work, name="mcplens recorder", daemon=True)
        self._thread.start()
        atexit.register(self.close)
        bus.attach(self._take)

    def __repr__(self) -> str:
        state = "off" if not self._destinations else "closed" if self._is_closing else "on"
        return f"<Recorder of {self._bus.run_id} {state}, {len(self._queue)} events wait>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def is_on(self) -> bool:
        return bool(self._destinations) and not self._is_closing

    def _open_to(
        self,
        path: str | os.PathLike[str] | None,
        trace: str | os.PathLike[str] | None,
        run: Run,
        retention: Retention,
    ) -> list[Destination]:
        destinations: list[Destination] = []
        if path is not None:

            def is_patient() -> bool:
                return not self._is_closing

            file = os.fspath(path)
            destinations.append(Database(file, run, retention=retention, is_patient=is_patient))
        if trace is not None:
            from mcplens.store.trace import TraceFile  # only where one is asked for

            destinations.append(TraceFile(os.fspath(trace), run))
        return destinations

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write down all that happened, and end the run; safe to call twice."""
        if not self._is_closing:
            self._bus.detach(self._take)
            self._end_seq = self._bus.last_seq
            self._is_closing = True
        self._something.set()
        self._hurry.set()
        atexit.unregister(self.close)
        # The last reference to us may be dropped anywhere, by our own thread too.
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_s)
            if self._thread.is_alive():
                self._tell(f"the end of this run is not recorded: no answer in {timeout_s:g} s")

    # -- on the publisher's thread -------------------------------------------------------------

    def _take(self, published: Published) -> None:
        queue = self._queue
        if len(queue) >= self._max_events:
            return  # the writer sees by the seq what is missing
        size = published[6]
        if size:
            waiting = self._taken_bytes - self._written_bytes
            if waiting and waiting + size > self._max_bytes:
                return
            self._taken_bytes += size
            if waiting + size > _HURRY_BYTES:
                self._hurry.set()
        queue.append(published)
        if self._is_waiting:
            self._is_waiting = False
            self._something.set()
        elif len(queue) == _HURRY_EVENTS:
            self._hurry.set()

    # -- on the recorder's own thread ----------------------------------------------------------

    def _work(self) -> None:
        self._each(lambda destination: destination.open())
        while self._destinations and not self._is_closing:
            self._await_events()
            self._flush()
            self._each(self._sweep)
        self._end()
        self._bus.detach(self._take)
        self._queue.clear()

    def _await_events(self) -> None:
        self._is_waiting = True
        if not self._queue:
            self._something.wait()
        self._is_waiting = False
        self._something.clear()
        if len(self._queue) < _HURRY_EVENTS:
            self._hurry.wait(FLUSH_S)
        self._hurry.clear()

    def _flush(self) -> None:
        """Write down what waits now; what comes meanwhile is for the next time."""
        count = len(self._queue)
        while count > 0 and self._destinations:
            batch = self._next_batch()
            count -= len(batch)
            self._write(batch)

    def _end(self) -> None:
        """Write down the rest, and that the run is over."""
        ended = self._clock.wall()
        batch: list[Published] = []
        while self._queue and self._destinations:
            self._write(batch)
            batch = self._next_batch()
        batch += self._missed_until(self._end_seq, ended, batch[-1][4] if batch else 0.0)
        self._write(batch, ended)
        self._each(self._sweep)
        self._each(lambda destination: destination.close())

    def _write(self, batch: list[Published], ended: float | None = None) -> None:
        if not batch and ended is None:
            return
        for at in range(0, len(batch), _SLICE_EVENTS):
            self._add(self._encoder.encode(batch[at : at + _SLICE_EVENTS]))
        self._each(lambda destination: destination.commit(ended))
        self._written_bytes += sum(published[6] for published in batch)

    def _add(self, rows: list[Row]) -> None:
        self._each(lambda destination: destination.add(rows))

    def _sweep(self, destination: Destination) -> None:
        destination.sweep(self._clock.wall())

    def _next_batch(self) -> list[Published]:
        """Take events off the queue, with word of those that are missing among them."""
        queue, size = self._queue, 0
        batch: list[Published] = []
        while queue and len(batch) < _BATCH_EVENTS and size < _BATCH_BYTES:
            published = queue.popleft()
            size += published[6]
            if published[2] != self._last_seq + 1:
                batch += self._missed_until(published[2] - 1, published[3], published[4])
            self._last_seq = published[2]
            batch.append(published)
        return batch

    def _missed_until(self, seq: int, wall: float, mono: float) -> list[Published]:
        first = self._last_seq + 1
        if seq < first:
            return []
        self.missed_count += seq - first + 1
        self._last_seq = seq
        return [(EventsMissed, "", seq, wall, mono, (first, seq), 0)]

    def _each(self, work: Callable[[Destination], object]) -> None:
        """Do it for every destination; one that fails is given up, and that is told."""
        for destination in list(self._destinations):
            try:
                work(destination)
            except (Unusable, Locked, OSError) as problem:
                self._give_up(destination, str(problem))
            except Exception as problem:  # ours, but no reason to lose more than the recording
                self._give_up(destination, f"{type(problem).__name__}: {problem}")

    def _give_up(self, destination: Destination, reason: str) -> None:
        self._destinations.remove(destination)
        try:
            destination.close()
        except Exception as problem:
            reason += f" ({problem})"
        if not self._destinations:
            self._bus.detach(self._take)
        self._tell(f"not recorded: {reason}")

    def _tell(self, text: str) -> None:
        self.problem = text
        if self._warn is not None:
            self._warn(text)
