"""The watchdog against real processes: whatever becomes of us, no server stays behind.

Each test runs a small script in the part of mcplens. All servers and their children inherit the
write end of one pipe; the test holds the read end, so the pipe's end is the end of all of them.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcplens.transports import watchdog

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BOUND_S = 8.0

SERVER = "sleep 60 & echo up; wait"
STUBBORN_SERVER = "trap '' TERM; sleep 60 & echo up; wait; wait"
DEAF_SERVER = (
    "trap '' TERM; sleep 60 & trap 'echo terminated >&2' TERM; echo up; while :; do wait; done"
)
POLITE_SERVER = "trap 'echo terminated >&2; exit' TERM; echo up; read -r line; sleep 60 & wait"
LEAVING_SERVER = "echo up; read -r line; echo left >&2"

PRELUDE = """\
import os, signal, subprocess, sys
from mcplens.transports import watchdog
watchdog.SHELL, held = sys.argv[1], int(sys.argv[2])

def serve(script):
    server = subprocess.Popen(
        ["/bin/sh", "-c", script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, pass_fds=[held],
    )
    assert server.stdout.readline() == b"up\\n"
    return server

def say(*words):
    print(*words, flush=True)

def leave():
    os._exit(0)  # no goodbye: what Popen objects would say about their children is not the matter
"""


class Ourselves:
    """A running script that uses the watchdog, and the pipe that its servers hold open."""

    def __init__(self, script: str, *, shell: str = "/bin/sh", flags: tuple[str, ...] = ()) -> None:
        self.held, writer = os.pipe()
        source_folder = str(Path(watchdog.__file__).parents[2])
        self.process = subprocess.Popen(
            [sys.executable, *flags, "-c", PRELUDE + script, shell, str(writer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writer],
            env={**os.environ, "PYTHONPATH": source_folder},
            start_new_session=True,
        )
        os.close(writer)

    def line(self) -> list[str]:
        """The next line that the script says, within the bound."""
        assert self.process.stdout is not None
        assert is_readable(self.process.stdout.fileno()), "the script said nothing"
        return self.process.stdout.readline().decode().split()

    def is_anyone_left(self, within_s: float = BOUND_S) -> bool:
        """Whether a server, or the child of one, still holds the pipe when the bound is over."""
        return not is_readable(self.held, within_s)

    def close(self) -> None:
        self.process.kill()
        with self.process:
            pass
        os.close(self.held)


def is_readable(number: int, within_s: float = BOUND_S) -> bool:
    poller = select.poll()
    poller.register(number, select.POLLIN)
    return bool(poller.poll(within_s * 1_000))


def is_true_soon(condition: Callable[[], bool], within_s: float = BOUND_S) -> bool:
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.01)
    return True


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(")", 1)[1].split()[0] != "Z"


Run = Callable[..., Ourselves]


@pytest.fixture
def run() -> Iterator[Run]:
    started: list[Ourselves] = []

    def run(script: str, **options: object) -> Ourselves:
        started.append(Ourselves(script, **options))  # type: ignore[arg-type]
        return started[-1]

    yield run
    for ourselves in started:
        ourselves.close()


@pytest.fixture(params=["dash", "bash"])
def shell(request: pytest.FixtureRequest) -> str:
    path = f"/bin/{request.param}"
    if not os.access(path, os.X_OK):
        pytest.skip(f"there is no {path} here")
    return path


def watch_and_wait(server: str) -> str:
    return f"""
server = serve({server!r})
assert watchdog.watch(server.pid)
say(watchdog._watchdog.pid)
sys.stdin.read()
"""


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
