"""What several clients of one gateway share at a server, and what each of them keeps for itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import pytest_asyncio

from mcplens.config.views import View
from mcplens.errors import ServerError
from mcplens.events import FrameSent, LogReceived
from mcplens.protocol.frames import Frame
from mcplens.session.client import Client
from mcplens.session.question_handler import ServerRequest
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    http_demo,
    running_gateway,
    texts,
)

pytestmark = pytest.mark.timeout(60)


@pytest_asyncio.fixture
async def demo() -> AsyncIterator[str]:
    async with asyncio.timeout(PATIENCE_S), http_demo() as url:
        yield url


def sent(gateway: RunningGateway, method: str) -> list[dict[str, Any]]:
    """The params of the requests of a method that servers were sent."""
    return [
        json.loads(event.message.raw).get("params", {})
        for event in gateway.bus.kept()
        if isinstance(event, FrameSent)
        and event.method == method
        and isinstance(event.message, Frame)
    ]


async def until(is_so: Callable[[], bool], client: Client) -> None:
    """Wait for what another task of the gateway does; each round is a round trip."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():
            await client.ping()


def levels_of(client: Client) -> list[str]:
    return [event.level for event in client.kept_events() if isinstance(event, LogReceived)]


async def test_each_client_has_the_log_level_that_it_asked_for(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo, "protocolVersion": OLD}}) as gateway:

        def levels() -> list[Any]:
            return [params["level"] for params in sent(gateway, "logging/setLevel")]

        async with gateway.connect(protocol_version=OLD, log_level="error") as quiet:
            async with gateway.connect(protocol_version=OLD, log_level="debug") as verbose:
                await quiet.call_tool("log-levels")
                await verbose.call_tool("log-levels")
                assert levels_of(quiet) == ["error", "critical", "alert", "emergency"]
                assert len(levels_of(verbose)) == 8
                assert levels() == ["error", "debug"]
            await until(lambda: levels() == ["error", "debug", "error"], quiet)


async def test_a_subscription_is_made_once_and_ended_by_the_last_client(demo: str) -> None:
    async with running_gateway({"demo": {"url": demo, "protocolVersion": OLD}}) as gateway:
        heard = {name: asyncio.Event() for name in ("one", "two", "new")}

        def hear(client: Client, name: str) -> None:
            client.set_notification_handler(
                "notifications/resources/updated", lambda _: heard[name].set()
            )

        async with gateway.connect(protocol_version=OLD) as one:
            async with (
                gateway.connect(protocol_version=OLD) as two,
                gateway.connect(protocol_version=NEW) as new,
            ):
                for client, name in ((one, "one"), (two, "two"), (new, "new")):
                    hear(client, name)
                    await client.subscribe("demo://note")
                assert len(sent(gateway, "resources/subscribe")) == 1
                await one.call_tool("touch-note")
                for event in heard.values():
                    await event.wait()
                await two.unsubscribe("demo://note")
            await one.call_tool("touch-note")
            assert sent(gateway, "resources/unsubscribe") == []
            await one.unsubscribe("demo://note")
            await until(lambda: len(sent(gateway, "resources/unsubscribe")) == 1, one)


@pytest.mark.parametrize("version", [OLD, NEW])
@pytest.mark.parametrize("server", [OLD, NEW])
async def test_meta_and_trace_context_pass_untouched(demo: str, version: str, server: str) -> None:
    async with (
        running_gateway({"demo": {"url": demo, "protocolVersion": server}}) as gateway,
        gateway.connect(protocol_version=version) as client,
    ):
        trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        meta = {"traceparent": trace, "acme/x": {"y": [1, 2.50, None]}}
        await client.call_tool("echo", {"text": "traced"}, meta=meta)
        (params,) = sent(gateway, "tools/call")
        given = params["_meta"]
        assert {key: given[key] for key in meta} == meta


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_renamed_tool_reaches_a_server_that_compares_headers(
    demo: str, version: str
) -> None:
    view = View(rename={"demo:echo": "say"})
    servers = {"demo": {"url": demo, "protocolVersion": NEW}}
    async with (
        running_gateway(servers, default_view=view) as gateway,
        gateway.connect(protocol_version=version) as client,
    ):
        for name in ("say", "demo:echo"):
            assert texts(await client.call_tool(name, {"text": "hi"})) == "hi"
        assert texts(await client.call_tool("demo__add", {"a": 1, "b": 2})) == "3"
        assert (await client.get_prompt("demo__simple")).messages


