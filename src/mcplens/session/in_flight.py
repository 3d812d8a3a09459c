"""The requests that wait for an answer: their deadlines, watched by one timer, and how they end.

The timer is set to the earliest deadline; progress only moves a deadline, so it costs no timer at
all. Used by the parts of a session; the ids themselves are those of the connection's Correlation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcplens.bus import Publisher
from mcplens.clock import Clock, Timer
from mcplens.errors import InspectorError
from mcplens.events import RequestEnded
from mcplens.protocol.correlation import Correlation
from mcplens.protocol.deadlines import NEVER, Deadline
from mcplens.protocol.frames import Frame
from mcplens.session.config import ConnectionConfig
from mcplens.session.queue import QueueEntry


class RequestsInFlight:
    """Requests that were sent and have no answer yet."""

    def __init__(
        self,
        correlation: Correlation[QueueEntry],
        *,
        publish: Publisher,
        clock: Clock,
        config: ConnectionConfig,
        names: Mapping[str, str],
        on_due: Callable[[QueueEntry], None],
    ) -> None:
        self.correlation = correlation
        self.waiting = correlation.waiting
        self._publish = publish.publish
        self._names = names  # the server, for the details of errors
        self._clock = clock
        self._monotonic = clock.monotonic
        self._config = config
        self._on_due = on_due
        self._timer: Timer | None = None
        self._timer_at = NEVER
        self.is_standing_still = False  # while a person signs in
        self._standing: list[Deadline] = []

    def __repr__(self) -> str:
        due = self._timer_at if self._timer else "never"
        return f"<RequestsInFlight {len(self.waiting)} waiting, next due {due}>"

    def calls(self) -> list[QueueEntry]:
        """Those that a caller waits for: no ping, no stream of notifications."""
        return [
            entry
            for entry in self.waiting.values()
            if not entry.is_quiet and entry.tag.purpose not in ("heartbeat", "listening")
        ]

    # -- deadlines -----------------------------------------------------------------------------

    def add(self, entry: QueueEntry) -> None:
        """A request is about to be sent: its clock starts now."""
        now = entry.started_mono = self._monotonic()
        config = self._config
        deadline = entry.deadline  # of the whole call, where its caller gave one
        if deadline is None:
            if entry.timeout_s is None:
                deadline = Deadline(
                    now,
                    config.request_timeout_s,
                    config.max_total_timeout_s,
                    config.progress_resets_timeout,
                )
            else:
                deadline = config.deadline(now, entry.timeout_s)
            entry.deadline = deadline
        self.waiting[entry.id] = entry
        if self._timer is None or deadline.due() < self._timer_at:
            self._watch(deadline)

    def apply_limits(self, entry: QueueEntry) -> None:
        """A request that could take any time has the configured limits from now on."""
        config = self._config
        if entry.deadline is not None:
            now = self._clock.monotonic()
            entry.deadline.restart(now, config.request_timeout_s, config.max_total_timeout_s)
            self._watch(entry.deadline)

    def deadline_changed(self, entry: QueueEntry) -> None:
        """A deadline was paused or resumed."""
        if entry.deadline is not None:
            self._watch(entry.deadline)

    def stand_still(self, is_paused: bool) -> None:
        """The time of all that wait does not count while a person signs in."""
        now = self._clock.monotonic()
        if is_paused:
            self.is_standing_still = True
            found = [entry.deadline for entry in self.waiting.values() if entry.deadline]
            self._standing += found
            for deadline in found:
                deadline.pause(now)
            return
        self.is_standing_still = False
        found, self._standing = self._standing, []
        for deadline in found:
            deadline.resume(now)
            self._watch(deadline)

    def stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self, deadline: Deadline) -> None:
        """Check the deadlines when this one is due, if not before."""
        due = deadline.due()
        if due == NEVER or (self._timer is not None and self._timer_at <= due):
            return
        self.stop_timer()
        self._timer_at = due
        self._timer = self._clock.call_at(due, self._check)

    def _check(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        for entry in list(self.waiting.values()):
            deadline = entry.deadline
            if deadline is None:
                continue
            if deadline.due() <= now:
                self._on_due(entry)
            else:
                self._watch(deadline)

    # -- ends ----------------------------------------------------------------------------------

    def complete(self, entry: QueueEntry, frame: Frame) -> None:
        """A request that no longer waits was answered with a result."""
        if not entry.is_quiet:
            ended = RequestEnded(
                request_id=entry.id,
                method=entry.method,
                status="completed",
                elapsed_s=self._monotonic() - entry.started_mono,
                request_seq=None if entry.sent is None else entry.sent.seq,
                purpose=entry.tag.purpose,
            )
            self._publish(ended, 0)
        entry.resolve(frame)

    def fail(self, entry: QueueEntry, error: InspectorError) -> None:
        """A request that no longer waits failed; the error gets what only we know."""
        error.with_details(**self._names, method=entry.method)
        error.with_details(elapsed_s=round(self.elapsed_s(entry), 3))
        entry.reject(error)
        if not entry.is_quiet:
            settled = entry.error  # another one, if the queue was cleared before
            ended = RequestEnded(
                request_id=entry.id,
                method=entry.method,
                status=entry.status.value,
                elapsed_s=self.elapsed_s(entry),
                error=None if settled is None else settled.to_dict(),
                request_seq=None if entry.sent is None else entry.sent.seq,
                purpose=entry.tag.purpose,
            )
            self._publish(ended, 0 if settled is None else settled.size_bytes)

    def fail_all(self, error: InspectorError) -> None:
        """Fail every request that waits, for good: the session is lost, no answer comes late."""
        self.stop_timer()
        for identity in list(self.waiting):
            entry = self.correlation.close(identity)
            if entry is not None:
                self.fail(entry, error.copy())

    def elapsed_s(self, entry: QueueEntry) -> float:
        return self._monotonic() - entry.started_mono
