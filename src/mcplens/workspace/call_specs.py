"""What a call was asked to do, as values: enough to show it and to make it again.

One struct per kind of call. The web UI builds them, `call_execution.start_call` makes the call, and
`Call.spec` keeps the value.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.store.row_decoding import StoredEvent
from mcplens.workspace.tasks import Role


class _Spec(msgspec.Struct, frozen=True, kw_only=True):
    """Options of every call; a timeout of 0 means no limit, as in a server's entry.

    `listed_as` distinguishes items with the same name on the page; it is only kept for the page.
    `caused_by_seq` is the message of an app that the call is made for.
    """

    server_id: str
    listed_as: str = ""
    meta: dict[str, Any] = {}
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    caused_by_seq: int | None = None


class ToolCall(_Spec, frozen=True, kw_only=True):
    """A tool with its arguments as JSON; `send_anyway` skips the checks before it is sent."""

    name: str
    arguments: bytes | None = None
    as_task: bool = False
    send_anyway: bool = False


class ResourceRead(_Spec, frozen=True, kw_only=True):
    uri: str


class PromptGet(_Spec, frozen=True, kw_only=True):
    name: str
    arguments: dict[str, str] = {}


class MethodRequest(_Spec, frozen=True, kw_only=True):
    """Any method with any params, as JSON."""

    method: str
    params: bytes | None = None


class RawMessage(_Spec, frozen=True, kw_only=True):
    """Bytes exactly as they are; `force` sends an id that is in flight."""

    data: bytes
    force: bool = False


class RecordedRequest(_Spec, frozen=True, kw_only=True):
    """A recorded request, sent again with a new id and the current values of its secrets."""

    stored: StoredEvent


class TaskResult(_Spec, frozen=True, kw_only=True):
    """The result of a task, once it has ended; `role` says who runs the task."""

    task_id: str
    role: Role


CallSpec = (
    ToolCall | ResourceRead | PromptGet | MethodRequest | RawMessage | RecordedRequest | TaskResult
)