async def test_unknown_names_fetch_the_lists_once_for_all(demo: str) -> None:
    async with (
        running_gateway({"demo": {"url": demo}}) as gateway,
        gateway.connect(concurrency=30) as client,
    ):
        await client.list_tools()
        before = len(sent(gateway, "tools/list"))

        async def call(number: int) -> None:
            with pytest.raises(ServerError, match="Unknown tool") as refused:
                await client.call_tool(f"no-such-tool-{number}")
            assert refused.value.rpc_code == -32602

        await asyncio.gather(*(call(number) for number in range(20)))
        pages = len(sent(gateway, "tools/list")) - before
        await call(21)  # too soon for another
        assert len(sent(gateway, "tools/list")) - before == pages
        assert 0 < pages <= 10  # of one fetch; the demo's list has several pages


async def test_a_question_of_another_client_can_be_neither_seen_nor_answered() -> None:
    """2026-07-28: what names a suspended call is good for its own caller and request alone."""
    views = tuple(
        View(name=name, separator="none", token=f"the-token-of-view-{name}") for name in "ab"
    )
    entry = {**STDIO_DEMO, "protocolVersion": OLD}
    async with (
        asyncio.timeout(PATIENCE_S),
        running_gateway({"demo": entry}, views=views, token="the-main-token-of-it") as gateway,
    ):

        def connect(name: str) -> Any:
            headers = {"Authorization": f"Bearer the-token-of-view-{name}"}
            capabilities: dict[str, Any] = {"elicitation": {"form": {}}}
            return gateway.connect(
                f"/mcp/{name}", protocol_version=NEW, headers=headers, capabilities=capabilities
            )

        call = {"name": "elicit-form", "arguments": {"form": "name"}}
        async with connect("a") as owner, connect("b") as thief:
            asked = (await owner.request("tools/call", call)).value
            assert asked["resultType"] == "input_required"
            (key,) = asked["inputRequests"]
            answer = {"action": "accept", "content": {"name": "Mallory"}}
            again = {
                **call,
                "requestState": asked["requestState"],
                "inputResponses": {key: answer},
            }
            with pytest.raises(ServerError, match="requestState"):
                await thief.request("tools/call", again)
            other = {**again, "arguments": {"form": "all"}}
            with pytest.raises(ServerError, match="requestState"):
                await owner.request("tools/call", other)
            answer["content"] = {"name": "Ada"}
            assert "Ada" in str((await owner.request("tools/call", again)).value)
            with pytest.raises(ServerError, match="requestState"):
                await owner.request("tools/call", again)  # good for one return


async def test_an_answer_to_another_clients_question_changes_nothing(demo: str) -> None:
    """2025-11-25: ids of questions are the same for each client, and small."""

    def name(text: str) -> Any:
        def answer(_: ServerRequest) -> Any:
            return {"action": "accept", "content": {"name": text}}

        return answer

    async with (
        running_gateway({"demo": {"url": demo, "protocolVersion": OLD}}) as gateway,
        gateway.connect(protocol_version=OLD, elicitation=name("Ada")) as owner,
        gateway.connect(protocol_version=OLD) as thief,
    ):
        forged = {"action": "accept", "content": {"name": "Mallory"}}
        for number in range(1, 6):
            answer = {"jsonrpc": "2.0", "id": number, "result": forged}
            await thief.send_raw(json.dumps(answer).encode())
        assert "Ada" in texts(await owner.call_tool("elicit-form", {"form": "name"}))
