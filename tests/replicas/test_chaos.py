"""Replicas, store, balancer and servers fail under load: one answer or one clear error a call."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.replicas.chaos_run import FAULTS, Call, ChaosRun

MEGABYTE = 1_000_000
# Any of these says what became of the call, or which part failed.
CLEAR = (
    "may have",  # its replica or its server is gone
    "nothing was begun",
    "was not begun",
    # The balancer cut it, as the client sees it:
    "closed the connection without an answer",
    "broke off",
    "connection was lost",
    "send a complete request in time",  # the client had too little of the processor
    "did not answer within",  # the server that hangs
    "store",
)
NOT_BEGUN = ("nothing was begun", "was not begun", "send a complete request in time")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.mark.parametrize(
    ("seconds", "clients"),
    [
        pytest.param(30.0, 30, marks=[pytest.mark.slow, pytest.mark.timeout(300)], id="short"),
        pytest.param(
            float(os.environ.get("MCPLENS_FAULTS_S", "600")), 200, marks=pytest.mark.soak, id="long"
        ),
    ],
)
async def test_each_call_gets_one_answer_or_one_clear_error_whatever_fails(
    seconds: float, clients: int, tmp_path: Path
) -> None:
    run = ChaosRun(tmp_path, clients=clients, seed=18)
    await run.run(seconds)
    executed = run.executions()
    failed = [call for call in run.calls if call.error is not None]
    print(f"\n{seconds:.0f} s: {len(run.calls)} calls, {len(failed)} with an error, {run!r}")
    print(f"before: {run.before}\nafter:  {run.after}")
    for text, count in Counter((call.error or "")[:160] for call in failed).most_common(20):
        print(f"  {count:5} {text}")
    assert set(run.faults) == set(FAULTS)
    assert len(run.calls) > 5 * seconds
    assert len(failed) < len(run.calls) / 3
    assert run.surplus == []
    for call in run.calls:
        check(call, executed[call.key])
    assert max(executed.values()) == 1
    # A client keeps its session, whichever replica has it.
    assert set(run.sessions.values()) == {1}, run.sessions
    for before, after in zip(run.before, run.after, strict=True):
        assert after.processes <= before.processes
        assert after.bytes < before.bytes + 45 * MEGABYTE


def check(call: Call, times: int) -> None:
    """A call is executed once at most, and what its client was told is true."""
    assert times <= 1, call
    if call.error is None:
        assert times == 1, f"{call} has an answer, but was not executed"
    else:
        assert any(words in call.error for words in CLEAR) or call.server in call.error, call
        if any(words in call.error for words in NOT_BEGUN):
            assert times == 0, call
