"""What can be read off two plain JSON Schemas: their types, members and limits side by side.

Pure functions, called by schema_changes.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcplens.contracts.canonical import canonical
from mcplens.contracts.contract import is_masked
from mcplens.protocol.schema_types import is_number, options_of, shown_value, types

LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


def prefixes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The first items of a list that have a schema of their own, of both sides."""
    old, new = before.get("prefixItems"), after.get("prefixItems")
    old, new = old if isinstance(old, list) else [], new if isinstance(new, list) else []
    for at in range(max(len(old), len(new))):
        yield old[at] if at < len(old) else {}, new[at] if at < len(new) else {}


def as_object(schema: Any) -> dict[str, Any]:
    """A schema as an object: `true`, and what is not a schema, allows everything."""
    if isinstance(schema, dict):
        return schema
    return {"not": {}} if schema is False else {}


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal as JSON."""
    return one is other or canonical(one) == canonical(other)


def without_words(flat: dict[str, Any]) -> dict[str, Any]:
    """A schema without what only people and models read."""
    left_out = ("description", "title", "examples", "example", "default", "$comment", "$defs")
    return {key: value for key, value in flat.items() if key not in left_out}


def is_partner(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two alternatives are one that was changed: of the same type, told by no constant."""
    if kind_of(one) != kind_of(other):
        return {kind_of(one), kind_of(other)} == {"integer", "number"}
    mine, theirs = _constants(one), _constants(other)
    return not (mine.keys() & theirs.keys()) or any(
        mine[name] == theirs[name] for name in mine.keys() & theirs.keys()
    )


def _constants(flat: dict[str, Any]) -> dict[str, bytes]:
    """Members with one possible value, by which alternatives of a union are told apart."""
    return {
        name: canonical(member["const"])
        for name, member in properties_of(flat).items()
        if isinstance(member, dict) and "const" in member
    }


def covers(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether an alternative allows all that another does, as far as that is plain to see."""
    mine = without_words(one)
    return not mine or (mine.keys() == {"type"} and kind_of(one) == kind_of(other))


def kind_of(flat: dict[str, Any]) -> str:
    """The type of a plain schema in a word."""
    return next(iter(types(flat.get("type"))), None) or (allowed_types(flat) or ["any"])[0]


def allowed_types(flat: dict[str, Any]) -> list[str]:
    """The types of the values that an enum lists."""
    return list(dict.fromkeys(_type_of_value(value) for value in options_of(flat)))


def _type_of_value(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def by_form(values: list[Any]) -> dict[bytes, Any]:
    """Values by their canonical form."""
    return {canonical(value): value for value in values if not is_masked(value)}


def is_tighter(keyword: str, old: Any, new: Any) -> bool:
    """Whether a changed limit allows less than before."""
    if new is None or new is False:
        return False
    if old is None:
        return True
    if is_number(old) and is_number(new):
        if keyword in LOWER:
            return bool(new > old)
        if keyword in UPPER:
            return bool(new < old)
        if keyword == "multipleOf" and new:
            return bool(old % new != 0)
    return True


def properties_of(flat: dict[str, Any]) -> dict[str, Any]:
    """The schemas of an object's members."""
    found = flat.get("properties")
    if not isinstance(found, dict) or is_masked(found):
        return {}
    return found


def required_of(flat: dict[str, Any]) -> set[str]:
    """The names of an object's required members."""
    found = flat.get("required")
    return {name for name in found if isinstance(name, str)} if isinstance(found, list) else set()


def is_open(value: Any) -> bool:
    """Whether `additionalProperties` allows any member."""
    return value is True or value == {}


def describe_shift(keyword: str, was: bool, old: Any, is_now: bool, new: Any) -> str:
    """What became of a keyword, in words."""
    if not was:
        return f"{keyword} added: {shown_value(new)}"
    if not is_now:
        return f"{keyword} removed: {shown_value(old)}"
    return f"{keyword}: {shown_value(old)} → {shown_value(new)}"
