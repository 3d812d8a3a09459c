"""One connection of a client, and the one to the server behind it.

Bytes pass as they come, in both directions; of a request only `Host` is changed. Each direction is
taken apart only as far as that needs, and what passes is noted for the recording. A half
that is closed is closed on the other side, a connection that breaks breaks there too, and a side
that does not read stops nothing but itself. Used by http.py.
"""

from __future__ import annotations

import socket
from collections import deque
from typing import Final, Protocol

from mcplens.tap.backlog import Backlog
from mcplens.tap.http_framing import (
    HEAD_BYTES,
    Kind,
    Part,
    RequestFraming,
    ResponseFraming,
    whole_part,
)
from mcplens.tap.http_head import Heads, RequestHead
from mcplens.tap.http_observer import ObservedConnection
from mcplens.tap.message_rewriting import MessageRewriting
from mcplens.tap.socket_loop import End, SocketLoop

_STARTS: Final = (Kind.WHOLE, Kind.HEAD)


class Tap(Protocol):
    """What all relays of a tap share."""

    loop: SocketLoop
    heads: Heads
    backlog: Backlog

    def observe(self, responses: ResponseFraming) -> ObservedConnection: ...
    def connect(self, relay: HttpRelay) -> None: ...
    def rewriting(self) -> MessageRewriting | None: ...
    def closed(self, relay: HttpRelay) -> None: ...


