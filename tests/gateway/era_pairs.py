"""Clients and servers of both eras: the pairs that tests go through, and a gateway between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    http_demo,
    running_gateway,
)

ROOT_OF_ENTRY = "file:///tmp/of-the-entry"


class Pair(NamedTuple):
    """The eras of client and server, how the server is reached, and the endpoint."""

    client: str
    server: str
    transport: str
    path: str

    def __str__(self) -> str:
        return f"{self.client} to {self.server} over {self.transport} at {self.path}"


PAIRS = [
    Pair(client, server, transport, path)
    for client in (OLD, NEW)
    for server in (OLD, NEW)
    for transport, path in (
        ("http", "/mcp"),
        ("http", "/servers/demo/mcp"),
        ("stdio", "/mcp"),
    )
]


@asynccontextmanager
async def gateway_between(pair: Pair) -> AsyncIterator[RunningGateway]:
    """A gateway in front of the demo server, which speaks the server's era of the pair."""
    async with asyncio.timeout(PATIENCE_S), http_demo() as url:
        entry: dict[str, Any] = {"url": url} if pair.transport == "http" else dict(STDIO_DEMO)
        entry |= {"protocolVersion": pair.server, "roots": [ROOT_OF_ENTRY]}
        async with running_gateway({"demo": entry}) as running:
            yield running
