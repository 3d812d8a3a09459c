"""Edits our own file in place, so that comments and everything else stay.

Only the text of the given server changes. The result is parsed before it is written, the write is
atomic, and the previous content is kept as a backup. Values are written as given: placeholders are
not resolved. Called by `servers add|remove|import` and the web UI.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from mcplens.config.files import Written, invalid, parse_json, read_text, write_text
from mcplens.config.jsonc import Document, Member, Node
from mcplens.config.model import ServerEntry
from mcplens.config.other_tools import TOOLS, kind_of
from mcplens.config.placeholders import escape, variables_of

_SERVERS: Final = "mcpServers"
_DEFAULT_UNIT: Final = "  "
# Spaces and comments up to the end of the line that a value ends on.
_REST_OF_LINE: Final = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")


def add_server(
    path: str,
    name: str,
    raw: Mapping[str, Any],
    *,
    replaces: bool = False,
    is_private: bool = False,
) -> Written:
    """Add one server to a file, which is created if it does not exist.

    Raises:
        ConfigurationError: the name is taken and `replaces` is False, or the file cannot be read
            or written; nothing was changed.
    """
    return add_servers(path, {name: raw}, replaces=replaces, is_private=is_private)


def add_servers(
    path: str,
    servers: Mapping[str, Mapping[str, Any]],
    *,
    replaces: bool = False,
    is_private: bool = False,
) -> Written:
    """Add several servers to a file, all or none; raises as `add_server`."""
    text = _existing_text(path)
    taken = servers_in(path, text)
    kind = kind_of(path, _value(path, text))
    if kind in TOOLS:
        message = f"{path} belongs to {TOOLS[kind].title}; mcplens writes only to its own files"
        raise invalid(message, file=path)
    for name, raw in servers.items():
        if name in taken and not replaces:
            raise invalid(f"{path} already has a server {name!r}", file=path, server=name)
        text = _with_server(path, text, name, dict(raw))
    return write_text(path, text, is_private=is_private)


def import_servers(
    path: str,
    entries: Iterable[ServerEntry],
    *,
    replaces: bool = False,
    is_private: bool = False,
) -> Written:
    """Add servers of another file to ours, with placeholders kept; raises as `add_server`."""
    servers = {entry.name: moved_entry(entry, path) for entry in entries}
    return add_servers(path, servers, replaces=replaces, is_private=is_private)


def moved_entry(entry: ServerEntry, path: str) -> dict[str, Any]:
    """An entry for another file, with paths made absolute."""
    raw = dict(entry.raw)
    if not raw:
        raise entry.problem or invalid(f"{entry.source.path}: server {entry.name!r} is empty")
    folder = os.path.dirname(os.path.realpath(path))
    for key, place in (("cwd", entry.cwd), ("envFile", entry.env_file), ("caFile", entry.ca_file)):
        stays = next(variables_of(raw.get(key)), None) or (key == "cwd" and place == folder)
        if place is not None and not stays:
            raw[key] = escape(place)
    return raw


def remove_server(path: str, name: str) -> Written:
    """Remove a server from a file.

    Raises:
        ConfigurationError: it does not exist, or the file cannot be read or written.
    """
    text = _existing_text(path)
    if name not in servers_in(path, text):
        raise invalid(f"{path} has no server {name!r}", file=path, server=name)
    expected = _value(path, text)
    servers = expected[_SERVERS].items()
    expected[_SERVERS] = {key: value for key, value in servers if key != name}
    while name in servers_in(path, text):  # it may be a duplicate key
        text = _without_server(path, text, name)
    _confirm(path, expected, _value(path, text))
    return write_text(path, text)


def set_top(path: str, key: str, value: Any, *, is_private: bool = False) -> Written:
    """Set a top-level key of a file; None removes it. Raises as `add_server`."""
    text = _existing_text(path)
    before = _value(path, text)
    document = parse_json(path, text)
    end, unit = ("\r\n" if "\r\n" in text else "\n"), _unit(text)
    there = None if document.root is None else document.root.member(key)
    if value is None:
        if there is None:
            return Written(path, None)
        return write_text(path, _without_top(path, text, key), is_private=is_private)
    if document.root is None:
        changed = text + _shown({key: value}, unit, "", end) + end
    elif there is not None:
        changed = _with_value(text, there, value, unit, end)
    else:
        changed = _with_member(text, document.root, key, value, unit, end)
    _confirm(path, {**before, key: value}, _value(path, changed))
    return write_text(path, changed, is_private=is_private)


def _without_top(path: str, text: str, key: str) -> str:
    expected = {name: value for name, value in _value(path, text).items() if name != key}
    while (root := parse_json(path, text).root) is not None and root.member(key) is not None:
        text = _without_member(text, root, key)  # it may be a duplicate key
    _confirm(path, expected, _value(path, text))
    return text


def servers_of(path: str) -> dict[str, Any]:
    """The servers in a file of our format, which may not exist. Raises as `add_server`."""
    return servers_in(path, _existing_text(path))


def servers_in(path: str, text: str) -> dict[str, Any]:
    """The servers in a text of our format."""
    servers = _value(path, text).get(_SERVERS)
    if servers is None:
        return {}
    if not isinstance(servers, dict):
        raise invalid(f"{path}: mcpServers must be an object", file=path, key=_SERVERS)
    return servers


def _existing_text(path: str) -> str:
    return read_text(path) if os.path.exists(path) else ""


def _value(path: str, text: str) -> dict[str, Any]:
    root = parse_json(path, text).root
    if root is None:
        return {}
    if not isinstance(root.value, dict):
        raise invalid(f"{path}: must be an object with mcpServers", file=path)
    return dict(root.value)


# -- adding ------------------------------------------------------------------------------------


def _with_server(path: str, text: str, name: str, raw: dict[str, Any]) -> str:
    document = parse_json(path, text)
    before = _value(path, text)
    if document.root is None:
        end = "\r\n" if "\r\n" in text else "\n"
        gap = text if not text or text.endswith("\n") else text + end
        changed = gap + _shown({_SERVERS: {name: raw}}, _DEFAULT_UNIT, "", end) + end
    else:
        changed = _inserted(document, name, raw)
    expected = {**before, _SERVERS: {**(before.get(_SERVERS) or {}), name: raw}}
    _confirm(path, expected, _value(path, changed))
    return changed


def _inserted(document: Document, name: str, raw: dict[str, Any]) -> str:
    text, root = document.text, document.root
    assert root is not None
    end = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    servers = root.member(_SERVERS)
    if servers is None or servers.node.value is None:
        value: Any = {name: raw}
        if servers is None:
            return _with_member(text, root, _SERVERS, value, unit, end)
        return _with_value(text, servers, value, unit, end)
    there = servers.node.member(name)
    if there is not None:
        return _with_value(text, there, raw, unit, end)
    return _with_member(text, servers.node, name, raw, unit, end)


def _with_value(text: str, member: Member, value: Any, unit: str, end: str) -> str:
    shown = _shown(value, unit, _indent(text, member.start), end)
    return text[: member.node.start] + shown + text[member.node.end :]


def _with_member(text: str, parent: Node, key: str, value: Any, unit: str, end: str) -> str:
    """Append a member to an object, indented as the one before it."""
    if not parent.members:
        return _with_first_member(text, parent, key, value, unit, end)
    last = parent.members[-1]
    is_inline = "\n" not in text[parent.start : last.start]
    if is_inline:
        shown = f"{_json(key)}: {_json(value)}"
        at = last.node.end
        return f"{text[:at]}, {shown}{text[at:]}"
    indent = _indent(text, last.start)
    shown = f"{_json(key)}: {_shown(value, unit, indent, end)}"
    # The comma goes after the value, the new member below a comment that may follow it.
    at = last.node.end if last.comma is None else last.comma + 1
    below = _end_of_line(text, at)
    comma, trailing = (",", "") if last.comma is None else ("", ",")
    return f"{text[:at]}{comma}{text[at:below]}{end}{indent}{shown}{trailing}{text[below:]}"


def _with_first_member(text: str, parent: Node, key: str, value: Any, unit: str, end: str) -> str:
    outer = _indent(text, parent.start)
    inner = outer + unit
    shown = f"{_json(key)}: {_shown(value, unit, inner, end)}"
    inside = text[parent.start + 1 : parent.end - 1].rstrip()  # comments, if anything
    return (
        f"{text[: parent.start + 1]}{inside}{end}{inner}{shown}{end}{outer}{text[parent.end - 1 :]}"
    )


# -- removing ----------------------------------------------------------------------------------


def _without_server(path: str, text: str, name: str) -> str:
    document = parse_json(path, text)
    servers = document.find(_SERVERS)
    assert servers is not None
    return _without_member(text, servers.node, name)


def _without_member(text: str, parent: Node, key: str) -> str:
    """Remove the last member of this name, and its line if nothing else is on it."""
    members = parent.members
    at = max(number for number, member in enumerate(members) if member.key == key)
    member = members[at]
    start, end = member.start, member.node.end
    if member.comma is not None:
        end = member.comma + 1
    elif at > 0 and (comma := members[at - 1].comma) is not None:
        # The last one: remove the comma before it too, but nothing in between.
        text = text[:comma] + text[comma + 1 :]
        start, end = start - 1, end - 1
    line_start = text.rfind("\n", 0, start) + 1
    rest = _end_of_line(text, end)
    if not text[line_start:start].strip() and text.startswith(("\n", "\r\n"), rest):
        return text[:line_start] + text[text.index("\n", rest) + 1 :]
    if member.comma is None:
        return text[:start].rstrip(" \t") + text[end:]
    return text[:start] + text[end:].lstrip(" \t")


def _end_of_line(text: str, offset: int) -> int:
    """Where the line ends that an offset is on, or where its next value begins."""
    return _REST_OF_LINE.match(text, offset).end()  # type: ignore[union-attr]  # never None


# -- how it looks ------------------------------------------------------------------------------


def _confirm(path: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuses an edit that changed anything else."""
    if expected != found:
        raise invalid(f"{path} cannot be edited automatically; edit it by hand", file=path)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _shown(value: Any, unit: str, indent: str, end: str) -> str:
    """A value as indented JSON."""
    width = 2 if unit == "\t" else len(unit)
    lines = msgspec.json.format(msgspec.json.encode(value), indent=width).decode().split("\n")
    shown = []
    for line in lines:
        bare = line.lstrip(" ")
        shown.append(unit * ((len(line) - len(bare)) // width) + bare)
    return f"{end}{indent}".join(shown)


def _indent(text: str, offset: int) -> str:
    """The white space that the line of an offset begins with."""
    start = text.rfind("\n", 0, offset) + 1
    match = re.compile(r"[ \t]*").match(text, start)
    return match.group() if match else ""


def _unit(text: str) -> str:
    """One step of indentation in a text: that of its first indented line."""
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    if match is None:
        return _DEFAULT_UNIT
    return "\t" if match[1][0] == "\t" else match[1]
