"""What a server offers, as far as its lists came."""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.web import views
from mcplens.web.plain import raw_json
from mcplens.web.showing.errors import error_view
from mcplens.workspace.listing import Listing
from mcplens.workspace.server import Server


def list_summary(listing: Listing) -> views.ListSummary:
    return views.ListSummary(
        listing.kind,  # type: ignore[arg-type]  # one of the four
        len(listing.items),
        listing.fetched,
        listing.is_changed,
        error_view(listing.error),
        listing.pages,
        listing.next_cursor,
        listing.asked,
        listing.awaited,
    )


def list_view(server: Server, listing: Listing, start: int, most: int) -> views.ListView:
    """A list as far as it came, from this item on."""
    items = listing.items[start : start + most]
    catalog = server.client.catalog if server.client is not None else None
    dropped = catalog.dropped_tools if catalog is not None and listing.kind == "tools" else []
    return views.ListView(
        server.server_id,
        listing.kind,  # type: ignore[arg-type]  # one of the four
        start,
        _items(items),
        listing.fetched,
        listing.next_cursor,
        not listing.is_fetching and start + len(items) >= len(listing.items),
        _items(dropped),
        msgspec.convert(listing.change, views.ListChangeView | None, from_attributes=True),
    )


def _items(items: list[Any]) -> list[views.ItemView]:
    return [views.ItemView(raw_json(item.raw), item.problem) for item in items]
