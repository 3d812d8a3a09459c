"""YAML 1.2 as JSON's types: text to values with their places in the text, and values to text.

Dates and the like are text. What JSON does not have (aliases, tags, complex keys, several
documents) is refused with its line, column and the key that it stands under. Bounded, since a file
may come from anywhere. Used for collections; config/files.py reads the YAML of other tools.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

# More than a person writes; the parser takes seconds for it.
LARGEST_BYTES: Final = 1024 * 1024
_MOST_NODES: Final = 20_000
_DEEPEST: Final = 100

_TAG: Final = "tag:yaml.org,2002:"
_NULL: Final = re.compile(r"~|null|Null|NULL|")
_BOOL: Final = re.compile(r"(?P<true>true|True|TRUE)|false|False|FALSE")
_INT: Final = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# What YAML 1.1 takes for a boolean: quoted, so that every reader takes it for text.
_OLD_BOOL: Final = re.compile(r"y|yes|n|no|on|off", re.I)


class YamlProblem(Exception):
    """What is wrong with a text, where it is, and the key that it stands under."""

    def __init__(self, text: str, line: int = 0, column: int = 0, key: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.line = line
        self.column = column
        self.key = key


class Node(msgspec.Struct, kw_only=True):
    """A value with its place: `start` and `end` are positions in the text, without comments that
    follow it."""

    value: Any
    start: int
    end: int
    line: int
    column: int
    is_flow: bool = True
    members: dict[str, Node] = {}
    items: list[Node] = []


def parse(text: str) -> Node:
    """The one document of a text.

    Raises:
        YamlProblem: it is not YAML, or not of JSON's types, or too large.
    """
    return _Reader(text).read()


class _Reader:
    """Makes nodes of the parser's events."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._keys: list[str] = []
        self._count = 0
        self._events: Iterator[Any] = iter(())
        self._nearest = ""  # the last key that was read, for what is broken after it

    def __repr__(self) -> str:
        return f"<_Reader of {len(self._text)} characters, {self._count} nodes>"

    def read(self) -> Node:
        from ruamel.yaml import YAML
        from ruamel.yaml.error import MarkedYAMLError, YAMLError
        from ruamel.yaml.reader import ReaderError

        if len(self._text) > LARGEST_BYTES:
            raise YamlProblem(f"it is larger than {LARGEST_BYTES // 1024} kB")
        try:
            self._events = YAML(typ="safe", pure=True).parse(self._text)
            return self._document()
        except MarkedYAMLError as problem:
            mark = problem.problem_mark or problem.context_mark
            raise self._problem(str(problem.problem or problem.context), mark) from None
        except ReaderError as problem:
            place = position(self._text, problem.position)
            code = problem.character if isinstance(problem.character, int) else 0
            text = f"the character U+{code:04X} is not allowed; write it as an escape in quotes"
            raise YamlProblem(text, *place) from None
        except (YAMLError, RecursionError, ValueError) as problem:
            raise self._problem(str(problem) or "it is nested too deeply", None) from None

    def _document(self) -> Node:
        event = self._next()
        while _kind(event) in ("StreamStart", "DocumentStart"):
            event = self._next()
        if _kind(event) == "StreamEnd":
            return Node(value=None, start=0, end=0, line=1, column=1)
        root = self._node(event, 0)
        self._next()  # the end of the document
        if _kind(event := self._next()) != "StreamEnd":
            raise self._problem("a file has one document; this is the second", event.start_mark)
        return root

    def _next(self) -> Any:
        return next(self._events)

    def _node(self, event: Any, depth: int) -> Node:
        self._count += 1
        kind = _kind(event)
        if kind == "Alias":
            text = f"the alias *{event.anchor} is not supported; write out its value"
            raise self._problem(text, event.start_mark)
        if depth > _DEEPEST or self._count > _MOST_NODES:
            text = "it is nested too deeply" if depth > _DEEPEST else "it has too many values"
            raise self._problem(text, event.start_mark)
        if kind == "MappingStart":
            return self._mapping(event, depth)
        if kind == "SequenceStart":
            return self._sequence(event, depth)
        return self._made(event, event.end_mark.index, self._scalar(event))

    def _mapping(self, first: Any, depth: int) -> Node:
        self._check_tag(first, "map")
        members: dict[str, Node] = {}
        while _kind(event := self._next()) != "MappingEnd":
            if _kind(event) != "Scalar":
                raise self._problem("a key must be text", event.start_mark)
            key = str(event.value)
            self._keys.append(key)
            self._nearest = self._path()
            if key in members:
                raise self._problem(f"the key {key!r} is there twice", event.start_mark)
            members[key] = self._node(self._next(), depth + 1)
            self._keys.pop()
        node = self._made(first, _end(event, members.values()), None)
        node.members = members
        node.value = {key: one.value for key, one in members.items()}
        return node

    def _sequence(self, first: Any, depth: int) -> Node:
        self._check_tag(first, "seq")
        items: list[Node] = []
        while _kind(event := self._next()) != "SequenceEnd":
            self._keys.append(f"[{len(items) + 1}]")
            items.append(self._node(event, depth + 1))
            self._keys.pop()
        node = self._made(first, _end(event, items), None)
        node.items = items
        node.value = [one.value for one in items]
        return node

    def _made(self, event: Any, end: int, value: Any) -> Node:
        mark = event.start_mark
        return Node(
            value=value,
            start=mark.index,
            end=end,
            line=mark.line + 1,
            column=mark.column + 1,
            is_flow=bool(getattr(event, "flow_style", True)),
        )

    def _check_tag(self, event: Any, wanted: str) -> None:
        tag = event.tag
        if tag not in (None, "!", _TAG + wanted):
            shown = str(tag).replace(_TAG, "!!")
            raise self._problem(f"the tag {shown} is not supported", event.start_mark)

    def _scalar(self, event: Any) -> Any:
        text, tag = str(event.value), event.tag
        if event.style is not None or tag == "!":  # in quotes, or a block
            self._check_tag(event, "str")
            return text
        if tag is not None:
            kind = str(tag).removeprefix(_TAG)
            if kind not in ("str", "int", "float", "bool", "null"):
                self._check_tag(event, "str")
            if kind == "str":
                return text
        try:
            value = _plain(text)
        except ValueError:  # Python's own limit
            problem = "this number has too many digits; quote it"
            raise self._problem(problem, event.start_mark) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self._problem(f"{text} is too large for a number; quote it", event.start_mark)
        return value

    def _path(self) -> str:
        keys = self._keys if len(self._keys) < _DEEPEST else self._keys[:5]
        joined = "".join(one if one.startswith("[") else f".{one}" for one in keys)
        return joined.removeprefix(".")

    def _problem(self, text: str, mark: Any) -> YamlProblem:
        key = self._path() or self._nearest
        if mark is None:
            return YamlProblem(text, key=key)
        return YamlProblem(text, mark.line + 1, mark.column + 1, key)


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")


