"""Tool arguments as typed on a command line: `key=text`, `key:=json`, `key@file`, or whole JSON.

Text is converted to the type in the tool's schema. Unknown arguments are reported, with the closest
known name. Used by `call` and `prompt`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

_BOOLEANS = {
    "true": True, "yes": True, "on": True, "1": True,
    "false": False, "no": False, "off": False, "0": False,
}  # fmt: skip


def parse_json(text: str, what: str) -> Any:
    """A JSON value from the command line.

    Raises:
        UsageError: it is not valid JSON; the message says where.
    """
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise click.UsageError(
            f"{what} is not valid JSON: {problem.msg} at line {problem.lineno}, "
            f"column {problem.colno}"
        ) from None


def read_source(source: str, what: str) -> str:
    """`@file`, `-` for stdin, or the text itself."""
    if source == "-":
        return sys.stdin.read()
    if not source.startswith("@"):
        return source
    try:
        with open(source[1:], encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise click.UsageError(f"{what}: {source[1:]} cannot be read: {problem}") from None


def parse_object(source: str, what: str) -> dict[str, Any]:
    """A JSON object given as text, `@file` or `-`."""
    value = parse_json(read_source(source, what), what)
    if not isinstance(value, dict):
        raise click.UsageError(f"{what} must be a JSON object, not {type(value).__name__}")
    return value


def collect(
    words: Iterable[str],
    *,
    whole: Mapping[str, Any] | None,
    pairs: Iterable[str],
    schema: Mapping[str, Any] | None,
    is_forced: bool,
) -> dict[str, Any]:
    """The arguments from every style at once; later ones win.

    Raises:
        UsageError: a word has none of these styles, or violates the schema.
    """
    arguments = dict(whole or {})
    properties = _properties(schema)
    for word in [*words, *pairs]:
        if word.startswith("{"):
            arguments |= parse_object(word, "the argument")
            continue
        key, value = _parse_word(word, properties)
        arguments[key] = value
    if schema is not None and not is_forced and whole is None:
        _check_names(arguments, schema, properties)
    return arguments


def _parse_word(word: str, properties: Mapping[str, Any]) -> tuple[str, Any]:
    positions = [(word.find(mark), mark) for mark in (":=", "=", "@") if word.find(mark) > 0]
    if not positions:
        raise click.UsageError(
            f"{word!r} is not a valid argument: write key=text, key:=json or key@file"
        )
    at, mark = min(positions, key=lambda pair: (pair[0], -len(pair[1])))
    key, text = word[:at], word[at + len(mark) :]
    if mark == ":=":
        return key, parse_json(text, key)
    if mark == "@":
        return key, coerce(read_source("@" + text, key), properties.get(key), key)
    return key, coerce(text, properties.get(key), key)


def coerce(text: str, schema: Any, key: str) -> Any:
    """Text converted to the schema's type; unchanged if the schema has none.

    Raises:
        UsageError: it cannot be converted.
    """
    kinds = _kinds(schema)
    if not kinds or "string" in kinds:
        return _enum_value(text, schema) if not kinds else text
    for kind in kinds:
        value = _as_kind(text, kind)
        if value is not None or (kind == "null" and text in ("", "null")):
            return value
    wanted = " or ".join(kinds)
    raise click.UsageError(f"{key}: {text!r} is not of type {wanted}; {key}:=JSON sends any value")


def _as_kind(text: str, kind: str) -> Any:
    import json

    lowered = text.strip().lower()
    if kind == "boolean":
        return _BOOLEANS.get(lowered)
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return int(text) if lowered.lstrip("+-").isdecimal() else float(text)
        value = json.loads(text)
    except ValueError:
        return text.split(",") if kind == "array" and text and text[0] not in "[{" else None
    is_wanted = isinstance(value, list) if kind == "array" else isinstance(value, dict)
    return value if is_wanted and kind in ("array", "object") else None


def _kinds(schema: Any) -> list[str]:
    """The JSON types that a schema allows, in its order; empty if it does not say."""
    if not isinstance(schema, Mapping):
        return []
    kind = schema.get("type")
    if isinstance(kind, str):
        return [kind]
    if isinstance(kind, list):
        return [str(item) for item in kind]
    found: list[str] = []
    for branch in (*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())):
        found += [kind for kind in _kinds(branch) if kind not in found]
    return found


def _enum_value(text: str, schema: Any) -> Any:
    """A value of an enum that reads like the text: 3 for "3"."""
    if isinstance(schema, Mapping) and isinstance(schema.get("enum"), list):
        for value in schema["enum"]:
            if str(value) == text:
                return value
    return text


def _properties(schema: Mapping[str, Any] | None) -> Mapping[str, Any]:
    properties = (schema or {}).get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _check_names(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], properties: Mapping[str, Any]
) -> None:
    allows_others = schema.get("additionalProperties") or schema.get("patternProperties")
    unknown = (
        [] if allows_others or not properties else [k for k in arguments if k not in properties]
    )
    required = schema.get("required")
    missing = (
        [key for key in required if key not in arguments] if isinstance(required, list) else []
    )
    if not unknown and not missing:
        return
    lines = [f"unknown argument {key}{_nearest(key, properties)}" for key in unknown]
    lines += [f"missing argument {_describe(key, properties.get(key))}" for key in missing]
    lines.append("--force sends it anyway")
    raise click.UsageError("\n".join(lines))


def _nearest(key: str, properties: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(key, list(properties), n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; the tool has {', '.join(properties) or 'none'}"


def _describe(key: str, schema: Any) -> str:
    kinds = " or ".join(_kinds(schema))
    return f"{key} ({kinds})" if kinds else key
