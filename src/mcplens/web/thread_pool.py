"""Thread pools for blocking work: one for short reads, and others for work that may take minutes.

Long work (a search, an export, an import) is cancelled when its browser disconnects or the web UI
is closed. It has to check now and then whether it was: no thread can be ended from outside.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from starlette.requests import Request

from mcplens.store.history import IsStopped

T = TypeVar("T")

# Enough for a page that opens several panels at once.
_quick_threads: Final = ThreadPoolExecutor(4, thread_name_prefix="mcplens blocking")


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run blocking work of less than a second on a thread."""
    return await asyncio.get_running_loop().run_in_executor(_quick_threads, work)


class CancellablePool:
    """A few threads for work of one kind, which can be cancelled."""

    def __init__(self, what: str, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"mcplens {what}")
        self._stops: set[threading.Event] = set()

    def __repr__(self) -> str:
        return f"<CancellablePool, {len(self._stops)} under way>"

    async def run(self, request: Request, work: Callable[[IsStopped], T]) -> T:
        """Do the work while the sender of the request waits; its body must have been read.

        Raises:
            CancelledRequest: it was cancelled.
        """
        stop = threading.Event()
        self._stops.add(stop)
        loop = asyncio.get_running_loop()
        done = loop.run_in_executor(self._threads, work, stop.is_set)
        gone = loop.create_task(_gone(request))
        try:
            await asyncio.wait((done, gone), return_when=asyncio.FIRST_COMPLETED)
            if not done.done():
                stop.set()
            return await done
        finally:
            stop.set()
            gone.cancel()
            self._stops.discard(stop)

    def close(self) -> None:
        """Cancel everything; what has not begun never does."""
        for stop in self._stops:
            stop.set()
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