def _end(closing: Any, inner: Any) -> int:
    """Where a collection ends: its bracket, or its last value, since comments may follow that."""
    if closing.end_mark.index > closing.start_mark.index:
        return int(closing.end_mark.index)
    return max((one.end for one in inner), default=int(closing.start_mark.index))


def _plain(text: str) -> Any:
    """The value of a scalar without quotes, by the core schema of YAML 1.2."""
    if _NULL.fullmatch(text):
        return None
    if found := _BOOL.fullmatch(text):
        return found["true"] is not None
    if _INT.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def position(text: str, index: int) -> tuple[int, int]:
    """Line and column of a position, both from 1."""
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1


def dump(value: Any) -> str:
    """A value as YAML in block style; texts of several lines as blocks that can be read."""
    from ruamel.yaml import YAML

    writer = YAML()
    writer.width = 2**30  # a line break within a text is hard to read and to edit
    writer.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    writer.dump(_styled(value), stream)
    return stream.getvalue().removesuffix("...\n")


def _styled(value: Any) -> Any:
    if isinstance(value, dict):
        return {_styled_text(str(key), is_key=True): _styled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_styled(item) for item in value]
    return _styled_text(value) if isinstance(value, str) else value


def _styled_text(text: str, *, is_key: bool = False) -> Any:
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    if _OLD_BOOL.fullmatch(text) or _plain_or_text(text) != text:
        return DoubleQuotedScalarString(text)
    if text.isprintable():
        return text
    lines = text.split("\n")
    is_readable = all(line.isprintable() and line == line.rstrip() for line in lines)
    # A block whose first line begins with a space needs an indicator; quotes are clearer.
    if is_readable and not is_key and text.strip("\n") and not text.startswith((" ", "\n")):
        return LiteralScalarString(text)
    return DoubleQuotedScalarString(text)


def _plain_or_text(text: str) -> Any:
    try:
        return _plain(text)
    except ValueError:  # a number with too many digits
        return None
