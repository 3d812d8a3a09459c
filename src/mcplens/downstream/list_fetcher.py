"""Fetches the lists of one server: all kinds in parallel, each with its own time limit.

A kind that the server does not announce is skipped; one that fails keeps its last good items. The
lists of a server that is gone are dropped after a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from mcplens.background import Background
from mcplens.clock import Clock, Timer
from mcplens.downstream.server_lists import ServerLists
from mcplens.errors import InspectorError
from mcplens.protocol.eras import why_not_allowed
from mcplens.session.catalog import METHODS
from mcplens.session.client import Client

KINDS: Final = tuple(METHODS)


class ListFetcher:
    """Keeps the lists of one server as fresh as can be."""

    def __init__(
        self,
        lists: ServerLists,
        clock: Clock,
        *,
        stale_for_s: float,
        changed: Callable[[str], None],
        done: Callable[[], None],
    ) -> None:
        self.lists = lists
        self._clock = clock
        self._stale_for_s = stale_for_s
        self._changed = changed
        self._done = done
        self._expiry: Timer | None = None
        self._work = Background()
        self._fetching: asyncio.Task[None] | None = None

    def __repr__(self) -> str:
        return f"<ListFetcher of {self.lists!r}>"

    def fetch(self, client: Client, timeout_s: float | None) -> asyncio.Task[None]:
        """Fetch all lists; a fetch that is under way is shared.

        What fails is noted in its list, and nothing is raised.
        """
        if self._fetching is None or self._fetching.done():
            self._fetching = self._work.start(self._fetch_all(client, timeout_s), "fetch lists")
        return self._fetching

    async def _fetch_all(self, client: Client, timeout_s: float | None) -> None:
        self._stop_expiry()
        await asyncio.gather(*(self._fetch(client, kind, timeout_s) for kind in KINDS))
        self._done()

    async def _fetch(self, client: Client, kind: str, timeout_s: float | None) -> None:
        if not self._is_supported(client, kind):
            self._replace(
                kind, items=(), fetched_at=None, error=None, is_supported=False, is_stale=False
            )
            return
        try:
            await client.catalog.fetch(kind, METHODS[kind][1], timeout_s=timeout_s)
        except InspectorError as error:
            self.refreshed(client, kind, error)
        else:
            self.refreshed(client, kind, None)

    def refreshed(self, client: Client, kind: str, error: InspectorError | None) -> None:
        """A list was fetched, or could not be."""
        if error is not None:
            failure = error.shortened().to_dict()
            self._replace(kind, error=failure, is_stale=True, is_supported=True)
            return
        self._replace(
            kind,
            items=tuple(client.catalog.known(kind) or ()),
            fetched_at=self._clock.wall(),
            error=None,
            is_supported=True,
            is_stale=False,
        )

    def _is_supported(self, client: Client, kind: str) -> bool:
        version = client.protocol_version
        if version is None:
            return True
        return why_not_allowed(METHODS[kind][0], version, client.capabilities) is None

    # -- a server that is gone -----------------------------------------------------------------

    def lost(self) -> None:
        """The server is gone: what it offered stays for a while, marked as stale."""
        for each in list(self.lists):
            if each.items:
                self._replace(each.kind, is_stale=True)
        if self._expiry is None:
            at = self._clock.monotonic() + self._stale_for_s
            self._expiry = self._clock.call_at(at, self._expire)

    def _expire(self) -> None:
        self._expiry = None
        for each in list(self.lists):
            self._replace(each.kind, items=())

    def forget(self) -> None:
        """The entry is another one: what the former server offered goes at once."""
        self._stop_expiry()
        for each in list(self.lists):
            self._replace(each.kind, items=(), fetched_at=None, error=None, is_stale=False)

    def _stop_expiry(self) -> None:
        if self._expiry is not None:
            self._expiry.cancel()
            self._expiry = None

    async def cancel(self) -> None:
        """End a fetch that is under way."""
        await self._work.end()

    def end(self) -> None:
        """Drop nothing any more: the connection is closed for good."""
        self._stop_expiry()

    def _replace(self, kind: str, **changes: object) -> None:
        before = self.lists[kind]
        self.lists.replace(kind, **changes)
        after = self.lists[kind]
        if (before.items, before.is_stale) != (after.items, after.is_stale):
            self._changed(kind)
