"""A plausible value for a JSON Schema: what a form, a tool call or a profile starts from.

Only guesses: `schema_validation.Validator` says whether a value is valid. References are
followed only inside the schema, and recursive schemas give values of bounded size. Called by the
profiles that answer for a person, and by forms.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcplens.protocol.schema_limits import (
    MOST_CHARACTERS,
    count,
    number_within,
    text_within,
)
from mcplens.protocol.schema_references import resolve
from mcplens.protocol.schema_types import is_number, merged, type_of

# Deeper than any schema that a person wrote; each level costs a few Python frames.
_MOST_LEVELS: Final = 24
# Values made or copied for one example: a hostile schema stops here, after some milliseconds.
_MOST_VALUES: Final = 2_000
# The largest `minItems` that is satisfied; longer examples are useless.
_MOST_ITEMS: Final = 100


class _Impossible(Exception):
    """This schema has no value here: false, infinitely recursive, or a dangling reference."""


def example_of(schema: Any, *, root: Any = None) -> Any:
    """A plausible value; None where the schema says nothing. References are looked up in `root`."""
    root = schema if root is None else root
    for is_strict in (True, False):
        try:
            return _Maker(root, is_strict).make(schema, (), 0)
        except (_Impossible, RecursionError):  # the latter from comparing what is deep
            continue
    return {} if isinstance(schema, dict) and schema.get("type") == "object" else None


def example_object(schema: Any) -> dict[str, Any]:
    """Arguments for a schema that should describe an object; {} if it does not."""
    value = example_of(schema)
    return value if isinstance(value, dict) else {}


class _Maker:
    """Builds one example; strict fails where a required value is impossible."""

    def __init__(self, root: Any, is_strict: bool) -> None:
        self._root = root
        self._is_strict = is_strict
        self._left = _MOST_VALUES

    def __repr__(self) -> str:
        return f"<_Maker strict={self._is_strict}, {self._left} values left>"

    def make(self, schema: Any, refs: tuple[str, ...], level: int) -> Any:
        self._pay(level)
        if schema is False:
            raise _Impossible
        if not isinstance(schema, dict):
            return None
        flat, refs = self._flatten(schema, refs, level)
        for given in _given(flat):
            return self._copy(given, level)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(flat.get(keyword), list) and flat[keyword]:
                return self._branch(flat, keyword, refs, level)
        return self._by_type(flat, refs, level)

    def _pay(self, level: int) -> None:
        self._left -= 1
        if self._left < 0 or level > _MOST_LEVELS:
            raise _Impossible

    def _copy(self, value: Any, level: int) -> Any:
        """A copy, so that editing it does not change the schema."""
        self._pay(level)
        if isinstance(value, dict):
            return {key: self._copy(item, level + 1) for key, item in value.items()}
        if isinstance(value, list):
            return [self._copy(item, level + 1) for item in value]
        if isinstance(value, str):
            self._left -= len(value) // MOST_CHARACTERS
        return value

    def _flatten(
        self, schema: dict[str, Any], refs: tuple[str, ...], level: int
    ) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The schema with `$ref` and `allOf` merged into it, and the references on the way here."""
        self._pay(level)
        flat = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        reference = schema.get("$ref")
        parts = schema["allOf"] if isinstance(schema.get("allOf"), list) else []
        if isinstance(reference, str):
            if reference in refs:
                raise _Impossible
            refs = (*refs, reference)
            try:
                parts = [resolve(self._root, reference), *parts]
            except KeyError:
                raise _Impossible from None
        for part in parts:
            if part is False:
                raise _Impossible
            if isinstance(part, dict):
                below, refs = self._flatten(part, refs, level + 1)
                flat = merged(below, flat)
        return flat, refs

    def _branch(self, flat: dict[str, Any], keyword: str, refs: tuple[str, ...], level: int) -> Any:
        rest = {key: value for key, value in flat.items() if key != keyword}
        branches = flat[keyword]
        for branch in sorted(branches, key=_is_null):  # stable: the others keep their order
            if branch is False:
                continue
            both = merged(branch, rest) if isinstance(branch, dict) else rest
            try:
                return self.make(both, refs, level + 1)
            except _Impossible:
                continue
        raise _Impossible

    def _by_type(self, flat: dict[str, Any], refs: tuple[str, ...], level: int) -> Any:
        match type_of(flat):
            case "object":
                return self._object(flat, refs, level)
            case "array":
                return self._array(flat, refs, level)
            case "string":
                return text_within(flat)
            case "integer" | "number" as kind:
                return number_within(flat, is_integer=kind == "integer")
            case "boolean":
                return False  # the safer answer to give a tool
        return None

    def _object(self, flat: dict[str, Any], refs: tuple[str, ...], level: int) -> dict[str, Any]:
        properties = _dict(flat.get("properties"))
        required = [name for name in _list(flat.get("required")) if isinstance(name, str)]
        least = count(flat.get("minProperties"), _MOST_ITEMS)
        value: dict[str, Any] = {}
        for name in dict.fromkeys(required):
            try:
                value[name] = self.make(_property(flat, properties, name), refs, level + 1)
            except _Impossible:
                if self._is_strict:
                    raise
                value[name] = None
        for name, schema in properties.items():
            is_wanted = self._has_default(schema) or len(value) < least
            if name not in value and is_wanted:
                try:
                    value[name] = self.make(schema, refs, level + 1)
                except _Impossible:
                    continue
        return value

    def _has_default(self, schema: Any) -> bool:
        if not isinstance(schema, dict) or "default" in schema:
            return isinstance(schema, dict)
        try:
            return "default" in _dict(resolve(self._root, schema.get("$ref")))
        except KeyError:
            return False

    def _array(self, flat: dict[str, Any], refs: tuple[str, ...], level: int) -> list[Any]:
        items = flat.get("items")
        first = _list(flat.get("prefixItems")) or _list(items)
        rest = flat.get("additionalItems") if isinstance(items, list) else items
        least = count(flat.get("minItems"), _MOST_ITEMS)
        if "contains" in flat and not first:
            rest, least = (flat["contains"] if rest is None else rest), max(least, 1)
        value: list[Any] = []
        for at in range(least):
            schema = first[at] if at < len(first) else rest
            try:
                item = self.make(schema, refs, level + 1)
            except _Impossible:
                if self._is_strict:
                    raise
                break
            if flat.get("uniqueItems") is True and item in value:
                item = _another(_dict(schema), item, value)
            value.append(item)
        return value


