"""The floor over stdio: as little as a client can do that still shows, checks and bounds its calls.

Each frame is stored with time and direction, under the bounds that mcplens has; each envelope is
checked; each call has a timeout. Nothing else. floor_http.py is the same over HTTP.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec

VERSION: Final = "2025-11-25"
TIMEOUT_S: Final = 60.0
# As mcplens while nobody reads its events.
_MAX_FRAMES: Final = 300
_MAX_BYTES: Final = 1024 * 1024


class Envelope(msgspec.Struct):
    """What is checked of a message from the server."""

    jsonrpc: str
    id: int | str | None = None
    method: str | None = None
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Result(msgspec.Struct):
    content: list[_Block]


read_envelope: Final = msgspec.json.Decoder(Envelope).decode
read_result: Final = msgspec.json.Decoder(_Result).decode
encode: Final = msgspec.json.Encoder().encode


class Trace:
    """Frames with time and direction, the oldest dropped."""

    def __init__(self) -> None:
        self._frames: deque[tuple[float, str, bytes]] = deque()
        self._bytes = 0

    def add(self, direction: str, frame: bytes) -> None:
        frames = self._frames
        frames.append((time.time(), direction, frame))
        self._bytes += len(frame)
        while len(frames) > _MAX_FRAMES or self._bytes > _MAX_BYTES:
            self._bytes -= len(frames.popleft()[2])


def check(frame: bytes) -> Envelope:
    """The envelope of a message. Raises ValueError where it is none."""
    envelope = read_envelope(frame)
    if envelope.jsonrpc != "2.0":
        raise ValueError(f"no JSON-RPC message: {frame[:100]!r}")
    return envelope


class StdioFloor(asyncio.SubprocessProtocol):
    """A child process that is spoken to line by line."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._trace = Trace()
        self._waiting: dict[Any, asyncio.Future[msgspec.Raw]] = {}
        self._last_id = 0
        self._parts: list[bytes] = []
        self._stdin: asyncio.WriteTransport
        self.exited: asyncio.Future[None] = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._stdin = stdin

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if b"\n" not in data:
            self._parts.append(data)
            return
        lines = data.split(b"\n")
        if self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
        rest = lines.pop()
        self._parts = [rest] if rest else []
        for line in lines:
            self._line(line)

    def process_exited(self) -> None:
        if not self.exited.done():  # it is cancelled when the program is
            self.exited.set_result(None)

    def _line(self, line: bytes) -> None:
        self._trace.add("in", line)
        envelope = check(line)
        future = self._waiting.pop(envelope.id, None)
        if future is None or future.done():
            return
        if envelope.result:
            future.set_result(envelope.result)
        else:
            future.set_exception(RuntimeError(bytes(envelope.error).decode()))

    async def request(self, method: str, params: Any) -> msgspec.Raw:
        """The result, still encoded. Raises TimeoutError."""
        identity = self._last_id = self._last_id + 1
        future: asyncio.Future[msgspec.Raw] = self._loop.create_future()
        self._waiting[identity] = future
        timer = self._loop.call_later(TIMEOUT_S, self._expire, identity)
        self._send({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})
        try:
            return await future
        finally:
            timer.cancel()

    def notify(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def close(self) -> None:
        self._stdin.close()

    def _send(self, message: dict[str, Any]) -> None:
        line = encode(message)
        self._trace.add("out", line)
        self._stdin.write(line + b"\n")

    def _expire(self, identity: int) -> None:
        future = self._waiting.pop(identity, None)
        if future is not None and not future.done():
            future.set_exception(TimeoutError())


@contextlib.asynccontextmanager
async def connect_stdio(command: Sequence[str]) -> AsyncIterator[StdioFloor]:
    """Start the server and shake hands."""
    loop = asyncio.get_running_loop()
    transport, client = await loop.subprocess_exec(StdioFloor, *command, stderr=None)
    try:
        await client.request("initialize", hello())
        client.notify("notifications/initialized")
        yield client
    finally:
        client.close()
        await client.exited
        transport.close()


def hello() -> dict[str, Any]:
    """The parameters of initialize."""
    info = {"name": "floor", "version": "1"}
    return {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info}


@contextlib.asynccontextmanager
async def open_client(
    target: Sequence[str] | str, concurrency: int
) -> AsyncIterator[Callable[[str], Awaitable[str]]]:
    """A function that calls a tool and gives its text."""
    if isinstance(target, str):
        from bench.contenders.floor_http import connect_http

        connected: Any = connect_http(target)
    else:
        connected = connect_stdio(target)
    async with connected as client:
        await client.request("tools/list", {})

        async def call(tool: str) -> str:
            raw = await client.request("tools/call", {"name": tool, "arguments": {"n": 1}})
            return read_result(raw).content[0].text

        yield call
