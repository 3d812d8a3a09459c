"""The plainest possible clients, one per transport, for the smoke tests: bytes in, bytes out.

They do not judge what they get, and they do not import mcplens.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from .run import Server, argv, serve

READ_LIMIT_BYTES = 128 * 1024 * 1024
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "probe", "version": "1"},
}


def request(request_id: Any, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message).encode()


def call(request_id: Any, name: str, **arguments: Any) -> bytes:
    return request(request_id, "tools/call", name=name, arguments=arguments)


class Probe(Protocol):
    async def send(self, frame: bytes) -> None: ...

    async def read_until(self, marker: bytes) -> bytes:
        """Everything received up to and with `marker`, or up to the end of the channel."""
        ...


async def ask(probe: Probe, frame: bytes) -> bytes:
    """Send a request and read until its answer."""
    await probe.send(frame)
    return await probe.read_until(b'"id":%d,' % json.loads(frame)["id"])


async def read_lines(reader: asyncio.StreamReader, marker: bytes) -> bytes:
    received = bytearray()
    while line := await reader.readline():
        received += line
        if marker in line:
            break
    return bytes(received)


class PipeProbe:
    """A stdio server, or anything else that is one stream of bytes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin
        assert process.stdout
        self.process = process
        self.reader, self.writer = process.stdout, process.stdin

    async def send(self, frame: bytes) -> None:
        self.writer.write(frame + b"\n")

    async def read_until(self, marker: bytes) -> bytes:
        return await read_lines(self.reader, marker)


class HttpProbe:
    """A connection for each request, read to its end."""

    def __init__(self, port: int, path: str, headers: tuple[str, ...] = ()) -> None:
        self.port, self.path, self.headers = port, path, headers
        self._received = b""

    async def send(self, frame: bytes) -> None:
        reader, writer = await open_request(self.port, "POST", self.path, frame, *self.headers)
        try:
            self._received += await reader.read()
        except ConnectionResetError:
            self._received += b"RESET"
        writer.close()

    async def read_until(self, marker: bytes) -> bytes:
        received, self._received = self._received, b""
        return received


class SseProbe:
    """A GET stream to read from, a POST for each message."""

    def __init__(self, port: int, reader: asyncio.StreamReader) -> None:
        self.port, self.reader = port, reader
        self.posts: list[bytes] = []
        self.path = ""

    async def open(self) -> None:
        received = await self.read_until(b"data: /messages")
        self.path = received.rpartition(b"data: ")[2].strip().decode()

    async def send(self, frame: bytes) -> None:
        probe = HttpProbe(self.port, self.path)
        await probe.send(frame)
        self.posts.append(await probe.read_until(b""))

    async def read_until(self, marker: bytes) -> bytes:
        return await read_lines(self.reader, marker)


class WsProbe:
    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, frame: bytes) -> None:
        await self.socket.send(frame, text=True)

    async def read_until(self, marker: bytes) -> bytes:
        received = bytearray()
        try:
            while marker not in (frame := await self.socket.recv(decode=False)):
                received += frame + b"\n"
            received += frame
        except ConnectionClosed as closed:
            received += str(closed).encode()
        return bytes(received)


async def open_request(
    port: int, verb: str, path: str, body: bytes, *headers: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Write one HTTP request and leave its answer unread."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=READ_LIMIT_BYTES)
    accept = "text/event-stream" if verb == "GET" else "application/json, text/event-stream"
    lines = [f"{verb} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Accept: {accept}", *headers]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += ["Connection: close", "", ""]
    writer.write("\r\n".join(lines).encode() + body)
    return reader, writer


@asynccontextmanager
async def launch(name: str, *args: str) -> AsyncIterator[PipeProbe]:
    """A stdio server as a process, ended by closing its stdin."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *argv(name, *args),
        cwd=Server([]).cwd,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        limit=READ_LIMIT_BYTES,
    )
    try:
        yield PipeProbe(process)
    finally:
        async with asyncio.timeout(5):
            await process.communicate(b"")


@asynccontextmanager
async def probe(
    name: str, transport: str, *args: str
) -> AsyncIterator[tuple[Probe, Server | None]]:
    """A started server of any transport and a probe connected to it, before any handshake."""
    args = (*args, "--transport", transport)
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            yield await stack.enter_async_context(launch(name, *args)), None
            return
        server = await stack.enter_async_context(serve(name, *args))
        if transport == "http":
            yield HttpProbe(server.port, "/mcp"), server
        elif transport == "sse":
            reader, writer = await open_request(server.port, "GET", "/sse", b"")
            stack.callback(writer.close)
            sse = SseProbe(server.port, reader)
            await sse.open()
            yield sse, server
        else:
            client = connect(server.url, subprotocols=["mcp"], max_size=None)  # type: ignore[list-item]
            yield WsProbe(await stack.enter_async_context(client)), server
