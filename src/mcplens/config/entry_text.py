"""One server's entry in the text of a configuration file, edited in place: JSON, TOML or YAML.

Only the text of that entry changes; comments, layout and everything else stay. Each edit is read
again and compared with the value that it should have; what cannot be edited safely is refused.
Pure. Called by tool_entries.py, which knows where the entries of each tool are.
"""

from __future__ import annotations

import copy
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from mcplens.config.files import invalid, parse_json, toml_value, yaml_value
from mcplens.config.json_edits import compact, indent_of, indented, unit_of, with_member
from mcplens.config.json_edits import with_value as with_json_value
from mcplens.config.json_edits import without_member as without_json_member
from mcplens.config.jsonc import Member, Node

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_OR_COMMA: Final = re.compile(r"[\s,-]*")

Path = tuple[str, ...]


class Edit(msgspec.Struct, frozen=True):
    """Text between two positions, and what replaces it."""

    start: int
    end: int
    text: str


class EntryText(ABC):
    """The text of one file, with the values in it and their positions."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.value = self.load(text)
        self.root = self.tree()
        self.line_end = "\r\n" if "\r\n" in text else "\n"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path!r}>"

    @abstractmethod
    def load(self, text: str) -> Any:
        """The value of a whole text.

        Raises:
            ConfigurationError: it is not valid.
        """

    @abstractmethod
    def tree(self) -> Node | None: ...

    @abstractmethod
    def beside(self, parent: Node, member: Member, key: str, token: str) -> str:
        """What follows the value of a member to give it a neighbour; `token` is written already."""

    @abstractmethod
    def separator(self, items: Node) -> str:
        """What is between two items of a list."""

    @abstractmethod
    def _with_entry(self, container: Path, name: str, value: Mapping[str, Any]) -> str: ...

    @abstractmethod
    def _without_member(self, parent: Path, key: str) -> str: ...

    # -- reading ---------------------------------------------------------------------------------

    def find(self, path: Path) -> Member | None:
        """The member at the end of a path of keys."""
        node, found = self.root, None
        for key in path:
            found = None if node is None else node.member(key)
            node = None if found is None else found.node
        return found

    def token(self, node: Node) -> str:
        """A value as the text has it."""
        return self.text[node.start : node.end]

    # -- editing ---------------------------------------------------------------------------------

    def edited(self, edits: Sequence[Edit], expected: Any) -> str:
        """The text with these edits, which must give this value.

        Raises:
            ConfigurationError: the text would have another value.
        """
        text = self.text
        for edit in sorted(edits, key=lambda one: one.start, reverse=True):
            text = text[: edit.start] + edit.text + text[edit.end :]
        return self._checked(text, expected)

    def with_entry(self, container: Path, name: str, value: Mapping[str, Any]) -> str:
        """The text with one more entry, which must not be there yet; raises as `edited`."""
        try:
            text = self._with_entry(container, name, value)
        except ValueError:
            raise self._refusal() from None
        return self._checked(text, with_value(self.value, (*container, name), dict(value)))

    def without(self, path: Path) -> str:
        """The text without the member at this path; raises as `edited`."""
        text = self._without_member(path[:-1], path[-1])
        # In TOML, a table that only its entries named goes with the last of them.
        if self.load(text) == without_value(self.value, path, drops_empty=True):
            return text
        return self._checked(text, without_value(self.value, path))

    def _checked(self, text: str, expected: Any) -> str:
        if self.load(text) != expected:
            raise self._refusal()
        return text

    def _refusal(self) -> Exception:
        return invalid(
            f"{self.path} cannot be edited automatically; edit it by hand", file=self.path
        )

    def _usual_separator(self, items: Node) -> str | None:
        """What is between the first two items, unless there is a comment."""
        if len(items.items) < 2:
            return None
        between = self.text[items.items[0].end : items.items[1].start]
        return between if _BLANK_OR_COMMA.fullmatch(between) else None

    def _between_brackets(self, items: Node) -> str:
        """A comma, and the line break that follows the opening bracket, if one does."""
        gap = self.text[items.start + 1 : items.items[0].start] if items.items else ""
        return f",{gap}" if "\n" in gap and not gap.strip() else ", "

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def _next_line(self, offset: int) -> int:
        at = self.text.find("\n", offset)
        return len(self.text) if at < 0 else at + 1


def entry_text(path: str, text: str) -> EntryText:
    """A file's text by the ending of its path.

    Raises:
        ConfigurationError: it is not valid.
    """
    ending = path.lower().rpartition(".")[2]
    if ending == "toml":
        return TomlEntryText(path, text)
    if ending in ("yaml", "yml"):
        return YamlEntryText(path, text)
    return JsonEntryText(path, text)


def with_value(document: Any, path: Path, value: Any) -> Any:
    """A copy of a document with one value set; objects on the way are made."""
    changed = copy.deepcopy(document) if isinstance(document, dict) else {}
    within = changed
    for key in path[:-1]:
        if not isinstance(within.get(key), dict):
            within[key] = {}
        within = within[key]
    within[path[-1]] = value
    return changed


def without_value(document: Any, path: Path, *, drops_empty: bool = False) -> Any:
    """A copy of a document without one member, and without the objects that are then empty."""
    changed = copy.deepcopy(document)
    around = [changed]
    for key in path[:-1]:
        around.append(around[-1][key])
    for within, key in zip(reversed(around), reversed(path), strict=True):
        del within[key]
        if within or not drops_empty:
            break
    return changed


class JsonEntryText(EntryText):
    """JSON, with comments and trailing commas where they are."""

    def load(self, text: str) -> Any:
        root = parse_json(self.path, text).root
        return None if root is None else root.value

    def tree(self) -> Node | None:
        return parse_json(self.path, self.text).root

    def beside(self, parent: Node, member: Member, key: str, token: str) -> str:
        before = self.text[self._line_start(member.start) : member.start]
        gap = " " if before.strip() else self.line_end + before
        return f",{gap}{compact(key)}: {token}"

    def separator(self, items: Node) -> str:
        return self._usual_separator(items) or self._between_brackets(items)

    def _with_entry(self, container: Path, name: str, value: Mapping[str, Any]) -> str:
        unit, end = unit_of(self.text), self.line_end
        path = (*container, name)
        depth, node = 0, self.root
        while node is not None and depth < len(container):
            inner = node.member(path[depth])
            if inner is None or inner.node.value is None:
                break
            depth, node = depth + 1, inner.node
        nested: Any = dict(value)
        for key in reversed(path[depth + 1 :]):
            nested = {key: nested}
        if node is None:
            return self.text + indented({path[depth]: nested}, unit, "", end) + end
        if not isinstance(node.value, dict):
            raise ValueError(path[depth])
        if (empty := node.member(path[depth])) is not None:
            return with_json_value(self.text, empty, nested, unit, end)
        return with_member(self.text, node, path[depth], nested, unit, end)

    def _without_member(self, parent: Path, key: str) -> str:
        found = self.find(parent)
        node = self.root if found is None else found.node
        assert node is not None
        return without_json_member(self.text, node, key)


class TomlEntryText(EntryText):
    """TOML: an entry is a table, written with a header, in line, or by dotted keys."""

    def load(self, text: str) -> Any:
        return toml_value(self.path, text)

    def tree(self) -> Node | None:
        from mcplens.config.toml_spans import Unreadable, parse_toml

        try:
            return parse_toml(self.text)
        except Unreadable:
            raise self._refusal() from None

    def beside(self, parent: Node, member: Member, key: str, token: str) -> str:
        if self.text.startswith("{", parent.start):
            return f", {key} = {token}"
        # The line may begin with the keys of the tables around it.
        before = self.text[self._line_start(member.start) : member.start]
        return f"{self.line_end}{before}{key} = {token}"

    def separator(self, items: Node) -> str:
        return self._usual_separator(items) or self._between_brackets(items)

    def _with_entry(self, container: Path, name: str, value: Mapping[str, Any]) -> str:
        end = self.line_end
        header = ".".join(_toml_key(key) for key in (*container, name))
        lines = [f"[{header}]", *(f"{_toml_key(key)} = {_toml(one)}" for key, one in value.items())]
        before = self.text if not self.text or self.text.endswith("\n") else self.text + end
        return before + (end if before.strip() else "") + end.join(lines) + end

    def _without_member(self, parent: Path, key: str) -> str:
        found = self.find((*parent, key))
        assert found is not None
        start = self._line_start(found.start)
        end = max(found.node.end, *(one.node.end for one in found.node.members), 0)
        # The blank line that was written before its header.
        if self.text.endswith(self.line_end * 2, 0, start):
            start -= len(self.line_end)
        return self.text[:start] + self.text[self._next_line(end) :]


class YamlEntryText(EntryText):
    """YAML, in blocks or in brackets."""

    def load(self, text: str) -> Any:
        return yaml_value(self.path, text)

    def tree(self) -> Node | None:
        from mcplens.config.yaml_spans import parse_yaml

        return parse_yaml(self.text)

    def beside(self, parent: Node, member: Member, key: str, token: str) -> str:
        if self.text.startswith("{", parent.start):
            return f", {key}: {token}"
        return f"{self.line_end}{' ' * self._column(member.start)}{key}: {token}"

    def separator(self, items: Node) -> str:
        if self.text.startswith("[", items.start):
            return self._usual_separator(items) or self._between_brackets(items)
        usual = self._usual_separator(items)
        return usual or f"{self.line_end}{' ' * self._column(items.start)}- "

    def _with_entry(self, container: Path, name: str, value: Mapping[str, Any]) -> str:
        found = self.find(container)
        if found is not None and found.node.members:
            if self.text.startswith("{", found.node.start):
                raise ValueError(name)
            first = found.node.members[0]
            at, indent = found.node.end, " " * self._column(first.start)
            at = at if self.text.endswith("\n", 0, at) else self._next_line(at)
            before = self.text[:at]
        elif found is not None:  # nothing in it yet: `extensions:` or `extensions: {}`
            if self.text[found.node.start : found.node.end].strip("{} ~"):
                raise ValueError(name)
            indent = indent_of(self.text, found.start) + "  "
            before = self.text[: found.node.start].rstrip(" ") + self.line_end
            at = self._next_line(found.node.end)
        else:
            at, indent = len(self.text), "  " * len(container)
            keys = (f"{'  ' * depth}{_yaml_key(key)}:" for depth, key in enumerate(container))
            before = self._whole_lines(self.text) + self.line_end.join(keys) + self.line_end
        lines = [f"{indent}{_yaml_key(name)}:"]
        lines += [f"{indent}  {_yaml_key(key)}: {compact(one)}" for key, one in value.items()]
        entry = self.line_end.join(lines) + self.line_end
        return self._whole_lines(before) + entry + self.text[at:]

    def _without_member(self, parent: Path, key: str) -> str:
        found, around = self.find((*parent, key)), self.find(parent)
        assert found is not None
        assert around is not None
        if len(around.node.members) == 1:
            return self.text[: around.node.start] + "{}" + self.text[around.node.end :]
        end = found.node.end
        end = end if self.text.endswith("\n", 0, end) else self._next_line(end)
        return self.text[: self._line_start(found.start)] + self.text[end:]

    def _whole_lines(self, text: str) -> str:
        return text if not text or text.endswith("\n") else text + self.line_end

    def _column(self, offset: int) -> int:
        return offset - self._line_start(offset)


def _toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else compact(key)


def _toml(value: Any) -> str:
    """JSON is TOML too, but for its objects."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_toml_key(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return compact(value)


def _yaml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) and not key[0].isdigit() else compact(key)
