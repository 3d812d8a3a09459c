"""A server's process: started in a group of its own, its exit noticed without a thread or a poll.

Used by the stdio transport alone. Ends groups by signal; the watchdog does so when we cannot.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from typing import Final

from mcplens.transports import watchdog
from mcplens.transports.launch import Launch
from mcplens.transports.lease_guard import LeaseGuard

# The largest that Linux gives without privileges: a long line comes in fewer pieces.
_PIPE_BYTES: Final = 1 << 20
_F_SETPIPE_SZ: Final = 1031

_left_behind: list[ChildProcess] = []


class ChildProcess:
    """One started server."""

    def __init__(self, launch: Launch, guard: LeaseGuard | None = None) -> None:
        reap_left_behind()
        watchdog.start()
        if guard is not None:
            guard.check()
        self._process = watchdog.OutlivingProcess(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=launch.env,
            cwd=launch.cwd,
            bufsize=0,
            process_group=0,
        )
        self.pid = self._process.pid
        self.is_exit_published = False
        watchdog.watch(self.pid)
        self._guard = guard
        if guard is not None:
            guard.started(self.pid)
        self.exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None
        assert stdout is not None
        assert stderr is not None
        self.stdin, self.stdout, self.stderr = stdin, stdout, stderr
        _enlarge(self.stdout.fileno())
        self._pidfd = -1
        self._watch_exit()

    def __repr__(self) -> str:
        code = self._process.returncode
        return f"<ChildProcess {self.pid} {'runs' if code is None else f'exited {code}'}>"

    @property
    def return_code(self) -> int | None:
        """As Popen has it: negative for a signal."""
        return self._process.returncode

    def signal_group(self, number: int) -> None:
        """Send a signal to the server and all that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def is_group_alive(self) -> bool:
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def release(self, terminate_after_s: float, kill_after_s: float) -> None:
        """We are done with it: the watchdog ends what still runs of the group, if anything does."""
        self._unwatch_exit()
        if self._process.poll() is None or self.is_group_alive():
            watchdog.finish(self.pid, terminate_after_s, kill_after_s)
            if self._process.returncode is None:
                _left_behind.append(self)
        else:
            watchdog.forget(self.pid)
            if self._guard is not None:
                self._guard.ended(self.pid)

    def _watch_exit(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # macOS, or a kernel before 5.3
            self._wait_in_thread(loop)
            return
        loop.add_reader(self._pidfd, self._noticed)

    def _noticed(self) -> None:
        self._unwatch_exit()
        self._settle(self._process.wait())

    def _settle(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)

    def _unwatch_exit(self) -> None:
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1

    def _wait_in_thread(self, loop: asyncio.AbstractEventLoop) -> None:
        import threading

        def wait() -> None:
            code = self._process.wait()
            with contextlib.suppress(RuntimeError):  # the loop may be closed by then
                loop.call_soon_threadsafe(self._settle, code)

        threading.Thread(target=wait, name=f"wait for {self.pid}", daemon=True).start()


def reap_left_behind() -> None:
    """Collect servers that ended after we were done with them, so that no zombie stays."""
    _left_behind[:] = [child for child in _left_behind if child._process.poll() is None]


def describe_exit(code: int) -> str:
    """An exit code or signal in words."""
    if code >= 0:
        return f"exited with code {code}"
    return f"was ended by {signal_name(code)}"


def signal_name(code: int) -> str | None:
    """The signal in a negative return code."""
    if code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _enlarge(descriptor: int) -> None:
    try:
        import fcntl

        fcntl.fcntl(descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
    except (ImportError, OSError):
        pass
