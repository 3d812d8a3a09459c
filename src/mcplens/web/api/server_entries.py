"""Servers as their files have them, ours or another tool's: add, edit, remove, import.

What a file says of a server, not how its connection stands (servers.py); what leaves us again is
in server_export.py.
"""

from __future__ import annotations

import shlex
from functools import partial
from typing import Any, Literal

import msgspec

from mcplens.config.file_editor import moved_entry
from mcplens.config.files import Written
from mcplens.config.model import ServerEntry, Source
from mcplens.config.tap_entries import tapped_at
from mcplens.config.tool_entries import CLIENTS, OWN
from mcplens.errors import InspectorError
from mcplens.protocol.secret_masking import mask_url
from mcplens.store.recorded_secrets import mask_argv
from mcplens.store.recorded_secrets import plain as plain_name
from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import json_safe
from mcplens.web.thread_pool import run_in_thread
from mcplens.workspace import config_edits
from mcplens.workspace.form_masking import mask_entry, secret_paths, take_saved
from mcplens.workspace.server_import import (
    ImportCandidates,
    parse_target,
    read_path,
    read_text,
    servers_of_other_tools,
)
from mcplens.workspace.workspace import Workspace


class SourceView(msgspec.Struct, frozen=True):
    """Where a server comes from: a file, the command line (`given`), or this page."""

    kind: str
    path: str
    scope: str


def source_view(source: Source) -> SourceView:
    return SourceView(source.kind, source.path, source.scope)


class InputView(msgspec.Struct, frozen=True):
    """A value that a person must supply before a server can be used."""

    id: str
    variable: str
    description: str
    default: str | None
    choices: list[str]
    is_secret: bool
    is_required: bool


def input_views(entry: ServerEntry) -> list[InputView]:
    return [
        InputView(
            one.id,
            one.variable,
            one.description,
            one.default,
            list(one.choices),
            one.is_secret,
            one.is_required,
        )
        for one in entry.inputs
    ]


def command_words(entry: ServerEntry) -> list[str] | None:
    """The whole command as its file has it: what a placeholder stands for may be a secret."""
    command = entry.raw.get("command") or entry.command
    if command is None or entry.url is not None:
        return None
    args = entry.raw.get("args") or entry.args
    return [str(command), *map(str, args if isinstance(args, list | tuple) else ())]


def masked_command(entry: ServerEntry) -> list[str] | None:
    """The command with its secrets masked."""
    words = command_words(entry)
    if words is None:
        return None
    return mask_argv(words, frozenset(map(plain_name, entry.secret_keys)))


def reached_by(entry: ServerEntry) -> str:
    """How a server is reached, in one line."""
    command = masked_command(entry)
    if command is not None:
        return shlex.join(command)
    return mask_url(str(entry.url or entry.raw.get("url") or ""))


TapState = Literal["offered", "installed", "by_url"]


class FoundProblem(msgspec.Struct, frozen=True):
    """What is wrong with one key of a server, or is missing on this computer (`is_local`)."""

    key: str
    text: str
    is_local: bool
    variable: str | None


class FoundView(msgspec.Struct, frozen=True):
    """A server that another tool has, or that a file or a pasted text names; not ours yet.

    `choices` are the ways to a registry's server (`npm`, `remote`), `choice` the one taken.
    Where there is an `offer_id`, the secrets in `raw` are masked. What is only missing on this
    computer does not prevent adding it: `can_be_added`. `tap` says whether another tool's entry has
    the tap, can get it, or is reached by a URL; None for a file that is not another tool's.
    """

    name: str
    source: SourceView
    transport: str | None
    shown: str
    command: list[str] | None
    raw: dict[str, Any]
    inputs: list[InputView]
    remarks: list[str]
    problem: ErrorView | None
    problems: list[FoundProblem]
    can_be_added: bool
    is_known: bool
    choices: list[str]
    choice: str | None
    offer_id: str | None
    tap: TapState | None


def found_views(
    workspace: Workspace, found: ImportCandidates, *, is_masked: bool = False
) -> list[FoundView]:
    """Servers that are not ours yet, with all that would be added of them."""
    return [found_view(workspace, entry, found, is_masked=is_masked) for entry in found.entries]


def found_view(
    workspace: Workspace, entry: ServerEntry, found: ImportCandidates, *, is_masked: bool = False
) -> FoundView:
    raw = entry.raw
    if is_masked and raw:  # of a file, whose relative paths mean something else in ours
        raw = moved_entry(entry, workspace.config_files.own_file())
    problems = [
        FoundProblem(one.key, one.text, one.is_local, one.variable) for one in entry.field_problems
    ]
    is_only_missing = bool(problems) and all(one.is_local for one in problems)
    return FoundView(
        entry.name,
        source_view(entry.source),
        entry.transport,
        reached_by(entry),
        masked_command(entry),
        json_safe(mask_entry(raw) if is_masked else raw),
        input_views(entry),
        list(entry.remarks),
        error_view(entry.problem.to_dict() if entry.problem else None),
        problems,
        entry.problem is None or is_only_missing,
        entry.name in workspace.servers,
        found.choices,
        found.choice,
        workspace.import_offers.add(raw) if is_masked else None,
        tap_state(entry) if is_masked else None,
    )


def tap_state(entry: ServerEntry) -> TapState | None:
    if entry.source.kind not in CLIENTS or entry.source.kind == OWN:
        return None
    if entry.url is not None or "url" in entry.raw:
        return "by_url"
    words = command_words(entry)
    if words is None:
        return None
    return "offered" if tapped_at(words) is None else "installed"


class SecretPlace(msgspec.Struct, frozen=True):
    """Where an entry has a secret: its key (`env`, `headers`, `secretKeys`), and the name in it."""

    key: str
    name: str


