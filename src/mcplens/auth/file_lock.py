"""A lock between processes, on a file; the system frees it when its holder dies.

Used around the rotation of a refresh token: two that rotate at once would lose their sign-in.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Final, Self

from mcplens.clock import Clock

_POLL_S: Final = 0.05


class FileLock:
    """Enter it to hold the lock; after `timeout_s` it goes on without."""

    def __init__(self, path: str, clock: Clock, timeout_s: float) -> None:
        self._path = path
        self._clock = clock
        self._timeout_s = timeout_s
        self._descriptor: int | None = None
        self.is_held = False

    def __repr__(self) -> str:
        return f"<FileLock {self._path} {'held' if self.is_held else 'free'}>"

    async def __aenter__(self) -> Self:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        due = self._clock.monotonic() + self._timeout_s
        try:
            while not _try_lock(self._descriptor):
                if self._clock.monotonic() >= due:
                    return self
                await self._clock.sleep(_POLL_S)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.is_held = True
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.is_held = False
        if self._descriptor is not None:
            os.close(self._descriptor)  # which frees the lock


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
