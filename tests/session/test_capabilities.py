"""What the server did not declare is not sent, unless one insists."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mcplens.errors import InspectorError, ServerError
from mcplens.session.client import Client

from .scripted import STATELESS, Refuse, Rig, ScriptedServer

OPERATIONS: dict[str, Callable[[Client], Awaitable[Any]]] = {
    "tools/list": lambda client: client.list_tools(),
    "tools/call": lambda client: client.call_tool("add"),
    "resources/list": lambda client: client.list_resources(),
    "resources/templates/list": lambda client: client.list_resource_templates(),
    "resources/read": lambda client: client.read_resource("file:///a"),
    "resources/subscribe": lambda client: client.subscribe("file:///a"),
    "resources/unsubscribe": lambda client: client.unsubscribe("file:///a"),
    "prompts/list": lambda client: client.list_prompts(),
    "prompts/get": lambda client: client.get_prompt("p"),
    "completion/complete": lambda client: client.complete({"type": "ref/prompt"}, "a", "b"),
    "logging/setLevel": lambda client: client.set_level("info"),
    "tasks/list": lambda client: client.request("tasks/list"),
}


@pytest.mark.parametrize("method", OPERATIONS)
async def test_a_method_whose_capability_is_missing_is_not_sent(method: str) -> None:
    async with Rig(ScriptedServer(capabilities={})) as rig:
        with pytest.raises(InspectorError, match=method) as problem:
            await OPERATIONS[method](rig.client)
        assert problem.value.code == "CAPABILITY_NOT_SUPPORTED"
        assert problem.value.category == "protocol"
        assert "enforce_capabilities=False" in problem.value.message
        assert rig.server.sent(method) == []


@pytest.mark.parametrize("method", OPERATIONS)
async def test_for_testing_it_is_sent_all_the_same(method: str) -> None:
    server = ScriptedServer({method: Refuse(-32601, "I said so")}, capabilities={})
    async with Rig(server, enforce_capabilities=False) as rig:
        with pytest.raises(ServerError, match="I said so"):
            await OPERATIONS[method](rig.client)
        assert len(server.sent(method)) == 1


async def test_what_needs_no_capability_is_always_sent() -> None:
    async with Rig(ScriptedServer({"my/own": {"x": 1}}, capabilities={})) as rig:
        assert await rig.client.ping() == 0.0
        assert (await rig.client.request("my/own")).value == {"x": 1}


async def test_raw_bytes_are_never_held_back() -> None:
    async with Rig(ScriptedServer(capabilities={})) as rig:
        frame = await rig.client.send_raw(b'{"jsonrpc":"2.0","id":"r","method":"tools/list"}')
        assert frame is not None
        assert frame.id == "r"


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe"])
async def test_what_the_stateless_era_has_not_is_not_sent_there(method: str) -> None:
    async with Rig(ScriptedServer(is_stateless=True), protocol_version=STATELESS) as rig:
        with pytest.raises(InspectorError, match=STATELESS) as problem:
            await rig.client.request(method, {})
        assert problem.value.code == "CAPABILITY_NOT_SUPPORTED"
        assert rig.server.sent(method) == []


async def test_a_capability_that_a_reconnect_brought_counts_at_once() -> None:
    async with Rig(ScriptedServer(capabilities={}), max_retries=1) as rig:
        with pytest.raises(InspectorError, match="tools"):
            await rig.client.list_tools()
        rig.server.capabilities = {"tools": {}}
        rig.server.leave()
        await rig.settle()
        await rig.advance(1)
        assert rig.client.capabilities == {"tools": {}}
        assert await rig.client.list_tools()
