"""One side of the tap's reverse proxy: a connection, and where HTTP stands on it.

Used by http.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections import deque
from collections.abc import Iterable
from typing import Final

import h11

READ_BYTES: Final = 64 * 1024
HEAD_BYTES: Final = 64 * 1024


class HttpPeer:
    """One side of the proxy: a connection, and where HTTP stands on it."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, http: h11.Connection
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._http = http
        self._given_back: deque[object] = deque()
        self._unsent: list[bytes] = []
        self._partner: HttpPeer | None = None

    def __repr__(self) -> str:
        return f"<HttpPeer {self._http.our_role} {self._http.states}>"

    @property
    def is_done(self) -> bool:
        """Whether a request and its response have passed, and another may follow."""
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    @property
    def is_reusable(self) -> bool:
        """Whether the server still listens; prepares the next exchange."""
        if self.is_done:
            self._http.start_next_cycle()
        return self._http.our_state is h11.IDLE and not self._reader.at_eof()

    def next_cycle(self) -> None:
        self._http.start_next_cycle()

    def give_back(self, events: Iterable[object]) -> None:
        """Have these be the next events."""
        self._given_back.extend(events)

    def answer_to(self, partner: HttpPeer) -> None:
        """What the partner is sent leaves as soon as there is nothing more of ours to pass on."""
        self._partner = partner

    async def next_event(self) -> object:
        if self._given_back:
            return self._given_back.popleft()
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._partner is not None:
                await self._partner.flush()
            self._http.receive_data(await self._reader.read(READ_BYTES))

    async def until_closed(self) -> None:
        """Wait until the other side closes; what it sends meanwhile is for the next exchange."""
        while data := await self._reader.read(READ_BYTES):
            self._http.receive_data(data)

    async def send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if isinstance(event, h11.Request | h11.Response) and data:
            data = _in_order(data, event.headers.raw_items())
        if data:
            self._unsent.append(data)
        if isinstance(event, h11.EndOfMessage | h11.InformationalResponse):
            await self.flush()

    async def flush(self) -> None:
        """Let go what was sent: head and body in one piece, if they came in one."""
        if self._unsent:
            data, self._unsent = b"".join(self._unsent), []
            self._writer.write(data)
            await self._writer.drain()

    async def refuse(self, status: int, text: str) -> None:
        """Answer a request ourselves, since it cannot be passed on."""
        body = f"{text}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
        ]
        await self.send(h11.Response(status_code=status, headers=headers))
        await self.send(h11.Data(body))
        await self.send(h11.EndOfMessage())

    def close(self) -> None:
        self._writer.close()

    # -- after a switch of protocols ---------------------------------------------------------------

    @property
    def is_switched(self) -> bool:
        return self._http.our_state is h11.SWITCHED_PROTOCOL

    def take_trailing(self) -> bytes:
        """What has come already that is not HTTP any more."""
        return bytes(self._http.trailing_data[0])

    async def read(self) -> bytes:
        """More bytes; none at the end.

        Raises:
            OSError: the connection was reset.
        """
        return await self._reader.read(READ_BYTES)

    async def write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    def end_writing(self) -> bool:
        """Close our half of the connection; False if its kind has no halves (TLS)."""
        if not self._writer.can_write_eof():
            return False
        self._writer.write_eof()
        return True

    def abort(self) -> None:
        """Close the connection as one that broke: the other side sees a reset."""
        kept: socket.socket | None = self._writer.get_extra_info("socket")
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _in_order(head: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    """A head as the other side wrote it: h11 moves `Transfer-Encoding` to its end."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    names = {line.partition(b":")[0].lower() for line in lines}
    given = {name.lower() for name, _ in headers}
    kept = [name + b": " + value for name, value in headers if name.lower() in names]
    added = [line for line in lines if line.partition(b":")[0].lower() not in given]
    return b"\r\n".join([first, *kept, *added, b"", b""])
