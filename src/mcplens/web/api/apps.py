"""MCP Apps: opening one, its messages, and what it asks of its server.

The page is the host: it shows the app and answers what is addressed to a host. Requests for the
server come here, are checked, and go through the same calls as those of a person; a completion is
asked of the person or the profile that answers the server too.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from mcplens.errors import InspectorError, ServerError
from mcplens.protocol.app_checks import Severity, check_document, check_tool
from mcplens.protocol.app_policy import PolicyProfile, app_policy
from mcplens.protocol.apps import (
    APP_MIME_TYPE,
    URI_SCHEME,
    AppDocument,
    AppProblem,
    app_document,
    app_link,
    without_nulls,
)
from mcplens.protocol.frames import Frame, Kind, decode_value, encode_error, parse
from mcplens.session.client import Client
from mcplens.session.question_handler import ServerRequest
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import raw_json
from mcplens.workspace import call_specs as specs
from mcplens.workspace.apps import App
from mcplens.workspace.call_execution import start_call
from mcplens.workspace.calls import Call
from mcplens.workspace.workspace import Workspace

# What an app may ask of its server, beside tools/call and resources/read.
_LISTS: Final = ("resources/list", "resources/templates/list", "prompts/list")
_SAMPLING: Final = "sampling/createMessage"
# JSON-RPC's codes, as hosts answer apps with them.
_REFUSED: Final = -32000
_INVALID_PARAMS: Final = -32602
_METHOD_NOT_FOUND: Final = -32601


class DomainView(msgspec.Struct, frozen=True):
    """A domain that the resource declares; `refusal` says why it is not in the policy."""

    key: str
    value: str
    refusal: str | None


class AppFindingView(msgspec.Struct, frozen=True):
    """What is wrong with an app, found without running it."""

    code: str
    severity: Severity
    text: str
    line: int | None


class AppView(msgspec.Struct, frozen=True, kw_only=True):
    """An open app. Its document is at `/doc/{key}` of `port`, for a short time.

    `policy` is the Content-Security-Policy that it runs under, `findings` what is wrong with the
    declarations of its tool and its resource. `tool_definition` is what the app is told of its
    tool, without members that are null.
    """

    app_id: str
    server_id: str
    tool: str
    uri: str
    key: str
    port: int
    profile: PolicyProfile
    policy: str
    domains: list[DomainView]
    permissions: list[str]
    prefers_border: bool | None
    domain: str | None
    size_bytes: int
    tool_definition: Raw
    findings: list[AppFindingView]


class OpenApp(Command, frozen=True, kw_only=True):
    """Read the app of a tool, and keep its document so that it can be framed.

    Fails with the reason where there is no app to show. `allows_private` lets it reach private
    addresses that it declares.
    """

    server_id: str
    tool: str
    profile: PolicyProfile = "specification"
    allows_private: bool = False


@command
async def open_app(workspace: Workspace, command: OpenApp) -> AppView:
    server, apps = workspace.find(command.server_id), workspace.apps
    if apps.port is None:
        raise InspectorError("INVALID_REQUEST", "apps are not served in this process")
    client = server.ready("resources/read")
    tool = await _tool(client, command.tool)
    link = app_link(tool)
    uri = link.resource_uri
    if uri is None:
        raise InspectorError("INVALID_REQUEST", f"the tool {command.tool} has no app")
    if not uri.startswith(URI_SCHEME):
        raise _not_an_app(f"{uri} does not begin with {URI_SCHEME}")
    document = await _read(workspace, command.server_id, uri, client)
    policy = app_policy(document.meta, command.profile, allows_private=command.allows_private)
    app = apps.open(command.server_id, command.tool, document, command.profile, policy)
    meta = document.meta
    # Aside, since HTML may be large.
    about_document = await asyncio.to_thread(check_document, document, policy)
    return AppView(
        app_id=app.app_id,
        server_id=app.server_id,
        tool=app.tool,
        uri=uri,
        key=app.key,
        port=apps.port,
        profile=app.profile,
        policy=policy.header(),
        domains=[DomainView(one.key, one.value, one.refusal) for one in policy.entries],
        permissions=list(meta.permissions),
        prefers_border=meta.prefers_border,
        domain=meta.domain,
        size_bytes=len(document.data),
        tool_definition=Raw(msgspec.json.encode(without_nulls(tool))),
        findings=[
            AppFindingView(one.code, one.severity, one.text, one.line)
            for one in [*check_tool(tool, link), *about_document]
        ],
    )


async def _tool(client: Client, name: str) -> Any:
    """The definition of a tool as the server listed it.

    Raises:
        InspectorError: there is none of this name.
    """
    tool = client.catalog.tool(name)
    if tool is None:
        await client.list_tools()
        tool = client.catalog.tool(name)
    if tool is None:
        raise InspectorError("INVALID_REQUEST", f"the server lists no tool {name}")
    return tool.value()


async def _read(workspace: Workspace, server_id: str, uri: str, client: Client) -> AppDocument:
    """The document of an app.

    Raises:
        InspectorError: it cannot be read, or is not an app.
    """
    call = start_call(workspace, specs.ResourceRead(server_id=server_id, uri=uri))
    result = await _result(call)
    listed = next((one for one in client.catalog.known("resources") or () if one.uri == uri), None)
    value, _ = decode_value(Raw(result))
    contents = value.get("contents") if isinstance(value, dict) else None
    try:
        document = app_document(
            contents if isinstance(contents, list) else [],
            uri,
            None if listed is None else listed.value(),
        )
    except AppProblem as problem:
        raise _not_an_app(str(problem)) from None
    if document.mime_type != APP_MIME_TYPE:
        given = document.mime_type or "none"
        raise _not_an_app(f"the type of {uri} is {given}, and must be {APP_MIME_TYPE}")
    return document


def _not_an_app(text: str) -> InspectorError:
    return InspectorError("INVALID_RESPONSE", text)


async def _result(call: Call) -> bytes:
    """The result of a call, once it has ended.

    Raises:
        InspectorError: it failed.
    """
    if call.running is not None:
        await asyncio.wait([call.running])
    if call.error is not None:
        raise call.error
    return (call.outcome.raw if call.outcome is not None else None) or b"null"


class HostProfilesView(msgspec.Struct, frozen=True):
    """The host profiles of the configuration files, as they are written there."""

    profiles: dict[str, Any]


class HostProfiles(Command, frozen=True, kw_only=True):
    """The hosts that apps can be tried in, beside those that are built in."""


@command
async def host_profiles(workspace: Workspace, command: HostProfiles) -> HostProfilesView:
    return HostProfilesView(dict(workspace.config_files.configuration.settings.host_profiles))


class RecordAppMessage(Command, frozen=True, kw_only=True):
    """Put a message between an app and the page into Traffic; `refusal` says why it was refused."""

    app_id: str
    side: Literal["app", "host"]
    text: str
    refusal: str | None = None


@command
async def record_app_message(workspace: Workspace, command: RecordAppMessage) -> int:
    app = workspace.apps.find(command.app_id)
    data = command.text.encode("utf-8", "replace")
    return workspace.apps.record(app, command.side, data, command.refusal)


class AppAnswer(msgspec.Struct, frozen=True):
    """What an app's request is answered with; `call_id` is the call that was made for it."""

    message: Raw
    call_id: str | None


