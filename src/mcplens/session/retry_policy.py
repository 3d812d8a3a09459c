"""Retry policy: how long to wait before the next attempt to connect, and when to give up.

Keeps what it needs to know of earlier attempts. Called by connector.py.
"""

from __future__ import annotations

import asyncio
from typing import Final

from mcplens.clock import Clock
from mcplens.errors import HttpError, InspectorError, is_retryable
from mcplens.session.config import RetryConfig

# A server, or a balancer before it, that forgets each new session must not be asked without end.
_REOPEN_INTERVAL_S: Final = 5.0
# A connection that lasts this long gets all its retries back. A server that dies sooner after its
# handshake does not: it would be started again endlessly.
STABLE_S: Final = 10.0


class RetryPolicy:
    """Decides whether and when one server is tried again."""

    def __init__(self, retry: RetryConfig, clock: Clock) -> None:
        self.max_retries = retry.max_attempts
        self._retry = retry
        self._clock = clock
        self._reopened_at = -_REOPEN_INTERVAL_S
        self._connected_at = 0.0

    def __repr__(self) -> str:
        return f"<RetryPolicy of {self.max_retries} retries>"

    def delay_s(self, error: InspectorError, retry_count: int) -> float | None:
        """How long to wait before the next attempt; None if there is none."""
        retry = retry_count + 1
        if self.max_retries is not None and retry > self.max_retries:
            return None
        if not is_retryable(error, self._retry.retryable_errors):
            return None
        asked_s = error.retry_after_s if isinstance(error, HttpError) else None
        return max(self._retry.delay_s(retry), asked_s or 0.0)

    def connected(self) -> None:
        """The handshake is complete."""
        self._connected_at = self._clock.monotonic()

    def spent_retries_after_loss(self, retry_count: int) -> int:
        """How many of the retries that the lost connection took count as spent."""
        is_stable = self._clock.monotonic() - self._connected_at >= STABLE_S
        return 0 if is_stable else retry_count

    def may_reopen(self) -> bool:
        """Whether an expired HTTP session may be opened again at once; counts as such if so."""
        now = self._clock.monotonic()
        if now - self._reopened_at < _REOPEN_INTERVAL_S:
            return False
        self._reopened_at = now
        return True


class RetryWait:
    """The time before a retry; a person may not want to wait for it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._woken: asyncio.Future[None] | None = None
        self._is_cut_short = False

    def __repr__(self) -> str:
        return f"<RetryWait {'idle' if self._woken is None else 'waiting'}>"

    async def wait(self, delay_s: float) -> None:
        """Wait so long, or until it is cut short; not at all if that was asked before."""
        woken = self._woken = asyncio.get_running_loop().create_future()
        timer = self._clock.call_at(self._clock.monotonic() + delay_s, self._wake)
        if self._is_cut_short:
            self._wake()
        try:
            await woken
        finally:
            timer.cancel()
            self._woken = None
            self._is_cut_short = False

    def cut_short(self) -> None:
        """Retry at once."""
        self._is_cut_short = True
        self._wake()

    def _wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)
