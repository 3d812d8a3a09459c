"""The streamable HTTP server, on bare asyncio: JSON from `/json/mcp`, a stream from `/stream/mcp`.

`python -m bench.servers.http [--one-core]` prints its port and ends when its stdin does.
"""

from __future__ import annotations

import asyncio
import sys

from bench.cores import share_one_core
from bench.servers.answers import Answers, is_unknown, read_request

_JSON = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n"
_SSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n%s\r\n"
)
_SESSION = b"Mcp-Session-Id: bench-0123456789abcdef\r\n"
_ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
_GONE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
_NO_STREAM = b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST, DELETE\r\nContent-Length: 0\r\n\r\n"


class Connection(asyncio.Protocol):
    """One client's connection: requests in, answers out, in order."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end]
            start = end + 4
            size = _content_length(head)
            if len(self._buffer) < start + size:
                return
            body = self._buffer[start : start + size]
            self._buffer = self._buffer[start + size :]
            self._transport.write(self._respond(head, body))

    def _respond(self, head: bytes, body: bytes) -> bytes:
        verb, path, _ = head.split(b" ", 2)
        if verb == b"DELETE":
            return _GONE
        if verb != b"POST":
            return _NO_STREAM
        request = read_request(body)
        answer = self._answers.to(request)
        if answer is None:
            return _ACCEPTED
        session = _SESSION if request.method == "initialize" else b""
        if is_unknown(answer):
            return _JSON % (b"400 Bad Request", len(answer), b"") + answer
        if path == b"/stream/mcp":
            event = b"event: message\r\ndata: " + answer + b"\r\n\r\n"
            return b"%s%x\r\n%s\r\n0\r\n\r\n" % (_SSE % session, len(event), event)
        return _JSON % (b"200 OK", len(answer), session) + answer


def _content_length(head: bytes) -> int:
    lower = head.lower()
    at = lower.find(b"\r\ncontent-length:")
    return int(lower[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0


async def main() -> None:
    loop = asyncio.get_running_loop()
    answers = Answers()
    server = await loop.create_server(lambda: Connection(answers), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    share_one_core("--one-core" in sys.argv)
    asyncio.run(main())
