"""Parses the fields of a form from its schema, and converts typed text into their values.

Knows every way in which servers write a choice. Limits are checked in `elicitation.py`, which
re-exports these names.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import msgspec

from mcplens.protocol.schema_references import resolve

Kind: TypeAlias = Literal["string", "number", "integer", "boolean", "choice", "choices", "other"]

# References to references are followed at most this often.
_MOST_STEPS: Final = 8
# Larger integers are not exact in every JSON library.
_LARGEST: Final = 2**63 - 1
# Nobody types more digits on purpose.
_LONGEST_NUMBER: Final = 400
_YES: Final = ("yes", "y", "true", "t", "on", "1")
_NO: Final = ("no", "n", "false", "f", "off", "0")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a form; `min` and `max` are characters for a string, values for a number."""

    name: str
    title: str | None = None
    description: str | None = None
    kind: Kind
    is_required: bool = False
    default: Any = None  # null means no default: an answer cannot contain it
    has_default: bool = False
    options: list[tuple[Any, str]] = []
    min: int | float | None = None
    max: int | float | None = None
    min_items: int | float | None = None
    max_items: int | float | None = None
    pattern: str | None = None
    format: str | None = None
    # The field's own schema, with references followed.
    schema: dict[str, Any] = {}

    @property
    def label(self) -> str:
        """What to call the field in front of a person."""
        return self.title or self.name


def fields_of(schema: Any) -> list[Field]:
    """The fields of a form in order; an invalid schema has none."""
    required = {name for name in _list(_dict(schema).get("required")) if isinstance(name, str)}
    properties = _dict(_dict(schema).get("properties"))
    return [_field(schema, name, part, name in required) for name, part in properties.items()]


def from_text(field: Field, text: str) -> Any:
    """Typed text as the field's value; `value_findings` checks the limits.

    Raises:
        ValueError: not a valid value; the message says what to type.
    """
    match field.kind:
        case "string":
            return text
        case "number" | "integer":
            return _number_from(text.strip(), is_integer=field.kind == "integer")
        case "boolean":
            return _boolean_from(text.strip())
        case "choice":
            return _option_from(field, text.strip())
        case "choices":
            return _options_from(field, text)
    try:
        return msgspec.json.decode(text.encode(errors="replace"))
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("type the value as JSON") from None


def _field(root: Any, name: str, part: Any, is_required: bool) -> Field:
    schema = _plain(root, part)
    kind, options = _kind_of(root, schema)
    is_text = kind == "string"
    default = schema.get("default")
    return Field(
        name=name,
        title=_text(schema.get("title")),
        description=_text(schema.get("description")),
        kind=kind,
        is_required=is_required,
        default=list(default) if isinstance(default, list) else default,
        has_default=default is not None,
        options=options,
        min=_number(schema.get("minLength" if is_text else "minimum")),
        max=_number(schema.get("maxLength" if is_text else "maximum")),
        min_items=_number(schema.get("minItems")),
        max_items=_number(schema.get("maxItems")),
        pattern=_text(schema.get("pattern")),
        format=_text(schema.get("format")),
        schema=schema,
    )


def _plain(root: Any, part: Any) -> dict[str, Any]:
    """The schema with references followed, and "this or null" as this: what libraries write."""
    schema = _dict(part)
    for _ in range(_MOST_STEPS):
        inner: Any = None
        dropped = ""
        if "$ref" in schema:
            try:
                inner, dropped = resolve(root, schema["$ref"]), "$ref"
            except KeyError:
                return schema
        else:
            for dropped in ("anyOf", "oneOf", "allOf"):
                branches = [one for one in _list(schema.get(dropped)) if not _is_null(one)]
                if len(branches) == 1 and not _is_option(branches[0]):
                    inner = branches[0]
                    break
        if not isinstance(inner, dict):
            return schema
        schema = {**inner, **{key: value for key, value in schema.items() if key != dropped}}
    return schema


