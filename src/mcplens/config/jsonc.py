"""Parses JSON with comments, trailing commas and a byte order mark, and keeps every position.

`parse` returns values for reading and spans for editing in place; its errors name line and column.
Duplicate keys are reported; the last one is used, as in other parsers. Pure; called by the code
that reads or edits configuration files.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

import msgspec

# Deeper than any real configuration, and below Python's recursion limit.
_MAX_DEPTH: Final = 200

_GAP: Final = re.compile(r"(?:[ \t\r\n\f\v]+|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING: Final = re.compile(r'"((?:[^"\\\r\n]|\\.)*+)"')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?(?![\w.])")
_WORD: Final = re.compile(r"[\w$+.-]+")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED: Final = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}
_TYPOGRAPHIC: Final = "“”„«»\u2018’"


class JsonProblem(Exception):
    """A syntax error, with line and column counted from 1."""

    def __init__(self, text: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {text}")
        self.text = text
        self.line = line
        self.column = column


class Node(msgspec.Struct, frozen=True):
    """A value with its position in the text; `members` for an object, `items` for an array."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def member(self, key: str) -> Member | None:
        """The effective member: the last of that name."""
        return next((one for one in reversed(self.members) if one.key == key), None)


class Member(msgspec.Struct, frozen=True):
    """One `"key": value` of an object; `comma` is the position of the comma after it."""

    key: str
    start: int
    node: Node
    comma: int | None


class Duplicate(msgspec.Struct, frozen=True):
    """A duplicate key in the object at `path`."""

    path: tuple[str, ...]
    first: int
    last: int


class Document(msgspec.Struct, frozen=True):
    """A parsed text: `root` is None if it contains only white space and comments."""

    text: str
    root: Node | None
    duplicates: tuple[Duplicate, ...] = ()

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        return position(self.text, offset)

    def find(self, *path: str) -> Member | None:
        """The member at the end of a path of keys."""
        node, found = self.root, None
        for key in path:
            found = None if node is None else node.member(key)
            node = None if found is None else found.node
        return found


