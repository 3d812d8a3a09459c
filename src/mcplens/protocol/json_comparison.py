"""Two JSON values compared: whether they are the same, and where they differ.

The one way to compare values: numbers by value (1 is 1.0), and true is never 1. Used for skills,
for the expectations of tests, and for recordings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

import msgspec

# A longer value does not fit into a sentence.
_MOST_SHOWN: Final = 200
# What names an item of a list, such as a tool.
_NAMES: Final = ("name", "uri", "uriTemplate")

Path = tuple[str | int, ...]
# How two lists are compared: as a whole, item by item, or by the names of their items.
Lists = Literal["whole", "paired", "named"]


class _Missing:
    """Stands for a field that is not there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing()


class Wildcard:
    """Stands for more than one value: `matches` says for which."""

    __slots__ = ()

    def matches(self, value: Any) -> bool:
        raise NotImplementedError


class Difference(NamedTuple):
    """Where two values differ, and both of them; what is absent is MISSING."""

    path: Path
    one: Any
    other: Any

    @property
    def where(self) -> str:
        """The path in a sentence."""
        return ".".join(map(str, self.path))


def differences(
    one: Any, other: Any, path: Path = (), *, is_partial: bool = False, lists: Lists = "whole"
) -> Iterator[Difference]:
    """Where two JSON values differ. Partial: members that only the other has do not count.

    Paired lists of different lengths differ as a whole, and where their first items do. Named
    lists are compared by the names of their items if all have one, so that one that was added
    moves no other; else as pairs if they are equally long.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one if is_partial else dict.fromkeys([*one, *other]):
            values = one.get(key, MISSING), other.get(key, MISSING)
            yield from differences(
                *values, (*path, str(key)), is_partial=is_partial, lists=lists
            )  # fmt: skip
    elif isinstance(one, list) and isinstance(other, list) and lists != "whole":
        named = (_by_name(one), _by_name(other)) if lists == "named" else (None, None)
        if named[0] is not None and named[1] is not None:
            yield from differences(*named, path, is_partial=is_partial, lists=lists)
            return
        if len(one) != len(other):
            yield Difference(path, one, other)
        if len(one) == len(other) or lists == "paired":
            for at, values in enumerate(zip(one, other, strict=False)):
                yield from differences(*values, (*path, at), is_partial=is_partial, lists=lists)
    elif not is_same(one, other):
        yield Difference(path, one, other)


def _by_name(items: list[Any]) -> dict[str, Any] | None:
    for key in _NAMES:
        names = [item.get(key) for item in items if isinstance(item, dict)]
        found = [name for name in names if isinstance(name, str)]
        if found and len(set(found)) == len(items):
            return dict(zip(found, items, strict=True))
    return None


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same; a wildcard in the first is all that it matches."""
    if isinstance(one, Wildcard):
        return one.matches(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    return (type(one) is type(other) and one == other) or (_is_number(one) and one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def depth_of(value: Any) -> int:
    """How deeply a JSON value is nested."""
    deepest, rest = 0, [(value, 0)]
    while rest:
        one, depth = rest.pop()
        deepest = max(deepest, depth)
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        rest += [(item, depth + 1) for item in inner]
    return deepest


def kind_of(value: Any) -> str:
    """The kind of a JSON value, for a sentence."""
    kinds = {dict: "an object", list: "a list", str: "text", bool: "a boolean"}
    return "missing" if value is None else kinds.get(type(value), "a number")


def shown(value: Any) -> str:
    """A JSON value in a sentence: short, as JSON."""
    if value is MISSING:
        return "nothing"
    try:
        text = msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
