"""mcplens as a script uses it; its tap is always on."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import mcplens


@contextlib.asynccontextmanager
async def open_client(
    target: Sequence[str] | str, concurrency: int
) -> AsyncIterator[Callable[[str], Awaitable[str]]]:
    """A function that calls a tool and gives its text."""
    async with mcplens.connect(
        target, concurrency=concurrency, protocol_version="2025-11-25"
    ) as client:
        await client.list_tools()

        async def call(tool: str) -> str:
            result = await client.call_tool(tool, {"n": 1})
            return result.content[0].text or ""

        yield call