def parse(text: str) -> Document:
    """Read a text.

    Raises:
        JsonProblem: it is not valid JSON, even with these extensions.
    """
    reader = _Reader(text)
    at = reader.skip(0)
    if at == len(text):
        return Document(text, None)
    root = reader.value(at, (), 0)
    rest = reader.skip(root.end)
    if rest != len(text):
        reader.fail(
            rest, "unexpected text after the end of the value; is there an extra bracket above it?"
        )
    return Document(text, root, tuple(reader.duplicates))


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, counted from 1."""
    line = text.count("\n", 0, offset) + 1
    return line, offset - (text.rfind("\n", 0, offset) + 1) + 1


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.duplicates: list[Duplicate] = []

    def __repr__(self) -> str:
        return f"<_Reader of {len(self.text)} characters, {len(self.duplicates)} duplicates>"

    def fail(self, offset: int, text: str) -> NoReturn:
        raise JsonProblem(text, *position(self.text, offset))

    def skip(self, offset: int) -> int:
        gap = _GAP.match(self.text, offset)
        at = gap.end() if gap else offset
        if self.text.startswith("/*", at):
            self.fail(at, "this comment is not closed; end it with */")
        return at

    def value(self, at: int, path: tuple[str, ...], depth: int) -> Node:
        character = self.text[at : at + 1]
        if character == '"':
            text, end = self.string(at)
            return Node(at, end, text)
        if character in ("{", "["):
            if depth == _MAX_DEPTH:
                self.fail(at, f"nested deeper than {_MAX_DEPTH} levels")
            read = self.object if character == "{" else self.array
            return read(at, path, depth + 1)
        if number := _NUMBER.match(self.text, at):
            digits = number.group()
            is_float = number[1] is not None or number[2] is not None
            return Node(at, number.end(), float(digits) if is_float else self.integer(at, digits))
        word = _WORD.match(self.text, at)
        if word and word.group() in _WORDS:
            return Node(at, word.end(), _WORDS[word.group()])
        self.fail(at, _unexpected(self.text, at, "a value"))

    def integer(self, at: int, digits: str) -> int:
        try:
            return int(digits)
        except ValueError:  # Python refuses thousands of digits
            self.fail(at, "this number is too long")

    def string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            self.fail(at, "this string is not closed on its line; end it with a double quote")
        text = match[1]
        if "\\" in text:
            text = self.unescape(text, at + 1)
        return text, match.end()

    def unescape(self, text: str, start: int) -> str:
        def replacement(match: re.Match[str]) -> str:
            code = match[1]
            if code[0] == "u" and len(code) == 5:
                return chr(int(code[1:], 16))
            if code not in _ESCAPED:
                advice = "; write a backslash as \\\\, in Windows paths too"
                self.fail(start + match.start(), f"\\{code} is not a valid escape{advice}")
            return _ESCAPED[code]

        plain = _ESCAPE.sub(replacement, text)
        # Two escapes may form one character beyond U+FFFF; half of a pair is invalid.
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def object(self, start: int, path: tuple[str, ...], depth: int) -> Node:
        members: list[Member] = []
        first: dict[str, int] = {}
        at = self.skip(start + 1)
        while not self.text.startswith("}", at):
            if not self.text.startswith('"', at):
                self.fail(at, self.key_problem(start, at))
            key, end = self.string(at)
            colon = self.skip(end)
            if not self.text.startswith(":", colon):
                self.fail(colon, _unexpected(self.text, colon, f"a colon after {key!r}"))
            inner = (*path, key)
            node = self.value(self.skip(colon + 1), inner, depth)
            if key in first:
                self.duplicates.append(Duplicate(inner, first[key], at))
            first.setdefault(key, at)
            comma = self.separator(node.end, "}", start)
            members.append(Member(key, at, node, comma))
            at = self.skip(node.end if comma is None else comma + 1)
        value = {member.key: member.node.value for member in members}
        return Node(start, at + 1, value, members=tuple(members))

    def array(self, start: int, path: tuple[str, ...], depth: int) -> Node:
        items: list[Node] = []
        at = self.skip(start + 1)
        while not self.text.startswith("]", at):
            if at == len(self.text):
                self.fail(start, "this array is not closed; a ] is missing")
            node = self.value(at, (*path, str(len(items))), depth)
            items.append(node)
            comma = self.separator(node.end, "]", start)
            at = self.skip(node.end if comma is None else comma + 1)
        return Node(start, at + 1, [item.value for item in items], items=tuple(items))

    def separator(self, end: int, closing: str, start: int) -> int | None:
        """The comma after a value; None if the object or array ends there."""
        at = self.skip(end)
        if self.text.startswith(",", at):
            return at
        if self.text.startswith(closing, at):
            return None
        if at == len(self.text):
            kind = "object" if closing == "}" else "array"
            self.fail(start, f"this {kind} is not closed; a {closing} is missing")
        if self.text[at] in '"{[' or self.text[at].isalnum():
            self.fail(at, "a comma is missing before this")
        self.fail(at, _unexpected(self.text, at, f"a comma or {closing}"))

    def key_problem(self, start: int, at: int) -> str:
        if at == len(self.text):
            line, column = position(self.text, start)
            return f"the object that starts in line {line}, column {column} lacks its closing }}"
        return _unexpected(self.text, at, "a key in double quotes or }")


def _unexpected(text: str, at: int, expected: str) -> str:
    """What was found instead, with advice on common mistakes."""
    if at == len(text):
        return f"expected {expected}, but the text ends here"
    character = text[at]
    if character in _TYPOGRAPHIC or character == "'":
        return f"strings need straight double quotes, not {character}"
    word = _WORD.match(text, at)
    if word is None:
        import unicodedata

        named = unicodedata.name(character, "")
        shown = repr(character) if character.isprintable() and character.isascii() else named
        return f"expected {expected}, not {shown or f'U+{ord(character):04X}'}"
    for known in _WORDS:
        if word.group().lower() == known:
            return f"write {known} in lower case"
    return f"expected {expected}, not {word.group()[:40]}"