class RequestForApp(Command, frozen=True, kw_only=True):
    """Carry out what an app asks of its server: tools/call, resources/read, or a list.

    `sampling/createMessage` opens a question, answered as those of the server are. The reply is
    the JSON-RPC answer; both messages are put into Traffic. A tool that is not for apps, and a
    method that is not for servers, are refused with the reason.
    """

    app_id: str
    text: str


@command
async def request_for_app(workspace: Workspace, command: RequestForApp) -> AppAnswer:
    apps = workspace.apps
    app = apps.find(command.app_id)
    data = command.text.encode("utf-8", "replace")
    message = parse(data)
    if not isinstance(message, Frame) or message.kind is not Kind.REQUEST or message.id is None:
        raise InspectorError("INVALID_REQUEST", "not a JSON-RPC request")
    seq = apps.record(app, "app", data)
    call: Call | None = None
    try:
        if message.method == _SAMPLING:
            body = await _completion(workspace, app, message, seq)
        else:
            spec = await _spec(workspace, app, message, seq)
            call = start_call(workspace, spec)
            body = await _result(call)
        answer = _encoded_result(message, body)
    except _Refusal as refusal:
        answer = encode_error(message.id, refusal.code, str(refusal))
    except ServerError as error:
        answer = encode_error(message.id, error.rpc_code, error.rpc_message, error.data)
    except InspectorError as error:
        answer = encode_error(message.id, _REFUSED, error.message)
    apps.record(app, "host", answer)
    return AppAnswer(raw_json(answer), None if call is None else call.call_id)


