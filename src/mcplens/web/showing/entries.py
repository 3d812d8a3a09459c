"""A server as its file has it: how it is reached, what it asks for, where it was found."""

from __future__ import annotations

import shlex

from mcplens.config.model import ServerEntry, Source
from mcplens.protocol.secret_masking import mask_url
from mcplens.store.masks import mask_argv
from mcplens.store.masks import plain as plain_name
from mcplens.web import views
from mcplens.web.plain import plain
from mcplens.web.showing.errors import error_view
from mcplens.workspace.masked import masked_raw
from mcplens.workspace.reading import Found
from mcplens.workspace.workspace import Workspace


def source_view(source: Source) -> views.SourceView:
    return views.SourceView(source.kind, source.path, source.scope)


def words_of(entry: ServerEntry) -> list[str] | None:
    """The whole command as its file has it: what a placeholder stands for may be a secret."""
    command = entry.raw.get("command") or entry.command
    if command is None or entry.url is not None:
        return None
    args = entry.raw.get("args") or entry.args
    return [str(command), *map(str, args if isinstance(args, list | tuple) else ())]


def command_of(entry: ServerEntry) -> list[str] | None:
    """The command with its secrets masked."""
    words = words_of(entry)
    if words is None:
        return None
    return mask_argv(words, frozenset(map(plain_name, entry.secret_keys)))


def shown(entry: ServerEntry) -> str:
    """How a server is reached, in one line."""
    command = command_of(entry)
    if command is not None:
        return shlex.join(command)
    return mask_url(str(entry.url or entry.raw.get("url") or ""))


def input_views(entry: ServerEntry) -> list[views.InputView]:
    return [
        views.InputView(
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


def found_views(
    workspace: Workspace, found: Found, *, is_masked: bool = False
) -> list[views.FoundView]:
    """Servers that are not ours yet, with all that would be added of them."""
    return [found_view(workspace, entry, found, is_masked=is_masked) for entry in found.entries]


def found_view(
    workspace: Workspace, entry: ServerEntry, found: Found, *, is_masked: bool = False
) -> views.FoundView:
    return views.FoundView(
        entry.name,
        source_view(entry.source),
        entry.transport,
        shown(entry),
        command_of(entry),
        plain(masked_raw(entry.raw) if is_masked else entry.raw),
        input_views(entry),
        list(entry.remarks),
        error_view(entry.problem.to_dict() if entry.problem else None),
        entry.name in workspace.servers,
        found.choices,
        found.choice,
        workspace.offered.add(entry.raw) if is_masked else None,
    )
