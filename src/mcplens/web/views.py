"""What the page is shown: each thing as one value, complete in itself.

Values only, made by pictures.py from the workspace's objects. The page keeps no state machine of
its own: a newer view replaces the older one. A `Raw` field is JSON as the server sent it.
Times named like a moment (`started`, `since`) are wall clock seconds, spans end in `_s`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from mcplens.protocol.frames import RequestId
from mcplens.web.question_views import LinkView

State = Literal["DISCONNECTED", "CONNECTING", "CONNECTED", "DISCONNECTING", "ERROR"]
CallStatus = Literal["pending", "in_progress", "completed", "cancelled", "error"]
ListKind = Literal["tools", "resources", "resource_templates", "prompts"]
Thing = Literal["servers", "calls", "questions", "tasks", "lists", "settings", "recording"]


class ErrorView(msgspec.Struct, frozen=True):
    """What went wrong, as InspectorError.to_dict() says it."""

    code: str
    message: str
    category: Literal["connection", "transport", "timeout", "protocol", "server", "cancelled"]
    retryable: bool
    details: dict[str, Any]
    helpUrl: str


# -- servers -----------------------------------------------------------------------------------


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


class ListSummary(msgspec.Struct, frozen=True):
    """Where a list stands; ask for its items with `List`.

    `pages` counts what it came in; `next_cursor` says that the server has more; `asked` is since
    when a page is waited for, `awaited` which one; `fetched` is 0 before any came.
    """

    kind: ListKind
    count: int
    fetched: float
    is_changed: bool
    error: ErrorView | None
    pages: int
    next_cursor: str | None
    asked: float | None
    awaited: int


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

    server_id: str
    raw: dict[str, Any]
    source: SourceView


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


# -- what servers offer ------------------------------------------------------------------------


class ItemView(msgspec.Struct, frozen=True):
    """A tool, resource, template or prompt as the server sent it, and what is wrong with it."""

    value: Raw
    problem: str | None


class ListView(msgspec.Struct, frozen=True):
    """Items of a list from `start` on; ask for those after them unless `is_complete`.

    `next_cursor` says that the server has more than was fetched; `dropped` are tools that must not
    be offered to a model.
    """

    server_id: str
    kind: ListKind
    start: int
    items: list[ItemView]
    fetched: float
    next_cursor: str | None
    is_complete: bool
    dropped: list[ItemView]


class CompletionView(msgspec.Struct, frozen=True):
    """Suggestions for an argument."""

    values: list[str]
    total: int | None
    has_more: bool


class PingView(msgspec.Struct, frozen=True):
    latency_s: float


# -- calls and settings ------------------------------------------------------------------------


class ProgressView(msgspec.Struct, frozen=True):
    progress: float
    total: float | None
    message: str | None
    at: float


class CallView(msgspec.Struct, frozen=True, kw_only=True):
    """A request that somebody made here, from its start to long after its end.

    `result` is there once it is completed and small. Null beside a `result_size_bytes` means that
    it is at `/api/calls/{call_id}/result`.
    `elapsed_s` is how long it took, None while it runs. `question_ids` wait for the user, in
    order; `awaiting` are the URLs that somebody agreed to open and that are not done yet.
    `headers` are those that it was given, the value of a secret one empty; they and `timeout_s`
    are for this call alone. A timeout of 0 is no limit.
    """

    call_id: str
    server_id: str
    kind: Literal["tool", "resource", "prompt", "request", "raw"]
    method: str
    name: str
    request: Raw
    headers: dict[str, str]
    timeout_s: float | None
    request_id: RequestId | None
    request_ids: list[RequestId]
    status: CallStatus
    started: float
    elapsed_s: float | None
    progress: ProgressView | None
    is_waiting_on_user: bool
    question_ids: list[str]
    awaiting: list[LinkView]
    result: Raw | None
    result_size_bytes: int
    is_error: bool
    findings: list[str]
    error: ErrorView | None
    task_id: str | None


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


# -- what happened -----------------------------------------------------------------------------


class EventView(msgspec.Struct, frozen=True):
    """One event, live or recorded, as a row shows it.

    `kind` is the event's type (docs/reference/events.md). `head` is how the bytes of its message
    or body begin, `detail` its other fields. `is_cut` says that `detail`, or the line of stderr,
    lacks what was too large.
    """

    run_id: str
    seq: int
    wall: float
    mono: float
    server_id: str
    kind: str
    method: str | None
    request_id: RequestId | None
    status: str | int | None
    size_bytes: int
    head: str
    malformed: str | None
    detail: dict[str, Any]
    is_cut: bool


class EventPage(msgspec.Struct, frozen=True):
    """Events of the recording; go on with `after` (or `before`) the last one if `has_more`."""

    events: list[EventView]
    has_more: bool


class PinView(msgspec.Struct, frozen=True):
    """An event that somebody pinned; it is kept when its run is forgotten."""

    label: str
    pinned: float
    event: EventView


class ExampleView(msgspec.Struct, frozen=True):
    """A call of a tool that somebody keeps under a name; `result` is null if it was large.

    The arguments are JSON text, since a page that reads numbers loses digits of large ones."""

    name: str
    saved: float
    arguments: str
    result: Raw


class MatchesView(msgspec.Struct, frozen=True):
    """Which events of a run hold a text, in order; all up to `last_seq` were looked at.

    `is_cut` says that there are older ones that are not told.
    """

    seqs: list[int]
    last_seq: int
    is_cut: bool


class RunView(msgspec.Struct, frozen=True):
    """One run of mcplens that was recorded."""

    run_id: str
    started: float
    ended: float | None
    title: str
    version: str
    servers: list[str]
    event_count: int
    size_bytes: int
    last_seq: int


class RunPage(msgspec.Struct, frozen=True):
    runs: list[RunView]
    has_more: bool


class WholeEvent(msgspec.Struct, frozen=True):
    """One event, whole: `text` is its message or body, None where those bytes are no UTF-8."""

    event: EventView
    text: str | None
    text_is_cut: bool
    masked: list[Any]


class ImportedView(msgspec.Struct, frozen=True):
    """What the import of a trace did; `broken` has the first of the lines that were left out."""

    run_ids: list[str]
    event_count: int
    known_count: int
    broken: list[str]
    broken_count: int
