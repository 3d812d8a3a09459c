"""The watchdog against real processes: whatever becomes of us, no server stays behind."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from .ourselves import (
    BOUND_S,
    LEAVING_SERVER,
    SERVER,
    STUBBORN_SERVER,
    Run,
    is_running,
    is_true_soon,
    watch_and_wait,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
DEAF_SERVER = (
    "trap '' TERM; sleep 60 & trap 'echo terminated >&2' TERM; echo up; while :; do wait; done"
)
POLITE_SERVER = "trap 'echo terminated >&2; exit' TERM; echo up; read -r line; sleep 60 & wait"


def test_a_sigkill_of_ourselves_ends_the_server_and_its_child(run: Run, shell: str) -> None:
    ourselves = run(watch_and_wait(SERVER), shell=shell)
    ourselves.line()
    assert ourselves.is_anyone_left(within_s=0)
    ourselves.process.kill()
    assert not ourselves.is_anyone_left()


def test_a_normal_exit_ends_the_server_and_its_child(run: Run, shell: str) -> None:
    ourselves = run(watch_and_wait(SERVER), shell=shell)
    ourselves.line()
    assert ourselves.process.stdin is not None
    ourselves.process.stdin.close()
    assert ourselves.process.wait(BOUND_S) == 0
    assert not ourselves.is_anyone_left()


def test_ctrl_c_ends_the_server_and_its_child(run: Run) -> None:
    ourselves = run(watch_and_wait(SERVER))
    ourselves.line()
    os.killpg(ourselves.process.pid, signal.SIGINT)
    assert not ourselves.is_anyone_left()


def test_a_server_that_ignores_sigterm_is_killed_two_seconds_after_us(run: Run, shell: str) -> None:
    ourselves = run(watch_and_wait(STUBBORN_SERVER), shell=shell)
    (pid,) = map(int, ourselves.line())
    ourselves.process.kill()
    assert ourselves.is_anyone_left(within_s=1)
    assert is_running(pid)
    assert not ourselves.is_anyone_left()
    assert is_true_soon(lambda: not is_running(pid)), "the watchdog stayed though all is done"


def test_the_ladder_goes_on_after_our_exit_and_ends_in_a_kill(run: Run, shell: str) -> None:
    ourselves = run(
        f"""
server = serve({DEAF_SERVER!r})
watchdog.watch(server.pid)
assert watchdog.finish(server.pid, 0.2, 0.4)
leave()
""",
        shell=shell,
    )
    assert not ourselves.is_anyone_left()
    assert ourselves.process.communicate(timeout=BOUND_S)[1] == b"terminated\n"


def test_the_ladder_terminates_a_server_that_does_not_leave_by_itself(run: Run, shell: str) -> None:
    ourselves = run(
        f"""
server = serve({POLITE_SERVER!r})
watchdog.watch(server.pid)
server.stdin.close()
watchdog.finish(server.pid, 0.2, 60)
leave()
""",
        shell=shell,
    )
    assert not ourselves.is_anyone_left()
    assert ourselves.process.communicate(timeout=BOUND_S)[1] == b"terminated\n"


def test_the_ladder_leaves_a_server_the_time_to_go_by_itself(run: Run, shell: str) -> None:
    ourselves = run(
        f"""
server = serve({LEAVING_SERVER!r})
watchdog.watch(server.pid)
watchdog.finish(server.pid, 60, 60)
server.stdin.close()
leave()
""",
        shell=shell,
    )
    assert not ourselves.is_anyone_left()
    assert ourselves.process.communicate(timeout=BOUND_S)[1] == b"left\n"


def test_a_group_that_was_forgotten_is_left_alone(run: Run, shell: str) -> None:
    ourselves = run(
        f"""
servers = [serve({SERVER!r}) for _ in range(3)]
for server in servers:
    watchdog.watch(server.pid)
watchdog.forget(servers[1].pid)
say(*(server.pid for server in servers))
leave()
""",
        shell=shell,
    )
    first, forgotten, last = map(int, ourselves.line())
    ourselves.process.wait(BOUND_S)
    try:
        assert is_true_soon(lambda: not is_running(first) and not is_running(last))
        assert is_running(forgotten)
    finally:
        os.killpg(forgotten, signal.SIGKILL)
    assert not ourselves.is_anyone_left()


def test_whoever_reads_our_output_does_not_wait_for_the_watchdog(run: Run, shell: str) -> None:
    ourselves = run(
        f"""
servers = finished, watched = [serve("exec 2>&-; " + {STUBBORN_SERVER!r}) for _ in range(2)]
watchdog.watch(finished.pid), watchdog.watch(watched.pid)
watchdog.finish(finished.pid, 5, 5)
say(*(server.pid for server in servers))
leave()
""",
        shell=shell,
    )
    output, errors = ourselves.process.communicate(timeout=BOUND_S)
    try:
        assert ourselves.is_anyone_left(within_s=0), "the watchdog was done before our output ended"
        assert errors == b""
    finally:
        for pgid in map(int, output.split()):
            os.killpg(pgid, signal.SIGKILL)
    assert not ourselves.is_anyone_left()
