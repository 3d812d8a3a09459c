"""Tool arguments as typed on a command line: `key=text`, `key:=json`, `key@file`, or whole JSON.

Text is converted to the type in the tool's schema. Unknown arguments are reported, with the closest
known name. Used by `call` and `prompt`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from mcplens.cli.near_names import near_names

if TYPE_CHECKING:
    from mcplens.protocol.schema_types import ObjectShape

# Of what was typed, in a message.
_SHOWN_CHARACTERS: Final = 200


def parse_json(text: str, what: str) -> Any:
    """A JSON value from the command line.

    Raises:
        UsageError: it is not valid JSON; the message says where.
    """
    import json

    from mcplens.protocol.schema_text import strict_json

    try:
        return strict_json(text)
    except json.JSONDecodeError as problem:
        raise click.UsageError(
            f"{what} is not valid JSON: {problem.msg} at line {problem.lineno}, "
            f"column {problem.colno}"
        ) from None
    except ValueError as problem:  # a number that JSON cannot hold
        raise click.UsageError(f"{what}: {problem}") from None


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
    """The arguments from every style at once; single ones win over those of a JSON object.

    Raises:
        UsageError: a word has none of these styles, or violates the schema.
    """
    from mcplens.protocol.schema_types import object_shape

    arguments = dict(whole or {})
    shape = object_shape(schema)
    given: dict[str, list[tuple[str, str]]] = {}
    for word in [*words, *pairs]:
        if word.startswith("{"):
            arguments |= parse_object(word, "the argument")
        else:
            key, mark, text = _split(word)
            given.setdefault(key, []).append((mark, text))
    for key, texts in given.items():
        arguments[key] = _value(key, texts, shape.properties.get(key), schema)
    if schema is not None and not is_forced and whole is None:
        _fill_defaults(arguments, shape, schema)
        _check_names(arguments, shape, schema)
    return arguments


def _split(word: str) -> tuple[str, str, str]:
    """Key, mark and text of `key=text`, `key:=json` or `key@file`."""
    positions = [(word.find(mark), mark) for mark in (":=", "=", "@") if word.find(mark) > 0]
    if not positions:
        raise click.UsageError(
            f"{word!r} is not a valid argument: write key=text, key:=json or key@file"
        )
    at, mark = min(positions, key=lambda pair: (pair[0], -len(pair[1])))
    return word[:at], mark, word[at + len(mark) :]


def _value(key: str, texts: list[tuple[str, str]], schema: Any, root: Any) -> Any:
    """The value of an argument; one that is given several times is a list, or a mistake."""
    if len(texts) == 1:
        return _one_value(key, *texts[0], schema, root)
    from mcplens.protocol.schema_text import item_schema

    items = item_schema(schema, root)
    if not items:
        raise click.UsageError(
            f"{key} is given {len(texts)} times, but it is not known to be a list; "
            f"{key}:=[…] sends a list"
        )
    return [_one_value(key, mark, text, items[0], root) for mark, text in texts]


def _one_value(key: str, mark: str, text: str, schema: Any, root: Any) -> Any:
    if mark == ":=":
        return parse_json(text, key)
    if mark == "@":
        text = read_source("@" + text, key)
    from mcplens.protocol.schema_text import from_text

    try:
        return from_text(text, schema, root)
    except ValueError:
        raise click.UsageError(_mismatch(key, text, schema, root)) from None


def _mismatch(key: str, text: str, schema: Any, root: Any) -> str:
    import json

    from mcplens.protocol.schema_types import type_name

    wanted = " or ".join(type_name(schema, root).split("|"))
    text = f"{key}: {text[:_SHOWN_CHARACTERS]!r} is not of type {wanted}"
    if "object" in wanted:
        from mcplens.protocol.schema_examples import example_of

        example = json.dumps(example_of(schema, root=root), ensure_ascii=False)
        return f"{text}; write it as JSON, such as {key}='{example}'"
    if "[]" in wanted:
        return f"{text}; write its items with commas between them, or {key}:=[…]"
    return f"{text}; {key}:=JSON sends any value"


def _fill_defaults(arguments: dict[str, Any], shape: ObjectShape, root: Any) -> None:
    """A required argument that has a default need not be given."""
    from mcplens.protocol.schema_types import default_of

    for key in shape.required:
        if key not in arguments and (found := default_of(shape.properties.get(key), root)):
            arguments[key] = found[0]


def _check_names(arguments: Mapping[str, Any], shape: ObjectShape, root: Any) -> None:
    from mcplens.protocol.schema_types import type_name

    known = shape.properties
    unknown = [] if shape.is_open or not known else [key for key in arguments if key not in known]
    missing = [key for key in shape.required if key not in arguments]
    if not unknown and not missing:
        return
    lines = [f"unknown argument {key}{_nearest(key, known)}" for key in unknown]
    for key in missing:
        kinds = " or ".join(type_name(known.get(key), root).split("|"))
        lines.append(f"missing argument {key}" + ("" if kinds == "any" else f" ({kinds})"))
    lines.append("--force sends it anyway")
    raise click.UsageError("\n".join(lines))


def _nearest(key: str, properties: Mapping[str, Any]) -> str:
    close = near_names(key, properties, most=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; the tool has {', '.join(properties) or 'none'}"
