"""Limits on calls per second, counted by one process."""

from __future__ import annotations

import pytest

from mcplens.clock import ManualClock
from mcplens.gateway import call_limits


async def test_callers_that_came_once_are_not_remembered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_limits, "_MOST_BUCKETS", 3)
    clock = ManualClock()
    rates = call_limits._Rates(clock)
    for number in range(20):
        assert rates.take(f"caller {number}", 2)
        await clock.advance(2.0)
    assert len(rates._buckets) <= 3
    assert [rates.take("busy", 2) for _ in range(3)] == [True, True, False]
    assert all(rates.take(f"another {number}", 2) for number in range(5))
    assert not rates.take("busy", 2)  # who uses up a rate is not forgotten with the others
