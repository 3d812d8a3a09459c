"""The guard of leases against real processes: no server outlives the lease that it runs under."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from mcplens.errors import InspectorError
from mcplens.transports.lease_guard import LeaseGuard

from .ourselves import SERVER, STUBBORN_SERVER, Run, is_running, is_true_soon

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")


def guarded(server: str, lease_s: float, then: str = "sys.stdin.read()") -> str:
    """A script that runs a server under a lease."""
    return f"""
from mcplens.clock import since_boot
from mcplens.transports.lease_guard import LeaseGuard, _helper
guard = LeaseGuard()
guard.hold_until(since_boot() + {lease_s})
guard.check()
server = serve({server!r})
os.close(held)
guard.started(server.pid)
say(_helper._process.pid, server.pid)
{then}
"""


def test_a_server_is_killed_with_its_children_when_the_lease_ends(run: Run) -> None:
    ourselves = run(guarded(STUBBORN_SERVER, 0.3))
    helper, _ = map(int, ourselves.line())
    assert not ourselves.is_anyone_left()
    ourselves.process.kill()
    assert is_true_soon(lambda: not is_running(helper)), "the helper stayed though all is done"


def test_a_server_is_killed_in_time_while_we_are_stopped(run: Run) -> None:
    ourselves = run(guarded(SERVER, 1.0))
    ourselves.line()
    ourselves.process.send_signal(signal.SIGSTOP)
    assert ourselves.is_anyone_left(within_s=0)
    assert not ourselves.is_anyone_left()


def test_a_server_is_killed_in_time_after_we_were_killed(run: Run) -> None:
    ourselves = run(guarded(SERVER, 1.0))
    helper, _ = map(int, ourselves.line())
    ourselves.process.kill()
    assert not ourselves.is_anyone_left()
    assert is_true_soon(lambda: not is_running(helper))


def test_a_lease_that_is_renewed_keeps_the_server_and_one_that_is_lost_ends_it(run: Run) -> None:
    renewed = """
guard.hold_until(since_boot() + 60)
sys.stdin.readline()
guard.kill()
say("killed")
sys.stdin.read()
"""
    ourselves = run(guarded(SERVER, 0.5, renewed))
    ourselves.line()
    assert ourselves.is_anyone_left(within_s=1.0)
    assert ourselves.process.stdin is not None
    ourselves.process.stdin.write(b"\n")
    ourselves.process.stdin.flush()
    assert ourselves.line() == ["killed"]
    assert not ourselves.is_anyone_left()


def test_a_helper_that_was_killed_is_replaced_when_the_lease_is_renewed(run: Run) -> None:
    renewed = """
sys.stdin.readline()
_helper._process.wait()
guard.hold_until(since_boot() + 0.3)
say(_helper._process.pid)
sys.stdin.read()
"""
    ourselves = run(guarded(SERVER, 60, renewed))
    helper, _ = map(int, ourselves.line())
    os.kill(helper, signal.SIGKILL)
    assert ourselves.process.stdin is not None
    ourselves.process.stdin.write(b"\n")
    ourselves.process.stdin.flush()
    (other,) = map(int, ourselves.line())
    assert other != helper
    assert not ourselves.is_anyone_left()


def test_nothing_is_started_without_a_lease() -> None:
    guard = LeaseGuard(lambda: 100.0)
    with pytest.raises(InspectorError, match="does not hold the server's lease"):
        guard.check()
    guard.hold_until(101.0)
    guard.check()
    guard.kill()
    with pytest.raises(InspectorError):
        guard.check()