class HttpRelay:
    """A client's connection and the server's; on the loop's thread only."""

    def __init__(self, tap: Tap, sock: socket.socket) -> None:
        self._tap = tap
        self._note = tap.backlog.add
        self._client = End(tap.loop, sock, self, self._client_sent)
        self._server: End | None = None
        asked: deque[str] = deque()
        self._requests = RequestFraming(tap.heads, asked)
        self._responses = ResponseFraming(tap.heads, asked)
        self._observed = tap.observe(self._responses)
        self._rewriting = tap.rewriting()
        # Whether responses are taken apart only when the recording is written.
        self._is_lazy = tap.backlog.is_on and self._rewriting is None
        self._is_connecting = False
        self._is_refused = False
        self._is_over = False
        self._unsent = b""  # until there is a connection to the server
        self._first_to_end: str | None = None
        self._client.resume()

    def __repr__(self) -> str:
        return f"<HttpRelay {self._client!r}, {self._server!r}>"

    # -- what comes --------------------------------------------------------------------------------

    def _client_sent(self, data: bytes) -> None:
        if self._is_refused:
            return
        whole = self._requests.whole(data)
        server = self._server
        if whole is None:
            parts = self._requests.parts(data)
        elif self._is_lazy and server is not None and whole[0].refused_host is None:
            head, body = whole
            # Noted first: an answer must not be seen before its request.
            self._note(self._observed.client_asked, whole, len(data))
            if not server.send(head.passed + body):
                self._client.pause()
            return  # as almost always
        else:
            parts = [whole_part(whole)]
        self._pass_to_server(parts, len(data))
        if self._requests.is_held:
            self._be_exact()
            if self._requests.held_bytes > HEAD_BYTES:
                self._client.pause()

    def _pass_to_server(self, parts: list[Part], size_bytes: int) -> None:
        for part in parts:
            if part.kind in _STARTS and (refusal := _refusal(part)) is not None:
                self._refuse(403, refusal)
                return
        is_first = self._server is None and not self._is_connecting
        if is_first and parts and not any(part.kind in _STARTS for part in parts):
            self._refuse(400, "mcplens tap: this is not an HTTP request")
            return
        if self._rewriting is not None:
            parts = self._rewriting.request(parts)
        self._note(self._observed.client_sent, parts, size_bytes)
        out = parts[0].raw if len(parts) == 1 else b"".join([part.raw for part in parts])
        if self._server is not None:
            if out and not self._server.send(out):
                self._client.pause()
        elif out:
            self._unsent += out
            self._client.pause()
            if not self._is_connecting:
                self._is_connecting = True
                self._tap.connect(self)

    def _server_sent(self, data: bytes) -> None:
        if self._is_lazy:
            # Noted before it leaves: what the client does next must not be seen first.
            self._note(self._observed.server_sent, data, len(data))
            if not self._client.send(data) and self._server is not None:
                self._server.pause()
        else:
            self._pass_to_client(self._responses.feed(data), data)

    def _be_exact(self) -> None:
        """From now on, know where the server's messages begin and end."""
        if self._is_lazy:
            self._is_lazy = False
            self._tap.backlog.read()
            if not self._tap.backlog.is_on:  # nothing was read: it cannot be known any more
                self._responses.switch()

    def _pass_to_client(self, parts: list[Part], data: bytes) -> None:
        if self._rewriting is not None:
            parts = self._rewriting.response(parts)
            data = b"".join([part.raw for part in parts])
        self._note(self._observed.server_answered, parts, len(data))
        if data and not self._client.send(data) and self._server is not None:
            self._server.pause()
        if self._requests.is_held:
            self._decide(parts)

    def _decide(self, parts: list[Part]) -> None:
        """Whether the server has agreed to another protocol."""
        ends = (*_STARTS, Kind.SWITCHED, Kind.BEYOND)
        answers = (part.kind for part in parts if part.kind in ends)
        kind = next(answers, None)
        if kind is not None:
            held = self._requests.release(is_switched=kind not in _STARTS)
            self._client.resume()
            if held:
                self._pass_to_server(held, sum(len(part.raw) for part in held))

    # -- the connection to the server --------------------------------------------------------------

    def connected(self, sock: socket.socket) -> None:
        if self._is_over:
            sock.close()
            return
        self._server = End(self._tap.loop, sock, self, self._server_sent)
        unsent, self._unsent = self._unsent, b""
        if self._server.send(unsent):
            self._client.resume()
        self._server.resume()
        if self._client.is_ended:
            self._server.finish()
            self._close_if_over()

    def not_connected(self, problem: str) -> None:
        """The server cannot be reached, which the client is told."""
        if not self._is_over:
            self._note(self._observed.closed, (problem, True))
            self._refuse(502, f"mcplens tap: {problem}")

    def _refuse(self, status: int, text: str) -> None:
        """Answer a request ourselves, since it cannot be passed on; then read no more of it."""
        body = f"{text}\n".encode()
        reason = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}[status]
        head = (
            f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self._client.send(head.encode() + body)
        self._leave_client()

    def _leave_client(self) -> None:
        """Close it once it has closed: what is left unread then would take back what it is sent."""
        self._is_refused = True
        self._client.finish()
        self._client.resume()
        if self._server is not None:
            self._server.close()
            self._server = None
        self._is_connecting = False
        self._close_if_over()

    # -- ends --------------------------------------------------------------------------------------

    def drained(self, end: End) -> None:
        """What waited for one end was sent: the other is read on."""
        if self._is_over:
            return
        other = self._server if end is self._client else self._client
        if other is not None and (other is not self._client or not self._is_refused):
            other.resume()
        self._close_if_over()

    def ended(self, end: End) -> None:
        if end is self._client:
            self._first_to_end = self._first_to_end or "client"
            if self._server is not None:
                rest = self._requests.eof()
                if rest:
                    self._pass_to_server(rest, 0)
                self._server.finish()
            elif not self._is_connecting or self._is_refused:
                self.close(None)
        else:
            is_left = self._first_to_end == "client"
            self._first_to_end = self._first_to_end or "server"
            reason = self._end_of_first() if is_left else None
            if self._is_lazy:
                self._note(self._observed.server_ended, reason)
            else:
                self._server_ended(reason)
            self._client.finish()
        self._close_if_over()

    def _server_ended(self, reason: str | None) -> None:
        parts = self._responses.eof(reason)
        if self._rewriting is not None:
            parts = [*self._rewriting.response(parts), *self._rewriting.rest()]
            if out := b"".join([part.raw for part in parts]):
                self._client.send(out)
        self._note(self._observed.server_answered, parts)

    def _close_if_over(self) -> None:
        server = self._server
        # A connection that has no halves is closed with the client's.
        is_server_ended = server is None or server.is_ended or not server.has_halves
        is_ended = self._client.is_ended and is_server_ended
        is_sent = self._client.is_sent and (server is None or server.is_sent)
        if is_ended and is_sent and not (server is None and self._is_connecting):
            self.close(None)

    def failed(self, end: End, problem: OSError) -> None:
        """A connection broke: so does the other, unless the client has all of an answer."""
        if self._is_over:
            return
        if end is self._server:
            rest = end.rest()  # a server may refuse a request that it has not read to its end
            if rest:
                self._server_sent(rest)
            self._be_exact()
            if self._responses.is_between:
                self._leave_client()
                return
        self.close(str(problem) or type(problem).__name__, is_reset=True)

    def close(self, problem: str | None, *, is_reset: bool = False) -> None:
        """Close both; `problem` if that cuts short what passes."""
        if self._is_over:
            return
        self._is_over = True
        closed = (self._end_of_first(), False) if problem is None else (problem, True)
        self._note(self._observed.closed, closed)
        for end in (self._client, self._server):
            if end is not None:
                end.abort() if is_reset else end.close()
        self._tap.closed(self)

    def stop(self) -> None:
        """The tap is stopped, whatever passes."""
        self.close(None if self._first_to_end is not None else "the tap was stopped")

    def _end_of_first(self) -> str:
        return f"the {self._first_to_end or 'server'} closed its connection"


def _refusal(part: Part) -> str | None:
    """A page of another site must not reach the server through us by a name of its own."""
    head: RequestHead = part.value[0] if part.kind is Kind.WHOLE else part.value
    if head.refused_host is None:
        return None
    shown = repr(head.refused_host)
    return f"mcplens tap: the Host {shown} is neither this machine nor the address of --listen"
