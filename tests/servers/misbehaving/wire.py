"""HTTP/1.1 by hand: just enough to read a request whole and to write an answer that is wrong."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus

HEAD_LIMIT_BYTES = 256 * 1024


@dataclass
class Request:
    verb: str
    path: str
    headers: dict[str, str]  # names in lower case
    body: bytes


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request on a connection, or None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        verb, path, _ = lines[0].split(" ", 2)
        pairs = [line.partition(":") for line in lines[1:] if line]
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await _read_body(reader, headers)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    return Request(verb, path, headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


class Wire:
    """The answering side of one connection."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.is_streaming = False

    async def raw(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def head(self, status: int, **headers: object) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        await self.raw("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def respond(
        self, status: int, body: bytes = b"", kind: str | None = None, **headers: object
    ) -> None:
        if kind:
            headers["Content_Type"] = kind
        await self.head(status, **headers, Content_Length=len(body))
        await self.raw(body)

    async def open_sse(self) -> None:
        self.is_streaming = True
        await self.head(200, Content_Type="text/event-stream", Transfer_Encoding="chunked")

    async def event(
        self,
        data: bytes,
        *,
        event_id: str | None = None,
        retry_ms: int | None = None,
        name: str = "message",
    ) -> None:
        retry = b"" if retry_ms is None else b"retry: %d\n" % retry_ms
        await self.chunk(retry + event_bytes(data, event_id, name))

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    async def end_sse(self) -> None:
        self.is_streaming = False
        await self.raw(b"0\r\n\r\n")

    async def cut(self) -> None:
        """Close the connection where it stands; a chunked body is then visibly incomplete."""
        self.writer.close()
        await self.writer.wait_closed()


def event_bytes(data: bytes, event_id: str | None = None, name: str = "message") -> bytes:
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {name}\ndata: ".encode() + data + b"\n\n"
