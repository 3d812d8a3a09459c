"""YAML text as values of JSON's types, each with its place in the text.

YAML 1.2 (core schema): dates and the like are text. What JSON does not have (aliases, tags, complex
keys, several documents) is refused with its line, column and the key that it stands under. Bounded,
since a text may come from anywhere. Used for collections and for the front matter of skills, which
is also read as YAML 1.1 to explain a difference; config/files.py reads the YAML of other tools.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
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
    follow it. `key_line` and `key_column` are the place of its key, if it has one."""

    value: Any
    start: int
    end: int
    line: int
    column: int
    key_line: int = 0
    key_column: int = 0
    is_flow: bool = True
    members: dict[str, Node] = {}
    items: list[Node] = []


Resolve = Callable[[str], Any]


def parse(text: str, *, deepest: int = _DEEPEST, resolve: Resolve | None = None) -> Node:
    """The one document of a text; `resolve` gives the values of scalars without quotes.

    Raises:
        YamlProblem: it is not YAML, or not of JSON's types, or too large.
    """
    return _Reader(text, deepest, resolve or plain_value).read()


# The parser's commonest messages, by how they begin, for somebody who does not know its grammar.
_PLAIN: Final = {
    "expected <block end>": "the indentation does not match the lines above",
    "mapping values are not allowed": "there is a ':' too many; put text that has one in quotes",
    "could not find expected ':'": "a ':' is missing after a key",
    "found character '\\t'": "there is a tab; indent with spaces",
}


def _in_plain_words(problem: object) -> str:
    text = str(problem)
    return next((plain for start, plain in _PLAIN.items() if text.startswith(start)), text)


class _Reader:
    """Makes nodes of the parser's events."""

    def __init__(self, text: str, deepest: int, resolve: Resolve) -> None:
        self._text = text
        self._deepest = deepest
        self._resolve = resolve
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
            raise self._problem(_in_plain_words(problem.problem or problem.context), mark) from None
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
        if depth > self._deepest or self._count > _MOST_NODES:
            text = "it is nested too deeply" if depth > self._deepest else "it has too many values"
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
            node = members[key] = self._node(self._next(), depth + 1)
            node.key_line, node.key_column = event.start_mark.line + 1, event.start_mark.column + 1
            self._keys.pop()
        node = self._made(first, _end(event, members.values()), None)
        node.members = members
        node.value = {key: one.value for key, one in members.items()}
        return node

    def _sequence(self, first: Any, depth: int) -> Node:
        self._check_tag(first, "seq")
        items: list[Node] = []
        while _kind(event := self._next()) != "SequenceEnd":
            self._keys.append(f"[{len(items)}]")
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
            value = self._resolve(text)
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


def plain_value(text: str) -> Any:
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


# -- YAML 1.1, which PyYAML and others read ----------------------------------------------------

_BOOL_1_1: Final = re.compile(r"(?P<true>yes|true|on)|no|false|off", re.I)
_INT_1_1: Final = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)")
_FLOAT_1_1: Final = re.compile(r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?")
_SEXAGESIMAL: Final = re.compile(r"(?P<sign>[-+]?)(?P<parts>[0-9][0-9_]*(?::[0-5]?[0-9])+)")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?P<time>[Tt \t].*)?")


def is_date(text: str) -> bool:
    """Whether a reader of YAML 1.1 takes a scalar without quotes for a date, which JSON lacks."""
    return _DATE.fullmatch(text) is not None


def plain_value_1_1(text: str) -> Any:
    """The value of a scalar without quotes in YAML 1.1; a date is its text in ISO form."""
    if _NULL.fullmatch(text):
        return None
    if (found := _BOOL_1_1.fullmatch(text)) and text in (text.lower(), text.upper(), text.title()):
        return found["true"] is not None
    if _INT_1_1.fullmatch(text):
        return _int_1_1(text.replace("_", ""))
    if _FLOAT_1_1.fullmatch(text):
        return float(text.replace("_", ""))
    if found := _SEXAGESIMAL.fullmatch(text):
        total = 0
        for part in found["parts"].replace("_", "").split(":"):
            total = total * 60 + int(part)
        return -total if found["sign"] == "-" else total
    if is_date(text):
        return re.sub(r"(?<=\d)[Tt \t]+(?=\d)", "T", text)
    return text


def _int_1_1(text: str) -> int:
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if digits.startswith(("0b", "0x")):
        return sign * int(digits[2:], 2 if digits[1] == "b" else 16)
    return sign * int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10)
