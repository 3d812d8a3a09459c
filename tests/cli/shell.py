"""Runs the `mcplens` command as a shell would: as a process, piped or on a terminal.

Also keeps a server over HTTP for the tests that need one. Nothing here sleeps: a process is waited
for, its output read until what is expected is there, each within a bound.
"""

import contextlib
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE

from tests.cli import prefork
from tests.servers.run import ROOT, argv

MCPLENS = str(Path(sys.executable).with_name("mcplens"))
# A command takes a second; this only bounds one that hangs.
TIMEOUT_S = 60


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


@dataclass
class Shell:
    """A user's shell: a home of its own, so that no file of the developer's is read or written."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG")}
        folders = {
            f"XDG_{kind}_HOME": str(self.home / kind.lower())
            for kind in ("CONFIG", "STATE", "DATA", "CACHE")
        }
        # The servers are modules of this repository; a warning is an error.
        base = {"HOME": str(self.home), "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
        base["MCPLENS_KEYRING"] = "off"
        # Scripts run with the Python of the tests, as if its environment were activated.
        base["VIRTUAL_ENV"] = str(Path(sys.executable).parent.parent)
        return {**kept, **folders, **base, "TERM": "xterm-256color", **self.variables}

    @property
    def config(self) -> Path:
        return self.home / "config" / "mcplens" / "mcp.json"

    @property
    def state(self) -> Path:
        return self.home / "state" / "mcplens"

    def run(self, *words: str, stdin: bytes = b"", cwd: Path | None = None) -> Ran:
        """Run a command with pipes for its three streams, at home or in another folder."""
        place, environment = cwd or self.home, self.environment
        if prefork.can_run(words, environment):
            code, out, err = prefork.run(words, stdin, place, environment, TIMEOUT_S)
            return Ran(code, out, err.decode())
        done = subprocess.run(
            [MCPLENS, *words],
            input=stdin,
            capture_output=True,
            cwd=place,
            env=environment,
            timeout=TIMEOUT_S,
        )
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    def start(
        self, *words: str, stdin: int = PIPE, stdout: int = PIPE, stderr: int = PIPE
    ) -> "subprocess.Popen[bytes]":
        """Start a command; pipes unless told otherwise."""
        return subprocess.Popen(
            [MCPLENS, *words],
            cwd=self.home,
            env=self.environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )

    def on_terminal(self, *words: str, columns: int = 80) -> Ran:
        """Run a command whose three streams are one terminal."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        streams = (theirs, theirs, theirs)
        with prefork.started(words, self.home, self.environment, *streams) as command:
            os.close(theirs)
            shown = b""
            with contextlib.suppress(OSError):  # EIO: the other end is closed
                while part := read_some(ours):
                    shown += part
            os.close(ours)
            return Ran(command.wait(), shown.replace(b"\r\n", b"\n"), "")


def read_some(file: int) -> bytes:
    """What can be read next; waits for it, but not for ever."""
    ready, _, _ = select.select([file], [], [], TIMEOUT_S)
    assert ready, "nothing came"
    return os.read(file, 65536)


def read_until(file: int, expected: bytes) -> bytes:
    """All that was read until the expected bytes were among it."""
    found = b""
    deadline = time.monotonic() + TIMEOUT_S
    while expected not in found:
        assert time.monotonic() < deadline, f"{expected!r} did not come, but {found!r}"
        part = read_some(file)
        assert part, f"{expected!r} did not come, but {found!r}"
        found += part
    return found


def good(*options: str) -> list[str]:
    """The words that name the well-behaved server as a command."""
    return ["--", *argv("good", *options)]


def bad(fault: str, *options: str) -> list[str]:
    """The words that name a misbehaving server as a command."""
    return ["--", *argv("bad", fault, *options)]


@contextlib.contextmanager
def serving(name: str, *options: str) -> Iterator[str]:
    """The URL of a test server for as long as the block lasts."""
    pipe = subprocess.PIPE
    with subprocess.Popen(argv(name, *options), cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["url"]
        finally:
            process.communicate(timeout=TIMEOUT_S)  # closes stdin, which ends it
