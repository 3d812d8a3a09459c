"""Two JSON values compared: whether they are the same, and where they differ.

Used for the entries and the front matter of skills.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

# A longer value does not fit into a sentence.
_MOST_SHOWN: Final = 200


class _Missing:
    """Stands for a field that is not there."""

    def __repr__(self) -> str:
        return "nothing"


MISSING: Final = _Missing()


def differences(one: Any, other: Any, path: str = "") -> list[tuple[str, Any, Any]]:
    """Where two JSON values differ: the path of each field, and both values (None: absent)."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = []
        for key in dict.fromkeys([*one, *other]):
            where = f"{path}.{key}" if path else str(key)
            found += differences(one.get(key, MISSING), other.get(key, MISSING), where)
        return found
    return [] if is_same(one, other) else [(path, one, other)]


def is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same: 1 is 1.0, and true is not 1."""
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
