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
            self._descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __repr__(self) -> str:
        return f"<LiveMark {self._path} {'held' if self._descriptor >= 0 else 'released'}>"

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
            os.close(descriptor)


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
