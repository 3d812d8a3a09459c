"""Puts `mcplens tap` before the command of one server in a client's configuration, and removes it.

The entry says everything that is needed to restore it, byte for byte: the former command is the
word after `--`, written as it was. Whether the entry had a list of arguments shows in how the name
is written: `--name=NAME` in one word if it had none. Pure but for reading the file; used by
`mcplens tap install|remove` and the web UI.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mcplens.config.entry_text import Edit, EntryText, with_value
from mcplens.config.environment import Environment
from mcplens.config.files import invalid
from mcplens.config.json_edits import compact
from mcplens.config.jsonc import Member, Node
from mcplens.config.model import ServerEntry
from mcplens.config.tool_entries import (
    EntryChange,
    EntryPlace,
    open_entry,
    own_command,
    own_words,
)
from mcplens.errors import ConfigurationError
from mcplens.protocol.secret_masking import mask_url

_TAP: Final = "tap"


def install_tap(client: str, entry: ServerEntry, here: Environment | None = None) -> EntryChange:
    """The change that puts the tap before a server's command; no change if it is there already.

    Raises:
        ConfigurationError: the server is reached by a URL, or the file cannot be edited.
    """
    place, text = open_entry(client, entry, here)
    if entry.url is not None or "url" in entry.raw:
        raise _by_url(place, entry)
    command, args, words = _parts(place, text)
    if tapped_at(words) is not None:
        return _no_change(place, text, words)
    program = own_command()
    name = [f"--name={place.server}"] if args is None else ["--name", place.server]
    prefix = [*program[1:], _TAP, *name, "--"]
    former = text.token(command.node)
    tokens = [*(compact(word) for word in prefix), former]
    edits = [Edit(command.node.start, command.node.end, compact(program[0]))]
    if args is None:
        parent = _entry_node(place, text)
        listed = f"[{', '.join(tokens)}]"
        beside = text.beside(parent, command, place.args_key, listed)
        edits = [Edit(command.node.start, command.node.end, compact(program[0]) + beside)]
    elif args.node.items:
        between = text.separator(args.node)
        at = args.node.items[0].start
        edits.append(Edit(at, at, between.join([*tokens, ""])))
    else:
        at = args.node.start + 1
        edits.append(Edit(at, at, ", ".join(tokens)))
    changed = (program[0], *prefix, *words)
    return _change(place, text, edits, words, changed)


def remove_tap(client: str, entry: ServerEntry, here: Environment | None = None) -> EntryChange:
    """The change that gives a server its former command back; no change if there is no tap.

    Raises:
        ConfigurationError: the file cannot be edited.
    """
    place, text = open_entry(client, entry, here)
    command, args, words = _parts(place, text)
    former = tapped_at(words)
    if former is None or args is None:
        return _no_change(place, text, words)
    items = args.node.items
    first, rest = items[former - 1], items[former:]
    edits = [Edit(command.node.start, command.node.end, text.token(first))]
    had_args = bool(rest) or not any(word.startswith("--name=") for word in words[:former])
    if rest:
        edits.append(Edit(items[0].start, rest[0].start, ""))
    elif had_args:
        edits.append(Edit(items[0].start, first.end, ""))
    elif _follows(_entry_node(place, text), command, args):
        edits.append(Edit(command.node.end, args.node.end, ""))
    else:  # somebody has moved it
        without = text.without((*place.path, place.args_key))
        entry_text = type(text)(text.path, without)
        moved = entry_text.find((*place.path, place.command_key))
        assert moved is not None
        edits = [Edit(moved.node.start, moved.node.end, text.token(first))]
        done = _change(place, entry_text, edits, words, words[former:], has_args=False)
        return msgspec.structs.replace(done, text=text.text)
    return _change(place, text, edits, words, words[former:], has_args=had_args)


def tapped_at(words: Sequence[str]) -> int | None:
    """Where the former command is in a command that was given a tap; None if it has none."""
    if "--" not in words or own_words(words)[:1] != (_TAP,):
        return None
    at = words.index("--") + 1
    return at if at < len(words) else None


def _by_url(place: EntryPlace, entry: ServerEntry) -> ConfigurationError:
    url = entry.url or ""
    # A URL with a secret in it is better found by its name.
    target = url if url and mask_url(url) == url else f"{place.client}:{place.server}"
    target = place.server if place.client == "mcplens" and target != url else target
    return invalid(
        f"{place.shown} is reached by a URL, so it is not started by a command: run "
        f"`mcplens tap {target}`, and give the client the address that it prints",
        file=place.file,
        server=place.server,
    )


def _parts(place: EntryPlace, text: EntryText) -> tuple[Member, Member | None, tuple[str, ...]]:
    """The members of command and arguments, and all words of the command."""
    command = text.find((*place.path, place.command_key))
    args = text.find((*place.path, place.args_key))
    if command is None or not isinstance(_value(text, place, place.command_key), str):
        raise invalid(f"{place.shown} in {place.file} has no command", file=place.file)
    listed = [] if args is None else _value(text, place, place.args_key)
    is_list = isinstance(listed, list) and (args is None or len(args.node.items) == len(listed))
    if not is_list or not all(isinstance(one, str | int | float) for one in listed):
        problem = f"the {place.args_key} of {place.shown} are not a list of words"
        raise invalid(f"{problem}; edit {place.file} by hand", file=place.file)
    words = (_value(text, place, place.command_key), *map(str, listed))
    return command, args, words


def _entry(text: EntryText, place: EntryPlace) -> dict[str, Any]:
    value = text.value
    for key in place.path:
        value = value[key]
    assert isinstance(value, dict)
    return value


def _value(text: EntryText, place: EntryPlace, key: str) -> Any:
    return _entry(text, place).get(key)


def _entry_node(place: EntryPlace, text: EntryText) -> Node:
    found = text.find(place.path)
    assert found is not None
    return found.node


def _follows(parent: Node, command: Member, args: Member) -> bool:
    """Whether the arguments are the next member after the command."""
    starts = sorted(member.start for member in parent.members if member.start > command.start)
    return bool(starts) and starts[0] == args.start


def _change(
    place: EntryPlace,
    text: EntryText,
    edits: list[Edit],
    words: tuple[str, ...],
    changed: tuple[str, ...],
    *,
    has_args: bool = True,
) -> EntryChange:
    entry = dict(_entry(text, place))
    entry[place.command_key] = changed[0]
    if has_args:
        # Numbers stay numbers: only what is in front of them changes.
        listed = list(entry.get(place.args_key) or [])
        more = len(changed) - len(words)
        entry[place.args_key] = [*changed[1 : 1 + more], *listed] if more > 0 else listed[-more:]
    else:
        entry.pop(place.args_key, None)
    expected = with_value(text.value, place.path, entry)
    return EntryChange(
        place=place,
        text=text.text,
        changed_text=text.edited(edits, expected),
        command=words,
        changed_command=changed,
    )


def _no_change(place: EntryPlace, text: EntryText, words: tuple[str, ...]) -> EntryChange:
    return EntryChange(
        place=place,
        text=text.text,
        changed_text=text.text,
        command=words,
        changed_command=words,
    )
