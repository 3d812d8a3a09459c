"""Records a run while it happens: from the bus into the store, and into a trace file.

A thread of the recorder's own reads the bus like any other reader, a few times a second, and
writes down what came, many events at a time; publishing an event costs nothing more. What comes
faster than it can be written falls out of the bus's ring, and the recording says so. Whatever goes
wrong with the disk is told once; nothing else suffers from it.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from mcplens.bus import Bus, Published
from mcplens.clock import Clock, SystemClock
from mcplens.events import EventsMissed
from mcplens.store.database import Database, Run
from mcplens.store.retention import Retention
from mcplens.store.rows import Row, RowEncoder
from mcplens.store.schema import Locked, Unusable

# How long the writer sleeps, after something came and after nothing did. A kill -9 loses what came
# since it last looked, and the time that writing takes: together less than a second.
FLUSH_S: Final = 0.25
_IDLE_S: Final = 0.5
# A flood of 200,000 events a second fills the bus's ring in this time.
_BUSY_S: Final = 0.1
_BUSY_EVENTS: Final = 2_000
# One transaction is at most this, so that others who write wait a moment only.
_BATCH_EVENTS: Final = 4_096
_BATCH_BYTES: Final = 8 * 1024 * 1024
# Rows are made and packed so many at a time, while they are in the processor's cache.
_SLICE_EVENTS: Final = 256
# How long the end of a run may wait for a disk that does not answer.
CLOSE_TIMEOUT_S: Final = 5.0

Warn = Callable[[str], None]
if TYPE_CHECKING:
    from mcplens.store.trace import TraceFile

    # Where rows go; used by the recorder's thread alone.
    Destination = Database | TraceFile


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
    ) -> None:
        self.problem: str | None = None
        self.missed_count = 0
        self._bus = bus
        self._clock = clock or SystemClock()
        self._warn = warn
        self._last_seq = 0
        self._end_seq = 0
        self._is_closing = threading.Event()
        self._ended = threading.Event()
        self._on_ended: Callable[[], object] | None = None
        self._encoder = RowEncoder(secret_keys)
        run = Run(bus.run_id, self._clock.wall(), title, version)
        self._destinations = self._open_to(path, trace, run, retention or Retention())
        self._thread = threading.Thread(target=self._work, name="mcplens recorder", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def __repr__(self) -> str:
        state = "on" if self.is_on else "off" if self.problem is not None else "closed"
        return f"<Recorder of {self._bus.run_id} {state}, {self._last_seq} events written>"

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
        return bool(self._destinations) and not self._is_closing.is_set()

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
                return not self._is_closing.is_set()

            file = os.fspath(path)
            destinations.append(Database(file, run, retention=retention, is_patient=is_patient))
        if trace is not None:
            from mcplens.store.trace import TraceFile  # only where one is asked for

            destinations.append(TraceFile(os.fspath(trace), run))
        return destinations

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Write down all that happened, and end the run; safe to call twice."""
        self._begin_to_close()
        # The last reference to us may be dropped anywhere, by our own thread too.
        if self._thread is not threading.current_thread():
            self._ended.wait(timeout_s)
            self._check_ended(timeout_s)

    async def aclose(self) -> None:
        """As `close`; the loop goes on meanwhile."""
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        self._on_ended = lambda: loop.call_soon_threadsafe(ended.set)
        self._begin_to_close()
        if not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), CLOSE_TIMEOUT_S)
        self._check_ended(CLOSE_TIMEOUT_S)

    def _begin_to_close(self) -> None:
        if not self._is_closing.is_set():
            self._end_seq = self._bus.last_seq
            self._is_closing.set()
            atexit.unregister(self.close)

    def _check_ended(self, timeout_s: float) -> None:
        if not self._ended.is_set():
            self._tell(f"the end of this run is not recorded: no answer in {timeout_s:g} s")

    # -- on the recorder's own thread ----------------------------------------------------------

    def _work(self) -> None:
        self._each(lambda destination: destination.open())
        pause_s = FLUSH_S
        while self._destinations and not self._is_closing.wait(pause_s):
            events = self._bus.since(self._last_seq)
            self._write_all(events)
            self._each(self._sweep)
            pause_s = _IDLE_S if not events else FLUSH_S if len(events) < _BUSY_EVENTS else _BUSY_S
        self._end()
        self._ended.set()
        if self._on_ended is not None:
            with contextlib.suppress(RuntimeError):  # the loop that waited is gone
                self._on_ended()

    def _end(self) -> None:
        """Write down the rest, and that the run is over."""
        events = [event for event in self._bus.since(self._last_seq) if event[2] <= self._end_seq]
        self._write_all(events, ended=self._clock.wall())
        self._each(self._sweep)
        self._each(lambda destination: destination.close())

    def _write_all(self, events: list[Published], ended: float | None = None) -> None:
        """Write events, in transactions of a bearable size; the last one ends the run."""
        batch: list[Published] = []
        size = 0
        for published in events:
            if published[2] != self._last_seq + 1:
                batch += self._missed_until(published[2] - 1, published[3], published[4])
            self._last_seq = published[2]
            batch.append(published)
            size += published[6]
            if len(batch) >= _BATCH_EVENTS or size >= _BATCH_BYTES:
                self._write(batch)
                batch, size = [], 0
        if ended is not None:
            batch += self._missed_until(self._end_seq, ended, events[-1][4] if events else 0.0)
        self._write(batch, ended)

    def _write(self, batch: list[Published], ended: float | None = None) -> None:
        if not batch and ended is None:
            return
        for at in range(0, len(batch), _SLICE_EVENTS):
            self._add(self._encoder.encode(batch[at : at + _SLICE_EVENTS]))
        self._each(lambda destination: destination.commit(ended))

    def _add(self, rows: list[Row]) -> None:
        self._each(lambda destination: destination.add(rows))

    def _sweep(self, destination: Destination) -> None:
        destination.sweep(self._clock.wall())

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
        self._tell(f"not recorded: {reason}")

    def _tell(self, text: str) -> None:
        self.problem = text
        if self._warn is not None:
            self._warn(text)
