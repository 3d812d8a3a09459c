"""The difference between two versions of a server's list: added, removed and changed items.

All are counted, the first few hundred are named. Pure; called by `Listing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from mcplens.protocol.result_types import Item

# More than a person reads; the page marks those that are named.
MOST_NAMES: Final = 200
# Longer names are cut; the page would not find an item by one.
_MOST_CHARACTERS: Final = 1_000
_NAMED_BY: Final = {
    "tools": "name",
    "resources": "uri",
    "resource_templates": "uri_template",
    "prompts": "name",
}


class Names(msgspec.Struct, frozen=True):
    """How many items, and the first of them by name."""

    count: int
    names: list[str]


class ListChange(msgspec.Struct, frozen=True):
    """How a list fetched at this time differs from the one before it."""

    at: float
    added: Names
    removed: Names
    changed: Names

    def __bool__(self) -> bool:
        return bool(self.added.count or self.removed.count or self.changed.count)


def change_of(kind: str, before: Sequence[Item], after: Sequence[Item], at: float) -> ListChange:
    """The difference between two versions of a list; false if there is none."""
    old, new = _by_name(kind, before), _by_name(kind, after)
    return ListChange(
        at,
        _names(name for name in new if name not in old),
        _names(name for name in old if name not in new),
        _names(name for name, item in new.items() if name in old and _differ(item, old[name])),
    )


def _names(found: Iterable[str]) -> Names:
    every = list(found)
    return Names(len(every), [name[:_MOST_CHARACTERS] for name in every[:MOST_NAMES]])


def _by_name(kind: str, items: Sequence[Item]) -> dict[str, Item]:
    """The items by their names on the page: without a name the position, for a second item with
    the same name a number."""
    named: dict[str, Item] = {}
    counts: Counter[str] = Counter()
    for place, item in enumerate(items, start=1):
        name = key = getattr(item, _NAMED_BY[kind]) or f"#{place}"
        while key in named:
            counts[name] += 1
            key = f"{name} #{counts[name] + 1}"
        named[key] = item
    return named


def _differ(one: Item, other: Item) -> bool:
    return one.raw != other.raw and _ordered(one) != _ordered(other)


def _ordered(item: Item) -> Any:
    """The item with its members sorted, since their order has no meaning."""
    try:
        return msgspec.json.encode(item.value(), order="sorted")
    except (ValueError, RecursionError):  # also invalid UTF-8
        return item.raw
