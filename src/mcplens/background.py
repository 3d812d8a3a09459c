"""Background tasks, kept by their owner so that none is lost or left running.

Each owner has its own set: a transport, a connection, the workspace, a page's socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Background:
    """The tasks of one owner; `end` cancels all of them and waits."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __repr__(self) -> str:
        return f"<Background {len(self._tasks)} tasks>"

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        """Start a task; it or its caller must handle its errors."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        for task in self._others():
            task.cancel()

    async def ended(self) -> None:
        """Wait for all tasks, however they end."""
        await asyncio.gather(*self._others(), return_exceptions=True)

    async def end(self) -> None:
        self.cancel()
        await self.ended()

    def _others(self) -> list[asyncio.Task[Any]]:
        """All but the calling task, which cannot wait for itself."""
        caller = asyncio.current_task()
        return [task for task in self._tasks if task is not caller]
