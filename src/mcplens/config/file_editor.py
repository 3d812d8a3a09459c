"""Edits our own file in place, so that comments and everything else stay.

Only the text of the given server changes. The result is parsed before it is written, the write is
atomic, and the previous content is kept as a backup. Values are written as given: placeholders are
not resolved. Called by `servers add|remove|import` and the web UI.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcplens.config.files import Written, invalid, parse_json, read_text, write_text
from mcplens.config.json_edits import (
    DEFAULT_UNIT,
    indented,
    unit_of,
    with_member,
    with_value,
    without_member,
)
from mcplens.config.jsonc import Document
from mcplens.config.model import ServerEntry
from mcplens.config.other_tools import TOOLS, kind_of
from mcplens.config.placeholders import escape, variables_of

_SERVERS: Final = "mcpServers"


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
    end, unit = ("\r\n" if "\r\n" in text else "\n"), unit_of(text)
    there = None if document.root is None else document.root.member(key)
    if value is None:
        if there is None:
            return Written(path, None)
        return write_text(path, _without_top(path, text, key), is_private=is_private)
    if document.root is None:
        changed = text + indented({key: value}, unit, "", end) + end
    elif there is not None:
        changed = with_value(text, there, value, unit, end)
    else:
        changed = with_member(text, document.root, key, value, unit, end)
    _confirm(path, {**before, key: value}, _value(path, changed))
    return write_text(path, changed, is_private=is_private)


def _without_top(path: str, text: str, key: str) -> str:
    expected = {name: value for name, value in _value(path, text).items() if name != key}
    while (root := parse_json(path, text).root) is not None and root.member(key) is not None:
        text = without_member(text, root, key)  # it may be a duplicate key
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
        changed = gap + indented({_SERVERS: {name: raw}}, DEFAULT_UNIT, "", end) + end
    else:
        changed = _inserted(document, name, raw)
    expected = {**before, _SERVERS: {**(before.get(_SERVERS) or {}), name: raw}}
    _confirm(path, expected, _value(path, changed))
    return changed


def _inserted(document: Document, name: str, raw: dict[str, Any]) -> str:
    text, root = document.text, document.root
    assert root is not None
    end = "\r\n" if "\r\n" in text else "\n"
    unit = unit_of(text)
    servers = root.member(_SERVERS)
    if servers is None or servers.node.value is None:
        value: Any = {name: raw}
        if servers is None:
            return with_member(text, root, _SERVERS, value, unit, end)
        return with_value(text, servers, value, unit, end)
    there = servers.node.member(name)
    if there is not None:
        return with_value(text, there, raw, unit, end)
    return with_member(text, servers.node, name, raw, unit, end)


# -- removing ----------------------------------------------------------------------------------


def _without_server(path: str, text: str, name: str) -> str:
    document = parse_json(path, text)
    servers = document.find(_SERVERS)
    assert servers is not None
    return without_member(text, servers.node, name)


# -- how it looks ------------------------------------------------------------------------------


def _confirm(path: str, expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Refuses an edit that changed anything else."""
    if expected != found:
        raise invalid(f"{path} cannot be edited automatically; edit it by hand", file=path)
