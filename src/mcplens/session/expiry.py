"""Watches the deadlines of all requests with one timer, set to the earliest of them.

Progress only moves a deadline, so it costs no timer at all. Owned by the session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcplens.clock import Clock, Timer
from mcplens.protocol.deadlines import NEVER, Deadline
from mcplens.protocol.frames import RequestId
from mcplens.session.queue import QueueEntry


class Expiry:
    """The one timer."""

    def __init__(
        self,
        clock: Clock,
        waiting: Mapping[RequestId, QueueEntry],
        on_due: Callable[[QueueEntry], None],
    ) -> None:
        self._clock = clock
        self._waiting = waiting
        self._on_due = on_due
        self._timer: Timer | None = None
        self._timer_at = NEVER

    def __repr__(self) -> str:
        return f"<Expiry next at {self._timer_at if self._timer else 'no time'}>"

    def watch(self, deadline: Deadline) -> None:
        """Look at the requests again when this one is due, if not before."""
        due = deadline.due()
        if due == NEVER or (self._timer is not None and self._timer_at <= due):
            return
        self.stop()
        self._timer_at = due
        self._timer = self._clock.call_at(due, self._check)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        self._timer = None
        now = self._clock.monotonic()
        for entry in list(self._waiting.values()):
            deadline = entry.deadline
            if deadline is None:
                continue
            if deadline.due() <= now:
                self._on_due(entry)
            else:
                self.watch(deadline)
