"""A server's standard streams, line by line: read in bites, written at once or kept in a backlog.

Used by the stdio transport alone, which knows what the lines mean.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from mcplens.protocol.frames import Malformed
from mcplens.protocol.line_splitter import LineSplitter
from mcplens.transports.child_process import ChildProcess

# Bytes that wait for a server which does not read its stdin.
_BACKLOG_BYTES: Final = 64 * 1024 * 1024

# A flood of short lines is taken in bites, so that other servers get their turn of the loop; a long
# line in gulps.
_BITE_BYTES: Final = 16 * 1024
_GULP_BYTES: Final = 256 * 1024
_MANY_LINES: Final = 32


class PipeReader(asyncio.Protocol):
    """One output of the server, cut into lines."""

    def __init__(
        self,
        splitter: LineSplitter,
        on_line: Callable[[bytes | Malformed], None],
        on_end: Callable[[], None],
        on_part: Callable[[], None] | None = None,
    ) -> None:
        self._splitter = splitter
        self._on_line = on_line
        self._on_end = on_end
        self._on_part = on_part
        self._transport: Any = None
        self.lines_at_once = 0  # in the last piece that came
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, pipe: Any, *arguments: Any) -> PipeReader:
        loop = asyncio.get_running_loop()
        _, reader = await loop.connect_read_pipe(lambda: cls(*arguments), pipe)
        return reader

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        on_line = self._on_line
        lines = self._splitter.feed(data)
        count = self.lines_at_once = len(lines)
        for line in lines:
            on_line(line)
        if self._on_part is not None and self._splitter.unfinished:
            self._on_part()
        # asyncio's pipe transport reads at most this much in one turn of the loop.
        self._transport.max_size = _BITE_BYTES if count > _MANY_LINES else _GULP_BYTES

    def connection_lost(self, exc: Exception | None) -> None:
        self.flush()
        if not self.closed.done():
            self.closed.set_result(None)
        self._on_end()

    @property
    def unfinished(self) -> bytes:
        return self._splitter.unfinished

    def flush(self) -> None:
        """The half line that a stream may end with."""
        rest = self._splitter.flush()
        if rest is not None:
            self._on_line(rest)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class PipeWriter(asyncio.BaseProtocol):
    """The server's stdin: written at once, or kept in a bounded backlog while it does not read."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._call_soon = asyncio.get_running_loop().call_soon
        self._is_paused = False
        self._backlog: deque[bytes] = deque()
        self._backlog_bytes = 0
        self._is_ending = False

    @classmethod
    async def open(cls, child: ChildProcess) -> PipeWriter:
        loop = asyncio.get_running_loop()
        transport, writer = await loop.connect_write_pipe(cls, child.stdin)
        writer._transport = transport
        return writer

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._transport is None or self._transport.is_closing()

    def write(self, data: bytes, gather: bool = False) -> str | None:
        """Send a line, or say what is wrong with the server.

        Gathered are the lines of one turn of the loop, in one write, since each wakes the server.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            return "has closed its stdin"
        if self._is_paused:
            if self._backlog_bytes + len(data) > _BACKLOG_BYTES:
                return f"does not read its stdin: {self._backlog_bytes} bytes wait"
        elif not self._backlog:
            if not gather:
                transport.write(data + b"\n")
                return None
            self._call_soon(self._flush)
        self._backlog.append(data)
        self._backlog_bytes += len(data)
        return None

    def _flush(self) -> None:
        """Write what was gathered, unless the server stopped reading meanwhile."""
        if self._backlog and not self._is_paused and self._transport is not None:
            data = b"\n".join([*self._backlog, b""])
            self._backlog.clear()
            self._backlog_bytes = 0
            self._transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._backlog.clear()

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        while self._backlog and not self._is_paused and self._transport is not None:
            data = self._backlog.popleft()
            self._backlog_bytes -= len(data)
            self._transport.write(data + b"\n")
        if self._is_ending and not self._backlog and self._transport is not None:
            self._transport.close()

    def close(self, *, at_once: bool) -> None:
        """Close stdin after what was written; at once, without it."""
        transport = self._transport
        if transport is None:
            return
        if not transport.is_closing():
            self._flush()
        if at_once:
            # A second close of an asyncio pipe breaks it, unless data still waits to be written.
            if not transport.is_closing() or transport.get_write_buffer_size():
                transport.abort()
        elif self._backlog:
            self._is_ending = True
        else:
            transport.close()
