"""Tool arguments as typed on a command line: `key=text`, `key:=json`, `key@file`, or whole JSON.

Text is converted to the type in the tool's schema. Unknown arguments are reported, with the closest
known name, and what the schema refuses in a JSON object. Used by `call`, `app`, `prompt`, `read`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from mcplens.cli.near_names import near_names

if TYPE_CHECKING:
    from mcplens.protocol.schema_types import ObjectShape

# Of what was typed, in a message.
_SHOWN_CHARACTERS: Final = 200
# Of the values that a schema lists, in a message.
_SHOWN_OPTIONS: Final = 50
# Of what is wrong with a JSON object, in a message.
_MOST_FINDINGS: Final = 10


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


class Typed(NamedTuple):
    """One typed argument: text that the schema gives a type, or a value that was given as JSON."""

    text: str
    value: Any = None
    is_json: bool = False


class TypedArguments(NamedTuple):
    """Arguments as they were typed, before the tool's schema is known."""

    members: dict[str, Any]  # of JSON objects
    by_key: dict[str, list[Typed]]


def read_words(words: Iterable[str]) -> TypedArguments:
    """What was typed, with its JSON parsed and its files read: no server is needed for that.

    Raises:
        UsageError: a word has none of the styles, or its JSON or its file cannot be read.
    """
    typed = TypedArguments({}, {})
    for word in words:
        if word.startswith("{"):
            typed.members.update(parse_object(word, "the argument"))
        else:
            key, mark, text = _split(word)
            if mark == ":=":
                one = Typed(text, parse_json(text, key), is_json=True)
            else:
                one = Typed(read_source("@" + text, key) if mark == "@" else text)
            typed.by_key.setdefault(key, []).append(one)
    return typed


def collect(
    typed: TypedArguments,
    *,
    whole: Mapping[str, Any] | None = None,
    schema: Mapping[str, Any] | None = None,
    is_forced: bool = False,
    owner: str = "tool",
) -> dict[str, Any]:
    """The arguments from every style at once; single ones win over those of a JSON object.

    `whole` is sent as it is: no default is added to it. `owner` is what takes the arguments.

    Raises:
        UsageError: an argument violates the schema.
    """
    from mcplens.protocol.schema_types import object_shape

    arguments = {**(whole or {}), **typed.members}
    shape = object_shape(schema)
    for key, texts in typed.by_key.items():
        reading = _Reading(key, schema, is_forced)
        arguments[key] = reading.value(texts, shape.properties.get(key))
    if schema is not None and not is_forced:
        if whole is None:
            _fill_defaults(arguments, shape, schema)
        lines = _wrong_names(arguments, shape, schema, owner)
        if whole is not None or typed.members:
            filled = dict(arguments)
            _fill_defaults(filled, shape, schema)
            lines += _wrong_values(filled, schema, typed.by_key, is_whole_told=bool(lines))
        if lines:
            raise click.UsageError("\n".join([*lines, "--force sends it anyway"]))
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


class _Reading(NamedTuple):
    """How the texts of one argument become its value."""

    key: str
    root: Any
    is_forced: bool

    def value(self, texts: list[Typed], schema: Any) -> Any:
        """The value of an argument; one that is given several times is a list, or a mistake."""
        if len(texts) == 1:
            return self._one_value(texts[0], schema)
        from mcplens.protocol.schema_text import item_schema

        items = item_schema(schema, self.root)
        if not items:
            raise click.UsageError(
                f"{self.key} is given {len(texts)} times, but it is not known to be a list; "
                f"{self.key}:=[…] sends a list"
            )
        return [self._one_value(one, items[0]) for one in texts]

    def _one_value(self, typed: Typed, schema: Any) -> Any:
        if typed.is_json:
            return typed.value
        from mcplens.protocol.schema_text import from_text

        try:
            return from_text(typed.text, schema, self.root, any_option=self.is_forced)
        except ValueError:
            raise click.UsageError(_mismatch(self.key, typed.text, schema, self.root)) from None


def _mismatch(key: str, text: str, schema: Any, root: Any) -> str:
    import json

    from mcplens.protocol.schema_text import item_schema
    from mcplens.protocol.schema_types import listed_values, shown_value

    shown = f"{key}: {text[:_SHOWN_CHARACTERS]!r}"
    items = item_schema(schema, root)
    if values := listed_values(items[0] if items else schema, root):
        shown += " has an item that is not one of" if items else " is not one of"
        options = ", ".join(map(shown_value, values[:_SHOWN_OPTIONS]))
        more = ", …" if len(values) > _SHOWN_OPTIONS else ""
        return f"{shown} {options}{more}\n--force sends it anyway"
    wanted = _kinds(schema, root)
    text = f"{shown} is not of type {wanted}"
    if "object" in wanted:
        from mcplens.protocol.schema_examples import example_of

        value = [example_of(items[0], root=root)] if items else example_of(schema, root=root)
        example = json.dumps(value, ensure_ascii=False)
        return f"{text}; write it as JSON, such as {key}='{example}'"
    if "[]" in wanted:
        return f"{text}; write its items with commas between them, or {key}:=[…]"
    return f"{text}; {key}:=JSON sends any value"


def _kinds(schema: Any, root: Any) -> str:
    """The kinds of value in words: `integer or null`; nested ones as the lists have them."""
    from mcplens.protocol.schema_types import type_name

    name = type_name(schema, root)
    return name if "(" in name else name.replace("|", " or ")


def _fill_defaults(arguments: dict[str, Any], shape: ObjectShape, root: Any) -> None:
    """A required argument that has a default need not be given."""
    from mcplens.protocol.schema_types import default_of

    for key in shape.required:
        if key not in arguments and (found := default_of(shape.properties.get(key), root)):
            arguments[key] = found[0]


def _wrong_names(
    arguments: Mapping[str, Any], shape: ObjectShape, root: Mapping[str, Any], owner: str
) -> list[str]:
    from mcplens.protocol.schema_types import default_of

    known = shape.properties
    # Without properties a schema says nothing of names, unless it allows none.
    is_closed = not shape.is_open and (known or root.get("additionalProperties") is False)
    unknown = [key for key in arguments if key not in known] if is_closed else []
    lines = [f"unknown argument {key}{_nearest(key, known, owner)}" for key in unknown]
    for key in shape.required:
        if key not in arguments and not default_of(known.get(key), root):
            kinds = _kinds(known.get(key), root)
            lines.append(f"missing argument {key}" + ("" if kinds == "any" else f" ({kinds})"))
    return lines


def _wrong_values(
    arguments: dict[str, Any], schema: Any, typed: Mapping[str, Any], *, is_whole_told: bool
) -> list[str]:
    """What the schema refuses in the members of JSON objects.

    Single arguments were read by the schema, or are JSON that may be any value. What is wrong with
    the arguments as a whole is told by their names, if these are wrong.
    """
    from mcplens.protocol.schema_validation import SchemaProblem, Validator

    try:
        found = list(islice(Validator(schema).located_findings(arguments), _MOST_FINDINGS))
    except (SchemaProblem, ValueError):  # a broken schema must not keep a tool from being called
        return []
    lines = []
    for path, text in found:
        shown = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
        if path and path[0] not in typed:
            where = "".join(f"[{part!r}]" for part in path[1:])
            lines.append(f"{path[0]}{where}: {shown}")
        elif not path and not is_whole_told and not typed:
            lines.append(f"the arguments: {shown}")
    return lines


def _nearest(key: str, properties: Mapping[str, Any], owner: str) -> str:
    close = near_names(key, properties, most=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; the {owner} has {', '.join(properties) or 'none'}"
