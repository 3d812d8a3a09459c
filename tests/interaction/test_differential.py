"""The same operations through the official SDK's client and through mcplens give the same results.

Compared as plain JSON: what the SDK decoded against the bytes that mcplens kept, and what mcplens
decoded against those bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import mcp
import msgspec
import pytest
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters
from mcp_types import PromptReference, ResourceTemplateReference

import mcplens
from mcplens import ServerError

from .offers import Call
from .scenario import offered, over
from .targets import Door, Target

pytestmark = pytest.mark.asyncio(loop_scope="module")

Outcomes = dict[str, Any]

# Every kind of content that there is.
CONTENTS = {
    "everything": (
        Call("get-tiny-image"),
        Call("get-annotated-message", {"messageType": "error", "includeImage": True}),
        Call("get-resource-links"),
        Call("get-resource-reference"),
    )
}


def is_compared(target: Target) -> bool:
    """The SDK has no WebSocket, memory is a way of our own, and a revision is compared once. Its
    own server takes seconds to start: once for each way that is not only another form of answer."""
    return (
        target.server in ("everything", "sdk_mcp", "good")
        and target.transport not in ("memory", "ws")
        and not (target.revision == "auto" and target.is_stateless)
        and not (target.server == "sdk_mcp" and target.transport == "http-json")
    )


@over(where=is_compared)
async def test_both_clients_get_the_same(door: Door) -> None:
    # Without handlers of ours, so that both are offered the same.
    async with door.connect(request_handlers={}, capabilities={}) as client:
        ours = await _run_all(_Ours(client), door)
    async with _sdk_client(door) as theirs_client:
        theirs = await _run_all(_Theirs(theirs_client), door)
    assert ours.keys() == theirs.keys()
    for operation, outcome in ours.items():
        assert (operation, outcome) == (operation, theirs[operation])


class _Ours:
    """The operations by mcplens; each gives what came, checked against what it became."""

    def __init__(self, client: mcplens.Client) -> None:
        self._client = client

    async def handshake(self) -> Any:
        client = self._client
        facts = [client.server_info, client.capabilities, client.instructions]
        return [client.protocol_version, *facts]

    async def list_all(self, kind: str) -> Any:
        kind = {"templates": "resource_templates"}.get(kind, kind)
        return [_checked(item) for item in await getattr(self._client, f"list_{kind}")()]

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return _checked(await self._client.call_tool(name, arguments))

    async def progress(self, name: str, arguments: dict[str, Any]) -> Any:
        reports: list[Any] = []
        await self._client.call_tool(name, arguments, on_progress=reports.append)
        return [[report.progress, report.total, report.message] for report in reports]

    async def read(self, uri: str) -> Any:
        return _checked(await self._client.read_resource(uri))

    async def get(self, name: str, arguments: dict[str, Any]) -> Any:
        return _checked(await self._client.get_prompt(name, arguments))

    async def complete(self, ref: dict[str, str], name: str, value: str, context: Any) -> Any:
        return _checked(await self._client.complete(ref, name, value, context))

    @staticmethod
    def error(problem: Exception) -> Any:
        assert isinstance(problem, ServerError)
        return [problem.rpc_code, problem.rpc_message, problem.data]


class _Theirs:
    """The operations by the SDK's client."""

    def __init__(self, client: mcp.Client) -> None:
        self._client = client

    async def handshake(self) -> Any:
        client = self._client
        facts = [_dumped(client.server_info), _dumped(client.server_capabilities)]
        return [client.protocol_version, *facts, client.instructions]

    async def list_all(self, kind: str) -> Any:
        method, key = {"templates": ("list_resource_templates", "resourceTemplates")}.get(
            kind, (f"list_{kind}", kind)
        )
        fetch, items, cursor = getattr(self._client, method), [], None
        while True:
            page = _dumped(await fetch(cursor=cursor))
            items += page[key]
            if (cursor := page.get("nextCursor")) is None:
                return items

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        return _dumped(await self._client.call_tool(name, arguments))

    async def progress(self, name: str, arguments: dict[str, Any]) -> Any:
        reports: list[Any] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            reports.append([progress, total, message])

        await self._client.call_tool(name, arguments, progress_callback=hear)
        return reports

    async def read(self, uri: str) -> Any:
        return _dumped(await self._client.read_resource(uri))

    async def get(self, name: str, arguments: dict[str, Any]) -> Any:
        return _dumped(await self._client.get_prompt(name, arguments))

    async def complete(self, ref: dict[str, str], name: str, value: str, context: Any) -> Any:
        kinds: dict[str, type[PromptReference | ResourceTemplateReference]] = {
            "ref/prompt": PromptReference,
            "ref/resource": ResourceTemplateReference,
        }
        typed = kinds[ref["type"]].model_validate(ref)
        return _dumped(await self._client.complete(typed, {"name": name, "value": value}, context))

    @staticmethod
    def error(problem: Exception) -> Any:
        assert isinstance(problem, mcp.MCPError)
        return [problem.error.code, problem.error.message, problem.error.data]