class _Refusal(Exception):
    """Why an app's request is not carried out, with the code of the answer."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def _encoded_result(message: Frame, body: bytes) -> bytes:
    identity = msgspec.json.encode(message.id)
    return b'{"jsonrpc":"2.0","id":' + identity + b',"result":' + body + b"}"


async def _completion(workspace: Workspace, app: App, message: Frame, seq: int) -> bytes:
    """A completion for an app, as a person or the profile of its server answers it.

    Raises:
        ServerError: it was refused.
        InspectorError: the server is not connected, or was disconnected meanwhile.
    """
    client = workspace.find(app.server_id).ready()
    request = ServerRequest(
        id=message.id or "",
        method=message.method,
        params=message.value(),
        raw=message.raw,
        origin="app",
        request_seq=seq,
    )
    return msgspec.json.encode(await client.raw_calls.answer_question(request))


async def _spec(workspace: Workspace, app: App, message: Frame, seq: int) -> specs.CallSpec:
    """The call that an app's request means.

    Raises:
        _Refusal: it is not for this app, or not for servers.
    """
    method, params = message.method, message.value()
    given: dict[str, Any] = params if isinstance(params, dict) else {}
    server_id = app.server_id
    if method == "tools/call":
        name = given.get("name")
        if not isinstance(name, str):
            raise _Refusal(_INVALID_PARAMS, "tools/call needs the name of a tool")
        await _check_tool(workspace.find(server_id).ready("tools/call"), name)
        arguments = given.get("arguments")
        return specs.ToolCall(
            server_id=server_id,
            name=name,
            arguments=None if arguments is None else msgspec.json.encode(arguments),
            send_anyway=True,
            caused_by_seq=seq,
        )
    if method == "resources/read":
        uri = given.get("uri")
        if not isinstance(uri, str):
            raise _Refusal(_INVALID_PARAMS, "resources/read needs the URI of a resource")
        return specs.ResourceRead(server_id=server_id, uri=uri, caused_by_seq=seq)
    if method in _LISTS:
        encoded = msgspec.json.encode(given) if given else None
        return specs.MethodRequest(
            server_id=server_id, method=method, params=encoded, caused_by_seq=seq
        )
    raise _Refusal(_METHOD_NOT_FOUND, f"{method} is not passed on to servers for an app")


async def _check_tool(client: Client, name: str) -> None:
    """Raises _Refusal unless this server has the tool, and it is for apps."""
    try:
        tool = await _tool(client, name)
    except InspectorError:
        raise _Refusal(_INVALID_PARAMS, f"the server of this app has no tool {name}") from None
    if not app_link(tool).is_for_apps:
        text = f'the tool {name} is not for apps: its visibility does not include "app"'
        raise _Refusal(_REFUSED, text)
