"""Time that stands still until it is told to move, and work that is bounded by it."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from mcplens.clock import ManualClock, SystemClock, within

from .session.scripted import until


async def test_timers_run_in_the_order_in_which_they_fall_due() -> None:
    clock = ManualClock(0.0)
    rung: list[tuple[str, float]] = []

    def ring(name: str) -> None:
        rung.append((name, clock.monotonic()))

    for name, when in (("b", 2.0), ("a", 1.0), ("b2", 2.0), ("c", 9.0)):
        clock.call_at(when, partial(ring, name))
    await clock.advance(5)
    assert rung == [("a", 1.0), ("b", 2.0), ("b2", 2.0)]
    assert clock.monotonic() == 5.0
    assert clock.timer_count == 1


async def test_a_cancelled_timer_does_not_run() -> None:
    clock = ManualClock()
    clock.call_at(clock.monotonic() + 1, lambda: pytest.fail("it ran")).cancel()
    assert clock.timer_count == 0
    await clock.advance(10)


async def test_sleepers_wake_when_their_time_comes() -> None:
    clock = ManualClock()
    sleeper = asyncio.get_running_loop().create_task(clock.sleep(3))
    await clock.settle()
    await clock.advance(2.9)
    assert not sleeper.done()
    await clock.advance(0.1)
    assert sleeper.done()


async def test_a_sleeper_that_is_cancelled_leaves_no_timer() -> None:
    clock = ManualClock()
    sleeper = asyncio.get_running_loop().create_task(clock.sleep(3))
    await clock.settle()
    sleeper.cancel()
    await clock.settle()
    assert clock.timer_count == 0


async def test_work_within_its_time_is_done() -> None:
    clock = ManualClock()
    done = []

    async def work() -> None:
        await clock.sleep(1)
        done.append(True)

    task = asyncio.get_running_loop().create_task(within(clock, 2, work()))
    await clock.settle()
    await clock.advance(1)
    await task
    assert done
    assert clock.timer_count == 0


async def test_work_beyond_its_time_is_cancelled_and_cleaned_up_first() -> None:
    clock = ManualClock()
    cleaned = []

    async def work() -> None:
        try:
            await clock.sleep(10)
        finally:
            cleaned.append(True)

    task = asyncio.get_running_loop().create_task(within(clock, 2, work()))
    await clock.settle()
    await clock.advance(2)
    with pytest.raises(TimeoutError):
        await task
    assert cleaned


async def test_cancelling_the_waiter_cancels_the_work() -> None:
    clock = ManualClock()
    cleaned = []

    async def work() -> None:
        try:
            await clock.sleep(10)
        finally:
            cleaned.append(True)

    task = asyncio.get_running_loop().create_task(within(clock, None, work()))
    await clock.settle()
    task.cancel()
    await until(task.done)
    assert task.cancelled()
    assert cleaned


async def test_an_error_of_the_work_is_the_waiters() -> None:
    async def work() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await within(ManualClock(), 5, work())


async def test_real_time_is_the_loops() -> None:
    clock = SystemClock()
    rung = asyncio.Event()
    clock.call_at(clock.monotonic(), rung.set)
    clock.call_at(clock.monotonic() + 1_000, lambda: pytest.fail("too early")).cancel()
    async with asyncio.timeout(5):
        await rung.wait()
        await clock.sleep(0)
    assert abs(clock.monotonic() - asyncio.get_running_loop().time()) < 1
