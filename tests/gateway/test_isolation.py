"""Clients and servers behind one gateway do not see, slow or disturb each other."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from mcplens.app import create_mcp_client, create_proxy_transport
from mcplens.config.views import Globs, View
from mcplens.errors import InspectorError, ServerError
from mcplens.events import FrameSent, InboundReceived
from mcplens.gateway.audit_log import AuditLog, tail
from mcplens.gateway.view_handler import ViewHandler
from mcplens.protocol.frames import Frame
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import Progress
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    http_demo,
    running_gateway,
    texts,
)

pytestmark = pytest.mark.timeout(110)


@pytest_asyncio.fixture
async def demo() -> AsyncIterator[str]:
    async with http_demo() as url:
        yield url


def haiku(text: str) -> Any:
    def answer(request: ServerRequest) -> Any:
        content = {"type": "text", "text": text}
        return {"role": "assistant", "content": content, "model": "test"}

    return answer


# -- clients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_two_clients_with_the_same_ids_and_tokens_get_their_own_answers(
    demo: str, version: str
) -> None:
    async with running_gateway({"demo": {"url": demo}}) as gateway:

        async def use(text: str, steps: int) -> None:
            seen: list[Progress] = []
            async with gateway.connect(protocol_version=version) as client:
                for _ in range(5):
                    seen.clear()
                    arguments = {"steps": steps, "seconds": 0}
                    await client.call_tool("progress-steps", arguments, on_progress=seen.append)
                    assert [one.total for one in seen] == [steps] * steps
                    assert texts(await client.call_tool("echo", {"text": text})) == text

        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(use(f"client {number}", number + 1))


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_question_goes_to_the_client_whose_call_caused_it(demo: str, version: str) -> None:
    async with running_gateway({"demo": {"url": demo}}) as gateway:

        async def use(text: str) -> None:
            async with gateway.connect(protocol_version=version, sampling=haiku(text)) as client:
                for _ in range(3):
                    assert text in texts(await client.call_tool("sample", {"prompt": "write"}))

        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(use(f"the haiku of client {number}"))


async def test_a_question_without_a_link_is_refused_where_several_clients_are_connected() -> None:
    entry = {**STDIO_DEMO, "protocolVersion": OLD}
    async with running_gateway({"demo": entry}) as gateway:
        asked: list[str] = []

        def answer(request: ServerRequest) -> Any:
            asked.append(request.method)
            return haiku("mine")(request)

        async with gateway.connect(protocol_version=OLD, sampling=answer) as first:
            assert "mine" in texts(await first.call_tool("sample", {"prompt": "alone"}))
            async with gateway.connect(protocol_version=OLD, sampling=answer):
                refused = await first.call_tool("sample", {"prompt": "not alone"})
                assert refused.is_error
                assert len(asked) == 1


@pytest.mark.parametrize("server", [OLD, NEW])
async def test_a_server_per_client_asks_each_client_and_gets_its_roots(server: str) -> None:
    entry = {**STDIO_DEMO, "protocolVersion": server, "sessionMode": "per-client"}
    async with running_gateway({"demo": entry}) as gateway:

        async def use(text: str) -> None:
            options = {"sampling": haiku(text), "roots": [f"/tmp/{text}"]}
            async with gateway.connect(protocol_version=OLD, **options) as client:
                assert text in texts(await client.call_tool("sample", {"prompt": "write"}))
                assert f"file:///tmp/{text}" in texts(await client.call_tool("list-roots"))

        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
            for number in range(2):
                group.create_task(use(f"client-{number}"))


async def test_clients_without_sessions_share_one_with_a_server_per_client() -> None:
    roots = {"roots": ["file:///tmp/of-the-entry"]}
    entry = {**STDIO_DEMO, "protocolVersion": OLD, "sessionMode": "per-client", **roots}
    async with running_gateway({"demo": entry}) as gateway:
        options = {"sampling": haiku("mine"), "roots": ["/tmp/of-the-client"]}
        async with gateway.connect(protocol_version=NEW, **options) as client:
            assert "mine" in texts(await client.call_tool("sample", {"prompt": "write"}))
            told = texts(await client.call_tool("list-roots"))
            assert "of-the-entry" in told
            assert "of-the-client" not in told


async def test_a_client_that_leaves_cancels_its_calls(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo}}) as gateway:
        async with gateway.connect() as watching:
            for version in (OLD, NEW):
                before = texts(await watching.call_tool("cancelled-calls")).count("requestId")
                leaving = gateway.connect(protocol_version=version).client
                await leaving.connect()
                started = asyncio.Event()
                tag = leaving.new_tag()
                tag.on_request = lambda entry: started.set()  # noqa: B023 (called in this round)
                async with asyncio.TaskGroup() as group:
                    call = group.create_task(
                        _failing(leaving.call_tool("wait", {"seconds": 3600}, tag=tag))
                    )
                    await started.wait()
                    await leaving.call_tool("echo", {"text": "the server has the call by now"})
                    await leaving.disconnect()
                    await call
                async with asyncio.timeout(PATIENCE_S):
                    while (
                        texts(await watching.call_tool("cancelled-calls")).count("requestId")
                        <= before
                    ):
                        await watching.ping()
        assert gateway.gateway.clients == {}


async def _failing(work: Any) -> None:
    with pytest.raises(InspectorError):
        await work


async def test_a_client_that_never_reads_slows_nobody(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo}}) as gateway:
        address = urlsplit(gateway.origin)
        body = (
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"content-large",'
            b'"arguments":{"kilobytes":8000},"_meta":{'
            b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
            b'"io.modelcontextprotocol/clientCapabilities":{}}}}'
        )
        head = (
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
            "Mcp-Method: tools/call\r\nMcp-Name: content-large\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        silent = [
            socket.create_connection((str(address.hostname), int(address.port or 0)))
            for _ in range(5)
        ]
        try:
            for one in silent:
                one.sendall(head.encode() + body)
            async with asyncio.timeout(PATIENCE_S), gateway.connect() as client:
                for _ in range(20):
                    assert texts(await client.call_tool("echo", {"text": "quick"})) == "quick"
        finally:
            for one in silent:
                one.close()


# -- views -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_what_a_view_hides_cannot_be_reached_by_any_method(
    demo: str, version: str, tmp_path: Path
) -> None:
    view = View(
        separator="none",
        allow=Globs(tools=("demo:echo",), prompts=("simple",), resources=("demo://text",)),
    )
    async with running_gateway({"demo": {"url": demo}}, default_view=view) as gateway:
        log = gateway.gateway.audit_log = AuditLog(tmp_path / "audit.jsonl")
        async with gateway.connect(
            protocol_version=version,
            enforce_capabilities=False,
            capabilities={"extensions": {TASKS_EXTENSION: {}}},
        ) as client:
            assert [one.name for one in await client.list_tools()] == ["echo"]
            assert [one.name for one in await client.list_prompts()] == ["simple"]
            assert [one.uri for one in await client.list_resources()] == ["demo://text"]
            assert await client.list_resource_templates() == []
            hidden: list[Any] = [
                lambda: client.call_tool("add", {"a": 1, "b": 2}),
                lambda: client.call_tool("demo:add", {"a": 1, "b": 2}),
                lambda: client.call_tool("demo__add", {"a": 1, "b": 2}),
                lambda: client.get_prompt("translate"),
                lambda: client.read_resource("demo://json"),
                lambda: client.read_resource("DEMO://json"),
                lambda: client.complete({"type": "ref/prompt", "name": "translate"}, "tone", ""),
                lambda: client.complete(
                    {"type": "ref/resource", "uri": "demo://greeting/{name}"}, "name", ""
                ),
                lambda: client.request("tasks/get", {"taskId": "guessed"}),
            ]
            if version == OLD:
                hidden.append(lambda: client.request("resources/subscribe", {"uri": "demo://note"}))
            for reach in hidden:
                with pytest.raises(ServerError) as caught:
                    await reach()
                assert caught.value.rpc_code in (-32602, -32002)
                assert "hides" not in caught.value.message
        log.close()
        told = {(line["method"], line["name"]): line.get("reason") for line in tail(log.path, 50)}
        tools, uris = ("allow.tools", "allow.resources")
        assert told["tools/call", "add"] == f"the view hides demo:add: {tools} does not name it"
        assert told["tools/call", "demo:add"] == told["tools/call", "add"]
        assert "demo:translate" in (told["prompts/get", "translate"] or "")
        assert f"{uris} does not" in (told["resources/read", "DEMO://json"] or "")
        handler = gateway.gateway.handler_at("/mcp")
        assert isinstance(handler, ViewHandler)
        reasons = {(one.name, one.reason) for one in handler.catalog.hidden}
        assert ("add", "allow.tools does not name it") in reasons


async def test_methods_that_are_not_known_pass_to_one_server_and_to_no_view(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo}}) as gateway:
        for path, said in (("/mcp", "not offered here"), ("/servers/demo/mcp", "is not offered")):
            async with gateway.connect(path) as client:
                with pytest.raises(ServerError, match=said) as caught:
                    await client.request("acme/unheard-of", {"x": 1})
                assert caught.value.rpc_code == -32601
        sent = [
            event.message.method
            for event in gateway.bus.kept()
            if isinstance(event, FrameSent) and isinstance(event.message, Frame)
        ]
        assert sent.count("acme/unheard-of") == 1


async def test_the_proxy_transport_connects_to_one_server(demo: str) -> None:
    async with running_gateway({"a/b": {"url": demo}}, token="secret-token-123") as gateway:
        headers = {"Authorization": "Bearer secret-token-123"}
        transport = create_proxy_transport(gateway.origin, "a/b", headers)
        client = create_mcp_client(transport)
        await client.connect()
        try:
            assert texts(await client.call_tool("echo", {"text": "hi"})) == "hi"
        finally:
            await client.disconnect()


# -- servers -----------------------------------------------------------------------------------


async def test_a_gateway_behind_another_that_leads_back_is_refused(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo}}) as one:
        second = {"back": {"url": one.url()}}
        async with running_gateway(second) as two, asyncio.timeout(PATIENCE_S):
            await two.gateway.settled()
            # The first gateway is given the second one only now, which leads back to it.
            one.configure({"demo": {"url": demo}, "other": {"url": two.url()}})
            await one.gateway.servers.fetch_all_capabilities()
            other = one.gateway.servers.get("other")
            assert other is not None
            assert one.gateway.is_loop(other)
            async with one.connect() as client:
                names = [tool.name for tool in await client.list_tools()]
                assert "echo" in names
                assert [name for name in names if "back" in name] == []


# -- the recording -----------------------------------------------------------------------------


async def test_a_request_to_a_server_names_the_inbound_request_that_it_serves(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo}}) as gateway:
        client_info = {"name": "an agent", "version": "1"}
        async with gateway.connect(client_info=client_info) as client:
            await client.call_tool("echo", {"text": "hi"})
        events = gateway.bus.kept()
        (inbound,) = [
            event
            for event in events
            if isinstance(event, InboundReceived) and event.method == "tools/call"
        ]
        assert inbound.client_name == "an agent"
        (sent,) = [
            event
            for event in events
            if isinstance(event, FrameSent) and event.inbound_seq == inbound.seq
        ]
        assert (sent.server_id, sent.method) == ("demo", "tools/call")
