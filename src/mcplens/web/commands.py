"""What the page may ask for: one struct per command, each with an id that its reply repeats.

Values only; carrying_out.py does what they say.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from mcplens.web.views import ListKind

# A value of any JSON that was not given.
NOTHING: Final = Raw(b"")


class _Command(msgspec.Struct, frozen=True, tag=True, tag_field="type", kw_only=True):
    """`id` is chosen by the page; Reply and Failure repeat it."""

    id: int


class Resume(_Command, frozen=True, kw_only=True):
    """The first command: where the page left off, if it did.

    Answered by Hello. Events after `seq` follow, if `run_id` is of this run; else the newest.
    """

    run_id: str | None = None
    seq: int | None = None


# -- servers -----------------------------------------------------------------------------------


class Connect(_Command, frozen=True, kw_only=True):
    """Connect, or connect again. Replied to at once; what follows is Changed."""

    server_id: str


class Disconnect(_Command, frozen=True, kw_only=True):
    """Disconnect, or call off connecting. Replied to when it is done."""

    server_id: str


class ConfirmationOf(_Command, frozen=True, kw_only=True):
    """All that decides what a server that was not confirmed would do."""

    server_id: str


class Confirm(_Command, frozen=True, kw_only=True):
    """A person has seen what it starts, which has this fingerprint, and wants it started."""

    server_id: str
    fingerprint: str


class ServerEntryOf(_Command, frozen=True, kw_only=True):
    """What the file says of a server, for the form."""

    server_id: str


class ServerAdd(_Command, frozen=True, kw_only=True):
    """Add a server to the user's file. `raw` is its entry; in a copy, masks stand for what the
    original has."""

    name: str
    raw: dict[str, Any]
    copy_of: str | None = None


class ServerEdit(_Command, frozen=True, kw_only=True):
    """Replace a server's entry, under a new name if one is given."""

    server_id: str
    raw: dict[str, Any]
    name: str | None = None


class ServerRemove(_Command, frozen=True, kw_only=True):
    """Take a server out of its file (or out of this page, if it is in none)."""

    server_id: str


class FoundServers(_Command, frozen=True, kw_only=True):
    """What other tools on this computer have."""


class ServerRead(_Command, frozen=True, kw_only=True):
    """The servers of a pasted text or a file, in any tool's shape.

    `choice` is the way to a registry's server, `values` what a person filled in by input id.
    """

    text: str | None = None
    file_name: str | None = None
    path: str | None = None
    choice: str | None = None
    values: dict[str, str] = {}


class ServerImport(_Command, frozen=True, kw_only=True):
    """Add servers that FoundServers or ServerRead gave: name to entry.

    `offers` has the `offer_id` of those that had one: what is masked in them is as it was found.
    """

    servers: dict[str, dict[str, Any]]
    replaces: bool = False
    offers: dict[str, str] = {}


class ServerExport(_Command, frozen=True, kw_only=True):
    """Servers in another tool's shape; all, if none is named."""

    shape: Literal["mcpServers", "vscode", "codex"]
    servers: list[str] = []


class ParseTarget(_Command, frozen=True, kw_only=True):
    """A pasted command line or URL as an entry."""

    text: str


class SetCapabilities(_Command, frozen=True, kw_only=True):
    """What is declared to this server from the next connection on, beside what was chosen before.

    Null takes a capability away; `reset` goes back to the file first. `save` writes it there.
    """

    server_id: str
    capabilities: dict[str, Any] = {}
    reset: bool = False
    save: bool = False


# -- what servers offer ------------------------------------------------------------------------


class List(_Command, frozen=True, kw_only=True):
    """A list; the kept one unless `refresh`. Fetched to its end, or with `one_page` only the first.

    Without `after` the reply comes when all is there. With it the reply has at most `most` items
    from this one on, as soon as there are any; `of` is the `fetched` of the reply that had those
    before (0: none). Items of another fetch begin at 0 again. `StopList` ends a fetch.
    """

    server_id: str
    kind: ListKind
    refresh: bool = False
    one_page: bool = False
    after: int | None = None
    of: float = 0.0
    most: int = 10_000


