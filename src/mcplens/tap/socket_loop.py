"""Moves bytes between sockets, many of them on one thread of its own.

It is what asyncio's transports do, for a third of their CPU: a tap should cost what a bare relay
costs. An end that is sent to faster than it takes keeps one piece, and the other end of its relay
is then not read. Used by http_relay.py and http.py.
"""

from __future__ import annotations

import contextlib
import select
import selectors
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from mcplens.errors import classify
from mcplens.logs import get_logger

_log: Final = get_logger("mcplens.tap")

READ_BYTES: Final = 64 * 1024
READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_IN, _OUT = getattr(select, "EPOLLIN", 1), getattr(select, "EPOLLOUT", 4)
_WAITS: Final = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


Ready = Callable[[int], None]


class SocketLoop:
    """Waits for sockets, and calls what belongs to them; `call` is safe from any thread."""

    def __init__(self) -> None:
        self._poller: _EPoll | _Selector = _EPoll() if hasattr(select, "epoll") else _Selector()
        self._calls: deque[Callable[[], None]] = deque()
        self._waker, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._poller.watch(self._woken, 0, READ, self._wake)
        self._is_over = False
        self._thread = threading.Thread(target=self._work, name="tap sockets", daemon=True)

    def __repr__(self) -> str:
        return f"<SocketLoop {'over' if self._is_over else 'on'}>"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the calls that were asked for, and wait for that."""
        self.call(self._end)
        self._thread.join()

    def call(self, work: Callable[[], None]) -> bool:
        """Have this done by the loop; False if the loop has ended."""
        self._calls.append(work)
        if self._is_over:
            return False
        with contextlib.suppress(OSError):  # it has ended meanwhile
            self._waker.send(b"\0")
        return not self._is_over

    def watch(self, sock: socket.socket, old: int, new: int, ready: Ready) -> None:
        """Wait for other things than before: READ, WRITE, both, or nothing."""
        self._poller.watch(sock, old, new, ready)

    def _work(self) -> None:
        run_once = self._poller.run_once
        while not self._is_over:
            run_once()

    def _wake(self, _: int) -> None:
        with contextlib.suppress(BlockingIOError):
            self._woken.recv(4096)
        while self._calls:
            try:
                self._calls.popleft()()
            except Exception as problem:  # a fault of ours must not end the others
                _log.warning("a connection has failed: %s", classify(problem).message)

    def _end(self) -> None:
        self._is_over = True
        self._poller.close()
        self._waker.close()
        self._woken.close()


class _EPoll:
    """Linux's own way to wait, without the layer of `selectors` above it."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._poll = self._epoll.poll
        self._ready: dict[int, Ready] = {}

    def run_once(self) -> None:
        ready = self._ready
        for number, event in self._poll():
            if number in ready:
                # An error shows when it is read or written.
                ready[number](READ if event == _IN else WRITE if event == _OUT else READ | WRITE)

    def watch(self, sock: socket.socket, old: int, new: int, ready: Ready) -> None:
        number = sock.fileno()
        events = (_IN if new & READ else 0) | (_OUT if new & WRITE else 0)
        if not new:
            del self._ready[number]
            self._epoll.unregister(number)
        elif old:
            self._epoll.modify(number, events)
        else:
            self._ready[number] = ready
            self._epoll.register(number, events)

    def close(self) -> None:
        self._epoll.close()


