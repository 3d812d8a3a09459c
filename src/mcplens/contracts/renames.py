"""Finds tools and prompts that were renamed: one is gone, another has the same schemas.

Called by changes.py.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, Final

from mcplens.contracts.canonical import canonical

# Of several candidates with equal schemas and other descriptions, one this alike in name is meant.
_ALIKE: Final = 0.5
# Members whose own members are named by the server: a property may be called title.
_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions")
# Beyond this, pairing everything with everything takes too long; all count as removed and added.
_MOST: Final = 2_000


def find_renames(kind: str, gone: dict[str, Any], come: dict[str, Any]) -> dict[str, str]:
    """The new name of each item that was renamed, by its old one."""
    if kind not in ("tools", "prompts") or not gone or not come or len(gone) * len(come) > _MOST**2:
        return {}
    by_shape: dict[bytes, list[str]] = {}
    for name, item in come.items():
        if (shape := _shape(kind, item)) is not None:
            by_shape.setdefault(shape, []).append(name)
    found: dict[str, str] = {}
    for name, item in gone.items():
        shape = _shape(kind, item)
        candidates = by_shape.get(shape, []) if shape is not None else []
        partner = _best(name, item, {one: come[one] for one in candidates}, _is_trivial(kind, item))
        if partner is not None:
            found[name] = partner
            candidates.remove(partner)
    return found


def _shape(kind: str, item: Any) -> bytes | None:
    """What two definitions must share to be the same under another name."""
    if not isinstance(item, dict):
        return None
    if kind == "prompts":
        return canonical(item.get("arguments") or [])
    return canonical([_untitled(item.get("inputSchema")), _untitled(item.get("outputSchema"))])


def _untitled(schema: Any, is_by_name: bool = False) -> Any:
    """A schema without titles, which libraries make of the function's name (`addArguments`)."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _untitled(value, is_by_name=not is_by_name and key in _BY_NAME)
        for key, value in schema.items()
        if is_by_name or key != "title"
    }


def _is_trivial(kind: str, item: dict[str, Any]) -> bool:
    """Whether the schemas alone tell nothing: many tools have no arguments."""
    if kind == "prompts":
        return not item.get("arguments")
    schema = item.get("inputSchema")
    has_members = isinstance(schema, dict) and bool(schema.get("properties"))
    return not has_members and item.get("outputSchema") is None


def _best(name: str, item: Any, candidates: dict[str, Any], is_trivial: bool) -> str | None:
    if not candidates:
        return None
    words = item.get("description")
    described = [one for one, other in candidates.items() if other.get("description") == words]
    if words and described:
        return max(described, key=lambda one: _likeness(name, one))
    if is_trivial:
        return None
    best = max(candidates, key=lambda one: _likeness(name, one))
    is_only = len(candidates) == 1
    return best if is_only or _likeness(name, best) >= _ALIKE else None


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()
