"""stdio: a line is a message, and the process that started us is the client.

Two threads read and write, since a standard stream may be a pipe, a file or a terminal, and
making it non-blocking would affect other processes that share it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from typing import Final

from mcplens.clock import Clock, within
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer, PeerHandler
from mcplens.inbound.streams import Wakeup
from mcplens.protocol.frames import RequestId
from mcplens.protocol.line_splitter import LineSplitter

_CHUNK_BYTES: Final = 256 * 1024
# After the client closed our stdin: for the answers that are nearly done, and to write them.
_GRACE_S: Final = 0.5


class StdioPeer(Peer):
    """The client that holds our standard streams."""

    kind = "stdio"

    def __init__(self, handler: PeerHandler, limits: Limits, *, reader: int, writer: int) -> None:
        super().__init__(handler, limits)
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._lines = LineSplitter(limits.max_message_bytes)
        self._wakeup = Wakeup()
        self._has_ended = False  # the client closed our stdin
        self._outgoing: list[bytes] = []
        self._size = 0
        self._is_leaving = False
        self._work = threading.Condition()
        self._has_read = threading.Event()  # one chunk at a time is between the thread and the loop

    async def run(
        self, clock: Clock, grace_s: float = _GRACE_S, closed: asyncio.Event | None = None
    ) -> None:
        """Serve until the client closes our stdin and has its answers, or `close` is called."""
        for target in (self._read_all, self._write_all):
            threading.Thread(target=target, name=f"stdio {target.__name__}", daemon=True).start()
        while self.is_open and not self._has_ended:
            await self._wakeup.wait()
        if closed is not None:
            closed.set()
        with contextlib.suppress(TimeoutError):
            await within(clock, grace_s, self._finish())
        self.close("the client closed our stdin")

    async def _finish(self) -> None:
        """Wait until all requests are answered, and the answers written."""
        while self.is_open and (self.is_working or self._size):
            await self._wakeup.wait()
        while self._size:
            await self._wakeup.wait()

    @property
    def is_backed_up(self) -> bool:
        return self._size > self.limits.max_backlog_bytes // 4

    # -- on the loop ---------------------------------------------------------------------------

    def _put(self, data: bytes, during: RequestId | None) -> None:
        size = len(data) + 1
        if self._size and self._size + size > self.limits.max_backlog_bytes:
            self.close("the client reads too slowly")
            return
        self._size += size
        with self._work:
            self._outgoing += (data, b"\n")
            self._work.notify()

    def _shut(self, reason: str) -> None:
        self._wakeup.wake()
        with self._work:
            self._is_leaving = True
            self._work.notify()

    def _take_chunk(self, chunk: bytes) -> None:
        for line in self._lines.feed(chunk):
            if not isinstance(line, bytes) or line.strip():
                self.take(line)
        self._has_read.set()

    def _end(self) -> None:
        rest = self._lines.flush()
        if rest:
            self.take(rest)
        self._has_ended = True
        self._wakeup.wake()

    def _written(self, size: int) -> None:
        self._size -= size
        self._wakeup.wake()

    def _lost(self) -> None:
        self._size = 0
        self.close("the client closed our stdout")

    # -- in threads of their own ---------------------------------------------------------------

    def _read_all(self) -> None:
        while True:
            try:
                chunk = os.read(self._reader, _CHUNK_BYTES)
            except OSError:
                chunk = b""
            if not chunk:
                self._call(self._end)
                return
            self._has_read.clear()
            self._call(self._take_chunk, chunk)
            self._has_read.wait()

    def _write_all(self) -> None:
        while True:
            with self._work:
                while not self._outgoing and not self._is_leaving:
                    self._work.wait()
                if not self._outgoing:
                    return
                parts, self._outgoing = self._outgoing, []
            data = memoryview(b"".join(parts))
            size = len(data)
            try:
                while data:
                    data = data[os.write(self._writer, data) :]
            except OSError:
                self._call(self._lost)
                return
            self._call(self._written, size)

    def _call(self, callback: object, *args: object) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *args)  # type: ignore[arg-type]
        except RuntimeError:  # the loop is closed: nobody is left to tell
            self._has_read.set()


async def serve_stdio(
    handler: PeerHandler,
    clock: Clock,
    *,
    limits: Limits | None = None,
    grace_s: float = _GRACE_S,
    closed: asyncio.Event | None = None,
) -> None:
    """Serve the process that started us; stray prints go to stderr, not between the messages.

    When our stdin is closed, `closed` is set, and requests under way have `grace_s` to be answered.
    """
    sys.stdout.flush()
    reader, writer = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    peer = StdioPeer(handler, limits or Limits(), reader=reader, writer=writer)
    try:
        await peer.run(clock, grace_s, closed)
    finally:
        peer.close()