class MoreOfList(_Command, frozen=True, kw_only=True):
    """Fetch what comes after the last page that came: all, or one page. `List` has it then."""

    server_id: str
    kind: ListKind
    one_page: bool = False


class StopList(_Command, frozen=True, kw_only=True):
    """Wait for no more pages of a list; those that came stay."""

    server_id: str
    kind: ListKind


class Complete(_Command, frozen=True, kw_only=True):
    """Suggestions for an argument of a prompt or template."""

    server_id: str
    ref: dict[str, str]
    argument: str
    value: str
    context: dict[str, str] = {}


class Subscribe(_Command, frozen=True, kw_only=True):
    """Follow a resource."""

    server_id: str
    uri: str


class Unsubscribe(_Command, frozen=True, kw_only=True):
    server_id: str
    uri: str


class SetLevel(_Command, frozen=True, kw_only=True):
    """The level from which the server logs."""

    server_id: str
    level: str


class Ping(_Command, frozen=True, kw_only=True):
    server_id: str


# -- calls: each replies CallView at once; progress and result come as Changed ------------------


class CallTool(_Command, frozen=True, kw_only=True):
    """Call a tool. What breaks its input schema is refused (`details.findings`) unless
    `send_anyway`; so is `as_task` where the server or the tool knows no tasks. In 2026-07-28 the
    server alone decides what becomes a task."""

    server_id: str
    name: str
    arguments: Raw = NOTHING
    meta: dict[str, Any] = {}
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    as_task: bool = False
    send_anyway: bool = False


class ReadResource(_Command, frozen=True, kw_only=True):
    server_id: str
    uri: str
    meta: dict[str, Any] = {}
    timeout_s: float | None = None


class GetPrompt(_Command, frozen=True, kw_only=True):
    server_id: str
    name: str
    arguments: dict[str, str] = {}
    meta: dict[str, Any] = {}
    timeout_s: float | None = None


class Request(_Command, frozen=True, kw_only=True):
    """Any method with any params."""

    server_id: str
    method: str
    params: Raw = NOTHING
    headers: dict[str, str] = {}
    timeout_s: float | None = None


class SendRaw(_Command, frozen=True, kw_only=True):
    """Bytes exactly as typed; `force` sends an id that is in flight."""

    server_id: str
    text: str | None = None
    base64: str | None = None
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    force: bool = False


class ReplayCall(_Command, frozen=True, kw_only=True):
    """Send a recorded request again, with a new id: from this run, or from `run_id`."""

    seq: int
    run_id: str | None = None
    server_id: str | None = None


class RepeatCall(_Command, frozen=True, kw_only=True):
    """Make a call again, as it was made: its arguments, its `_meta`, headers, timeout and task."""

    call_id: str


class CancelCall(_Command, frozen=True, kw_only=True):
    """Call a call off, on the server too."""

    call_id: str


# -- questions, roots, tasks -------------------------------------------------------------------


class AnswerSampling(_Command, frozen=True, kw_only=True):
    """`result` is a CreateMessageResult; `force` sends one that breaks the rules."""

    question_id: str
    result: Raw
    force: bool = False


class AnswerElicitation(_Command, frozen=True, kw_only=True):
    """`content` is sent as it is: no default is filled in. `force` sends what breaks the form."""

    question_id: str
    action: Literal["accept", "decline", "cancel"]
    content: Raw = NOTHING
    force: bool = False


class RejectQuestion(_Command, frozen=True, kw_only=True):
    """Refuse to answer, with the reason that the server is told."""

    question_id: str
    reason: str = ""


