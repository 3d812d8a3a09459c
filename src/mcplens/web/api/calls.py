"""Calls: tools, resources, prompts, other methods and raw bytes; replay, repeat, cancel.

Each command replies a CallView at once; later states are sent as Changed. A large request or result
is not in the view: the page fetches it when it is opened.
"""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError, short_text
from mcplens.protocol.frames import RequestId
from mcplens.protocol.secret_masking import is_secret_name
from mcplens.session.results import SchemaVerdict, schema_verdict
from mcplens.store.recorded_secrets import plain as plain_name
from mcplens.store.truncation import short_id
from mcplens.web.api.errors import ErrorView, error_view
from mcplens.web.api.questions import LinkView, awaited_links
from mcplens.web.recording_queries import recorded_request
from mcplens.web.registry import NOTHING, Command, command, latest_view
from mcplens.web.safe_json import NULL, raw_json
from mcplens.workspace import call_specs as specs
from mcplens.workspace.call_execution import start_call
from mcplens.workspace.calls import Call, CallStatus
from mcplens.workspace.workspace import Workspace

# A larger result is fetched over HTTP when it is opened.
LARGEST_RESULT: Final = 256 * 1024
# In the snapshot, which has many of them.
LARGEST_IN_SNAPSHOT: Final = 16 * 1024


class ProgressView(msgspec.Struct, frozen=True):
    progress: float
    total: float | None
    message: str | None
    at: float


class CallView(msgspec.Struct, frozen=True, kw_only=True):
    """A call made in the web UI, running or ended.

    `result` is there once it is completed and small. Null beside a `result_size_bytes` means that
    it is at `/api/calls/{call_id}/result`.
    `elapsed_s` is how long it took, None while it runs. `awaiting` are the URLs
    that a person agreed to open and that are not done yet.
    `headers` are those that it was given, the value of a secret one empty; they and `timeout_s`
    are for this call alone. A timeout of 0 means no limit. `is_forced`: its arguments were not
    checked before it was sent. `listed_as` is what the page lists the
    called item as, where several have its name. `schema_verdict` is what the findings say of the
    tool's output schema. `tool_error` is what a tool that failed said to a
    raw message or a request by its method. `error` is why there is no result, and of a raw message
    the JSON-RPC error that it was answered with.
    """

    call_id: str
    server_id: str
    kind: Literal["tool", "resource", "prompt", "request", "raw"]
    method: str
    name: str
    listed_as: str
    request: Raw
    headers: dict[str, str]
    timeout_s: float | None
    is_forced: bool
    request_id: RequestId | None
    request_ids: list[RequestId]
    request_seqs: list[int]
    status: CallStatus
    started: float
    elapsed_s: float | None
    progress: ProgressView | None
    is_waiting_on_user: bool
    awaiting: list[LinkView]
    result: Raw | None
    result_size_bytes: int
    is_error: bool
    tool_error: str | None
    findings: list[str]
    schema_verdict: SchemaVerdict | None
    error: ErrorView | None
    task_id: str | None


def call_view(workspace: Workspace, call: Call, largest: int = LARGEST_RESULT) -> CallView:
    """A call as it stands now, without a result that is larger than this."""
    outcome, progress, spec = call.outcome, call.progress, call.spec
    raw = outcome.raw if outcome is not None else None
    error = outcome.error_reply if outcome is not None else call.error
    findings = outcome.findings if outcome is not None else ()
    is_small = raw is not None and len(raw) <= largest
    is_large = len(call.request) > largest
    return CallView(
        call_id=call.call_id,
        server_id=call.server_id,
        kind=call.kind,
        method=call.method,
        name=call.name,
        listed_as=spec.listed_as,
        request=NULL if is_large else raw_json(call.request),
        headers=_given_headers(workspace, call),
        timeout_s=spec.timeout_s,
        is_forced=isinstance(spec, specs.ToolCall) and spec.send_anyway,
        request_id=short_id(call.request_ids[-1]) if call.request_ids else None,
        request_ids=[short_id(one) for one in call.request_ids],
        request_seqs=list(call.request_seqs),
        status=call.status,
        started=call.started,
        elapsed_s=call.elapsed_s,
        progress=None
        if progress is None
        else ProgressView(
            progress.progress,
            progress.total,
            None if progress.message is None else short_text(progress.message),
            call.progress_at,
        ),
        is_waiting_on_user=call.is_waiting_on_user,
        awaiting=awaited_links(workspace, call),
        result=raw_json(raw) if is_small else None,
        result_size_bytes=call.size_bytes,
        is_error=outcome is not None and outcome.is_error,
        tool_error=outcome.tool_error if outcome is not None else None,
        findings=list(findings),
        schema_verdict=schema_verdict(findings),
        error=error_view(error.to_dict() if error is not None else None),
        task_id=call.task_id,
    )


@latest_view("calls")
def latest_call(workspace: Workspace, key: str) -> CallView | None:
    call = workspace.calls.get(key)
    return None if call is None else call_view(workspace, call)


def _given_headers(workspace: Workspace, call: Call) -> dict[str, str]:
    """The headers that a call was given, those that are secret without their values."""
    given = call.spec.headers
    keys = {plain_name(key) for key in workspace.secret_keys.of(call.server_id)} if given else ()
    return {
        name: "" if is_secret_name(name) or plain_name(name) in keys else value
        for name, value in given.items()
    }


