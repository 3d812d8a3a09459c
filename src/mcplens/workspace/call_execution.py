"""Starts calls: validates the spec of a call, sends its requests, decodes the outcome.

One function per kind of call. Each checks at once what can be checked, and gives the work to
`Calls`, which keeps it running whatever the page does. Called by the web UI.
"""

from __future__ import annotations

from typing import Any, assert_never

import msgspec

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.protocol.deadlines import NEVER
from mcplens.protocol.frames import Frame, Kind, decode_value, parse, request_ids
from mcplens.protocol.result_types import Tool
from mcplens.protocol.schema_validation import SchemaProblem, Validator
from mcplens.protocol.tool_failures import tool_failure
from mcplens.session.client import Client
from mcplens.session.queue import CallTag
from mcplens.session.task_channel import has
from mcplens.store.lenient_json import to_json
from mcplens.store.replay import request_to_replay
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
from mcplens.workspace.calls import Call, Calls, OnProgress, Outcome, Work
from mcplens.workspace.raw_replies import replies_to
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace


def start_call(workspace: Workspace, spec: CallSpec) -> Call:
    """Start a call; returns before its request is in the queue.

    Raises:
        InspectorError: it cannot be sent to this server, or not as it is.
    """
    server, calls = workspace.find(spec.server_id), workspace.calls
    match spec:
        case ToolCall():
            ttl_s = workspace.config_files.configuration.settings.task_ttl_s
            return _call_tool(server, calls, spec, ttl_s if spec.as_task else None)
        case ResourceRead():
            return _read_resource(server, calls, spec)
        case PromptGet():
            return _get_prompt(server, calls, spec)
        case MethodRequest():
            return _request(server, calls, spec, spec.method, spec.params)
        case RawMessage():
            return _send_raw(server, calls, spec)
        case RecordedRequest():
            return _replay(server, calls, spec)
        case TaskResult():
            get = _get_client_task_result if spec.role == "client" else _get_receiver_task_result
            return get(server, calls, spec)
        case _:
            assert_never(spec)


def _keywords(spec: CallSpec, tag: CallTag, on_progress: OnProgress) -> dict[str, Any]:
    """The keyword arguments that every request of a client takes."""
    return {
        "tag": tag,
        "timeout_s": NEVER if spec.timeout_s == 0 else spec.timeout_s,
        "on_progress": on_progress,
        "headers": spec.headers or None,
    }


def _call_tool(server: Server, calls: Calls, spec: ToolCall, task_ttl_s: float | None) -> Call:
    """Call a tool; as a task with this time to live, if one is given.

    Raises:
        InspectorError: INVALID_REQUEST if the arguments break the input schema and are not sent
            anyway, CAPABILITY_NOT_SUPPORTED for a task that the server or the tool does not allow.
    """
    name = spec.name
    client = server.ready("tools/call", is_forced=spec.send_anyway)
    given = _decoded(spec.arguments) if spec.arguments is not None else {}
    if not spec.send_anyway:
        _check_arguments(client, name, given)
        task_ttl_s = _possible_ttl_s(client, name, task_ttl_s)
    meta = _meta(server, spec)
    params = {"name": name, "arguments": given} | ({"_meta": meta} if meta else {})
    if task_ttl_s is not None:
        params["task"] = {"ttl": round(task_ttl_s * 1000)}

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        keywords = _keywords(spec, tag, on_progress)
        if not isinstance(given, dict):  # only a tester sends that
            reply = await client.request("tools/call", params, **keywords)
            return Outcome(reply.raw, findings=reply.findings)
        try:
            result = await client.call_tool(
                name, given, meta=meta or None, task=task_ttl_s, **keywords
            )
        except ProtocolError as error:
            return _result_in(error)
        return Outcome(result.raw, result.is_error, result.findings)

    return calls.start(client, spec, "tool", "tools/call", name, params, work)


