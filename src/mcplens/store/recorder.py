"""Records a run while it happens: reads the bus, writes to the recording and to a trace file.

Runs on its own thread and reads the bus like any other reader, so that publishing an event costs
nothing more. Events are written a few times a second, many at a time. If they come faster than they
can be written, some drop out of the ring of the bus, and the recording says which. A problem with
the disk is reported once and affects nothing else.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.events import Event, EventsMissed, Passed
from mcplens.store.database import Database, Run
from mcplens.store.live_runs import LiveMark
from mcplens.store.retention import Retention
from mcplens.store.row_encoding import RowEncoder
from mcplens.store.rows import Row
from mcplens.store.schema import Locked, Unusable
from mcplens.store.server_output import DEFAULT_OUTPUT_BYTES, OutputThinner

# How long the writer sleeps before it writes, after something came and after nothing did. A kill -9
# loses what came since, and the time that writing takes: together less than a second.
FLUSH_S: Final = 0.25
_IDLE_S: Final = 0.5
# Meanwhile it reads about so many events at a time, while they are in the processor's cache, but
# not more often than this. A flood of 200,000 events a second fills the bus's ring in 0.1 s.
_LOOK_EVENTS: Final = 512
_LOOK_S: Final = 0.02
# Largest transaction, so that other writers wait only for a moment.
_BATCH_EVENTS: Final = 4_096
_BATCH_BYTES: Final = 8 * 1024 * 1024
# Events that are encoded, and rows that are packed, at a time: the size of a block.
_SLICE_EVENTS: Final = 256
# A larger slice is split, so that transactions keep their size.
_SLICE_BYTES: Final = 1024 * 1024
# A file far above its limit is brought back in a minute, in the background: so long at a time, with
# pauses for others, and not while a program starts or a short command runs.
_SWEEP_S: Final = 0.5
_SWEEP_PAUSE_S: Final = 0.1
_SWEEP_AFTER_S: Final = 3.0
# How long closing waits for a disk that does not respond.
CLOSE_TIMEOUT_S: Final = 5.0

Warn = Callable[[str], None]
if TYPE_CHECKING:
    from mcplens.store.recorded_secrets import KeysOf
    from mcplens.store.trace import TraceFile

    # Where rows are written; used only by the thread of the recorder.
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
        keys_of: KeysOf | None = None,
        title: str = "",
        version: str = "",
        warn: Warn | None = None,
        retention: Retention | None = None,
        output_bytes: int = DEFAULT_OUTPUT_BYTES,
        clock: Clock | None = None,
    ) -> None:
        self.problem: str | None = None
        self.missed_count = 0
        self._bus = bus
        bus.expect_readers()
        self._clock = clock or SystemClock()
        self._warn = warn
        self._last_seq = 0
        self._end_seq = 0
        # Size of the next transaction so far.
        self._batch_events = 0
        self._batch_bytes = 0
        self._is_closing = threading.Event()
        self._ended = threading.Event()
        self._on_ended: Callable[[], object] | None = None
        self._thinner = OutputThinner(output_bytes)
        self._encoder = RowEncoder(secret_keys, keys_of=keys_of)
        run = Run(bus.run_id, self._clock.wall(), title, version)
        self._destinations = self._open_to(path, trace, run, retention or Retention())
        self._live = None if path is None else LiveMark(os.fspath(path), bus.run_id)
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
        """Write all events so far, and end the run; safe to call twice."""
        self._begin_to_close()
        # The last reference may be dropped by our own thread, which must not wait for itself.
        if self._thread is not threading.current_thread():
            self._ended.wait(timeout_s)
            self._check_ended(timeout_s)

    async def aclose(self) -> None:
        """As `close`, without blocking the event loop."""
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
            self._report(
                f"the end of this run is not recorded: the disk did not respond in {timeout_s:g} s"
            )

    # -- on the recorder's own thread ----------------------------------------------------------

    def _work(self) -> None:
        self._each(lambda destination: destination.open())
        pause_s, slept_s, is_sweeping = FLUSH_S, 0.0, False
        settled = self._clock.monotonic() + _SWEEP_AFTER_S
        while self._destinations and not self._is_closing.wait(pause_s):
            events = self._bus.since(self._last_seq)
            slept_s += pause_s
            is_due = slept_s >= FLUSH_S or is_sweeping
            self._take(events, is_due=is_due)
            if is_due:
                slept_s = 0.0
                self._record(self._thinner.tail())
                self._commit()
                is_settled = self._clock.monotonic() > settled
                is_sweeping = self._sweep_for(_SWEEP_S if is_settled else 0.0)
            pause_s = _pause_s(len(events), pause_s)
            if is_sweeping:
                pause_s = min(pause_s, _SWEEP_PAUSE_S)
        self._end()
        self._ended.set()
        if self._on_ended is not None:
            with contextlib.suppress(RuntimeError):  # the waiting event loop is closed
                self._on_ended()

    def _end(self) -> None:
        """Write the remaining events, and the end of the run."""
        events = [event for event in self._bus.since(self._last_seq) if event.seq <= self._end_seq]
        ended = self._clock.wall()
        self._take(events, is_due=True)
        self._record(self._thinner.tail())
        self._miss_until(self._end_seq, ended, events[-1].mono if events else 0.0)
        self._commit(ended)
        self._sweep_for(0.0)
        self._each(lambda destination: destination.close())
        if self._live is not None:
            self._live.release()

    def _take(self, events: list[Event], *, is_due: bool) -> None:
        """Write events; those that do not fill a block may wait for the next commit."""
        if not events:
            return
        # They are consecutive: only events before the first can be missing.
        first = events[0]
        self._miss_until(_first_seq(first) - 1, first.wall, first.mono)
        end = len(events) if is_due else len(events) // _SLICE_EVENTS * _SLICE_EVENTS
        for at in range(0, end, _SLICE_EVENTS):
            taken = events[at : min(at + _SLICE_EVENTS, end)]
            self._record(self._thinner.thin(taken))
            self._last_seq = taken[-1].seq

    def _record(self, events: list[Event]) -> None:
        rows = self._rows_of(events)
        for at in range(0, len(rows), _SLICE_EVENTS):
            for some, size_bytes in _cut(rows[at : at + _SLICE_EVENTS]):
                self._add(some, size_bytes)

    def _add(self, rows: list[Row], size_bytes: int) -> None:
        self._each(lambda destination: destination.add(rows))
        self._batch_events += len(rows)
        self._batch_bytes += size_bytes
        if self._batch_events >= _BATCH_EVENTS or self._batch_bytes >= _BATCH_BYTES:
            self._commit()

    def _rows_of(self, events: list[Event]) -> list[Row]:
        try:
            return self._encoder.encode(events)
        except Exception:  # a bug: encode one by one, so that the others are recorded
            return [row for event in events for row in self._rows_of_one(event)]

    def _rows_of_one(self, event: Event) -> list[Row]:
        """The rows of one event; EventsMissed in place of one that cannot be encoded."""
        try:
            return self._encoder.encode([event])
        except Exception as problem:
            first_seq = _first_seq(event)
            self.missed_count += event.seq - first_seq + 1
            if self.problem is None:
                reason = type(problem).__name__  # its text may contain a secret
                kind = type(event).__name__
                self._report(f"event {event.seq} ({kind}) is not recorded: {reason}")
            return [self._missed(first_seq, event.seq, event.wall, event.mono)]

    def _missed(self, first: int, last: int, wall: float, mono: float) -> Row:
        """The row in place of events that are not recorded."""
        event = EventsMissed(seq=last, wall=wall, mono=mono, first_seq=first, last_seq=last)
        (row,) = self._encoder.encode([event])
        return row

    def _commit(self, ended: float | None = None) -> None:
        """Write to the disk; `ended` ends the run."""
        if self._batch_events or ended is not None:
            self._batch_events = self._batch_bytes = 0
            self._each(lambda destination: destination.commit(ended))

    def _sweep_for(self, seconds: float) -> bool:
        """Bring the file towards its limits for so long, at least by one step.

        Returns whether there is more to do.
        """
        due = self._clock.monotonic() + seconds
        more: list[Destination] = []

        def sweep(destination: Destination) -> None:
            while destination.sweep(self._clock.wall()):
                # A flood of events fills the ring of the bus in a moment: they come first.
                is_busy = self._bus.last_seq - self._last_seq > _LOOK_EVENTS
                if is_busy or self._clock.monotonic() >= due or self._is_closing.is_set():
                    more.append(destination)
                    return

        self._each(sweep)
        return bool(more)

    def _miss_until(self, seq: int, wall: float, mono: float) -> None:
        """Record a gap, if events up to this one dropped out of the ring."""
        first = self._last_seq + 1
        if seq >= first:
            self.missed_count += seq - first + 1
            self._record(self._thinner.tail())  # it comes before the gap
            self._add([self._missed(first, seq, wall, mono)], 0)
            self._last_seq = seq

    def _each(self, work: Callable[[Destination], object]) -> None:
        """Do it for every destination; one that fails is given up with a warning."""
        for destination in list(self._destinations):
            try:
                work(destination)
            except (Unusable, Locked, OSError) as problem:
                self._give_up(destination, str(problem))
            except Exception as problem:  # a bug: lose the recording, but nothing else
                self._give_up(destination, f"{type(problem).__name__}: {problem}")

    def _give_up(self, destination: Destination, reason: str) -> None:
        self._destinations.remove(destination)
        try:
            destination.close()
        except Exception as problem:  # it has failed already: only mention this
            reason += f" ({problem})"
        self._report(f"not recorded: {reason}")

    def _report(self, text: str) -> None:
        self.problem = text
        if self._warn is not None:
            self._warn(text)


def _first_seq(event: Event) -> int:
    return event.from_seq if isinstance(event, Passed) else event.seq


def _cut(rows: list[Row]) -> Iterator[tuple[list[Row], int]]:
    """The rows with their size in bytes, split where they are too large for one slice."""
    size = sum([len(row.payload) for row in rows if row.payload is not None])
    start = 0
    if size > _SLICE_BYTES:
        size, last = 0, None
        for at, row in enumerate(rows, start=1):
            payload = row.payload
            if payload is None or payload is last:  # an HTTP answer is the message in it
                continue
            size += len(payload)
            last = payload
            if size > _SLICE_BYTES:
                yield rows[start:at], size
                start, size = at, 0
    if start < len(rows):
        yield rows[start:], size


def _pause_s(count: int, in_s: float) -> float:
    """How long to sleep, after so many events in this time."""
    if not count:
        return _IDLE_S
    return min(max(in_s * _LOOK_EVENTS / count, _LOOK_S), FLUSH_S)