def _given(flat: dict[str, Any]) -> Iterator[Any]:
    """What the schema itself offers, best first."""
    for key in ("default", "const"):
        if key in flat:
            yield flat[key]
    for key in ("examples", "enum"):
        yield from _list(flat.get(key))
    if "example" in flat:  # OpenAPI's word
        yield flat["example"]
    if "enum" in flat and _list(flat["enum"]) == []:
        raise _Impossible


def _property(flat: dict[str, Any], properties: dict[str, Any], name: str) -> Any:
    if name in properties:
        return properties[name]
    other = flat.get("additionalProperties")
    return other if isinstance(other, dict) else {}


def _another(schema: dict[str, Any], item: Any, taken: list[Any]) -> Any:
    """A value that is not used yet, if one is easily found."""
    for option in _list(schema.get("enum")):
        if option not in taken:
            return option
    for option in _list(schema.get("anyOf")) + _list(schema.get("oneOf")):
        if isinstance(option, dict) and "const" in option and option["const"] not in taken:
            return option["const"]
    if isinstance(item, str):
        return f"{item}{len(taken) + 1}"
    if is_number(item):
        step: Any = schema.get("multipleOf")
        return item + len(taken) * (step if is_number(step) else 1)
    return item


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or ("const" in schema and schema["const"] is None)
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