async def start(workspace: Workspace, spec: specs.CallSpec) -> CallView:
    return call_view(workspace, start_call(workspace, spec))


class CallTool(Command, frozen=True, kw_only=True):
    """Call a tool. What breaks its input schema is refused (`details.findings`) unless
    `send_anyway`; so is `as_task` where the server or the tool knows no tasks. In 2026-07-28 the
    server alone decides what becomes a task. `listed_as` is how the page tells items of one name
    apart; here it is only kept."""

    server_id: str
    name: str
    listed_as: str = ""
    arguments: Raw = NOTHING
    meta: dict[str, Any] = {}
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    as_task: bool = False
    send_anyway: bool = False


@command
async def call_tool(workspace: Workspace, command: CallTool) -> CallView:
    spec = specs.ToolCall(
        server_id=command.server_id,
        listed_as=command.listed_as,
        name=command.name,
        arguments=_bytes(command.arguments),
        meta=command.meta,
        headers=command.headers,
        timeout_s=command.timeout_s,
        as_task=command.as_task,
        send_anyway=command.send_anyway,
    )
    return await start(workspace, spec)


class ReadResource(Command, frozen=True, kw_only=True):
    server_id: str
    uri: str
    listed_as: str = ""
    meta: dict[str, Any] = {}
    timeout_s: float | None = None


@command
async def read_resource(workspace: Workspace, command: ReadResource) -> CallView:
    spec = specs.ResourceRead(
        server_id=command.server_id,
        listed_as=command.listed_as,
        uri=command.uri,
        meta=command.meta,
        timeout_s=command.timeout_s,
    )
    return await start(workspace, spec)


class GetPrompt(Command, frozen=True, kw_only=True):
    server_id: str
    name: str
    listed_as: str = ""
    arguments: dict[str, str] = {}
    meta: dict[str, Any] = {}
    timeout_s: float | None = None


@command
async def get_prompt(workspace: Workspace, command: GetPrompt) -> CallView:
    spec = specs.PromptGet(
        server_id=command.server_id,
        listed_as=command.listed_as,
        name=command.name,
        arguments=command.arguments,
        meta=command.meta,
        timeout_s=command.timeout_s,
    )
    return await start(workspace, spec)


class Request(Command, frozen=True, kw_only=True):
    """Any method with any params."""

    server_id: str
    method: str
    params: Raw = NOTHING
    headers: dict[str, str] = {}
    timeout_s: float | None = None


@command
async def request(workspace: Workspace, command: Request) -> CallView:
    spec = specs.MethodRequest(
        server_id=command.server_id,
        method=command.method,
        params=_bytes(command.params),
        headers=command.headers,
        timeout_s=command.timeout_s,
    )
    return await start(workspace, spec)


class SendRaw(Command, frozen=True, kw_only=True):
    """Bytes exactly as typed; `force` sends an id that is in flight."""

    server_id: str
    text: str | None = None
    base64: str | None = None
    headers: dict[str, str] = {}
    timeout_s: float | None = None
    force: bool = False


@command
async def send_raw(workspace: Workspace, command: SendRaw) -> CallView:
    if (command.text is None) is (command.base64 is None):
        raise InspectorError("INVALID_REQUEST", "give either text or base64")
    try:
        data = (
            command.text.encode()
            if command.text is not None
            else base64.b64decode(command.base64 or "", validate=True)
        )
    except (UnicodeEncodeError, binascii.Error) as problem:
        raise InspectorError("INVALID_REQUEST", f"not valid bytes: {problem}") from None
    spec = specs.RawMessage(
        server_id=command.server_id,
        data=data,
        headers=command.headers,
        timeout_s=command.timeout_s,
        force=command.force,
    )
    return await start(workspace, spec)


def _bytes(raw: Raw) -> bytes | None:
    return bytes(raw) or None


class ReplayCall(Command, frozen=True, kw_only=True):
    """Send a recorded request again, with a new id: from this run, or from `run_id`."""

    seq: int
    run_id: str | None = None
    server_id: str | None = None


@command
async def replay(workspace: Workspace, command: ReplayCall) -> CallView:
    stored = await recorded_request(workspace, command.run_id or workspace.bus.run_id, command.seq)
    server_id = command.server_id or stored.event.server_id
    return await start(workspace, specs.RecordedRequest(server_id=server_id, stored=stored))


class RepeatCall(Command, frozen=True, kw_only=True):
    """Make a call again, as it was made: its arguments, its `_meta`, headers, timeout and task."""

    call_id: str


@command
async def repeat(workspace: Workspace, command: RepeatCall) -> CallView:
    spec = workspace.calls.find(command.call_id).spec
    # What caused it is not what causes it now.
    return await start(workspace, msgspec.structs.replace(spec, caused_by_seq=None))


class CancelCall(Command, frozen=True, kw_only=True):
    """Cancel a call, on the server too."""

    call_id: str


@command
async def cancel(workspace: Workspace, command: CancelCall) -> CallView:
    return call_view(workspace, await workspace.cancel_call(command.call_id))
