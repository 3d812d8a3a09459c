"""Servers are killed at random under load: one answer or one error for each call, nothing twice."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.gateway.fault_run import CALLS_AT_ONCE, CLIENTS, FaultRun

MEGABYTE = 1_000_000
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize(
    ("seconds", "warm_s"),
    [
        pytest.param(30.0, 20.0, marks=[pytest.mark.slow, pytest.mark.timeout(300)]),
        pytest.param(
            float(os.environ.get("MCPLENS_FAULTS_S", "600")), 60.0, marks=pytest.mark.soak
        ),
    ],
)
async def test_each_call_gets_one_answer_or_one_clear_error_and_none_is_executed_twice(
    seconds: float, warm_s: float, tmp_path: Path
) -> None:
    run = FaultRun(Shell(tmp_path), seed=14)
    levels = await run.run(seconds, warm_s=warm_s)
    executed = run.executions()
    failed = [call for call in run.calls if call.error is not None]
    repeated = Counter(call.tool for call in run.calls if executed[call.key] > 1)
    print(
        f"\n{seconds:.0f} s: {len(run.calls)} calls, {len(failed)} with an error, {run.kills} kills"
        f"\nexecuted twice: {dict(repeated)}"
        f"\nsurplus replies: {run.surplus}; servers left: {run.left}"
        f"\nstart:  {levels.began}\nwarm:   {levels.warm}"
        f"\nloaded: {levels.loaded}\nafter:  {levels.after}"
    )
    for at_s, one in run.levels[:: max(1, len(run.levels) // 12)]:
        print(f"  {at_s:5.0f} s: {one.bytes / MEGABYTE:6.1f} MB, {one.files} files")
    for text, count in Counter((call.error or "")[:90] for call in failed).most_common(12):
        print(f"  {count:5} {text}")
    assert run.kills > seconds / 4
    assert len(run.calls) > 2 * seconds
    assert len(failed) < len(run.calls) / 2
    assert (run.surplus, run.left) == (0, 0)
    for call in run.calls:
        times = executed[call.key]
        if call.error is None:
            assert times >= 1, f"{call} has an answer, but was not executed"
        else:
            assert call.server in call.error, f"{call} does not say which server failed"
        assert times <= (1 if call.tool == "write" else 2), call
    began, warm, after = levels.began, levels.warm, levels.after
    assert after.processes <= began.processes
    assert after.files <= began.files + CLIENTS * CALLS_AT_ONCE  # connections that are kept
    # Calls without faults have filled what is kept for a while: faults leave nothing beyond it.
    assert after.bytes < warm.bytes + 5 * MEGABYTE
    # Under load there are 20 s of events more than at first, and streams that may be resumed.
    assert max(one.bytes for _, one in run.levels) < warm.bytes + 25 * MEGABYTE
