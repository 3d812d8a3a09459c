"""One list of a server as the page sees it: the items fetched so far, and the running fetch.

Each page of the list is available as soon as it arrives. A fetch that is stopped or fails leaves
the items it has, and can be continued. Held by `Server`, used by the web UI.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mcplens.clock import Clock
from mcplens.errors import InspectorError, classify
from mcplens.events import ListRefreshed
from mcplens.protocol.apps import app_link
from mcplens.protocol.result_types import Tool
from mcplens.session.catalog import ListPage
from mcplens.session.client import Client
from mcplens.workspace.list_changes import ListChange, change_of


class Listing:
    """Items, how many pages they came in, and whether there are more."""

    def __init__(self, kind: str, clock: Clock, changed: Callable[[], None]) -> None:
        self.kind = kind
        self.items: list[Any] = []
        self.pages = 0
        self.next_cursor: str | None = None
        self.fetched = 0.0  # when its first page arrived, 0 means never; identifies the fetch
        self.asked: float | None = None  # when the awaited page was requested
        self.awaited = 0  # number of the awaited page
        self.has_apps = False  # a tool among them has an app
        self.is_changed = False  # fetched again because the server announced a change
        self.change: ListChange | None = None  # what changed, if the former list was complete
        self.is_stale = False  # from an earlier connection
        self.error: dict[str, Any] | None = None
        self.failure: InspectorError | None = None  # the same, to be raised for waiting callers
        self._clock = clock
        self._changed = changed
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None

    def __repr__(self) -> str:
        state = "fetching" if self.is_fetching else "idle"
        return f"<Listing {self.kind} {len(self.items)} items in {self.pages} pages, {state}>"

    @property
    def is_fetching(self) -> bool:
        return self._task is not None

    @property
    def _is_whole(self) -> bool:
        """Whether the list is complete and of this connection, so that it can be compared."""
        is_cut = self.is_fetching or self.next_cursor is not None
        return bool(self.fetched) and not is_cut and not self.is_stale

    # -- fetching ------------------------------------------------------------------------------

    def fetch(self, client: Client, *, one_page: bool) -> None:
        """Fetch from the start; the former items stay until the first page arrives."""
        self._start(client, None, one_page)

    def go_on(self, client: Client, *, one_page: bool) -> None:
        """Continue after the last page fetched."""
        if not self.is_fetching and self.next_cursor is not None:
            self._start(client, self.next_cursor, one_page)

    def _start(self, client: Client, cursor: str | None, one_page: bool) -> None:
        self._drop()
        self._client, self.asked = client, self._clock.wall()
        self.awaited = 1 if cursor is None else self.pages + 1
        self.error = self.failure = None
        work = self._fetch(client, cursor, one_page)
        self._task = asyncio.get_running_loop().create_task(work, name=f"list {self.kind}")
        self._notify()

    async def _fetch(self, client: Client, cursor: str | None, one_page: bool) -> None:
        is_first = cursor is None
        try:
            async for page in client.catalog.pages(self.kind, cursor):
                self._take(page, is_first)
                is_first = False
                if one_page:
                    break
        except InspectorError as error:
            self._end(error)
        except Exception as problem:  # a bug must not look like a list that never arrives
            self._end(classify(problem, "listing", server_id=client.server_id))
        else:
            self._end()

    def _take(self, page: ListPage, is_first: bool) -> None:
        now = self._clock.wall()
        if is_first:
            self.items, self.pages, self.fetched = [], 0, now
            self.is_changed = self.is_stale = self.has_apps = False
            self.change = None
        self.items += page.items
        self.has_apps = self.has_apps or _have_apps(page.items)
        self.pages += 1
        self.next_cursor = page.next_cursor
        self.asked, self.awaited = now, self.pages + 1
        self._notify()

    def stop(self) -> None:
        """Stop fetching; the pages fetched so far stay."""
        if self.is_fetching:
            self._drop()
            self._end()

    def refreshed(self, client: Client, event: ListRefreshed) -> None:
        """Take over a list that was fetched again, as the server announced a change or may have
        made one unheard."""
        was_whole, at = self._is_whole, event.wall
        self._drop()
        self.asked, self.error = None, event.error
        if event.error is None:
            before, self.items = self.items, client.catalog.known(self.kind) or []
            self.has_apps = _have_apps(self.items)
            change = change_of(self.kind, before, self.items, at) if was_whole else None
            # Many servers announce a change twice; the second time nothing differs.
            if change is None or change or not self.change:
                self.change = change
            self.pages, self.next_cursor = client.catalog.page_counts.get(self.kind, 0), None
            # What the server said of this list stays true when it is fetched again.
            is_known = self.is_changed and not self.is_stale
            self.is_changed = not event.is_unannounced or is_known
            self.fetched, self.is_stale = at, False
        self._notify()

    def _end(self, error: InspectorError | None = None) -> None:
        assert self._client is not None
        if self.fetched:
            self._client.catalog.keep(self.kind, self.items)
        self._task, self.asked = None, None
        error = None if error is None else error.shortened()
        self.failure, self.error = error, None if error is None else error.to_dict()
        self._notify()

    def _drop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    # -- waiting -------------------------------------------------------------------------------

    async def ended(self) -> None:
        """Wait for the running fetch to end.

        Raises:
            InspectorError: it failed.
        """
        was_fetching = self.is_fetching
        while self.is_fetching:
            await self._news.wait()
        self._check(was_fetching)

    async def beyond(self, count: int, of: float) -> int:
        """Wait until that fetch has more than `count` items, or ends.

        Returns where to continue reading: 0, if another fetch began meanwhile.

        Raises:
            InspectorError: the fetch failed, and nothing is left to read.
        """
        was_fetching = self.is_fetching
        while self.is_fetching and self.fetched == of and len(self.items) <= count:
            await self._news.wait()
        start = count if self.fetched == of and count <= len(self.items) else 0
        self._check(was_fetching and start >= len(self.items))
        return start

    def _check(self, is_raised: bool) -> None:
        if is_raised and self.failure is not None:
            raise self.failure.copy()

    def _notify(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
        self._changed()


def _have_apps(items: list[Any]) -> bool:
    return any(
        isinstance(item, Tool) and item.meta and app_link({"_meta": item.meta}).resource_uri
        for item in items
    )
