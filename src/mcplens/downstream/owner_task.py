"""The owner task of one server: runs its refreshes, edits and its end, one after another.

What one server does, or fails to do, never blocks or cancels the work of another.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from mcplens.errors import CancelledRequest

T = TypeVar("T")
Job = Callable[[], Coroutine[Any, Any, Any]]


class OwnerTask:
    """Jobs of one server, in order; the task lives while there are any."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: deque[tuple[Job, asyncio.Future[Any]]] = deque()
        self._running: asyncio.Task[Any] | None = None
        self._task: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<OwnerTask {self._name}, {len(self._jobs)} jobs wait>"

    async def do(self, job: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a job after those that came before, and wait for its result.

        Raises:
            CancelledRequest: the server was closed or disconnected meanwhile.
        """
        future = self._put(job)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if not future.cancelled() or (caller is not None and caller.cancelling()):
                raise
            raise CancelledRequest(f"{self._name} was closed or disconnected") from None

    async def do_now(self, job: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Cancel all other jobs, and run this one."""
        for _, future in self._jobs:
            future.cancel()
        self._jobs.clear()
        if self._running is not None:
            self._running.cancel()
        return await asyncio.shield(self._put(job))

    def _put(self, job: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.append((job, future))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work(), name=f"owner of {self._name}")
        return future

    async def _work(self) -> None:
        while self._jobs:
            job, future = self._jobs.popleft()
            if future.cancelled():
                continue
            running = self._running = asyncio.get_running_loop().create_task(
                job(), name=f"job of {self._name}"
            )
            await asyncio.wait([running])
            self._running = None
            if future.done():
                continue
            if running.cancelled():
                future.cancel()
            elif (problem := running.exception()) is not None:
                future.set_exception(problem)
                future.exception()  # marks it as retrieved: the caller may be gone
            else:
                future.set_result(running.result())
