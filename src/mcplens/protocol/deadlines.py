"""How long one request may take: its timeout, restarted by progress, under an absolute maximum.

Pure: the session passes the time in and asks when to check again.
"""

from __future__ import annotations

from math import inf
from typing import Final

NEVER: Final = inf


class Deadline:
    """The timeout and the maximum of a request; both pause while a person answers the server."""

    __slots__ = ("_max_end", "_paused_at", "_pauses", "_resets", "_timeout_end", "_timeout_s")

    def __init__(
        self,
        now: float,
        timeout_s: float | None,
        max_total_s: float | None,
        progress_resets: bool = True,
    ) -> None:
        """None means no limit."""
        self._timeout_s = NEVER if timeout_s is None else timeout_s
        self._timeout_end = now + self._timeout_s
        self._max_end = NEVER if max_total_s is None else now + max_total_s
        self._resets = progress_resets
        self._pauses = 0
        self._paused_at = 0.0

    def __repr__(self) -> str:
        return f"<Deadline due {self.due()}{' paused' if self._pauses else ''}>"

    @property
    def is_paused(self) -> bool:
        return self._pauses > 0

    def due(self) -> float:
        """When the request expires; NEVER while paused or without a limit."""
        return NEVER if self._pauses else min(self._timeout_end, self._max_end)

    def left_s(self, now: float) -> float | None:
        """How long until the request expires; None if it never does."""
        due = self.due()
        return None if due == NEVER else max(0.0, due - now)

    def progress(self, now: float) -> None:
        """Progress restarts the request's timeout, never the maximum."""
        if self._resets:
            # While paused, use the time of the pause: resuming adds the paused time.
            self._timeout_end = (self._paused_at if self._pauses else now) + self._timeout_s

    def restart(self, now: float, timeout_s: float | None, max_total_s: float | None) -> None:
        """Apply new limits, as if the request were sent now."""
        start = self._paused_at if self._pauses else now
        self._timeout_s = NEVER if timeout_s is None else timeout_s
        self._timeout_end = start + self._timeout_s
        self._max_end = NEVER if max_total_s is None else start + max_total_s

    def pause(self, now: float) -> None:
        if not self._pauses:
            self._paused_at = now
        self._pauses += 1

    def resume(self, now: float) -> None:
        if not self._pauses:
            return
        self._pauses -= 1
        if self._pauses == 0:
            stood_still_s = now - self._paused_at
            self._timeout_end += stood_still_s
            self._max_end += stood_still_s
