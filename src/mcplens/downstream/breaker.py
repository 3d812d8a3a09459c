"""Circuit breaker: pauses a server whose transport keeps failing, then lets one probe through.

Pure: the caller passes the time in. Only failures of the transport count; what a server answers,
errors included, shows that it is there.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final, Protocol

# Five failures within half a minute: more than a restart causes, less than a client notices.
MOST_FAILURES: Final = 5
WINDOW_S: Final = 30.0
PAUSE_S: Final = 30.0


# So often a replica asks whether it may try a server again that another is trying.
PROBE_TURN_S: Final = 2.0


class BreakerPeers(Protocol):
    """Other replicas, which count the failures of a server too."""

    def failed(self, server_id: str, error: dict[str, Any]) -> None:
        """The transport failed here."""

    def opened(self, server_id: str, error: dict[str, Any]) -> None:
        """The server is paused here."""

    def closed(self, server_id: str) -> None:
        """The server came back here."""

    async def may_probe(self, server_id: str) -> bool:
        """Whether this replica is the one that tries it again."""


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

    def open(self, until: float) -> bool:
        """Pause the server until then; returns whether that was news."""
        is_news = self._paused_until is None
        self._paused_until = until
        return is_news

    def succeeded(self) -> None:
        """A connection came about."""
        if self._paused_until is not None:
            self._paused_until = None
            self._failures.clear()

    def reset(self) -> None:
        """Forget everything: a person tries again, or the entry changed."""
        self._paused_until = None
        self._failures.clear()
