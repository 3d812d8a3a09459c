"""What several clients want of one server, asked of it once: subscriptions, tasks, a log level.

shared_wants.py counts who wants what; this tells the server. Part of each ServerConnection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from mcplens.downstream.sessions import Operation
from mcplens.downstream.shared_wants import SharedWants

if TYPE_CHECKING:
    from mcplens.session.client import Client


class SharedRequests:
    """Subscriptions, reports on tasks and the log level of one server, by holder."""

    def __init__(
        self,
        client: Callable[[], Client | None],
        ask: Callable[[Operation[None]], Awaitable[None]],
    ) -> None:
        self._client = client
        self._ask = ask
        self._wants = SharedWants()
        self._turns = WeakValueDictionary[str, asyncio.Lock]()

    def __repr__(self) -> str:
        return f"<SharedRequests {self._wants!r}>"

    @property
    def is_wanted(self) -> bool:
        """Whether anybody waits for updates of a resource or a task."""
        return self._wants.has_watchers

    async def subscribe(self, uri: str, holder: Hashable) -> None:
        """Subscribe to a resource for a holder; the server is asked once for all of them.

        Raises:
            InspectorError: it refused, or there is no connection.
        """
        async with self._in_turn(uri):
            if self._wants.subscribe(uri, holder):
                try:
                    await self._ask(lambda client: client.subscribe(uri))
                except BaseException:
                    self._wants.unsubscribe(uri, holder)
                    raise

    async def unsubscribe(self, uri: str, holder: Hashable) -> None:
        """The last holder ends the subscription on the server."""
        async with self._in_turn(uri):
            if self._wants.unsubscribe(uri, holder):
                await self._ask(lambda client: client.unsubscribe(uri))

    def _in_turn(self, uri: str) -> asyncio.Lock:
        """Who comes second learns what the server said to the first, and asks if it refused."""
        return self._turns.setdefault(uri, asyncio.Lock())

    def subscribers(self, uri: str) -> frozenset[Hashable]:
        """The holders of a subscription to this resource, or to one that holds it."""
        return self._wants.subscribers(uri)

    async def set_level(self, level: str, holder: Hashable) -> None:
        """The server is asked for the most verbose level of all holders.

        Raises:
            InspectorError: it refused, or there is no connection.
        """
        wanted = self._wants.set_level(level, holder)
        if wanted is not None:
            await self._ask(lambda client: client.set_level(wanted))

    def watch_task(self, task_id: str, holder: Hashable) -> None:
        """Have a 2026-07-28 server report on a task; one that refuses is polled anyway."""
        client = self._client()
        if self._wants.watch(task_id, holder) and client is not None:
            client.raw_calls.watch_task(task_id)

    def unwatch_task(self, task_id: str, holder: Hashable) -> None:
        """The last holder ends the reports."""
        client = self._client()
        if self._wants.unwatch(task_id, holder) and client is not None:
            client.raw_calls.unwatch_task(task_id)

    async def drop(self, holder: Hashable) -> None:
        """A holder is gone, with its subscriptions, tasks and log level.

        Raises:
            InspectorError: the server refused.
        """
        uris, level = self._wants.drop(holder)
        client = self._client()
        watched = self._wants.drop_watches(holder)
        if client is None:
            return
        for task_id in watched:
            client.raw_calls.unwatch_task(task_id)
        if not client.connection.is_connected:
            return
        for uri in uris:
            await client.unsubscribe(uri)
        if level is not None:
            await client.set_level(level)
