"""Clients and servers of both eras, in all four pairs, through both kinds of endpoints."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import CancelledRequest, ServerError
from mcplens.events import LogReceived
from mcplens.session.client import Client
from mcplens.session.question_handler import ServerRequest
from mcplens.session.queue import Progress
from tests.gateway.era_pairs import ROOT_OF_ENTRY, Pair
from tests.gateway.harness import (
    OLD,
    PATIENCE_S,
    RunningGateway,
    texts,
)

pytestmark = [pytest.mark.timeout(40), pytest.mark.slow]


def answer(request: ServerRequest) -> Any:
    """What the client answers to any question."""
    if request.method == "sampling/createMessage":
        text = {"type": "text", "text": "a haiku"}
        return {"role": "assistant", "content": text, "model": "test"}
    if request.params.get("mode") == "url":
        return {"action": "accept"}
    return {"action": "accept", "content": {"name": "Ada"}}


async def test_what_a_server_offers_can_be_used(gateway: RunningGateway, pair: Pair) -> None:
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        assert client.protocol_version == pair.client
        tools = await client.list_tools()
        assert {"echo", "add"} <= {tool.name for tool in tools}
        assert texts(await client.call_tool("echo", {"text": "hello"})) == "hello"
        weather = await client.call_tool("structured-weather", {"city": "Oslo"})
        assert weather.structured_content is not None
        failed = await client.call_tool("fail-result")
        assert failed.is_error
        with pytest.raises(ServerError):
            await client.call_tool("fail-error")
        assert "demo://text" in {one.uri for one in await client.list_resources()}
        assert (await client.read_resource("demo://text")).contents[0].text
        assert await client.list_resource_templates()
        assert "simple" in {one.name for one in await client.list_prompts()}
        assert (await client.get_prompt("simple")).messages
        reference = {"type": "ref/prompt", "name": "translate"}
        assert (await client.complete(reference, "language", "")).completion.values


async def test_progress_has_the_clients_own_token(gateway: RunningGateway, pair: Pair) -> None:
    seen: list[Progress] = []
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        steps = {"steps": 3, "seconds": 0}
        await client.call_tool("progress-steps", steps, on_progress=seen.append)
        assert [one.progress for one in seen] == [1, 2, 3]


async def test_a_cancelled_call_is_cancelled_at_the_server(
    gateway: RunningGateway, pair: Pair
) -> None:
    started = asyncio.Event()
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        tag = client.new_tag()
        tag.on_request = lambda entry: started.set()
        waiting = asyncio.ensure_future(client.call_tool("wait", {"seconds": 3600}, tag=tag))
        await started.wait()
        await client.call_tool("echo", {"text": "the server has the other call by now"})
        waiting.cancel()
        with pytest.raises((asyncio.CancelledError, CancelledRequest)):
            await waiting
        async with asyncio.timeout(PATIENCE_S):
            while "requestId" not in texts(await client.call_tool("cancelled-calls")):
                await client.ping()


async def test_logs_come_from_the_level_that_was_asked_for(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(
        pair.path, protocol_version=pair.client, log_level="warning"
    ) as client:
        await client.call_tool("log-levels")
        levels = [event.level for event in client.kept_events() if isinstance(event, LogReceived)]
        assert levels == ["warning", "error", "critical", "alert", "emergency"]


async def test_questions_reach_the_client_whose_call_caused_them(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(
        pair.path, protocol_version=pair.client, sampling=answer, elicitation=answer
    ) as client:
        assert "a haiku" in texts(await client.call_tool("sample", {"prompt": "a haiku"}))
        assert "Ada" in texts(await client.call_tool("elicit-form", {"form": "name"}))
        assert "Ada" in str((await client.get_prompt("for-you")).messages)


async def test_the_roots_of_a_shared_session_are_the_configured_ones(
    gateway: RunningGateway, pair: Pair
) -> None:
    options: dict[str, Any] = {"protocol_version": pair.client, "roots": ["/tmp/of-the-client"]}
    async with gateway.connect(pair.path, **options) as client:
        told = texts(await client.call_tool("list-roots"))
    # Where both are without sessions, the question is part of the answer to this client's call.
    has_session = OLD in (pair.client, pair.server)
    assert (ROOT_OF_ENTRY in told) is has_session
    assert ("of-the-client" in told) is not has_session


async def test_a_question_that_the_client_cannot_answer_is_refused(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        said = ""
        try:
            refused = await client.call_tool("sample", {"prompt": "a haiku"})
            said = texts(refused) if refused.is_error else ""
        except ServerError as error:
            said = error.message
        assert "sampling" in said


async def test_an_updated_resource_is_announced_to_its_subscriber(
    gateway: RunningGateway, pair: Pair
) -> None:
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        updated = asyncio.Event()
        client.set_notification_handler(
            "notifications/resources/updated", lambda params: updated.set()
        )
        await client.subscribe("demo://note")
        await _until_set(client, "touch-note", updated)


async def test_a_changed_list_is_announced(gateway: RunningGateway, pair: Pair) -> None:
    async with gateway.connect(pair.path, protocol_version=pair.client) as client:
        changed = asyncio.Event()
        client.set_notification_handler(
            "notifications/tools/list_changed", lambda params: changed.set()
        )
        await client.list_tools()
        await _until_set(client, "change-add", changed)


async def _until_set(client: Client, tool: str, event: asyncio.Event) -> None:
    """Call a tool until what it announces has come: a stream may not be open at the first."""
    for _ in range(10):
        await client.call_tool(tool)
        try:
            async with asyncio.timeout(1):
                await event.wait()
                return
        except TimeoutError:
            continue
    raise TimeoutError(f"{tool} announced nothing")
