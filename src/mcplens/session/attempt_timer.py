"""The time that one attempt to connect may take; it stands still while a person signs in.

Used by connector.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from mcplens.clock import Clock, Timer


class AttemptTimer:
    """Runs an attempt, and ends it when its time is up."""

    def __init__(self, clock: Clock, timeout_s: float | None) -> None:
        self._clock = clock
        self._left_s = timeout_s
        self._since = 0.0
        self._timer: Timer | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_expired = False

    def __repr__(self) -> str:
        return f"<AttemptTimer {self._left_s} s left, {'runs' if self._timer else 'stands'}>"

    async def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the attempt. Raises TimeoutError when its time is up."""
        task = self._task = asyncio.get_running_loop().create_task(work)
        self.go_on()
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if self._is_expired and task.cancelled():
                raise TimeoutError from None
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise
        finally:
            self.stand_still()
            self._task = None

    def stand_still(self) -> None:
        """Time does not count from now on."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        if self._left_s is not None:
            self._left_s = max(0.0, self._left_s - (self._clock.monotonic() - self._since))

    def go_on(self) -> None:
        """Time counts again."""
        if self._timer is not None or self._left_s is None or self._task is None:
            return
        self._since = self._clock.monotonic()
        self._timer = self._clock.call_at(self._since + self._left_s, self._expire)

    def _expire(self) -> None:
        self._timer = None
        self._is_expired = True
        if self._task is not None:
            self._task.cancel()
