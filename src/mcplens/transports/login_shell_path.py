"""The user's PATH, as a login and an interactive shell see it: asked once, for a bounded time.

A program that was not started from a terminal has a bare PATH; the servers' commands are on the
user's. Blocks, so the stdio transport asks in a thread. Called by launch.py.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from typing import Final

from mcplens.clock import SystemClock

# Most rc files are done in a tenth of it; a slower one must not hold up a connection.
SHELL_TIMEOUT_S: Final = 2.0

# An rc file that prints more than this before we see a PATH is not going to show one.
_SHELL_NOISE_LIMIT_BYTES: Final = 1 << 20

# Set in the shells that we ask, so that an rc file which runs mcplens does not ask endlessly.
_ASKING_VARIABLE: Final = "MCPLENS_RESOLVING_PATH"


class _Shell:
    """What the user's shell answered, once for the life of this process."""

    __slots__ = ("entries", "lock")

    def __init__(self) -> None:
        self.entries: list[str] | None = None
        self.lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<_Shell {'not asked' if self.entries is None else self.entries}>"


_shell: Final = _Shell()


def is_known() -> bool:
    """Whether the shell was asked before, so that the answer costs nothing."""
    return _shell.entries is not None


def shell_path_entries() -> list[str]:
    """PATH of the user's login, then interactive shell: asked once, up to 2 s, [] when in doubt."""
    with _shell.lock:
        if _shell.entries is None:
            asked_by_ourselves = _ASKING_VARIABLE in os.environ
            _shell.entries = [] if asked_by_ourselves else ask_shell(_user_shell())
        return list(_shell.entries)


def _user_shell() -> str:
    shell = os.environ.get("SHELL")
    if not shell and sys.platform != "win32":
        import pwd  # only where SHELL is not set: services, containers

        try:
            shell = pwd.getpwuid(os.getuid()).pw_shell
        except KeyError:
            shell = None
    return shell or "/bin/sh"


def ask_shell(shell: str, timeout_s: float = SHELL_TIMEOUT_S) -> list[str]:
    """PATH entries of `shell -l`, then new ones of `shell -i`, both run at the same time."""
    deadline = SystemClock.monotonic() + timeout_s
    marker = os.urandom(16).hex()
    started = [_start_shell(shell, flag, marker) for flag in ("-l", "-i")]
    found: list[str] = []
    for process in started:
        if process is not None:
            found += _answer_of(process, marker.encode(), deadline).split(":")
    return list(dict.fromkeys(entry for entry in found if entry.startswith("/")))


def _start_shell(shell: str, flag: str, marker: str) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            # "$PATH" reads the same in sh, bash, zsh and fish.
            [shell, flag, "-c", f"printf '%s%s%s' {marker} \"$PATH\" {marker}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, _ASKING_VARIABLE: "1"},
            start_new_session=True,  # an interactive shell would take the terminal from us
        )
    except OSError:
        return None


def _answer_of(process: subprocess.Popen[bytes], marker: bytes, deadline: float) -> str:
    """What the shell printed between the markers; the shell and its group have ended after it."""
    assert process.stdout is not None
    with process.stdout as output:
        answer = _read_between(output.fileno(), marker, deadline)
    try:
        process.wait(max(0.0, deadline - SystemClock.monotonic()))
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it ended after all
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return os.fsdecode(answer)


def _read_between(number: int, marker: bytes, deadline: float) -> bytes:
    """Read to the second marker, not to the end: a program that an rc file left may hold that."""
    poller = select.poll()
    poller.register(number, select.POLLIN)
    data = b""
    while len(data) < _SHELL_NOISE_LIMIT_BYTES:
        left_s = deadline - SystemClock.monotonic()
        if left_s <= 0 or not poller.poll(left_s * 1_000):
            break
        chunk = os.read(number, 65_536)
        data += chunk
        parts = data.split(marker, 2)
        if len(parts) == 3:
            return parts[1]
        if not chunk:
            break
    return b""
