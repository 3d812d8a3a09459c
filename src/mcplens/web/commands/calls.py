"""Commands that call something; each replies CallView at once, what follows is Changed."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from mcplens.web.commands.base import NOTHING, Command


class CallTool(Command, frozen=True, kw_only=True):
    """Call a tool. What breaks its input schema is refused (`details.findings`) unless
    `send_anyway`; so is `as_task` where the server or the tool knows no tasks. In 2026-07-28 the
    server alone decides what becomes a task. `listed_as` is which of the things of one name is
    meant, by what the page tells them apart; here it is only kept."""

    server_id: str
    name: str
    listed_as: str = ""
    arguments: Raw = NOTHING
    meta: dict[str, Any] = {}
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    as_task: bool = False
    send_anyway: bool = False


class ReadResource(Command, frozen=True, kw_only=True):
    server_id: str
    uri: str
    listed_as: str = ""
    meta: dict[str, Any] = {}
    timeout_s: float | None = None


class GetPrompt(Command, frozen=True, kw_only=True):
    server_id: str
    name: str
    listed_as: str = ""
    arguments: dict[str, str] = {}
    meta: dict[str, Any] = {}
    timeout_s: float | None = None


class Request(Command, frozen=True, kw_only=True):
    """Any method with any params."""

    server_id: str
    method: str
    params: Raw = NOTHING
    headers: dict[str, str] = {}
    timeout_s: float | None = None


class SendRaw(Command, frozen=True, kw_only=True):
    """Bytes exactly as typed; `force` sends an id that is in flight."""

    server_id: str
    text: str | None = None
    base64: str | None = None
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    force: bool = False


class ReplayCall(Command, frozen=True, kw_only=True):
    """Send a recorded request again, with a new id: from this run, or from `run_id`."""

    seq: int
    run_id: str | None = None
    server_id: str | None = None


class RepeatCall(Command, frozen=True, kw_only=True):
    """Make a call again, as it was made: its arguments, its `_meta`, headers, timeout and task."""

    call_id: str


class CancelCall(Command, frozen=True, kw_only=True):
    """Call a call off, on the server too."""

    call_id: str