def _kind_of(root: Any, schema: dict[str, Any]) -> tuple[Kind, list[tuple[Any, str]]]:
    kinds = schema.get("type")
    kind = next((one for one in _list(kinds) if one != "null"), None) if _list(kinds) else kinds
    if kind == "array":
        options = _options(_plain(root, schema.get("items")))
        return ("choices", options) if options else ("other", [])
    options = _options(schema)
    if options:
        return "choice", options
    match kind:
        case "string" | "number" | "integer" | "boolean":
            return kind, []
    return "other", []


def _options(schema: dict[str, Any]) -> list[tuple[Any, str]]:
    """Every way to write an enum: `enum`, with `enumNames`, and `const` with `title`."""
    values, names = _list(schema.get("enum")), _list(schema.get("enumNames"))
    if values:
        names = [*names, *[None] * len(values)]
        return [
            (value, _text(name) or _shown(value))
            for value, name in zip(values, names, strict=False)
        ]
    for keyword in ("oneOf", "anyOf"):
        options = [one for one in _list(schema.get(keyword)) if not _is_null(one)]
        if options and all(_is_option(one) for one in options):
            return [
                (one["const"], _text(one.get("title")) or _shown(one["const"])) for one in options
            ]
    return [(schema["const"], _shown(schema["const"]))] if "const" in schema else []


def _is_option(schema: Any) -> bool:
    return isinstance(schema, dict) and "const" in schema


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def _number_from(text: str, *, is_integer: bool) -> int | float:
    words = "a whole number, such as 42" if is_integer else "a number, such as 3.5"
    if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
        raise ValueError(f"type {words}")
    approximate = float(text)
    if not is_integer and not re.fullmatch("[+-]?[0-9]+", text):
        if math.isinf(approximate):
            raise ValueError("the number is too large")
        return approximate
    # The float first: the exact value of 1e9999 takes long to write out.
    exact = Fraction(text if abs(approximate) <= 2 * _LARGEST else 2 * _LARGEST)
    if exact.denominator != 1:
        raise ValueError(f"type {words}")
    if abs(exact) > _LARGEST:
        raise ValueError("the number is too large")
    return exact.numerator


def _boolean_from(text: str) -> bool:
    if text.casefold() in _YES:
        return True
    if text.casefold() in _NO:
        return False
    raise ValueError("type yes or no")


def _option_from(field: Field, text: str) -> Any:
    at = _option_at(field, text)
    if at is None:
        raise ValueError(_ask_for_option(field, text))
    return field.options[at][0]


def _options_from(field: Field, text: str) -> list[Any]:
    parts = text.split(",") if text.strip() else []
    chosen: dict[int, Any] = {}
    start = 0
    while start < len(parts):
        # The longest first: an option may have commas of its own.
        for end in range(len(parts), start, -1):
            at = _option_at(field, ",".join(parts[start:end]).strip())
            if at is not None:
                chosen[at] = field.options[at][0]
                start = end
                break
        else:
            if parts[start].strip():
                raise ValueError(_ask_for_option(field, parts[start].strip()))
            start += 1
    return list(chosen.values())


def _option_at(field: Field, text: str) -> int | None:
    """Which option is meant: by its value, its title, either in another case, or its number."""
    shown = [(_shown(value), title) for value, title in field.options]
    for place in (0, 1):
        for at, option in enumerate(shown):
            if option[place] == text:
                return at
    for at, option in enumerate(shown):
        if text.casefold() in (option[0].casefold(), option[1].casefold()):
            return at
    if re.fullmatch("[0-9]{1,6}", text) and 1 <= int(text) <= len(shown):
        return int(text) - 1
    return None


def _ask_for_option(field: Field, text: str) -> str:
    titles = [title for _, title in field.options[:10]]
    more = ", …" if len(field.options) > len(titles) else ""
    return f"{text[:80]!r} is not one of: {', '.join(titles)}{more} (or 1 to {len(field.options)})"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()[:200]
    except (TypeError, ValueError, OverflowError, RecursionError):
        return type(value).__name__


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
