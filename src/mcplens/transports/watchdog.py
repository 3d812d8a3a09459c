"""One watchdog per process: it ends the servers' process groups when we can no longer do so.

It is a `/bin/sh` in a session of its own that reads from a pipe whose write end only we hold. When
the pipe closes, however we ended, it ends every group that is still watched. The stdio transport
calls `watch` when a server has started, `forget` when its group is gone, and `finish` to have the
rest of the shutdown done without us. Groups that a server's children open themselves are not seen.
"""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Final

# Any POSIX shell: it starts in about a millisecond, where Python takes thirty.
SHELL = "/bin/sh"

TICK_S: Final = 0.1

# What a server gets between SIGTERM and SIGKILL when we are gone: 2 s, in ticks.
_ORPHAN_TICKS: Final = 20

# Its stdin is our pipe, its other files /dev/null. `read` runs until the pipe closes. A ladder's
# stdin is not our pipe, or a watchdog that was killed would not be noticed while a ladder runs.
# `(:)` has the shell wait for a child, and with that it collects the ladders that have ended.
_SCRIPT: Final = f"""\
trap '' HUP INT QUIT PIPE TERM
gone() {{
    ticks=$2
    while kill -s 0 -- "-$1"; do
        [ "$ticks" -gt 0 ] || return 1
        ticks=$((ticks - 1))
        sleep {TICK_S} || sleep 1
    done
}}
ladder() {{
    gone "$1" "$2" && return
    kill -s TERM -- "-$1"
    gone "$1" "$3" && return
    kill -s KILL -- "-$1"
}}
groups=' '
while read -r verb group terminate_ticks kill_ticks; do
    case $verb$groups in
    add*) groups="$groups$group " ;;
    *" $group "*) groups="${{groups%% $group *}} ${{groups#* $group }}" ;;
    esac
    case $verb in
    end) ladder "$group" "$terminate_ticks" "$kill_ticks" </dev/null & (:) ;;
    esac
done
for group in $groups; do
    ladder "$group" 0 {_ORPHAN_TICKS} &
done
wait
"""


class OutlivingProcess(subprocess.Popen[bytes]):
    """A child that may outlive us on purpose, so Popen's warning about that is out of place."""

    def __del__(self) -> None:
        pass


class Watchdog:
    """The watched groups, and the process that ends them; started by the first that is watched."""

    def __init__(self) -> None:
        self._groups: dict[int, None] = {}
        self._process: OutlivingProcess | None = None
        self._pipe = -1
        self._lock = threading.RLock()  # a signal handler may disconnect while we are in here
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=self._before_fork,
                after_in_parent=self._after_fork,
                after_in_child=self._in_forked_child,
            )

    def __repr__(self) -> str:
        state = f"pid {self._process.pid}" if self._process else "not running"
        return f"<Watchdog {state}, groups {list(self._groups)}>"

    @property
    def pid(self) -> int | None:
        """The watchdog's process, once it was needed."""
        return self._process.pid if self._process else None

    def start(self) -> bool:
        """Have the watchdog running; False where that cannot be (no /bin/sh, no process left)."""
        with self._lock:
            is_running = self._process is not None and self._process.poll() is None
            return is_running or self._start()

    def watch(self, pgid: int) -> bool:
        """End this group when we are gone; False where no watchdog can be started."""
        check_group(pgid)
        with self._lock:
            if pgid in self._groups:
                return self.start()
            self._groups[pgid] = None
            return self._write(f"add {pgid}") or self._start()

    def forget(self, pgid: int) -> None:
        """The group is gone: its number may soon be another's."""
        with self._lock:
            if pgid in self._groups:
                del self._groups[pgid]
                if not self._write(f"del {pgid}") and self._groups:
                    self._start()

    def finish(self, pgid: int, terminate_after_s: float, kill_after_s: float) -> bool:
        """Leave the rest of the ladder to the watchdog, which goes on with it when we exit."""
        check_group(pgid)
        line = f"end {pgid} {_ticks(terminate_after_s)} {_ticks(kill_after_s)}"
        with self._lock:
            self._groups.pop(pgid, None)
            return self._write(line) or (self._start() and self._write(line))

    def _start(self) -> bool:
        self._stop()
        try:
            reader, self._pipe = os.pipe()
        except OSError:
            return False
        # A watchdog that was stopped (SIGSTOP) must not stop us once the pipe is full.
        os.set_blocking(self._pipe, False)
        try:
            self._process = OutlivingProcess(
                # By way of a variable, so that `ps` shows a name and not the script.
                [SHELL, "-c", 'eval "$SCRIPT"', "mcplens-watchdog"],
                stdin=reader,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # Nothing of ours but where `sleep` is: BASH_ENV and the like change a shell.
                env={
                    "PATH": f"/usr/bin:/bin:{os.environ.get('PATH', '/bin')}",
                    "SCRIPT": _SCRIPT,
                },
                start_new_session=True,
            )
        except OSError:
            self._stop()
            return False
        finally:
            os.close(reader)
        return all(self._write(f"add {pgid}") for pgid in list(self._groups))

    def _write(self, line: str) -> bool:
        """Tell the watchdog; False when there is none, or it was killed or stopped."""
        if self._process is None:
            return False
        try:
            os.write(self._pipe, f"{line}\n".encode())
        except (BrokenPipeError, BlockingIOError):
            return False
        return True

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # before its pipe closes, or it would end all groups
            self._process.wait()
            self._process = None
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def _before_fork(self) -> None:
        self._lock.acquire()

    def _after_fork(self) -> None:
        self._lock.release()

    def _in_forked_child(self) -> None:
        """The servers are our parent's; a pipe that we held open would hide that it has ended."""
        self._lock = threading.RLock()
        self._groups = {}
        self._process = None
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1


def check_group(pgid: int) -> None:
    """Raises ValueError for what would signal others than a server."""
    # kill(2): -1 is every process there is, 0 our own group.
    if pgid <= 1 or pgid == os.getpgrp():
        raise ValueError(f"{pgid} is not the process group of a server")


def _ticks(seconds: float) -> int:
    return max(0, round(seconds / TICK_S))


_watchdog: Final = Watchdog()

start = _watchdog.start
watch = _watchdog.watch
forget = _watchdog.forget
finish = _watchdog.finish