class EntryView(msgspec.Struct, frozen=True):
    """A server's entry as its file has it, for a form; secrets are masked, and `secrets` says
    which these are.

    A masked value that comes back unchanged means: as it was.
    """

    raw: dict[str, Any]
    secrets: list[SecretPlace]


class ServerEntryOf(Command, frozen=True, kw_only=True):
    """What the file says of a server, for the form."""

    server_id: str


@command
async def show_entry(workspace: Workspace, command: ServerEntryOf) -> EntryView:
    entry = workspace.find(command.server_id).entry
    keys = workspace.secret_keys.of(entry.name)
    secrets = [SecretPlace(key, name) for key, name in secret_paths(entry.raw, keys)]
    return EntryView(mask_entry(entry.raw, keys), secrets)


class SecretView(msgspec.Struct, frozen=True):
    """The value of one secret, for the one page that asked; in no other view."""

    value: str


class RevealSecret(Command, frozen=True, kw_only=True):
    """The value of a secret that ServerEntryOf masked. The page asks the person first."""

    server_id: str
    key: str
    name: str


@command
async def reveal_secret(workspace: Workspace, command: RevealSecret) -> SecretView:
    entry = workspace.find(command.server_id).entry
    place = (command.key, command.name)
    if place not in secret_paths(entry.raw, workspace.secret_keys.of(entry.name)):
        raise InspectorError(
            "INVALID_REQUEST",
            f"{entry.name} has no secret {command.key}.{command.name}; open the form again",
        )
    return SecretView(entry.raw[command.key][command.name])


class WrittenView(msgspec.Struct, frozen=True):
    """Which file was written, and where its former content is."""

    path: str
    backup: str | None
    servers: list[str]


def _written(written: Written, servers: list[str]) -> WrittenView:
    return WrittenView(written.path, written.backup, servers)


class ServerAdd(Command, frozen=True, kw_only=True):
    """Add a server to the user's file. `raw` is its entry; in a copy, masks stand for what the
    original has, and `saved` says whose they are, as in ServerEdit."""

    name: str
    raw: dict[str, Any]
    copy_of: str | None = None
    saved: dict[str, dict[str, str]] = {}


@command
async def add_server(workspace: Workspace, command: ServerAdd) -> WrittenView:
    name, raw, copy_of = command.name, command.raw, command.copy_of
    if copy_of is not None:
        raw = take_saved(raw, workspace.find(copy_of).entry.raw, command.saved)
    return _written(config_edits.add_server(workspace, name, raw, copy_of), [name])


class ServerEdit(Command, frozen=True, kw_only=True):
    """Replace a server's entry, under a new name if one is given.

    `saved` has for masked values the name that they are saved under: by key of the entry, by name.
    """

    server_id: str
    raw: dict[str, Any]
    name: str | None = None
    saved: dict[str, dict[str, str]] = {}


@command
async def edit_server(workspace: Workspace, command: ServerEdit) -> WrittenView:
    entry = workspace.find(command.server_id).entry
    name = command.name or entry.name
    raw = take_saved(command.raw, entry.raw, command.saved)
    return _written(config_edits.edit_server(workspace, entry, raw, name), [name])


class ServerRemove(Command, frozen=True, kw_only=True):
    """Take a server out of its file (or out of this page, if it is in none)."""

    server_id: str


@command
async def remove_server(workspace: Workspace, command: ServerRemove) -> None:
    config_edits.remove_server(workspace, command.server_id)


class FoundServers(Command, frozen=True, kw_only=True):
    """What other tools on this computer have."""


@command
async def find_servers(workspace: Workspace, command: FoundServers) -> list[FoundView]:
    entries = await run_in_thread(partial(servers_of_other_tools, workspace.config_files.here))
    return found_views(workspace, ImportCandidates(entries), is_masked=True)


class ServerRead(Command, frozen=True, kw_only=True):
    """The servers of a pasted text or a file, in any tool's shape.

    `choice` is the way to a registry's server, `values` what a person filled in by input id.
    """

    text: str | None = None
    file_name: str | None = None
    path: str | None = None
    choice: str | None = None
    values: dict[str, str] = {}


@command
async def read_servers(workspace: Workspace, command: ServerRead) -> list[FoundView]:
    here, choice, values = workspace.config_files.here, command.choice, command.values
    if command.text is not None:
        look = partial(read_text, here, command.text, choice, values, command.file_name)
    elif command.path is not None:
        look = partial(read_path, here, command.path, choice, values)
    else:
        raise InspectorError("INVALID_REQUEST", "give a text or a path")
    # A text has come from the page itself.
    return found_views(workspace, await run_in_thread(look), is_masked=command.text is None)


class ParseTarget(Command, frozen=True, kw_only=True):
    """A pasted command line or URL as an entry."""

    text: str


@command
async def parse_pasted_target(workspace: Workspace, command: ParseTarget) -> FoundView:
    entry = parse_target(workspace.config_files.here, command.text)
    return found_view(workspace, entry, ImportCandidates([entry]))


class ServerImport(Command, frozen=True, kw_only=True):
    """Add servers that FoundServers or ServerRead gave: name to entry.

    `offers` has the `offer_id` of those that had one: what is masked in them is as it was found.
    """

    servers: dict[str, dict[str, Any]]
    replaces: bool = False
    offers: dict[str, str] = {}


@command
async def import_servers(workspace: Workspace, command: ServerImport) -> WrittenView:
    servers = workspace.import_offers.taken(command.servers, command.offers)
    written = config_edits.import_servers(workspace, servers, replaces=command.replaces)
    return _written(written, list(command.servers))
