"""`mcp.Client` of the official SDK, in its mode for 2025-11-25."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from mcp import Client, StdioServerParameters


@contextlib.asynccontextmanager
async def open_client(
    target: Sequence[str] | str, concurrency: int
) -> AsyncIterator[Callable[[str], Awaitable[str]]]:
    """A function that calls a tool and gives its text."""
    server: Any = target
    if not isinstance(target, str):
        server = StdioServerParameters(command=target[0], args=list(target[1:]))
    async with Client(server, mode="legacy", read_timeout_seconds=60) as client:
        assert client.protocol_version == "2025-11-25"
        await client.list_tools()

        async def call(tool: str) -> str:
            result = await client.call_tool(tool, {"n": 1})
            block: Any = result.content[0]
            return str(block.text)

        yield call
