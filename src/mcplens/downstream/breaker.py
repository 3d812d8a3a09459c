"""Circuit breaker: pauses a server whose transport keeps failing, then lets one probe through.

Pure: the caller passes the time in. Only failures of the transport count; what a server answers,
errors included, shows that it is there.
"""

from __future__ import annotations

from collections import deque
from typing import Final

# Five failures within half a minute: more than a restart causes, less than a client notices.
MOST_FAILURES: Final = 5
WINDOW_S: Final = 30.0
PAUSE_S: Final = 30.0


class Breaker:
    """Counts the failures of one server."""

    def __init__(self) -> None:
        self._failures: deque[float] = deque(maxlen=MOST_FAILURES)
        self._paused_until: float | None = None

    def __repr__(self) -> str:
        until = self._paused_until
        paused = "closed" if until is None else f"open until {until}"
        return f"<Breaker {len(self._failures)} failures, {paused}>"

    @property
    def paused_until(self) -> float | None:
        """When a probe is due; None if nothing is paused. Stays until a probe succeeds."""
        return self._paused_until

    def is_paused(self, now: float) -> bool:
        return self._paused_until is not None and now < self._paused_until

    def failed(self, now: float) -> bool:
        """The transport failed; returns whether that paused the server."""
        if self._paused_until is not None:
            if now < self._paused_until:
                return False  # an attempt that was under way
            self._paused_until = now + PAUSE_S  # the probe failed
            return True
        self._failures.append(now)
        if len(self._failures) == MOST_FAILURES and now - self._failures[0] <= WINDOW_S:
            self._paused_until = now + PAUSE_S
            return True
        return False

    def succeeded(self) -> None:
        """A connection came about."""
        if self._paused_until is not None:
            self._paused_until = None
            self._failures.clear()

    def reset(self) -> None:
        """Forget everything: a person tries again, or the entry changed."""
        self._paused_until = None
        self._failures.clear()
