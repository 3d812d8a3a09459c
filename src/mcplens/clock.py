"""The one source of time. Every timeout, delay and timestamp comes from a Clock that is passed in.

SystemClock follows the running loop. ManualClock stands still until a test (or an embedding
program) advances it, so that a 30-second timeout is tested in a millisecond.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol


class Timer(Protocol):
    """A scheduled call that can be cancelled."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """What the engine needs from a clock; times are in seconds."""

    def wall(self) -> float: ...
    def monotonic(self) -> float: ...
    def call_at(self, when: float, callback: Callable[[], None]) -> Timer: ...
    async def sleep(self, delay_s: float) -> None: ...


def since_boot() -> float:
    """Seconds since this machine started, also those in which it was suspended.

    `monotonic` stands still meanwhile on Linux; whatever others take as expired must not.
    """
    return time.clock_gettime(_SINCE_BOOT)


# macOS counts suspended time by its CLOCK_MONOTONIC.
_SINCE_BOOT: Final[int] = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", 1))


class SystemClock:
    """Real time; `monotonic` is the event loop's clock (the same one on every platform)."""

    wall = staticmethod(time.time)
    monotonic = staticmethod(time.monotonic)

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        loop = asyncio.get_running_loop()
        return loop.call_later(max(0.0, when - time.monotonic()), callback)

    async def sleep(self, delay_s: float) -> None:
        await asyncio.sleep(delay_s)


class _ManualTimer:
    __slots__ = ("callback", "is_cancelled")

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualClock:
    """Time that moves only when `advance` is called."""

    def __init__(self, start: float = 1_000.0) -> None:
        self._now = start
        self._timers: list[tuple[float, int, _ManualTimer]] = []
        self._order = itertools.count()

    def __repr__(self) -> str:
        return f"<ManualClock at {self._now} with {self.timer_count} timers>"

    @property
    def timer_count(self) -> int:
        """The number of active timers; cancelled ones do not count."""
        return sum(not timer.is_cancelled for _, _, timer in self._timers)

    def wall(self) -> float:
        return self._now

    def monotonic(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Callable[[], None]) -> Timer:
        timer = _ManualTimer(callback)
        heapq.heappush(self._timers, (when, next(self._order), timer))
        return timer

    async def sleep(self, delay_s: float) -> None:
        done = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not done.done():
                done.set_result(None)

        timer = self.call_at(self._now + delay_s, wake)
        try:
            await done
        finally:
            timer.cancel()

    async def advance(self, seconds: float) -> None:
        """Advance time, run due timers in order, and let the tasks they woke run."""
        target = self._now + seconds
        while self._timers and self._timers[0][0] <= target:
            when, _, timer = heapq.heappop(self._timers)
            self._now = max(self._now, when)
            if not timer.is_cancelled:
                timer.callback()
                await self.settle()
        self._now = target
        await self.settle()

    @staticmethod
    async def settle(rounds: int = 20) -> None:
        """Let ready tasks run for a few iterations of the loop."""
        for _ in range(rounds):
            await asyncio.sleep(0)


async def within(clock: Clock, timeout_s: float | None, work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine with a timeout by the injected clock. Raises TimeoutError."""
    task = asyncio.get_running_loop().create_task(work)
    timed_out = False

    def expire() -> None:
        nonlocal timed_out
        timed_out = True
        task.cancel()

    timer = None if timeout_s is None else clock.call_at(clock.monotonic() + timeout_s, expire)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        if timed_out and task.cancelled():
            raise TimeoutError from None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    finally:
        if timer is not None:
            timer.cancel()
