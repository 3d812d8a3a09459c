"""Which runs are being recorded right now, by any mcplens on this machine.

The recorder of a run holds a lock on a small file beside the recording; the system releases it
however the process ends. So a run whose writer was killed is told apart from a live one.
"""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from types import ModuleType

fcntl: ModuleType | None
try:
    fcntl = import_module("fcntl")
except ImportError:  # Windows, where a run counts as live until its end is written
    fcntl = None


class LiveMark:
    """Marks a run as live until it is released, or this process ends."""

    def __init__(self, recording: str, run_id: str) -> None:
        self._path = _place(recording, run_id)
        self._descriptor = -1
        if fcntl is None:
            return
        with contextlib.suppress(OSError):  # the run is recorded all the same
            os.makedirs(os.path.dirname(self._path) or ".", mode=0o700, exist_ok=True)
            while not self._mark(fcntl):
                pass

    def _mark(self, locks: ModuleType) -> bool:
        """Lock the file; False if somebody who looked has just taken it for a dead one's.

        Shared, since a run may have several recorders; who looks wants it alone, for a moment.
        """
        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        locks.flock(descriptor, locks.LOCK_SH)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.stat(self._path), os.fstat(descriptor)):
                self._descriptor = descriptor
                return True
        os.close(descriptor)
        return False

    def __repr__(self) -> str:
        return f"<LiveMark {self._path} {'held' if self._descriptor >= 0 else 'released'}>"

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0 and fcntl is not None:
            with contextlib.suppress(OSError):  # another recorder of the run is left
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(self._path)
            os.close(descriptor)


def live_run_ids(recording: str) -> list[str]:
    """The runs that processes record now; none where that cannot be told without the recording."""
    start = os.path.basename(_place(recording, ""))
    try:
        names = os.listdir(os.path.dirname(recording) or ".")
    except OSError:
        return []
    found = (name.removeprefix(start) for name in names if name.startswith(start))
    return [run_id for run_id in found if is_live(recording, run_id)]


def is_live(recording: str, run_id: str) -> bool:
    """Whether a process records this run now."""
    if fcntl is None:
        return True
    path = _place(recording, run_id)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:  # its writer was killed: nobody else removes the file
        with contextlib.suppress(OSError):
            os.unlink(path)
        return False
    finally:
        os.close(descriptor)


def _place(recording: str, run_id: str) -> str:
    return f"{recording}-live-{run_id}"
