"""Text as a value of a JSON Schema: `1,2,3` as a list of integers, `{…}` as an object.

Where the schema allows text, text it is. Nothing is checked beyond the type and the values that a
schema lists, since sending what a server must refuse is part of testing it. Called by the command
line for typed arguments.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from mcplens.protocol.schema_types import alternatives, options_of, type_of

_BOOLEANS: Final = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
# A list of itself has no end.
_MOST_LEVELS: Final = 8
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


def strict_json(text: str) -> Any:
    """JSON by its grammar alone.

    Raises:
        ValueError: not JSON, or a number that JSON cannot hold, such as NaN.
    """
    return json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)


def from_text(
    text: str, schema: Any, root: Any, level: int = 0, *, any_option: bool = False
) -> Any:
    """The value that a text stands for; the text itself where the schema allows one.

    With `any_option`, a value that is not among those that the schema lists passes too.

    Raises:
        ValueError: the text is no value of the schema's types, or none of its options.
    """
    found = alternatives(schema, root)
    for flat in found:
        for option in options_of(flat):
            if text == (option if isinstance(option, str) else json.dumps(option, default=str)):
                return option
    free = [flat for flat in found if not options_of(flat)]
    kinds = {type_of(flat) for flat in free}
    if not found or None in kinds or "string" in kinds:
        return text
    for flat in (*free, *found) if level < _MOST_LEVELS else ():
        try:
            value = _of_kind(text, flat, root, level + 1, any_option)
        except ValueError:
            continue
        if any_option or not options_of(flat) or value in options_of(flat):
            return value
    if any_option and any(isinstance(one, str) for flat in found for one in options_of(flat)):
        return text
    raise ValueError("of another type")


def item_schema(schema: Any, root: Any) -> list[Any]:
    """The schema of a list's items, in a list; an empty one if the schema allows no list."""
    for flat in alternatives(schema, root):
        if type_of(flat) == "array":
            return [flat.get("items", True)]
    return []


def _of_kind(text: str, flat: dict[str, Any], root: Any, level: int, any_option: bool) -> Any:
    bare = text.strip()
    match type_of(flat):
        case "boolean" if bare.lower() in _BOOLEANS:
            return _BOOLEANS[bare.lower()]
        case "integer" | "number" as kind:
            return _number(bare, is_integer=kind == "integer")
        case "array":
            return _list(text, flat, root, level, any_option)
        case "object" if isinstance(value := strict_json(bare), dict):
            return value
        case "null" if bare in ("", "null"):
            return None
    raise ValueError("of another type")


def _list(text: str, flat: dict[str, Any], root: Any, level: int, any_option: bool) -> list[Any]:
    """JSON, or the items with commas between them."""
    bare = text.strip()
    if bare.startswith(("[", "{")):
        value = strict_json(bare if bare.startswith("[") else f"[{bare}]")
        assert isinstance(value, list)
        return value
    first = flat.get("prefixItems")
    first = first if isinstance(first, list) else []
    rest = flat.get("items", True)
    parts = text.split(",") if bare else []
    return [
        from_text(part, first[at] if at < len(first) else rest, root, level, any_option=any_option)
        for at, part in enumerate(parts)
    ]


def _number(text: str, *, is_integer: bool) -> int | float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    value = _finite(text)
    if not is_integer:
        return value
    if not value.is_integer():
        raise ValueError("not a whole number")
    return int(value)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"JSON cannot hold the number {text[:40]}")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"JSON cannot hold the number {name}")
