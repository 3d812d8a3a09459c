"""What can be asked of a server, as calls that outlive whoever asked.

One function per kind of call: it checks what can be checked at once, and gives the work to
calls.py. Called by the surfaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import msgspec

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.protocol.deadlines import NEVER
from mcplens.protocol.frames import Frame, Kind, decode_value, parse, request_ids
from mcplens.protocol.result_types import Tool
from mcplens.protocol.schema_validation import SchemaProblem, Validator
from mcplens.session.client import Client
from mcplens.session.queue import CallTag
from mcplens.session.task_channel import has
from mcplens.store.any_json import to_json
from mcplens.store.decoding import Stored
from mcplens.store.replaying import request_to_replay
from mcplens.workspace.call_specs import (
    CallSpec,
    MethodRequest,
    PromptGet,
    RawMessage,
    RecordedRequest,
    ResourceRead,
    TaskResult,
    ToolCall,
)
from mcplens.workspace.calls import Call, Calls, OnProgress, Outcome
from mcplens.workspace.server import Server
from mcplens.workspace.unmatched import replies_to
from mcplens.workspace.workspace import Workspace


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What any call may be given; a timeout of 0 is no limit, as in a server's entry."""

    meta: dict[str, Any] = {}
    headers: dict[str, str] = {}
    timeout_s: float | None = None

    @property
    def limit_s(self) -> float | None:
        return NEVER if self.timeout_s == 0 else self.timeout_s

    def keywords(self, tag: CallTag, on_progress: OnProgress) -> dict[str, Any]:
        return {
            "tag": tag,
            "timeout_s": self.limit_s,
            "on_progress": on_progress,
            "headers": self.headers or None,
        }


def start_call(workspace: Workspace, spec: CallSpec) -> Call:
    """Make a call; it is given before its request is in the queue.

    Raises:
        InspectorError: it cannot be sent to this server, or not as it is.
    """
    call = _start(workspace, spec)
    call.spec = spec
    return call


def _start(workspace: Workspace, spec: CallSpec) -> Call:
    server, calls = workspace.find(spec.server_id), workspace.calls
    options = Options(meta=spec.meta, headers=spec.headers, timeout_s=spec.timeout_s)
    match spec:
        case ToolCall():
            ttl_s = workspace.configured.configuration.settings.task_ttl_s
            return call_tool(
                server,
                calls,
                spec.name,
                spec.arguments,
                options,
                task_ttl_s=ttl_s if spec.as_task else None,
                send_anyway=spec.send_anyway,
            )
        case ResourceRead():
            return read_resource(server, calls, spec.uri, options)
        case PromptGet():
            return get_prompt(server, calls, spec.name, spec.arguments, options)
        case MethodRequest():
            return request(server, calls, spec.method, spec.params, options)
        case RawMessage():
            return send_raw(server, calls, spec.data, options, force=spec.force)
        case RecordedRequest():
            return replay(server, calls, spec.stored)
        case TaskResult():
            get = get_task_result if spec.role == "client" else get_held_result
            return get(server, calls, spec.task_id)
        case _:
            assert_never(spec)


def call_tool(
    server: Server,
    calls: Calls,
    name: str,
    arguments: bytes | None,
    options: Options,
    *,
    task_ttl_s: float | None = None,
    send_anyway: bool = False,
) -> Call:
    """Call a tool with arguments as JSON; as a task that lives so long, where a time is given.

    Raises:
        InspectorError: INVALID_REQUEST if they break the input schema and are not sent anyway,
            CAPABILITY_NOT_SUPPORTED for a task that cannot be had.
    """
    client = server.ready("tools/call", is_forced=send_anyway)
    given = _decoded(arguments) if arguments is not None else {}
    if not send_anyway:
        _check_arguments(client, name, given)
        task_ttl_s = _possible_ttl_s(client, name, task_ttl_s)
    meta = _meta(server, options.meta)
    params = {"name": name, "arguments": given} | ({"_meta": meta} if meta else {})
    if task_ttl_s is not None:
        params["task"] = {"ttl": round(task_ttl_s * 1000)}

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        keywords = options.keywords(tag, on_progress)
        if not isinstance(given, dict):  # only a tester sends that
            reply = await client.request("tools/call", params, **keywords)
            return Outcome(reply.raw, findings=reply.findings)
        try:
            result = await client.call_tool(
                name, given, meta=meta or None, task=task_ttl_s, **keywords
            )
        except ProtocolError as error:
            return _as_it_came(error)
        return Outcome(result.raw, result.is_error, result.findings)

    return calls.start(client, "tool", "tools/call", name, params, work)


def _check_arguments(client: Client, name: str, given: Any) -> None:
    if isinstance(given, dict):
        checked = [_findings(tool, given) for tool in client.catalog.tools_named(name)]
        # Of two tools of one name nobody knows which one is meant.
        findings = checked[0] if checked and all(checked) else ()
    else:
        findings = ("the value: arguments must be an object",)
    if findings:
        raise InspectorError(
            "INVALID_REQUEST",
            f"the arguments break the input schema of {name}: {findings[0]}",
            details={"findings": list(findings), "server_id": client.server_id},
        )


def _findings(tool: Tool, given: dict[str, Any]) -> tuple[str, ...]:
    if tool.problem is not None:
        return ()
    try:
        return Validator(tool.input_schema).findings(given)
    except SchemaProblem:
        return ()  # a schema that cannot be used says nothing against the arguments