class AutoRespond(_Command, frozen=True, kw_only=True):
    """Let a testing profile answer; `auto` is one that knows what to do with any question.

    What it answers is judged as a person's answer is, and the question waits on if it is not sent.
    `options`: `tool_choice` (auto, none, required, specific) in place of the server's, `tool` for
    specific, `force`.
    """

    question_id: str
    profile: str
    options: dict[str, Any] = {}


class SetProfile(_Command, frozen=True, kw_only=True):
    """Which testing profile answers this server's questions; null means a person."""

    server_id: str
    profile: str | None = None
    save: bool = False


class AddRoot(_Command, frozen=True, kw_only=True):
    """`path` is a folder or a file:// URI. `save` writes the roots into the server's entry."""

    server_id: str
    path: str
    name: str | None = None
    save: bool = False


class RemoveRoot(_Command, frozen=True, kw_only=True):
    server_id: str
    uri: str
    save: bool = False


class BrowseFolder(_Command, frozen=True, kw_only=True):
    """The folders within a folder; the home folder if none is named.

    `is_start` begins at the nearest folder that there is, whatever was typed.
    """

    path: str | None = None
    is_start: bool = False


class ListTasks(_Command, frozen=True, kw_only=True):
    """The tasks of both roles; the server is asked for its own where it can be."""

    server_id: str


class CancelTask(_Command, frozen=True, kw_only=True):
    """`role` says whose task it is: one that the server runs, or one that we hold."""

    server_id: str
    task_id: str
    role: Literal["client", "receiver"] = "client"


class GetTaskResult(_Command, frozen=True, kw_only=True):
    """A call that waits for the end of a task and has its result."""

    server_id: str
    task_id: str
    role: Literal["client", "receiver"] = "client"


# -- pins: each replies all pins, newest first ---------------------------------------------------


class Pin(_Command, frozen=True, kw_only=True):
    """Keep an event, under a label; one that is pinned gets the new label."""

    run_id: str
    seq: int
    label: str = ""


class Unpin(_Command, frozen=True, kw_only=True):
    run_id: str
    seq: int


class ListPins(_Command, frozen=True, kw_only=True):
    """All pins, of this run and of others."""


# -- examples: each replies all examples of the tool, by name -----------------------------------


class SaveExample(_Command, frozen=True, kw_only=True):
    """Keep a call of a tool under a name, without what stands under the name of a secret."""

    call_id: str
    name: str


class DeleteExample(_Command, frozen=True, kw_only=True):
    server_id: str
    tool: str
    name: str


class ListExamples(_Command, frozen=True, kw_only=True):
    """The examples of a tool, of this run and of others."""

    server_id: str
    tool: str


# -- the recording -----------------------------------------------------------------------------


class ForgetRun(_Command, frozen=True, kw_only=True):
    """Delete what is recorded of a run; of this one, all up to now. Pins are kept."""

    run_id: str


# -- the rest ----------------------------------------------------------------------------------


class SetSetting(_Command, frozen=True, kw_only=True):
    """Null puts the default back."""

    name: str
    value: Any = None


AnyCommand = (
    Resume | Connect | Disconnect | ConfirmationOf | Confirm | ServerEntryOf | ServerAdd
    | ServerEdit | ServerRemove | FoundServers | ServerRead | ServerImport | ServerExport
    | ParseTarget | SetCapabilities | List | MoreOfList | StopList | Complete | Subscribe
    | Unsubscribe | SetLevel | Ping | CallTool
    | ReadResource | GetPrompt | Request | SendRaw | ReplayCall | RepeatCall | CancelCall
    | AnswerSampling | AnswerElicitation | RejectQuestion | AutoRespond
    | SetProfile | AddRoot | RemoveRoot | BrowseFolder | ListTasks | CancelTask | GetTaskResult
    | Pin | Unpin | ListPins | SaveExample | DeleteExample | ListExamples | ForgetRun | SetSetting
)  # fmt: skip
