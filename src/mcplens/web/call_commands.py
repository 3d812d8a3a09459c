"""Commands that ask something of a server: lists, calls, subscriptions, pings."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.store.replaying import request_to_replay
from mcplens.store.rows import to_json
from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.pictures import call_view, list_summary, list_view, server_view
from mcplens.web.recorded import recorded_request
from mcplens.workspace import requests
from mcplens.workspace.calls import Call
from mcplens.workspace.requests import Options
from mcplens.workspace.server import Subscription
from mcplens.workspace.workspace import Workspace

# A call that is called off ends at once; what does not is shown as it stands.
_CANCEL_S: Final = 2.0

_METHODS: Final[dict[str, str]] = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resource_templates": "resources/templates/list",
    "prompts": "prompts/list",
}


async def list_items(workspace: Workspace, command: c.List) -> views.ListView:
    workspace.follower.catch_up()  # a list of a former connection is known as such by then
    server = workspace.find(command.server_id)
    listing = server.listing(command.kind)
    is_old = listing.is_stale and server.state is ConnectionState.CONNECTED
    if command.refresh or (not listing.is_fetching and (is_old or not listing.fetched)):
        client = server.ready(_METHODS[command.kind])
        listing.fetch(client, one_page=command.one_page)
    was_fetching = listing.is_fetching
    if command.after is None:
        await listing.ended()
    else:
        await listing.beyond(command.after, command.of)
    start = command.after or 0
    if listing.fetched != command.of or start > len(listing.items):
        start = 0
    has_all = command.after is None or start >= len(listing.items)
    if was_fetching and listing.failure is not None and has_all:
        raise listing.failure.copy()
    most = command.most if command.after is not None else len(listing.items)
    return list_view(server, listing, start, most)


async def more_of_list(workspace: Workspace, command: c.MoreOfList) -> views.ListSummary:
    server = workspace.find(command.server_id)
    listing = server.listing(command.kind)
    listing.go_on(server.ready(_METHODS[command.kind]), one_page=command.one_page)
    return list_summary(listing)


async def stop_list(workspace: Workspace, command: c.StopList) -> views.ListSummary:
    listing = workspace.find(command.server_id).listing(command.kind)
    listing.stop()
    return list_summary(listing)


async def complete(workspace: Workspace, command: c.Complete) -> views.CompletionView:
    client = workspace.find(command.server_id).ready("completion/complete")
    found = await client.complete(
        command.ref, command.argument, command.value, command.context or None
    )
    values = found.completion
    return views.CompletionView(values.values, values.total, bool(values.has_more))


async def subscribe(workspace: Workspace, command: c.Subscribe) -> views.ServerView:
    server = workspace.find(command.server_id)
    await server.ready().subscribe(command.uri)
    server.subscriptions.setdefault(command.uri, Subscription(command.uri))
    workspace.changed("servers", server.server_id, server.server_id)
    return server_view(workspace, server)


async def unsubscribe(workspace: Workspace, command: c.Unsubscribe) -> views.ServerView:
    server = workspace.find(command.server_id)
    await server.ready().unsubscribe(command.uri)
    server.subscriptions.pop(command.uri, None)
    workspace.changed("servers", server.server_id, server.server_id)
    return server_view(workspace, server)


async def set_level(workspace: Workspace, command: c.SetLevel) -> views.ServerView:
    server = workspace.find(command.server_id)
    await server.ready().set_level(command.level)
    workspace.changed("servers", server.server_id, server.server_id)
    return server_view(workspace, server)


async def ping(workspace: Workspace, command: c.Ping) -> views.PingView:
    server = workspace.find(command.server_id)
    latency_s = await server.ready().ping()
    workspace.changed("servers", server.server_id, server.server_id)
    return views.PingView(latency_s)


# -- calls -------------------------------------------------------------------------------------


async def call_tool(workspace: Workspace, command: c.CallTool) -> views.CallView:
    options = _options(command)
    call = requests.call_tool(
        workspace.find(command.server_id),
        workspace.calls,
        command.name,
        _bytes(command.arguments),
        options,
        task_ttl_s=_ttl_of(workspace, command),
        send_anyway=command.send_anyway,
    )
    return await started(workspace, call, command)


async def read_resource(workspace: Workspace, command: c.ReadResource) -> views.CallView:
    server = workspace.find(command.server_id)
    options = Options(meta=command.meta, timeout_s=command.timeout_s)
    call = requests.read_resource(server, workspace.calls, command.uri, options)
    return await started(workspace, call, command)


async def get_prompt(workspace: Workspace, command: c.GetPrompt) -> views.CallView:
    server = workspace.find(command.server_id)
    options = Options(meta=command.meta, timeout_s=command.timeout_s)
    call = requests.get_prompt(server, workspace.calls, command.name, command.arguments, options)
    return await started(workspace, call, command)


async def request(workspace: Workspace, command: c.Request) -> views.CallView:
    server = workspace.find(command.server_id)
    options = Options(headers=command.headers, timeout_s=command.timeout_s)
    params = _bytes(command.params)
    call = requests.request(server, workspace.calls, command.method, params, options)
    return await started(workspace, call, command)


async def send_raw(workspace: Workspace, command: c.SendRaw) -> views.CallView:
    if (command.text is None) is (command.base64 is None):
        raise InspectorError("INVALID_REQUEST", "give text or base64, and not both")
    try:
        data = (
            command.text.encode()
            if command.text is not None
            else base64.b64decode(command.base64 or "", validate=True)
        )
    except (UnicodeEncodeError, binascii.Error) as problem:
        raise InspectorError("INVALID_REQUEST", f"these are no bytes: {problem}") from None
    server = workspace.find(command.server_id)
    options = Options(headers=command.headers, timeout_s=command.timeout_s)
    call = requests.send_raw(server, workspace.calls, data, options, force=command.force)
    return await started(workspace, call, command)


async def replay(workspace: Workspace, command: c.ReplayCall) -> views.CallView:
    stored = await recorded_request(workspace, command.run_id or workspace.bus.run_id, command.seq)
    server = workspace.find(command.server_id or stored.event.server_id)
    again = request_to_replay(stored, server.entry.secret_keys)
    if again.missing:
        raise InspectorError(
            "INVALID_REQUEST",
            f"the recording has no value of {', '.join(again.missing)}: edit the request and send "
            "it, or write the value into the secretKeys of the server",
            details={"missing": list(again.missing), "server_id": server.server_id},
        )
    params = None if again.params is None else to_json(again.params)
    call = requests.request(server, workspace.calls, again.method, params, Options())
    return await started(workspace, call, command)


async def cancel(workspace: Workspace, command: c.CancelCall) -> views.CallView:
    call = workspace.calls.cancel(command.call_id)
    if call.running is not None:
        await asyncio.wait([call.running], timeout=_CANCEL_S)
    workspace.follower.catch_up()
    workspace.replies.withdraw(call.call_id)
    return call_view(workspace, call)


async def started(workspace: Workspace, call: Call, command: Any) -> views.CallView:
    """The call as it stands once its request is in the queue."""
    call.asked = command
    await workspace.clock.sleep(0)
    if call.is_running and call.kind != "raw":
        call.note_requests()
    return call_view(workspace, call)


def _ttl_of(workspace: Workspace, command: c.CallTool) -> float | None:
    """How long the task of a call is to live; None for a call that is none."""
    if not command.as_task:
        return None
    return workspace.configured.configuration.settings.task_ttl_s


def _options(command: c.CallTool) -> Options:
    return Options(meta=command.meta, headers=command.headers, timeout_s=command.timeout_s)


def _bytes(raw: Raw) -> bytes | None:
    return bytes(raw) or None


CARRIERS: Final[dict[type, Callable[[Workspace, Any], Awaitable[Any]]]] = {
    c.List: list_items,
    c.MoreOfList: more_of_list,
    c.StopList: stop_list,
    c.Complete: complete,
    c.Subscribe: subscribe,
    c.Unsubscribe: unsubscribe,
    c.SetLevel: set_level,
    c.Ping: ping,
    c.CallTool: call_tool,
    c.ReadResource: read_resource,
    c.GetPrompt: get_prompt,
    c.Request: request,
    c.SendRaw: send_raw,
    c.ReplayCall: replay,
    c.CancelCall: cancel,
}
