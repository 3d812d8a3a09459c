"""`mcplens` forked from a process that has loaded its modules already.

Loading them is more than half of what a short command costs, and the tests run more than a thousand
commands. What is forked is a process like any other, with its own streams, folder, environment and
exit; commands that must be started by the system are started by `Shell.start`.
"""

from __future__ import annotations

import atexit
import functools
import gc
import io
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

_ROOT = Path(__file__).parents[2]
# What most commands load.
_MODULES = (
    "aiohttp",
    "mcplens.cli.call",
    "mcplens.cli.history",
    "mcplens.cli.info",
    "mcplens.cli.list_commands",
    "mcplens.cli.main",
    "mcplens.cli.prompt",
    "mcplens.cli.read",
    "mcplens.cli.request",
    "mcplens.cli.servers",
    "mcplens.session.client",
    "mcplens.store",
    "mcplens.transports.stdio",
    "mcplens.transports.streamable_http",
)
# The pid, then the exit code.
_NUMBER = struct.Struct("=i")
# A socket takes no larger message at once.
_LARGEST = 64_000


def can_run(words: tuple[str, ...], environment: dict[str, str]) -> bool:
    """Whether a command may be forked: Python reads some variables only when it starts."""
    own = _environment()
    early = ("PYTHON", "LC_", "LANG")
    names = [name for name in {*own, *environment} if name.startswith(early)]
    is_same = all(environment.get(name) == own.get(name) for name in names)
    return is_same and len(json.dumps([words, environment])) < _LARGEST


def run(
    words: tuple[str, ...], stdin: bytes, cwd: Path, environment: dict[str, str], timeout_s: float
) -> tuple[int, bytes, bytes]:
    """Run a command with pipes for its three streams: its exit code and what it printed."""
    with (
        _pipe() as (their_in, our_in),
        _pipe() as (our_out, their_out),
        _pipe() as (our_err, their_err),
    ):
        theirs = (their_in, their_out, their_err)
        with started(words, cwd, environment, *(file.fileno() for file in theirs)) as command:
            for file in theirs:
                file.close()
            out, err = _talk(our_in, stdin, our_out, our_err, timeout_s)
            return command.wait(), out, err


class Command:
    """A command that was forked."""

    def __init__(self, status: io.FileIO) -> None:
        self._status = status
        self.pid = self._number()

    def __repr__(self) -> str:
        return f"<Command {self.pid}>"

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        return self._number()

    def _number(self) -> int:
        (number,) = _NUMBER.unpack(self._status.read(_NUMBER.size))
        assert isinstance(number, int)
        return number


@contextmanager
def started(
    words: tuple[str, ...], cwd: Path, environment: dict[str, str], *streams: int
) -> Iterator[Command]:
    """A command whose three streams are these; it is killed if the block fails."""
    with _pipe() as (status, their_status):
        request = json.dumps([words, str(cwd), environment]).encode()
        _parent().send(request, [*streams, their_status.fileno()])
        their_status.close()
        command = Command(status)
        try:
            yield command
        except BaseException:
            os.kill(command.pid, signal.SIGKILL)
            raise


@contextmanager
def _pipe() -> Iterator[tuple[io.FileIO, io.FileIO]]:
    ends = os.pipe()
    with io.FileIO(ends[0], "r") as reader, io.FileIO(ends[1], "w") as writer:
        yield reader, writer


def _talk(
    into: io.FileIO, text: bytes, out: io.FileIO, err: io.FileIO, timeout_s: float
) -> tuple[bytes, bytes]:
    """Write all of its input, and read its output to the end."""
    os.set_blocking(into.fileno(), False)
    deadline = time.monotonic() + timeout_s
    read: dict[io.FileIO, bytearray] = {out: bytearray(), err: bytearray()}
    open_ends = {out, err}
    rest = memoryview(text)
    while open_ends:
        if not rest and not into.closed:
            into.close()
        writable = [] if into.closed else [into]
        ready, fit, _ = select.select(
            open_ends, writable, [], max(0.0, deadline - time.monotonic())
        )
        if not ready and not fit:
            raise TimeoutError(f"the command did not end within {timeout_s} s: {read}")
        for file in fit:
            try:
                rest = rest[os.write(file.fileno(), rest[:65536]) :]
            except BrokenPipeError:
                rest = rest[:0]
        for file in ready:
            part = file.read(65536)
            read[file] += part or b""
            if not part:
                open_ends.discard(file)
    return bytes(read[out]), bytes(read[err])


def _environment() -> dict[str, str]:
    """What commands have of the tests' own environment, and where these modules are."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG")}
    return {**kept, "PYTHONPATH": str(_ROOT), "PYTHONWARNINGS": "error"}


class _Parent:
    """The process that commands are forked from, for as long as the tests last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.prefork", str(theirs.fileno())],
                cwd=_ROOT, env=_environment(), pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            )  # fmt: skip
        atexit.register(self.close)

    def __repr__(self) -> str:
        return f"<_Parent {self._process.pid}>"

    def send(self, request: bytes, files: list[int]) -> None:
        with self._lock:
            socket.send_fds(self._socket, [request], files)

    def close(self) -> None:
        self._socket.close()
        self._process.wait()


@functools.cache
def _parent() -> _Parent:
    return _Parent()


# -- in the process that is forked -------------------------------------------------------------


def _serve(requests: socket.socket) -> None:
    """Fork a command for each request, and report its end; returns in each child."""
    statuses: dict[int, int] = {}
    awake, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    while True:
        ready, _, _ = select.select([requests.fileno(), awake], [], [])
        if awake in ready:
            os.read(awake, 4096)
            for pid in list(statuses):
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    file = statuses.pop(pid)
                    os.write(file, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
                    os.close(file)
        if requests.fileno() not in ready:
            continue
        text, files, _, _ = socket.recv_fds(requests, _LARGEST, 4)
        if not text:
            os._exit(0)  # the tests have ended
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for file in (awake, wake, *statuses.values(), files.pop()):
                os.close(file)
            requests.close()
            _become(text, files)
            return
        for file in files[:3]:
            os.close(file)
        statuses[pid] = files[3]
        os.write(files[3], _NUMBER.pack(pid))


def _become(request: bytes, files: list[int]) -> None:
    """Take over the streams, folder, environment and words of a command."""
    words, cwd, environment = json.loads(request)
    for number, given in enumerate(files):
        os.dup2(given, number)
        os.close(given)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        before = getattr(sys, name)
        file = io.FileIO(number, mode, closefd=False)
        stream = io.TextIOWrapper(
            io.BufferedReader(file) if mode == "r" else io.BufferedWriter(file),
            encoding=before.encoding, errors=before.errors, line_buffering=name == "stderr",
        )  # fmt: skip
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [str(Path(sys.executable).with_name("mcplens")), *words]


if __name__ == "__main__":
    for module in _MODULES:
        import_module(module)
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    sys.modules["mcplens.cli.main"].main()
