"""Where the keys and values of a TOML text are, so that it can be edited in place.

The same tree as jsonc.py makes of JSON. Only for text that tomllib has accepted: what is unusual
here is found by reading the edited text again. Pure; called by entry_text.py.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

from mcplens.config.jsonc import Member, Node

_GAP: Final = re.compile(r"(?:[ \t\r\n]+|#[^\r\n]*)*+")
_BLANK: Final = re.compile(r"[ \t]*+")
_STRING: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}|" + r'"(?:[^"\\\r\n]|\\.)*+"|' + r"'[^'\r\n]*+'",
    re.DOTALL,
)
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
# A date and its time may be separated by a space.
_ATOM: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:[^\s,\]}#]+|[^\s,\]}#]+")


class Unreadable(Exception):
    """The text is not as expected here."""


class _Table:
    """A table while its parts are collected: they may stand in several places."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.members: dict[str, _Table | Member] = {}

    def __repr__(self) -> str:
        return f"<_Table at {self.start} with {len(self.members)} members>"

    def table(self, key: str, start: int) -> _Table:
        found = self.members.setdefault(key, _Table(start))
        if not isinstance(found, _Table):
            raise Unreadable
        return found

    def node(self) -> Node:
        members = tuple(
            Member(key, one.start, one.node(), None) if isinstance(one, _Table) else one
            for key, one in self.members.items()
        )
        value = {member.key: member.node.value for member in members}
        return Node(self.start, self.end, value, members=members)


def parse_toml(text: str) -> Node:
    """The root table of a text.

    Raises:
        Unreadable: it has something that is not understood here.
    """
    return _Reader(text).root()


class _Reader:
    """One pass over a text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"<_Reader of {len(self.text)} characters>"

    def root(self) -> Node:
        root = current = _Table(0)
        at = self.gap(0)
        while at < len(self.text):
            if self.text.startswith("[", at):
                current, at = self.header(root, at)
            else:
                path, key_start, at = self.key(at)
                at = self.expect("=", at)
                node = self.value(at)
                at = node.end
                owner = current
                for part in path[:-1]:
                    owner = owner.table(part, key_start)
                    owner.end = node.end
                owner.members[path[-1]] = Member(path[-1], key_start, node, None)
                current.end = node.end
            at = self.gap(at)
        root.end = len(self.text)
        return root.node()

    def header(self, root: _Table, start: int) -> tuple[_Table, int]:
        is_array = self.text.startswith("[[", start)
        path, _, at = self.key(start + (2 if is_array else 1))
        at = self.expect("]]" if is_array else "]", at)
        table = root
        for part in path[:-1]:
            table = table.table(part, start)
        if is_array:  # of no interest to us, but what follows must not be read as another table
            table.members[path[-1]] = found = _Table(start)
        else:
            found = table.table(path[-1], start)
        if not found.members:
            found.start = start
        found.end = at
        return found, at

    def key(self, at: int) -> tuple[list[str], int, int]:
        """A dotted key: its parts, where the last one begins, and where it ends."""
        parts: list[str] = []
        while True:
            start = at = self.blank(at)
            match = _STRING.match(self.text, at) or _BARE_KEY.match(self.text, at)
            if match is None:
                raise Unreadable
            word = match.group()
            parts.append(_decoded(word) if word[0] in "\"'" else word)
            at = self.blank(match.end())
            if not self.text.startswith(".", at):
                return parts, start, at
            at += 1

    def value(self, at: int) -> Node:
        at = self.blank(at)
        if self.text.startswith("[", at):
            return self.array(at)
        if self.text.startswith("{", at):
            return self.inline_table(at)
        match = _STRING.match(self.text, at) or _ATOM.match(self.text, at)
        if match is None:
            raise Unreadable
        return Node(at, match.end(), _decoded(match.group()))

    def array(self, start: int) -> Node:
        items: list[Node] = []
        at = self.gap(start + 1)
        while not self.text.startswith("]", at):
            items.append(self.value(at))
            at = self.gap(items[-1].end)
            if self.text.startswith(",", at):
                at = self.gap(at + 1)
            elif not self.text.startswith("]", at):
                raise Unreadable
        return Node(start, at + 1, [item.value for item in items], items=tuple(items))

    def inline_table(self, start: int) -> Node:
        table = _Table(start)
        at = self.gap(start + 1)
        while not self.text.startswith("}", at):
            path, key_start, at = self.key(at)
            node = self.value(self.expect("=", at))
            owner = table
            for part in path[:-1]:
                owner = owner.table(part, key_start)
                owner.end = node.end
            owner.members[path[-1]] = Member(path[-1], key_start, node, None)
            at = self.gap(node.end)
            if self.text.startswith(",", at):
                at = self.gap(at + 1)
            elif not self.text.startswith("}", at):
                raise Unreadable
        table.end = at + 1
        return table.node()

    def expect(self, mark: str, at: int) -> int:
        at = self.blank(at)
        if not self.text.startswith(mark, at):
            raise Unreadable
        return at + len(mark)

    def gap(self, at: int) -> int:
        return _end(_GAP, self.text, at)

    def blank(self, at: int) -> int:
        return _end(_BLANK, self.text, at)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _decoded(token: str) -> Any:
    try:
        return tomllib.loads(f"value = {token}")["value"]
    except tomllib.TOMLDecodeError:
        raise Unreadable from None
