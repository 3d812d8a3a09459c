"""Servers: those we have, those that can be had, what goes into files; settings."""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.web.views.base import ErrorView, State
from mcplens.web.views.lists import ListSummary


class SourceView(msgspec.Struct, frozen=True):
    """Where a server comes from: a file, the command line (`given`), or this page."""

    kind: str
    path: str
    scope: str


class InputView(msgspec.Struct, frozen=True):
    """A value that a person must supply before a server can be used."""

    id: str
    variable: str
    description: str
    default: str | None
    choices: list[str]
    is_secret: bool
    is_required: bool


class RetryView(msgspec.Struct, frozen=True):
    """Which attempt comes next, and when; `at` is None while it is being made."""

    count: int
    most: int
    at: float | None


class ExitView(msgspec.Struct, frozen=True):
    """How the process of a stdio server ended."""

    pid: int
    exit_code: int | None
    signal: str | None
    at: float


class SubscriptionView(msgspec.Struct, frozen=True):
    """A resource that is followed; `updates` counts how often the server said it changed."""

    uri: str
    updated: float | None
    updates: int
    error: ErrorView | None


class RootView(msgspec.Struct, frozen=True):
    """A folder that the server may know of."""

    uri: str
    name: str | None


class QueueView(msgspec.Struct, frozen=True):
    """How many requests stand where."""

    pending: int
    in_progress: int
    completed: int
    failed: int
    cancelled: int


class ServerView(msgspec.Struct, frozen=True, kw_only=True):
    """One server: what is configured, how the connection stands, what the server said of itself.

    `client_capabilities` are declared from the next connection on, `declared_capabilities` were
    by this one (null: not connected); `needs_reconnect` says that they differ, `is_outdated` that
    the entry was changed in another way, or a setting, since this connection was made. `is_saved`
    says that roots, profile and capabilities are as the file has them. `flags` are those of the
    command line that count for this server, without the values of headers and variables.
    """

    server_id: str
    title: str | None
    source: SourceView
    transport: str | None
    shown: str
    command: list[str] | None
    url: str | None
    cwd: str | None
    env_names: list[str]
    header_names: list[str]
    flags: list[str]
    is_editable: bool
    is_removable: bool
    needs_confirmation: bool
    problem: ErrorView | None
    remarks: list[str]
    inputs: list[InputView]
    state: State
    since: float
    waiting_for: str | None
    error: ErrorView | None
    retry: RetryView | None
    latency_s: float | None
    protocol_version: str | None
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    client_capabilities: dict[str, Any]
    declared_capabilities: dict[str, Any] | None
    needs_reconnect: bool
    is_outdated: bool
    instructions: str | None
    channel: dict[str, Any]
    exit: ExitView | None
    stderr_tail: list[str]
    queue: QueueView
    lists: list[ListSummary]
    subscriptions: list[SubscriptionView]
    log_level: str | None
    roots: list[RootView]
    profile: str | None
    is_saved: bool


class PairView(msgspec.Struct, frozen=True):
    """A variable or header as a file has it; a secret is shown only to who asks for it."""

    name: str
    value: str
    is_secret: bool


class ConfirmationView(msgspec.Struct, frozen=True):
    """What a person is shown before a server that came from elsewhere is first started.

    `others` are what else its entry says of what it may see, as JSON. `variables` are those of the
    user's environment that it would be given or send.
    """

    command: list[str] | None
    url: str | None
    cwd: str | None
    env: list[PairView]
    headers: list[PairView]
    others: list[PairView]
    variables: list[str]
    fingerprint: str = ""


class EntryView(msgspec.Struct, frozen=True):
    """A server's entry as its file has it, for a form; secrets are masked.

    A masked value that comes back unchanged means: as it was.
    """

    raw: dict[str, Any]


class FoundView(msgspec.Struct, frozen=True):
    """A server that another tool has, or that a file or a pasted text names; not ours yet.

    `choices` are the ways to a registry's server (`npm`, `remote`), `choice` the one taken.
    Where there is an `offer_id`, the secrets in `raw` are masked.
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
    is_known: bool
    choices: list[str]
    choice: str | None
    offer_id: str | None


class ExportView(msgspec.Struct, frozen=True):
    """Servers in another tool's shape, what that shape cannot say, and how many values in it look
    like secrets."""

    text: str
    remarks: list[str]
    secret_count: int


class WrittenView(msgspec.Struct, frozen=True):
    """Which file was written, and where its former content is."""

    path: str
    backup: str | None
    servers: list[str]


class FolderView(msgspec.Struct, frozen=True):
    """A folder of this computer, for choosing a root."""

    path: str
    uri: str
    parent: str | None
    folders: list[str]
    is_cut: bool


class SettingView(msgspec.Struct, frozen=True):
    """A setting as the file spells it, its default, and where its value comes from.

    `source` is "default", or the file with the flag or variable behind it. `note` is what else
    there is to know: that nothing uses it yet, or which server has a flag that wins.
    """

    name: str
    description: str
    value: Any
    default: Any
    source: str
    is_editable: bool
    is_used: bool
    note: str | None


class RecordingView(msgspec.Struct, frozen=True):
    """Why nothing, or no longer anything, is recorded; null where all is well."""

    problem: str | None