def _possible_ttl_s(client: Client, name: str, ttl_s: float | None) -> float | None:
    """How long a task may be asked to live; None where there is to be none, or the server decides.

    Raises:
        InspectorError: CAPABILITY_NOT_SUPPORTED.
    """
    if ttl_s is None or client.connection.is_stateless:
        return None
    tool = client.catalog.tool(name)
    support = "optional" if tool is None else (tool.execution or {}).get("taskSupport", "forbidden")
    why = None
    if not has(client.capabilities, "tasks", "requests", "tools", "call"):
        why = "the server did not declare tasks.requests.tools.call"
    elif support not in ("optional", "required"):
        why = f"the tool {name} cannot be called as a task (taskSupport: {support})"
    if why is not None:
        details = {"server_id": client.server_id, "method": "tools/call"}
        raise InspectorError("CAPABILITY_NOT_SUPPORTED", why, details=details)
    return ttl_s


def get_task_result(server: Server, calls: Calls, task_id: str) -> Call:
    """The result of a task that the server runs, once it is over."""
    client = server.ready()

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        try:
            result = await client.get_client_task_result(task_id, tag=tag)
        except ProtocolError as error:
            return _as_it_came(error)
        return Outcome(result.raw, result.is_error, result.findings)

    params = {"taskId": task_id}
    call = calls.start(client, "request", "tasks/result", task_id, params, work)
    call.task_id = task_id
    return call


def get_held_result(server: Server, calls: Calls, task_id: str) -> Call:
    """What a task that we hold was answered with, once it is."""
    client = server.ready()

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        payload = await client.receiver_tasks.get_receiver_task_payload(task_id)
        return Outcome(to_json(payload))

    params = {"taskId": task_id}
    call = calls.start(client, "request", "tasks/result", task_id, params, work)
    call.task_id = task_id
    return call


def read_resource(server: Server, calls: Calls, uri: str, options: Options) -> Call:
    client = server.ready("resources/read")
    meta = _meta(server, options.meta)
    params = {"uri": uri} | ({"_meta": meta} if meta else {})

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        keywords = options.keywords(tag, on_progress)
        try:
            result = await client.read_resource(uri, meta=meta or None, **keywords)
        except ProtocolError as error:
            return _as_it_came(error)
        return Outcome(result.raw)

    return calls.start(client, "resource", "resources/read", uri, params, work)


def get_prompt(
    server: Server, calls: Calls, name: str, arguments: Mapping[str, str], options: Options
) -> Call:
    client = server.ready("prompts/get")
    meta = _meta(server, options.meta)
    params = {"name": name, "arguments": dict(arguments)} | ({"_meta": meta} if meta else {})

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        keywords = options.keywords(tag, on_progress)
        try:
            result = await client.get_prompt(name, arguments, meta=meta or None, **keywords)
        except ProtocolError as error:
            return _as_it_came(error)
        return Outcome(result.raw)

    return calls.start(client, "prompt", "prompts/get", name, params, work)


def request(
    server: Server, calls: Calls, method: str, params: bytes | None, options: Options
) -> Call:
    """Any method; what the server did not declare is sent all the same.

    Raises:
        InspectorError: the server is not connected, or params are no object.
    """
    client = server.ready()
    given = _decoded(params) if params is not None else None
    if given is not None and not isinstance(given, dict):
        raise InspectorError("INVALID_REQUEST", "params must be an object; use the raw form")

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        reply = await client.request(method, given, **options.keywords(tag, on_progress))
        return Outcome(reply.raw, findings=reply.findings)

    return calls.start(client, "request", method, method, params or b"{}", work)


def replay(server: Server, calls: Calls, stored: Stored) -> Call:
    """A recorded request, sent again with the secrets of today.

    Raises:
        InspectorError: the recording masked a secret that nobody knows now.
    """
    again = request_to_replay(stored, server.entry.secret_keys)
    if again.missing:
        raise InspectorError(
            "INVALID_REQUEST",
            f"the recording has no value of {', '.join(again.missing)}: edit the request and send "
            "it, or write the value into the secretKeys of the server",
            details={"missing": list(again.missing), "server_id": server.server_id},
        )
    params = None if again.params is None else to_json(again.params)
    return request(server, calls, again.method, params, Options())


def send_raw(server: Server, calls: Calls, data: bytes, options: Options, *, force: bool) -> Call:
    """Bytes exactly as they are; a request among them is waited for, and so is any other reply."""
    client = server.ready()
    message = parse(data)
    for taken in request_ids(message):
        if taken in client.connection.correlation.waiting and not force:
            text = f"the id {taken!r} is in flight; use another, or force it"
            raise InspectorError("INVALID_REQUEST", text, details={"findings": [text]})

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        start = client.last_seq
        try:
            reply = await client.send_raw(data, force=force, **options.keywords(tag, on_progress))
        except ServerError as error:
            if not error.raw:
                raise
            # Whoever sends bytes wants to see the bytes of the answer.
            return Outcome(error.raw, is_error=True)
        if reply is None:
            return await replies_to(client, message, start)
        return Outcome(reply.raw)

    shown = msgspec.json.encode(data.decode("utf-8", "backslashreplace"))
    method = message.method if isinstance(message, Frame) else ""
    return calls.start(client, "raw", method, method, shown, work)


def _as_it_came(error: ProtocolError) -> Outcome:
    """A result that breaks its shape is shown as it came, with what is wrong about it.

    Raises:
        ProtocolError: there is no result to show.
    """
    message = parse(error.raw) if error.raw else None
    if not isinstance(message, Frame) or message.kind is not Kind.RESULT:
        raise error
    return Outcome(bytes(message.body), findings=error.findings or (error.message,))


def _meta(server: Server, meta: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent with every call to this server, and over it what this call says."""
    return {**server.entry.meta, **meta}


def _decoded(raw: bytes) -> Any:
    try:
        return decode_value(msgspec.Raw(raw))[0]
    except ValueError as problem:
        raise InspectorError("INVALID_REQUEST", f"this is no JSON: {problem}") from None
