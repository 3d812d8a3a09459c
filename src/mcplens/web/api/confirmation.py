"""What a person is shown, and confirms, before a server that came from elsewhere is first started.

The values of its variables too: NODE_OPTIONS or LD_PRELOAD make another program of a harmless
command. Nothing of the command or the address is masked: what is masked could be the harmful
part.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from mcplens.config.model import ServerEntry
from mcplens.config.trust import (
    asked_variables,
    fingerprint,
    given_values,
    named_files,
    other_options,
)
from mcplens.errors import InspectorError
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.web.api.server_entries import command_words
from mcplens.web.api.servers import ServerView, server_view
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace


class PairView(msgspec.Struct, frozen=True):
    """A variable or header as a file has it; the page shows a secret only on request."""

    name: str
    value: str
    is_secret: bool


class ConfirmationView(msgspec.Struct, frozen=True):
    """What a person is shown before a server that came from elsewhere is first started.

    `others` are what else its entry says of what it may see, as JSON. `variables` are those of the
    user's environment that it would be given or send, `files` those that are read to sign in.
    """

    command: list[str] | None
    url: str | None
    cwd: str | None
    env: list[PairView]
    headers: list[PairView]
    others: list[PairView]
    variables: list[str]
    files: list[str]
    fingerprint: str = ""


def confirmation_view(entry: ServerEntry) -> ConfirmationView:
    """All that decides what an entry would do, with the fingerprint of just that."""
    view = ConfirmationView(
        command=command_words(entry),
        url=_url(entry),
        cwd=entry.cwd,
        env=_pairs(entry.env, entry.raw.get("env")),
        headers=_pairs(entry.headers, entry.raw.get("headers")),
        others=[
            PairView(key, msgspec.json.encode(value, enc_hook=str).decode(), False)
            for key, value in _others(entry).items()
        ],
        variables=list(asked_variables(entry)),
        files=named_files(entry),
    )
    shown = fingerprint(entry).encode() + msgspec.json.encode(view)
    return msgspec.structs.replace(view, fingerprint=hashlib.sha256(shown).hexdigest())


def _others(entry: ServerEntry) -> dict[str, Any]:
    inherited = {"inheritEnv": entry.raw["inheritEnv"]} if "inheritEnv" in entry.raw else {}
    return inherited | other_options(entry)


def _url(entry: ServerEntry) -> str | None:
    """As the file has it: what a placeholder stands for may be a secret."""
    if entry.url is None:
        return None
    written = (entry.raw.get(key) for key in ("url", "serverUrl", "httpUrl"))
    return next((url for url in written if isinstance(url, str) and url), entry.url)


def _pairs(resolved: dict[str, str], written: Any) -> list[PairView]:
    return [
        PairView(name, value, is_secret_name(name))
        for name, value in given_values(resolved, written).items()
    ]


class ConfirmationOf(Command, frozen=True, kw_only=True):
    """All that decides what a server that was not confirmed would do."""

    server_id: str


@command
async def show_confirmation(workspace: Workspace, command: ConfirmationOf) -> ConfirmationView:
    return confirmation_view(workspace.find(command.server_id).entry)


class Confirm(Command, frozen=True, kw_only=True):
    """A person has seen what it starts, which has this fingerprint, and wants it started."""

    server_id: str
    fingerprint: str


@command
async def confirm(workspace: Workspace, command: Confirm) -> ServerView:
    entry = workspace.find(command.server_id).entry
    if confirmation_view(entry).fingerprint != command.fingerprint:
        text = f"{entry.name} has changed since you looked: look at what it starts again"
        raise InspectorError("INVALID_REQUEST", text, details={"needs_confirmation": True})
    return server_view(workspace, workspace.confirm(command.server_id))
