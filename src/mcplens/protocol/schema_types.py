"""Which kinds of value a JSON Schema allows: references, `allOf` and unions taken apart.

Libraries write `$ref`, `anyOf` with null and nested models where a person would write a type.
`alternatives` gives such a schema as plain ones, `type_name` in a word for people. Called by
`schema_examples.py`, `schema_text.py` and the command line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Final, NamedTuple

from mcplens.protocol.schema_references import resolve

# A hostile schema stops here: more kinds of value than anybody reads, deeper than anybody writes.
_MOST_ALTERNATIVES: Final = 64
_MOST_LEVELS: Final = 12
_MOST_STEPS: Final = 500
# Lists of lists beyond this are just called arrays.
_SHOWN_LEVELS: Final = 3
# Of a choice, what a line has room for.
_SHOWN_OPTIONS: Final = 8
_SHOWN_CHARACTERS: Final = 60

# The type that a keyword implies, for schemas without a type.
_TELLING: Final = (
    ("object", ("properties", "required", "additionalProperties", "minProperties")),
    ("array", ("items", "prefixItems", "minItems", "contains", "uniqueItems")),
    ("string", ("minLength", "maxLength", "pattern", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)
# Of two limits, the stricter one.
_HARDER: Final = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems"), min),
}


def alternatives(schema: Any, root: Any = None) -> list[dict[str, Any]]:
    """The schema as plain ones without references and unions, each with one type at most.

    Empty if it says nothing. References are looked up in `root`.
    """
    found: list[dict[str, Any]] = []
    expansion = _Expansion(schema if root is None else root)
    for flat in islice(expansion.expand(schema, (), 0), _MOST_ALTERNATIVES):
        if flat not in found:
            found.append(flat)
    return found


class _Expansion:
    """Takes one schema apart, in a bounded number of steps."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = _MOST_STEPS

    def __repr__(self) -> str:
        return f"<_Expansion {self._left} steps left>"

    def expand(self, schema: Any, refs: tuple[str, ...], level: int) -> Iterator[dict[str, Any]]:
        if not isinstance(schema, dict) or not self._may_go_on(level):
            return
        flat, refs = self._join(schema, refs, level)
        for keyword in ("anyOf", "oneOf"):
            branches = [one for one in _list(flat.get(keyword)) if isinstance(one, dict)]
            if branches:
                rest = {key: value for key, value in flat.items() if key != keyword}
                for branch in branches:
                    yield from self.expand(merged(branch, rest), refs, level + 1)
                return
        kinds = types(flat.get("type"))
        for kind in kinds if len(kinds) > 1 else ():
            yield {**flat, "type": kind}
        if len(kinds) < 2:
            yield flat

    def _may_go_on(self, level: int) -> bool:
        self._left -= 1
        return self._left >= 0 and level <= _MOST_LEVELS

    def _join(
        self, schema: dict[str, Any], refs: tuple[str, ...], level: int
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The schema with `$ref` and `allOf` merged into it, and the references followed so far."""
        flat = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = _list(schema.get("allOf"))
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in refs:
            refs = (*refs, reference)
            with suppress(KeyError):  # a dangling one says nothing
                parts = [resolve(self._root, reference), *parts]
        for part in parts:
            if isinstance(part, dict) and self._may_go_on(level):
                below, refs = self._join(part, refs, level + 1)
                flat = merged(below, flat)
        return flat, refs


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Two schemas merged into one that implies both; where they conflict, `above` wins."""
    both = {**below, **above}
    for key in below.keys() & above.keys():
        one, other = below[key], above[key]
        if key == "properties" and isinstance(one, dict) and isinstance(other, dict):
            shared = {
                name: {"allOf": [one[name], other[name]]} for name in one.keys() & other.keys()
            }
            both[key] = {**one, **other, **shared}
        elif key == "required" and isinstance(one, list) and isinstance(other, list):
            both[key] = one + other
        elif key == "enum" and isinstance(one, list) and isinstance(other, list):
            both[key] = [value for value in other if value in one]
        elif key in _HARDER and is_number(one) and is_number(other):
            both[key] = _HARDER[key](one, other)
        elif key == "type":
            both[key] = _narrower(one, other)
    return both


def _narrower(one: Any, other: Any) -> Any:
    both = [kind for kind in types(other) if kind in types(one)]
    if not both and {"integer", "number"} <= {*types(one), *types(other)}:
        return "integer"
    return both or other


def types(kind: Any) -> list[str]:
    """The value of `type` as a list."""
    return [one for one in (kind if isinstance(kind, list) else [kind]) if isinstance(one, str)]


def type_of(flat: dict[str, Any]) -> str | None:
    """The type of a plain schema, null only if there is no other; None if it does not say."""
    kinds = types(flat.get("type"))
    for kind in kinds:
        if kind != "null":
            return kind
    if kinds:
        return "null"
    for kind, keywords in _TELLING:
        if any(keyword in flat for keyword in keywords):
            return kind
    return None


def options_of(flat: dict[str, Any]) -> list[Any]:
    """The values that `const` or `enum` of a plain schema allow; empty if any value is."""
    return [flat["const"]] if "const" in flat else _list(flat.get("enum"))


def listed_values(schema: Any, root: Any) -> list[Any]:
    """The values that a schema allows, null too, if it lists all of them; else an empty list."""
    values: list[Any] = []
    nulls: list[Any] = []
    for flat in alternatives(schema, root):
        if options := options_of(flat):
            values += options
        elif type_of(flat) == "null":
            nulls = [None]
        else:
            return []
    return values and values + nulls


def default_of(schema: Any, root: Any) -> list[Any]:
    """The default of a schema, in a list; an empty one if it has none."""
    if isinstance(schema, dict) and "default" in schema:
        return [schema["default"]]
    return next(([flat["default"]] for flat in alternatives(schema, root) if "default" in flat), [])


class ObjectShape(NamedTuple):
    """The members that a schema describes: their schemas, and which of them are required."""

    properties: dict[str, Any]
    required: list[str]
    is_open: bool  # whether other members are allowed by name


def object_shape(schema: Any, root: Any = None) -> ObjectShape:
    """The members of an object; of several alternatives all of them, required if all say so."""
    properties: dict[str, Any] = {}
    required: list[list[str]] = []
    is_open = False
    for flat in alternatives(schema, root):
        if type_of(flat) not in ("object", None):
            continue
        members = flat.get("properties")
        properties |= members if isinstance(members, dict) else {}
        required.append([name for name in _list(flat.get("required")) if isinstance(name, str)])
        is_open |= bool(flat.get("additionalProperties") or flat.get("patternProperties"))
    named = dict.fromkeys(name for names in required for name in names)
    needed = [name for name in named if all(name in names for names in required)]
    return ObjectShape(properties, needed, is_open)


def type_name(schema: Any, root: Any = None, *, is_null_shown: bool = True, level: int = 0) -> str:
    """The kinds of value in a word: `integer|null`, `string[]`, `red|green`, `any`."""
    root = schema if root is None else root
    names: dict[str, None] = {}
    for flat in alternatives(schema, root):
        if len(names) > _SHOWN_OPTIONS:
            break
        options = options_of(flat)
        shown = [shown_value(value) for value in options[:_SHOWN_OPTIONS]]
        more = ["…"] if len(options) > len(shown) else []
        names |= dict.fromkeys([*shown, *more] or [_plain_name(flat, root, level)])
    if not is_null_shown and len(names) > 1:
        names.pop("null", None)
    shown = list(names)[:_SHOWN_OPTIONS] + (["…"] if len(names) > _SHOWN_OPTIONS else [])
    return "|".join(dict.fromkeys(shown)) or "any"


def _plain_name(flat: dict[str, Any], root: Any, level: int) -> str:
    kind = type_of(flat)
    if kind != "array" or level >= _SHOWN_LEVELS:
        return kind or "any"
    item = type_name(flat.get("items"), root, level=level + 1)
    return f"({item})[]" if "|" in item and not item.endswith(")[]") else f"{item}[]"


def shown_value(value: Any) -> str:
    """A value of a schema in a line: a text as it is unless it is empty, anything else as JSON."""
    text = (
        value
        if isinstance(value, str) and value
        else json.dumps(value, ensure_ascii=False, default=str)
    )
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_number(value: Any) -> bool:
    """A JSON number: neither a boolean nor infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)
