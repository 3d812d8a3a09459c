"""Retry policy: how long to wait before the next attempt to connect, and when to give up.

Keeps what it needs to know of earlier attempts. Called by connector.py.
"""

from __future__ import annotations

from typing import Final

from mcplens.clock import Clock
from mcplens.errors import HttpError, InspectorError, is_retryable
from mcplens.session.config import RetryConfig

# A server, or a balancer before it, that forgets each new session must not be asked without end.
_REOPEN_INTERVAL_S: Final = 5.0
# A server that dies sooner than this after its handshake has not used up its retries afresh: it
# would be started again endlessly.
_STABLE_S: Final = 10.0


class RetryPolicy:
    """Decides whether and when one server is tried again."""

    def __init__(self, retry: RetryConfig, clock: Clock) -> None:
        self.max_retries = retry.max_attempts
        self._retry = retry
        self._clock = clock
        self._reopened_at = -_REOPEN_INTERVAL_S
        self._connected_at = 0.0
        self._spent_retries = 0

    def __repr__(self) -> str:
        return f"<RetryPolicy of {self.max_retries} retries, {self._spent_retries} spent>"

    def delay_s(self, error: InspectorError, retry_count: int) -> float | None:
        """How long to wait before the next attempt; None if there is none."""
        retry = retry_count + 1
        if retry > self._retry.max_attempts:
            return None
        if not is_retryable(error, self._retry.retryable_errors):
            return None
        asked_s = error.retry_after_s if isinstance(error, HttpError) else None
        return max(self._retry.delay_s(retry), asked_s or 0.0)

    def connected(self, retry_count: int) -> None:
        """The handshake is complete, after so many retries."""
        self._connected_at = self._clock.monotonic()
        self._spent_retries = retry_count

    def spent_retries_after_loss(self) -> int:
        """How many retries count as spent now that the connection is lost."""
        is_stable = self._clock.monotonic() - self._connected_at >= _STABLE_S
        return 0 if is_stable else self._spent_retries

    def may_reopen(self) -> bool:
        """Whether an expired HTTP session may be opened again at once; counts as such if so."""
        now = self._clock.monotonic()
        if now - self._reopened_at < _REOPEN_INTERVAL_S:
            return False
        self._reopened_at = now
        return True
