"""What a server offers, and what it suggests and answers beside calls."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from mcplens.web.views.base import ErrorView, ListKind


class ListSummary(msgspec.Struct, frozen=True):
    """Where a list stands; ask for its items with `List`.

    `pages` counts what it came in; `next_cursor` says that the server has more; `asked` is since
    when a page is waited for, `awaited` which one; `fetched` is 0 before any came.
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


class CompletionView(msgspec.Struct, frozen=True):
    """Suggestions for an argument."""

    values: list[str]
    total: int | None
    has_more: bool


class PingView(msgspec.Struct, frozen=True):
    latency_s: float