class _Selector:
    """Everywhere else."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()

    def run_once(self) -> None:
        for key, mask in self._selector.select():
            key.data(mask)

    def watch(self, sock: socket.socket, old: int, new: int, ready: Ready) -> None:
        if not old:
            self._selector.register(sock, new, ready)
        elif not new:
            self._selector.unregister(sock)
        else:
            self._selector.modify(sock, new, ready)

    def close(self) -> None:
        self._selector.close()


class Reader(Protocol):
    """Who is told how an end ends."""

    def ended(self, end: End) -> None: ...
    def failed(self, end: End, problem: OSError) -> None: ...
    def drained(self, end: End) -> None: ...


class End:
    """One end of a relay: a connected socket. Used on the loop's thread only."""

    def __init__(
        self,
        loop: SocketLoop,
        sock: socket.socket,
        reader: Reader,
        received: Callable[[bytes], None],
    ) -> None:
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.is_ended = False  # the other side sends nothing more
        self._loop = loop
        self._sock = sock
        self._recv, self._send = sock.recv, sock.send
        self._is_tls = isinstance(sock, ssl.SSLSocket)
        self._reader = reader
        self._received = received
        self._unsent = b""
        self._is_reading = False
        self._is_finishing = False
        self._is_closed = False
        self._watched = 0

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "ended" if self.is_ended else "open"
        return f"<End {state}, {len(self._unsent)} bytes unsent>"

    @property
    def is_sent(self) -> bool:
        return not self._unsent

    @property
    def has_halves(self) -> bool:
        """Whether it can be closed in one direction only."""
        return not self._is_tls

    # -- reading -----------------------------------------------------------------------------------

    def resume(self) -> None:
        if not self._is_reading and not self.is_ended and not self._is_closed:
            self._is_reading = True
            self._watch()
            if isinstance(self._sock, ssl.SSLSocket) and self._sock.pending():
                self._loop.call(self._read)

    def pause(self) -> None:
        self._is_reading = False
        self._watch()

    def _ready(self, mask: int) -> None:
        try:
            if mask != READ:
                self._write()
            if mask != WRITE:
                self._read()
        except Exception as problem:  # a fault of ours: it ends this connection and no other
            _log.warning("a connection is closed: %s", classify(problem).message)
            self._fail(OSError(classify(problem).message))

    def _read(self) -> None:
        while self._is_reading:
            try:
                data = self._recv(READ_BYTES)
            except _WAITS:
                return
            except OSError as problem:
                self._fail(problem)
                return
            if not data:
                self.is_ended = True
                self.pause()
                self._reader.ended(self)
                return
            self._received(data)
            if not self._is_tls:  # what TLS has read, the selector does not know of
                return

    # -- writing -----------------------------------------------------------------------------------

    def send(self, data: bytes) -> bool:
        """Send this; False if some of it has to wait, until the reader is told `drained`."""
        if self._unsent:
            self._unsent += data
            return False
        try:
            count = self._send(data)
        except _WAITS:
            count = 0
        except OSError as problem:
            self._loop.call(partial(self._fail, problem))
            return False
        if count == len(data):
            return True
        self._unsent = data[count:]
        self._watch()
        self._write()
        return not self._unsent

    def _write(self) -> None:
        if not self._unsent:
            return
        while self._unsent:
            try:
                self._unsent = self._unsent[self._send(self._unsent) :]
            except _WAITS:
                return
            except OSError as problem:
                self._fail(problem)
                return
        self._watch()
        if self._is_finishing:
            self._finish()
        self._loop.call(lambda: self._reader.drained(self))

    def finish(self) -> None:
        """Nothing more is sent; the other side sees that once it has all."""
        self._is_finishing = True
        if not self._unsent:
            self._finish()

    def _finish(self) -> None:
        with contextlib.suppress(OSError):
            if self.has_halves:
                self._sock.shutdown(socket.SHUT_WR)

    # -- ends --------------------------------------------------------------------------------------

    def rest(self) -> bytes:
        """What has come already, of a connection that has failed."""
        parts = []
        with contextlib.suppress(OSError):
            while data := self._sock.recv(READ_BYTES):
                parts.append(data)
        return b"".join(parts)

    def close(self) -> None:
        self._is_reading = False
        self._unsent = b""
        self._watch()
        self._is_closed = True
        if isinstance(self._sock, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):  # it does not wait for an answer
                self._sock.unwrap()
        self._sock.close()

    def abort(self) -> None:
        """Close it as a connection that broke: the other side sees a reset."""
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def _fail(self, problem: OSError) -> None:
        if not self._is_closed:
            self._reader.failed(self, problem)

    def _watch(self) -> None:
        if self._is_closed:
            return
        wanted = (READ if self._is_reading else 0) | (WRITE if self._unsent else 0)
        if wanted != self._watched:
            self._loop.watch(self._sock, self._watched, wanted, self._ready)
            self._watched = wanted
