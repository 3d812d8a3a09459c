"""Looks for a name that no list has: all lists are fetched anew, once for all who ask.

Owned by gateway.py; asked by view_handler.py before it refuses a name, and notified by fan_out.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from mcplens.clock import within

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

# An unknown name makes all lists be fetched anew, but not more often than this.
_FETCH_AGAIN_S: Final = 5.0


class ListSearch:
    """Fetches the lists of all servers anew."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._fetching: asyncio.Task[None] | None = None
        self._fetched_at = float("-inf")
        self._announced = asyncio.Event()

    def __repr__(self) -> str:
        return f"<ListSearch {'under way' if self._fetching else 'idle'}>"

    async def search(self, is_found: Callable[[], bool]) -> None:
        """Fetch all lists anew because of an unknown name; shared, and not too often.

        Waits until it is found or all servers have answered, but never longer than for the start:
        a server that hangs must not delay a call to another.
        """
        gateway = self._gateway
        now = gateway.clock.monotonic()
        if self._fetching is None:
            if now - self._fetched_at < _FETCH_AGAIN_S:
                return
            self._fetched_at = now
            self._fetching = gateway.spawn(self._fetch_all(), "fetch lists")
        fetching = self._fetching

        async def look() -> None:
            while not is_found() and not fetching.done():
                self._announced.clear()
                announced = gateway.spawn(self._announced.wait(), "wait for lists")
                try:
                    await asyncio.wait([fetching, announced], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    announced.cancel()

        with contextlib.suppress(TimeoutError):
            await within(gateway.clock, gateway.settings.startup_budget_s, look())

    def announced(self) -> None:
        """Changed lists were announced: what is published now is up to date."""
        self._announced.set()

    async def _fetch_all(self) -> None:
        try:
            await self._gateway.servers.fetch_all_capabilities()
        finally:
            self._fetching = None
