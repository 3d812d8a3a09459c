"""The demo as clients see it that we did not write: the Python SDK's, in both eras."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from .doors import COMMAND, PATIENCE_S, House

pytestmark = pytest.mark.asyncio(loop_scope="module")

TARGETS = [(target, mode) for target in ("http", "stdio") for mode in ("legacy", "auto")]


async def fill_in(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def speak(context: Any, params: Any) -> types.CreateMessageResult:
    content = types.TextContent(type="text", text="how nice")
    return types.CreateMessageResult(role="assistant", content=content, model="parrot")


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[])


@asynccontextmanager
async def connected(house: House, target: str, mode: str, **options: Any) -> AsyncIterator[Client]:
    server: Any = house.urls["http"]
    if target == "stdio":
        server = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK's, about what 2026-07-28 deprecates
        async with asyncio.timeout(PATIENCE_S * 2), Client(server, mode=mode, **options) as client:
            yield client


@pytest.mark.parametrize(("target", "mode"), TARGETS)
async def test_the_sdks_client_takes_every_list_and_calls_tools(
    house: House, target: str, mode: str
) -> None:
    async with connected(house, target, mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        names: list[str] = []
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            names += [tool.name for tool in page.tools]
            if (cursor := page.next_cursor) is None:
                break
        assert len(names) > 70
        assert len((await client.list_resources()).resources) == 14
        assert len((await client.list_prompts()).prompts) == 4
        added = await client.call_tool("add", {"a": 2, "b": 3})
        assert added.structured_content == {"sum": 5}
        mixed = await client.call_tool("content-mixed", {})
        assert [block.type for block in mixed.content] == ["text", "image", "text", "resource_link"]
        seen: list[float] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            seen.append(progress)

        steps = {"steps": 3, "seconds": 0.01}
        await client.call_tool("progress-steps", steps, progress_callback=report)
        assert seen == [1, 2, 3]
        routed = await client.call_tool("header-region", {"region": "zürich", "query": "x"})
        assert not routed.is_error


@pytest.mark.parametrize(("target", "mode"), TARGETS)
async def test_the_sdks_client_answers_what_it_is_asked(
    house: House, target: str, mode: str
) -> None:
    options: dict[str, Any] = {
        "elicitation_callback": fill_in,
        "sampling_callback": speak,
        "list_roots_callback": roots,
    }
    async with connected(house, target, mode, **options) as client:
        result = await client.call_tool("ask-everything", {})
        assert result.content[0].text == "Ada has 0 roots, and the model says: how nice"  # type: ignore[union-attr]
        two = await client.call_tool("elicit-two", {})
        assert two.content[0].text == "Ada and Ada"  # type: ignore[union-attr]
