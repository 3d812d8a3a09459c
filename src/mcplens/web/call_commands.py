"""Commands that ask something of a server: lists, calls, subscriptions, pings."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import Raw

from mcplens.errors import InspectorError
from mcplens.web import commands as c
from mcplens.web import views
from mcplens.web.recorded import recorded_request
from mcplens.web.showing.calls import call_view
from mcplens.web.showing.lists import list_summary, list_view
from mcplens.web.showing.servers import server_view
from mcplens.workspace import call_specs as specs
from mcplens.workspace.requests import start_call
from mcplens.workspace.workspace import Workspace


async def list_items(workspace: Workspace, command: c.List) -> views.ListView:
    workspace.follower.catch_up()  # a list of a former connection is known as such by then
    server = workspace.find(command.server_id)
    listing = server.fetch_list(command.kind, refresh=command.refresh, one_page=command.one_page)
    if command.after is None:
        await listing.ended()
        return list_view(server, listing, 0, len(listing.items))
    start = await listing.beyond(command.after, command.of)
    return list_view(server, listing, start, command.most)


async def more_of_list(workspace: Workspace, command: c.MoreOfList) -> views.ListSummary:
    server = workspace.find(command.server_id)
    return list_summary(server.fetch_more(command.kind, one_page=command.one_page))


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
    await server.subscribe(command.uri)
    return server_view(workspace, server)


async def unsubscribe(workspace: Workspace, command: c.Unsubscribe) -> views.ServerView:
    server = workspace.find(command.server_id)
    await server.unsubscribe(command.uri)
    return server_view(workspace, server)


async def set_level(workspace: Workspace, command: c.SetLevel) -> views.ServerView:
    server = workspace.find(command.server_id)
    await server.set_level(command.level)
    return server_view(workspace, server)


async def ping(workspace: Workspace, command: c.Ping) -> views.PingView:
    return views.PingView(await workspace.find(command.server_id).ping())


# -- calls -------------------------------------------------------------------------------------


async def call_tool(workspace: Workspace, command: c.CallTool) -> views.CallView:
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


async def read_resource(workspace: Workspace, command: c.ReadResource) -> views.CallView:
    spec = specs.ResourceRead(
        server_id=command.server_id,
        listed_as=command.listed_as,
        uri=command.uri,
        meta=command.meta,
        timeout_s=command.timeout_s,
    )
    return await start(workspace, spec)


async def get_prompt(workspace: Workspace, command: c.GetPrompt) -> views.CallView:
    spec = specs.PromptGet(
        server_id=command.server_id,
        listed_as=command.listed_as,
        name=command.name,
        arguments=command.arguments,
        meta=command.meta,
        timeout_s=command.timeout_s,
    )
    return await start(workspace, spec)


async def request(workspace: Workspace, command: c.Request) -> views.CallView:
    spec = specs.MethodRequest(
        server_id=command.server_id,
        method=command.method,
        params=_bytes(command.params),
        headers=command.headers,
        timeout_s=command.timeout_s,
    )
    return await start(workspace, spec)


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
    spec = specs.RawMessage(
        server_id=command.server_id,
        data=data,
        headers=command.headers,
        timeout_s=command.timeout_s,
        force=command.force,
    )
    return await start(workspace, spec)


async def replay(workspace: Workspace, command: c.ReplayCall) -> views.CallView:
    stored = await recorded_request(workspace, command.run_id or workspace.bus.run_id, command.seq)
    server_id = command.server_id or stored.event.server_id
    return await start(workspace, specs.RecordedRequest(server_id=server_id, stored=stored))


async def repeat(workspace: Workspace, command: c.RepeatCall) -> views.CallView:
    """As it was asked for: over the client of today, which may be a new one."""
    spec = workspace.calls.find(command.call_id).spec
    if spec is None:
        raise InspectorError("INVALID_REQUEST", "this call cannot be repeated")
    return await start(workspace, spec)


async def cancel(workspace: Workspace, command: c.CancelCall) -> views.CallView:
    return call_view(workspace, await workspace.cancel_call(command.call_id))


async def start(workspace: Workspace, spec: specs.CallSpec) -> views.CallView:
    return call_view(workspace, await start_call(workspace, spec))


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
    c.RepeatCall: repeat,
    c.CancelCall: cancel,
}