async def _run_all(side: _Ours | _Theirs, door: Door) -> Outcomes:
    return {
        name: _normalised(await _outcome(side, work))
        for name, work in _operations(side, door).items()
    }


def _operations(side: _Ours | _Theirs, door: Door) -> dict[str, Callable[[], Awaitable[Any]]]:
    """What this server offers, as work to do; the unknown things are refused by every server."""
    offer, target, unknown = door.target.offer, door.target, Call("no_such_thing")
    prompt, progress = offered(offer.prompt), offer.progress
    resource, template = offered(offer.resource), offered(offer.template)
    work: dict[str, Callable[[], Awaitable[Any]]] = {"handshake": side.handshake}
    for kind in ("tools", "resources", "templates", "prompts"):
        work[f"list {kind}"] = partial(side.list_all, kind)
    calls = [offer.text, offered(offer.structured), offer.failing, unknown]
    calls += CONTENTS.get(target.server, ())
    for call in calls:
        title = f"call {call.name} {call.arguments}"
        work[title] = partial(side.call, call.name, call.inside(door.folder))
    if progress is not None and target.transport != "http-json":  # there it comes too late, if ever
        work["progress"] = lambda: side.progress(progress.name, progress.arguments)
    work["read resource"] = lambda: side.read(resource[0])
    work["read template"] = lambda: side.read(template[1])
    work["read unknown"] = lambda: side.read("memo://nowhere")
    work["get prompt"] = lambda: side.get(prompt.name, prompt.arguments)
    work["get unknown prompt"] = lambda: side.get(unknown.name, {})
    for number, one in enumerate(offer.completions):
        work[f"complete {number}"] = partial(
            side.complete, one.ref, one.argument, one.value, one.context
        )
    return work


async def _outcome(side: _Ours | _Theirs, work: Callable[[], Awaitable[Any]]) -> Any:
    try:
        return await work()
    except (ServerError, mcp.MCPError) as problem:
        return {"error": side.error(problem)}


def _sdk_client(door: Door) -> mcp.Client:
    target = door.target
    mode = "auto" if target.is_stateless else "legacy"
    if target.transport == "stdio":
        command, *arguments = door.address
        server = StdioServerParameters(command=command, args=arguments, cwd=door.options.get("cwd"))
        return mcp.Client(server, mode=mode)
    if target.transport == "sse":
        return mcp.Client(sse_client(door.address), mode=mode)
    return mcp.Client(door.address, mode=mode)


def _checked(result: Any) -> Any:
    """The bytes of a result, decoded here, once they agree with what mcplens made of them."""
    whole = json.loads(result.raw)
    decoded = msgspec.to_builtins(result)
    kept = {key: value for key, value in decoded.items() if not key.startswith("$mcplens")}
    assert _is_part(kept, whole), (kept, whole)
    return whole


def _is_part(value: Any, whole: Any) -> bool:
    """Whether all that was decoded stands in the original; what is absent there is a default."""
    if isinstance(value, dict) and isinstance(whole, dict):
        return all(
            _is_part(item, whole[key]) if key in whole else item in (None, False)
            for key, item in value.items()
        )
    if isinstance(value, list) and isinstance(whole, list):
        return len(value) == len(whole) and all(map(_is_part, value, whole))
    return bool(value == whole)


def _dumped(model: Any) -> Any:
    """A model of the SDK as the JSON that it was made of."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _normalised(value: Any) -> Any:
    """Without the time of day, which server-everything writes into some resources."""
    return json.loads(re.sub(r"\d+:\d\d:\d\d [AP]M", "now", json.dumps(value)))
