"""Kills the process group of a server that may run once, at the latest when its lease ends.

The deadline is kept by a process of its own, since ours may be stopped or hang while the server
goes on. It reads deadlines from a pipe and counts the time of a suspended machine. When we are
gone it stays until the groups are gone, or their deadlines are due. Groups are reported by
child_process.py; the lease is moved on by gateway/singletons.py.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Final

from mcplens.clock import since_boot
from mcplens.errors import InspectorError
from mcplens.transports.watchdog import OutlivingProcess, check_group

# How late a group may be killed after a machine was suspended; a lease leaves more room than this.
TICK_S: Final = 0.1

# In place of a deadline: the group is gone.
_FORGET: Final = "inf"

_SCRIPT: Final = f"""\
import os, select, signal, time
CLOCK = getattr(time, "CLOCK_BOOTTIME", None) or time.CLOCK_MONOTONIC
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
due, buffer, is_open = {{}}, b"", True
while is_open or due:
    if select.select([0] if is_open else [], [], [], {TICK_S} if due else None)[0]:
        data = os.read(0, 65536)
        is_open = bool(data)
        *lines, buffer = (buffer + data).split(b"\\n")
        for line in lines:
            group, at = line.split()
            due[int(group)] = float(at)
            if at == b"{_FORGET}":
                del due[int(group)]
    for group, at in list(due.items()):
        try:
            os.killpg(group, signal.SIGKILL if time.clock_gettime(CLOCK) >= at else 0)
        except OSError:
            del due[group]
"""


class _Helper:
    """The process that keeps the deadlines; one for all servers of ours."""

    def __init__(self) -> None:
        self._due: dict[int, float] = {}
        self._process: OutlivingProcess | None = None
        self._pipe = -1
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        state = f"pid {self._process.pid}" if self._process else "not running"
        return f"<_Helper {state}, groups {list(self._due)}>"

    def set(self, pgid: int, until: float) -> bool:
        """Kill this group then; False where no process can be started for that."""
        check_group(pgid)
        with self._lock:
            self._due[pgid] = until
            return self._write(f"{pgid} {until}") or self._start()

    def forget(self, pgid: int) -> None:
        with self._lock:
            if self._due.pop(pgid, None) is not None:
                self._write(f"{pgid} {_FORGET}")

    def _write(self, line: str) -> bool:
        if self._process is None or self._process.poll() is not None:
            return False
        try:
            os.write(self._pipe, f"{line}\n".encode())
        except (BrokenPipeError, BlockingIOError):
            return False
        return True

    def _start(self) -> bool:
        self._stop()
        try:
            reader, self._pipe = os.pipe()
        except OSError:
            return False
        os.set_blocking(self._pipe, False)
        try:
            self._process = OutlivingProcess(
                [sys.executable, "-I", "-S", "-c", _SCRIPT],
                stdin=reader,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:
            self._stop()
            return False
        finally:
            os.close(reader)
        return all(self._write(f"{pgid} {until}") for pgid, until in list(self._due.items()))

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1


_helper: Final = _Helper()


class LeaseGuard:
    """The processes of one server, which may run until the lease ends; times as `since_boot`."""

    def __init__(self, now: Callable[[], float] = since_boot) -> None:
        self._groups: set[int] = set()
        self._until = 0.0
        self._now = now

    def __repr__(self) -> str:
        return f"<LeaseGuard of {sorted(self._groups)} until {self._until:.3f}>"

    def check(self) -> None:
        """Raises InspectorError if nothing may be started now."""
        if self._now() >= self._until:
            raise InspectorError("NOT_CONNECTED", "this replica does not hold the server's lease")

    def started(self, pgid: int) -> None:
        """A process of the server has started."""
        self._groups.add(pgid)
        if not _helper.set(pgid, self._until):
            # Nobody would end it while we cannot.
            self.kill()

    def ended(self, pgid: int) -> None:
        """A group is gone."""
        self._groups.discard(pgid)
        _helper.forget(pgid)

    def hold_until(self, until: float) -> None:
        """The lease was renewed."""
        self._until = until
        for pgid in self._groups:
            _helper.set(pgid, until)

    def kill(self) -> None:
        """The lease is lost: end all processes now."""
        self._until = 0.0
        for pgid in self._groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pgid, signal.SIGKILL)
