"""The floor over streamable HTTP: aiohttp, and what floor.py does with every frame."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec

from bench.contenders.floor import TIMEOUT_S, VERSION, Trace, check, encode, hello


class HttpFloor:
    """One POST per message, answered by JSON or by a stream that has the answer in it."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url
        self._trace = Trace()
        self._last_id = 0
        self._headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }

    async def request(self, method: str, params: Any) -> msgspec.Raw:
        """The result, still encoded. Raises TimeoutError."""
        identity = self._last_id = self._last_id + 1
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        for frame in await self._post(message):
            envelope = check(frame)
            if envelope.id == identity and envelope.result:
                return envelope.result
        raise RuntimeError(f"{method} was not answered")

    async def shake_hands(self) -> None:
        await self.request("initialize", hello())
        self._headers["MCP-Protocol-Version"] = VERSION
        await self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _post(self, message: dict[str, Any]) -> list[bytes]:
        data = encode(message)
        self._trace.add("out", data)
        async with self._session.post(self._url, data=data, headers=self._headers) as response:
            body = await response.read()
            if "Mcp-Session-Id" in response.headers:
                self._headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
            if response.status >= 300:
                raise RuntimeError(f"HTTP {response.status}: {body[:100]!r}")
            is_stream = response.headers.get("Content-Type", "").startswith("text/event-stream")
        frames = _data_in(body) if is_stream else [body]
        for frame in frames:
            self._trace.add("in", frame)
        return frames


def _data_in(stream: bytes) -> list[bytes]:
    """The data of events whose data is one line, as JSON always is."""
    return [line[6:] for line in stream.splitlines() if line.startswith(b"data: ")]


@contextlib.asynccontextmanager
async def connect_http(url: str) -> AsyncIterator[HttpFloor]:
    """Open a session."""
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)
    ) as session:
        client = HttpFloor(session, url)
        await client.shake_hands()
        yield client
