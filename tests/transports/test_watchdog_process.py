"""The watchdog's own process: killed, stopped, hidden from, and what it holds and leaves behind."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from mcplens.transports import watchdog

from .ourselves import (
    BOUND_S,
    LEAVING_SERVER,
    SERVER,
    Run,
    is_running,
    is_true_soon,
    on_linux,
    watch_and_wait,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")


def test_a_watchdog_that_was_killed_is_started_again_with_all_groups(run: Run, shell: str) -> None:
    ourselves = run(
        f"""
servers = [serve({SERVER!r}) for _ in range(3)]
watchdog.watch(servers[0].pid)
watchdog.watch(servers[1].pid)
first = watchdog._watchdog.pid
os.kill(first, signal.SIGKILL)
os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
watchdog.watch(servers[2].pid)
say(first, watchdog._watchdog.pid)
sys.stdin.read()
""",
        shell=shell,
    )
    first, second = map(int, ourselves.line())
    assert first != second
    assert not is_running(first)
    ourselves.process.kill()
    assert not ourselves.is_anyone_left()


def test_a_watchdog_that_was_stopped_neither_blocks_us_nor_stays(run: Run) -> None:
    ourselves = run(
        f"""
server = serve({SERVER!r})
watchdog.watch(server.pid)
first = watchdog._watchdog.pid
os.kill(first, signal.SIGSTOP)
for _ in range(10_000):  # far more than a pipe holds
    watchdog.watch(server.pid + 1)
    watchdog.forget(server.pid + 1)
say(first, watchdog._watchdog.pid)
sys.stdin.read()
"""
    )
    first, second = map(int, ourselves.line())
    assert first != second
    assert not is_running(first)
    assert ourselves.is_anyone_left(within_s=0)
    ourselves.process.kill()
    assert not ourselves.is_anyone_left()


def test_a_process_that_we_forked_does_not_hide_our_end(run: Run) -> None:
    ourselves = run(
        f"""
server = serve({SERVER!r})
watchdog.watch(server.pid)
if os.fork() == 0:
    os.close(held)
    assert watchdog._watchdog.pid is None
    watchdog.forget(server.pid)
    say("forked")
    sys.stdin.read()
    leave()
sys.stdin.read() if os.fork() else leave()
"""
    )
    assert ourselves.line() == ["forked"]
    ourselves.process.kill()
    assert not ourselves.is_anyone_left()
    assert ourselves.process.stdin is not None
    ourselves.process.stdin.close()


def test_one_watchdog_serves_all_groups_and_starts_with_the_first(run: Run) -> None:
    ourselves = run(
        f"""
before = watchdog._watchdog.pid
servers = [serve({SERVER!r}) for _ in range(3)]
pids = set()
for server in servers:
    watchdog.watch(server.pid)
    pids.add(watchdog._watchdog.pid)
say(before, len(pids))
"""
    )
    assert ourselves.line() == ["None", "1"]
    assert not ourselves.is_anyone_left()


@on_linux
def test_the_watchdog_has_a_session_of_its_own_and_holds_nothing_of_ours(run: Run) -> None:
    ourselves = run("watchdog.start(); say(watchdog._watchdog.pid); sys.stdin.read()")
    (pid,) = map(int, ourselves.line())
    assert os.getsid(pid) == pid
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    # Right after exec the loader holds a library open, and the system shows no environment yet.
    nothing_of_ours = {"0": "pipe", "1": "/dev/null", "2": "/dev/null"}
    assert is_true_soon(lambda: files_of(pid) == nothing_of_ours), files_of(pid)
    assert is_true_soon(lambda: variables_of(pid) == {"PATH", "SCRIPT"}), variables_of(pid)


def files_of(pid: int) -> dict[str, str]:
    """What it has open; a file may be closed between being listed and being read."""
    files = {}
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            files[entry.name] = os.readlink(entry).split(":")[0]
    return files


def variables_of(pid: int) -> set[str]:
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return {entry.split("=")[0] for entry in entries if entry}


@on_linux
def test_signals_that_end_other_programs_do_not_end_the_watchdog(run: Run, shell: str) -> None:
    ourselves = run(watch_and_wait(SERVER), shell=shell)
    (pid,) = map(int, ourselves.line())
    assert is_true_soon(
        lambda: ignored_signals(pid) >= {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    os.killpg(pid, signal.SIGTERM)
    ourselves.process.kill()
    assert not ourselves.is_anyone_left()


def ignored_signals(pid: int) -> set[int]:
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(status.split("SigIgn:")[1].split()[0], 16)
    return {number for number in range(1, 32) if mask >> (number - 1) & 1}


@on_linux
def test_ladders_that_ended_leave_no_zombies(run: Run, shell: str) -> None:
    ourselves = run(
        """
server = subprocess.Popen(["/bin/sh", "-c", "exit"], start_new_session=True)
server.wait()
for _ in range(30):
    watchdog.finish(server.pid, 0, 0)
say(watchdog._watchdog.pid)
for _ in sys.stdin:
    watchdog.finish(server.pid, 0, 0)
    say("again")
""",
        shell=shell,
    )
    (pid,) = map(int, ourselves.line())

    def is_clean() -> bool:
        assert ourselves.process.stdin is not None
        ourselves.process.stdin.write(b"\n")
        ourselves.process.stdin.flush()
        ourselves.line()
        return len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()) <= 2

    assert is_true_soon(is_clean)


def test_python_has_nothing_to_warn_about(run: Run) -> None:
    ourselves = run(
        f"""
server = serve({LEAVING_SERVER!r})
watchdog.watch(server.pid)
watchdog.start()
if os.fork() == 0:
    leave()
os.wait()
server.communicate(b"bye\\n")
watchdog.forget(server.pid)
""",
        flags=("-X", "dev", "-W", "error"),
    )
    _, complaints = ourselves.process.communicate(timeout=BOUND_S)
    assert complaints == b"left\n"
    assert ourselves.process.returncode == 0


def test_without_a_shell_the_answer_is_no_and_nothing_breaks(run: Run) -> None:
    ourselves = run(
        f"""
server = serve({LEAVING_SERVER!r})
say(watchdog.watch(server.pid), watchdog.finish(server.pid, 1, 1), watchdog.start())
watchdog.forget(server.pid)
server.communicate(b"bye\\n")
""",
        shell="/nowhere/sh",
    )
    assert ourselves.line() == ["False", "False", "False"]
    assert ourselves.process.wait(BOUND_S) == 0


@pytest.mark.parametrize("pgid", [-1, 0, 1, os.getpgrp()])
def test_a_group_that_cannot_be_a_servers_is_refused(pgid: int) -> None:
    with pytest.raises(ValueError, match="process group of a server"):
        watchdog.watch(pgid)
    with pytest.raises(ValueError, match="process group of a server"):
        watchdog.finish(pgid, 0, 0)
