"""A client that chooses the replica for each of its requests, as a load balancer may."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

import aiohttp

from tests.gateway.harness import OLD

HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": OLD,
}


class Reachable(Protocol):
    """A replica."""

    def url(self, path: str = "/mcp") -> str: ...


class At:
    """A replica in a process of its own."""

    def __init__(self, origin: str) -> None:
        self.origin = origin

    def url(self, path: str = "/mcp") -> str:
        return f"{self.origin}{path}"


class Web:
    """A client that chooses the replica for each of its requests."""

    def __init__(
        self, http: aiohttp.ClientSession, headers: Mapping[str, str] | None = None
    ) -> None:
        self.http = http
        self._headers = {**HEADERS, **(headers or {})}
        self.session_id = ""
        self._number = 0

    async def post(
        self,
        gateway: Reachable,
        message: dict[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        own = {"Mcp-Session-Id": self.session_id} if self.session_id else {}
        sent = self.http.post(
            gateway.url(),
            data=json.dumps(message),
            headers={**self._headers, **own, **(headers or {})},
        )
        async with asyncio.timeout(20), sent as answer:
            self.session_id = answer.headers.get("Mcp-Session-Id", self.session_id)
            text = await answer.text()
            if answer.headers.get("Content-Type", "").startswith("text/event-stream"):
                text = [line for line in text.splitlines() if line.startswith("data: {")][-1][6:]
            return answer.status, json.loads(text) if text else None

    async def ask(
        self,
        gateway: Reachable,
        method: str,
        params: dict[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}
        return await self.post(gateway, message, headers)

    async def begin(self, gateway: Reachable) -> None:
        about = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "web"}}
        status, _ = await self.ask(gateway, "initialize", about)
        assert status == 200
        initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        status, _ = await self.post(gateway, initialized)
        assert status == 202

    async def call(self, gateway: Reachable, name: str, **arguments: Any) -> Any:
        return await self.ask(gateway, "tools/call", {"name": name, "arguments": arguments})

    @asynccontextmanager
    async def stream(
        self, gateway: Reachable, after: str | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        headers = {**self._headers, "Mcp-Session-Id": self.session_id}
        if after is not None:
            headers["Last-Event-ID"] = after
        async with self.http.get(gateway.url(), headers=headers) as answer:
            yield answer


async def events_of(answer: aiohttp.ClientResponse, wanted: str) -> list[tuple[str, str]]:
    """The events (id, data) up to the one whose data has this text."""
    found, event_id = [], ""
    async with asyncio.timeout(20):
        async for raw in answer.content:
            line = raw.decode().rstrip("\n")
            if line.startswith("id: "):
                event_id = line[4:]
            elif line.startswith("data: "):
                found.append((event_id, line[6:]))
                if wanted in line:
                    return found
    raise AssertionError(f"no {wanted} in {found}")
