"""The one task that works on a connection: it connects, retries and reconnects.

Owned by connector.py, which starts and cancels it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from mcplens.errors import CancelledRequest


class ConnectionTask:
    """Holds the task while it runs; there is never more than one."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<ConnectionTask {self._task.get_name() if self._task is not None else 'idle'}>"

    async def run(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run work to its end, such that cancel() can end it too.

        Raises:
            CancelledRequest: it was cancelled.
        """
        task = self.start(work, name)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise CancelledRequest("connecting was cancelled") from None
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            raise

    def start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Run work, and wait for nothing."""
        task = self._task = asyncio.get_running_loop().create_task(work, name=name)
        task.add_done_callback(self._forget)
        return task

    async def ended(self) -> None:
        """Wait until the work has ended, however it did.

        Raises:
            CancelledRequest: it was cancelled.
        """
        task = self._task
        if task is not None:
            await asyncio.wait([task])
            if task.cancelled():
                raise CancelledRequest("connecting was cancelled")

    async def cancel(self) -> None:
        """End the work and wait for that, unless it is the caller."""
        task = self._task
        if task is not None and task is not asyncio.current_task():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _forget(self, done: asyncio.Task[None]) -> None:
        if self._task is done:
            self._task = None
