"""The time limit that a caller gave one call.

One deadline covers the queue, every request of the call and the task that it became. It pauses
while a question that the call caused waits for its answer. Calls without a `timeout_s` have none:
each of their requests has the configured limits instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from mcplens.clock import Clock, Timer
from mcplens.errors import TimeoutExpired
from mcplens.protocol.deadlines import NEVER, Deadline
from mcplens.session.config import ConnectionConfig
from mcplens.session.queue import CallTag


class CallLimit:
    """The limit of one call, from when it was made until its end."""

    def __init__(self, owner: CallLimits, tag: CallTag, deadline: Deadline) -> None:
        self.call_id = tag.call_id
        self.deadline = deadline
        self._owner = owner
        self._clock = owner.clock
        self._began = self._clock.monotonic()
        self._expired: asyncio.Future[None] | None = None
        self._timer: Timer | None = None

    def __repr__(self) -> str:
        return f"<CallLimit of {self.call_id} {self.deadline!r}>"

    @property
    def is_watched(self) -> bool:
        """Whether the call waits for a task: its requests have timers of their own."""
        return self._expired is not None

    @property
    def elapsed_s(self) -> float:
        return self._clock.monotonic() - self._began

    @property
    def left_s(self) -> float | None:
        """How long the call may still take; None if it has no end."""
        return self.deadline.left_s(self._clock.monotonic())

    def check(self, method: str) -> None:
        """Before another request of the call.

        Raises:
            TimeoutExpired: the time of the call is up.
        """
        if self.left_s == 0:
            spent_s = self.elapsed_s
            text = f"the time for {method} was up after {spent_s:.3g} s, while the server required"
            details = {"phase": "input", "method": method, "elapsed_s": round(spent_s, 3)}
            raise TimeoutExpired("REQUEST_TIMEOUT", f"{text} more input", details=details)

    async def reached_before(self, outcome: asyncio.Future[Any]) -> bool:
        """Wait for the outcome of a task; True if the time is up first."""
        expired = self._expired = asyncio.get_running_loop().create_future()
        self._watch()
        try:
            await asyncio.wait([outcome, expired], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._expired = None
            self._stop_timer()
        return not outcome.done()

    def progress(self) -> None:
        """The server reported progress of the task."""
        self.deadline.progress(self._clock.monotonic())

    def pause(self) -> None:
        self.deadline.pause(self._clock.monotonic())

    def resume(self) -> None:
        self.deadline.resume(self._clock.monotonic())
        self._watch()

    def end(self) -> None:
        """The call is over."""
        self._owner.forget(self)

    def _watch(self) -> None:
        self._stop_timer()
        due = self.deadline.due()
        if self._expired is not None and due != NEVER:
            self._timer = self._clock.call_at(due, self._check)

    def _check(self) -> None:
        self._timer = None
        if self.deadline.due() > self._clock.monotonic():
            self._watch()
        elif self._expired is not None and not self._expired.done():
            self._expired.set_result(None)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class CallLimits:
    """The limits of the calls that run."""

    def __init__(self, clock: Clock, config: ConnectionConfig) -> None:
        self.clock = clock
        self._config = config
        self._running: set[CallLimit] = set()

    def __repr__(self) -> str:
        return f"<CallLimits {len(self._running)} running>"

    def start(self, tag: CallTag, timeout_s: float) -> CallLimit:
        """The limit of a call that begins now."""
        return self.adopt(tag, self._config.deadline(self.clock.monotonic(), timeout_s))

    def adopt(self, tag: CallTag, deadline: Deadline) -> CallLimit:
        """The limit of a call that has this deadline already."""
        limit = CallLimit(self, tag, deadline)
        self._running.add(limit)
        return limit

    def forget(self, limit: CallLimit) -> None:
        self._running.discard(limit)

    def pause(self, call_id: str | None) -> list[CallLimit]:
        """A question waits: pause the call that caused it, or, if unknown, all that wait for tasks.

        Requests in flight are paused by server_requests.py, whoever set their limits.
        """
        if not self._running:
            return []
        paused = [
            limit
            for limit in self._running
            if (limit.is_watched if call_id is None else limit.call_id == call_id)
        ]
        for limit in paused:
            limit.pause()
        return paused

    def resume(self, paused: Iterable[CallLimit]) -> None:
        for limit in paused:
            limit.resume()