def _check_arguments(client: Client, name: str, given: Any) -> None:
    if isinstance(given, dict):
        checked = [_findings(tool, given) for tool in client.catalog.tools_named(name)]
        # Of two tools with the same name it is not known which one is meant.
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
    """The time to live to ask for; None if no task is wanted, or if the server decides.

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


def _get_client_task_result(server: Server, calls: Calls, spec: TaskResult) -> Call:
    """Wait for a task that the server runs to end, and get its result."""
    client, task_id = server.ready(), spec.task_id

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        try:
            result = await client.get_client_task_result(task_id, tag=tag)
        except ProtocolError as error:
            return _result_in(error)
        return Outcome(result.raw, result.is_error, result.findings)

    return _start_task_result(calls, client, spec, work)


def _get_receiver_task_result(server: Server, calls: Calls, spec: TaskResult) -> Call:
    """Wait for a task that we hold to end, and get what it was answered with."""
    client = server.ready()

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        payload = await client.receiver_tasks.get_receiver_task_payload(spec.task_id)
        return Outcome(to_json(payload))

    return _start_task_result(calls, client, spec, work)


def _start_task_result(calls: Calls, client: Client, spec: TaskResult, work: Work) -> Call:
    task_id = spec.task_id
    params = {"taskId": task_id}
    call = calls.start(client, spec, "request", "tasks/result", task_id, params, work)
    call.task_id = task_id
    return call


def _read_resource(server: Server, calls: Calls, spec: ResourceRead) -> Call:
    client, uri = server.ready("resources/read"), spec.uri
    meta = _meta(server, spec)
    params = {"uri": uri} | ({"_meta": meta} if meta else {})

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        keywords = _keywords(spec, tag, on_progress)
        try:
            result = await client.read_resource(uri, meta=meta or None, **keywords)
        except ProtocolError as error:
            return _result_in(error)
        return Outcome(result.raw)

    return calls.start(client, spec, "resource", "resources/read", uri, params, work)


def _get_prompt(server: Server, calls: Calls, spec: PromptGet) -> Call:
    client, name, arguments = server.ready("prompts/get"), spec.name, spec.arguments
    meta = _meta(server, spec)
    params = {"name": name, "arguments": arguments} | ({"_meta": meta} if meta else {})

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        keywords = _keywords(spec, tag, on_progress)
        try:
            result = await client.get_prompt(name, arguments, meta=meta or None, **keywords)
        except ProtocolError as error:
            return _result_in(error)
        return Outcome(result.raw)

    return calls.start(client, spec, "prompt", "prompts/get", name, params, work)


def _request(
    server: Server, calls: Calls, spec: CallSpec, method: str, params: bytes | None
) -> Call:
    """Send any method, also one that the server did not declare.

    Raises:
        InspectorError: the server is not connected, or params are not an object.
    """
    client = server.ready()
    given = _decoded(params) if params is not None else None
    if given is not None and not isinstance(given, dict):
        raise InspectorError("INVALID_REQUEST", "params must be an object; use the raw form")

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        reply = await client.request(method, given, **_keywords(spec, tag, on_progress))
        failure = tool_failure(reply.raw)
        return Outcome(reply.raw, failure is not None, reply.findings, failure)

    return calls.start(client, spec, "request", method, method, params or b"{}", work)


def _replay(server: Server, calls: Calls, spec: RecordedRequest) -> Call:
    """Send a recorded request again, with today's values of its secrets.

    Raises:
        InspectorError: the recording masked a secret whose value is not configured.
    """
    again = request_to_replay(spec.stored, server.entry.secret_keys)
    if again.missing:
        raise InspectorError(
            "INVALID_REQUEST",
            f"the recording has no value of {', '.join(again.missing)}: edit the request and send "
            "it, or write the value into the secretKeys of the server",
            details={"missing": list(again.missing), "server_id": server.server_id},
        )
    params = None if again.params is None else to_json(again.params)
    return _request(server, calls, spec, again.method, params)


def _send_raw(server: Server, calls: Calls, spec: RawMessage) -> Call:
    """Send bytes exactly as they are, and wait for a reply, matched by id or not."""
    client, data, force = server.ready(), spec.data, spec.force
    message = parse(data)
    for taken in request_ids(message):
        if taken in client.connection.correlation.waiting and not force:
            text = f"the id {taken!r} is in flight; use another, or force it"
            raise InspectorError("INVALID_REQUEST", text, details={"findings": [text]})

    async def work(tag: CallTag, on_progress: OnProgress) -> Outcome:
        try:
            reply = await client.send_raw(data, force=force, **_keywords(spec, tag, on_progress))
        except ServerError as error:
            if not error.raw:
                raise
            # Whoever sends bytes wants to see the bytes of the answer.
            return Outcome(error.raw, is_error=True, error_reply=error.shortened())
        if reply is None:
            return await replies_to(client, message, tag.last_seq or 0)
        failure = tool_failure(reply.body)
        return Outcome(reply.raw, failure is not None, tool_error=failure)

    shown = msgspec.json.encode(data.decode("utf-8", "backslashreplace"))
    method = message.method if isinstance(message, Frame) else ""
    return calls.start(client, spec, "raw", method, method, shown, work)


def _result_in(error: ProtocolError) -> Outcome:
    """A result of the wrong shape, shown as it came, with what is wrong about it.

    Raises:
        ProtocolError: there is no result to show.
    """
    message = parse(error.raw) if error.raw else None
    if not isinstance(message, Frame) or message.kind is not Kind.RESULT:
        raise error
    return Outcome(bytes(message.body), findings=error.findings or (error.message,))


def _meta(server: Server, spec: CallSpec) -> dict[str, Any]:
    """The `_meta` that the server's entry has for every call, overridden by this call's."""
    return {**server.entry.meta, **spec.meta}


def _decoded(raw: bytes) -> Any:
    try:
        return decode_value(msgspec.Raw(raw))[0]
    except ValueError as problem:
        raise InspectorError("INVALID_REQUEST", f"not valid JSON: {problem}") from None
