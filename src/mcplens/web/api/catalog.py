"""What a server offers: its lists of tools, resources, templates and prompts, and completion."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.registry import Command, command, latest_view
from mcplens.web.safe_json import raw_json
from mcplens.workspace.listing import Listing
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace

ListKind = Literal["tools", "resources", "resource_templates", "prompts"]


class ListSummary(msgspec.Struct, frozen=True):
    """Where a list stands; ask for its items with `List`.

    `pages` counts what it came in; `next_cursor` says that the server has more; `asked` is since
    when a page is waited for, `awaited` which one; `fetched` is 0 before any came. `has_apps` says
    that a tool among them has an app.
    """

    kind: ListKind
    count: int
    fetched: float
    is_changed: bool
    error: ErrorView | None
    pages: int
    next_cursor: str | None
    asked: float | None
    awaited: int
    has_apps: bool


class ItemView(msgspec.Struct, frozen=True):
    """A tool, resource, template or prompt as the server sent it, and what is wrong with it."""

    value: Raw
    problem: str | None


class NamesView(msgspec.Struct, frozen=True):
    """How many items, and the first of them by name."""

    count: int
    names: list[str]


class ListChangeView(msgspec.Struct, frozen=True):
    """What a server changed in a list, told from the one before; `changed` items have other JSON.

    `at` is when the list came that had the change; it is kept by those that are the same.
    """

    at: float
    added: NamesView
    removed: NamesView
    changed: NamesView


class ListView(msgspec.Struct, frozen=True):
    """Items of a list from `start` on; ask for those after them unless `is_complete`.

    `next_cursor` says that the server has more than was fetched; `dropped` are tools that must not
    be offered to a model. `change` is there where the server changed the list that was there.
    """

    server_id: str
    kind: ListKind
    start: int
    items: list[ItemView]
    fetched: float
    next_cursor: str | None
    is_complete: bool
    dropped: list[ItemView]
    change: ListChangeView | None


def list_summary(listing: Listing) -> ListSummary:
    return ListSummary(
        listing.kind,  # type: ignore[arg-type]  # one of the four
        len(listing.items),
        listing.fetched,
        listing.is_changed,
        error_view(listing.error),
        listing.pages,
        listing.next_cursor,
        listing.asked,
        listing.awaited,
        listing.has_apps,
    )


@latest_view("lists")
def latest_list(workspace: Workspace, key: str) -> ListSummary | None:
    server_id, _, kind = key.rpartition("/")
    server = workspace.servers.get(server_id)
    listing = server.lists.get(kind) if server is not None else None
    return None if listing is None else list_summary(listing)


def list_view(server: Server, listing: Listing, start: int, most: int) -> ListView:
    """A list as far as it came, from this item on."""
    items = listing.items[start : start + most]
    catalog = server.client.catalog if server.client is not None else None
    dropped = catalog.dropped_tools if catalog is not None and listing.kind == "tools" else []
    return ListView(
        server.server_id,
        listing.kind,  # type: ignore[arg-type]  # one of the four
        start,
        _items(items),
        listing.fetched,
        listing.next_cursor,
        not listing.is_fetching and start + len(items) >= len(listing.items),
        _items(dropped),
        msgspec.convert(listing.change, ListChangeView | None, from_attributes=True),
    )


def _items(items: list[Any]) -> list[ItemView]:
    return [ItemView(raw_json(item.raw), item.problem) for item in items]


class List(Command, frozen=True, kw_only=True):
    """A list; the kept one unless `refresh`. Fetched to its end, or with `one_page` only the first.

    Without `after` the reply comes when all is there. With it the reply has at most `most` items
    from this one on, as soon as there are any; `of` is the `fetched` of the reply that had those
    before (0: none). Items of another fetch begin at 0 again. `StopList` ends a fetch.
    """

    server_id: str
    kind: ListKind
    refresh: bool = False
    one_page: bool = False
    after: int | None = None
    of: float = 0.0
    most: int = 10_000


@command
async def list_items(workspace: Workspace, command: List) -> ListView:
    workspace.bus_reader.catch_up()  # so that a list of a former connection is known to be outdated
    server = workspace.find(command.server_id)
    listing = server.fetch_list(command.kind, refresh=command.refresh, one_page=command.one_page)
    if command.after is None:
        await listing.ended()
        return list_view(server, listing, 0, len(listing.items))
    start = await listing.beyond(command.after, command.of)
    return list_view(server, listing, start, command.most)


class MoreOfList(Command, frozen=True, kw_only=True):
    """Fetch what comes after the last page that came: all, or one page. `List` has it then."""

    server_id: str
    kind: ListKind
    one_page: bool = False


@command
async def more_of_list(workspace: Workspace, command: MoreOfList) -> ListSummary:
    server = workspace.find(command.server_id)
    return list_summary(server.fetch_more(command.kind, one_page=command.one_page))


class StopList(Command, frozen=True, kw_only=True):
    """Wait for no more pages of a list; those that came stay."""

    server_id: str
    kind: ListKind


@command
async def stop_list(workspace: Workspace, command: StopList) -> ListSummary:
    listing = workspace.find(command.server_id).listing(command.kind)
    listing.stop()
    return list_summary(listing)


class CompletionView(msgspec.Struct, frozen=True):
    """Suggestions for an argument."""

    values: list[str]
    total: int | None
    has_more: bool


class Complete(Command, frozen=True, kw_only=True):
    """Suggestions for an argument of a prompt or template."""

    server_id: str
    ref: dict[str, str]
    argument: str
    value: str
    context: dict[str, str] = {}


@command
async def complete(workspace: Workspace, command: Complete) -> CompletionView:
    client = workspace.find(command.server_id).ready("completion/complete")
    found = await client.complete(
        command.ref, command.argument, command.value, command.context or None
    )
    values = found.completion
    return CompletionView(values.values, values.total, bool(values.has_more))
