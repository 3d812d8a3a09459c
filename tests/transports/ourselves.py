"""Scripts that play the part of mcplens and use the watchdog, with the servers that they start.

All servers and their children inherit the write end of one pipe; the test holds the read end, so
the pipe's end is the end of all of them.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcplens.transports import watchdog

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BOUND_S = 8.0

SERVER = "sleep 60 & echo up; wait"
STUBBORN_SERVER = "trap '' TERM; sleep 60 & echo up; wait; wait"
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


def watch_and_wait(server: str) -> str:
    return f"""
server = serve({server!r})
assert watchdog.watch(server.pid)
say(watchdog._watchdog.pid)
sys.stdin.read()
"""
