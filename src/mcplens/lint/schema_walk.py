"""Every schema within a JSON Schema, with its pointer, in a bounded number of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mcplens.contracts.pointers import join

_MOST: Final = 20_000
_BY_NAME: Final = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE: Final = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip


class Place(NamedTuple):
    """A schema within another: where, how deep, and as the property of which name."""

    pointer: str
    schema: dict[str, Any]
    level: int
    property_name: str | None


def walk(schema: Any, pointer: str) -> Iterator[Place]:
    """The schema and all schemas below it; definitions too, references are not followed."""
    waiting = [Place(pointer, schema, 0, None)] if isinstance(schema, dict) else []
    for _ in range(_MOST):
        if not waiting:
            return
        place = waiting.pop()
        yield place
        waiting += reversed(list(_below(place)))


def _below(place: Place) -> Iterator[Place]:
    level = place.level + 1
    for keyword, value in place.schema.items():
        if keyword in _BY_NAME and isinstance(value, dict):
            for name, schema in value.items():
                if isinstance(schema, dict):
                    pointer = join(place.pointer, keyword, name)
                    yield Place(pointer, schema, level, name if keyword == "properties" else None)
        elif keyword in _LISTS and isinstance(value, list):
            for at, schema in enumerate(value):
                if isinstance(schema, dict):
                    yield Place(join(place.pointer, keyword, at), schema, level, None)
        elif keyword in _SINGLE and isinstance(value, dict):
            yield Place(join(place.pointer, keyword), value, level, None)


def properties_of(schema: Any) -> dict[str, Any]:
    """The properties of a schema; empty if it has none."""
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}
