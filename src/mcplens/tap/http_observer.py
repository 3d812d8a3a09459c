"""The HTTP exchanges of one connection between a client and its server, published.

Bodies are collected within a limit; messages in them go to the conversation. What is compressed is
decompressed for the recording only. Reads from the backlog what http_relay.py has noted.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from mcplens.auth.masking import mask_body
from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.events import (
    FrameSent,
    HttpBytesReceived,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    Remark,
)
from mcplens.known_secrets import known_secrets
from mcplens.protocol.frames import Message, parse, too_long
from mcplens.protocol.sse import SseParser
from mcplens.tap.conversation import Conversation
from mcplens.tap.http_framing import Kind, Part, ResponseFraming
from mcplens.tap.http_head import RequestHead, ResponseHead
from mcplens.tap.websocket import (
    NotFrames,
    SocketClosed,
    SocketMessage,
    SocketReader,
    negotiated_deflate,
)

# A longer body is passed on like any other, but only its start is recorded.
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
_KEPT_BYTES: Final = 64 * 1024

Side = Literal["client", "server"]
_Feed = Callable[[bytes], bytes]


class ObservedConnection:
    """The exchanges of one connection, in their order."""

    def __init__(
        self,
        conversation: Conversation,
        publish: Publisher,
        clock: Clock,
        origin: str,
        responses: ResponseFraming,
    ) -> None:
        self._conversation = conversation
        self._publish = publish
        self._clock = clock
        # `origin` is what follows the scheme in the address of the server.
        self._origins = (f"http{origin}", f"ws{origin}")
        self._responses = responses
        self._asking: ObservedExchange | None = None  # its request is not whole
        self._waiting: deque[ObservedExchange] = deque()  # for the end of their responses

    def __repr__(self) -> str:
        return f"<ObservedConnection to {self._origins[0]}, {len(self._waiting)} exchanges>"

    def client_sent(self, parts: list[Part]) -> None:
        for kind, value, _ in parts:
            if kind is Kind.WHOLE:
                head, body = value
                self._began(head).asked(body)
            elif kind is Kind.HEAD:
                self._asking = self._began(value)
            elif kind is Kind.PROBLEM:
                self._publish(Remark(message=f"the client sent {value}"))
            elif kind is Kind.BEYOND:
                self._beyond("client", value)
            elif self._asking is not None:
                if kind is Kind.DATA:
                    self._asking.request_data(value)
                elif kind is Kind.END:
                    self._asking.request_ended()
                    self._asking = None

    def _began(self, head: RequestHead) -> ObservedExchange:
        origin = self._origins[head.is_websocket]
        exchange = ObservedExchange(self._conversation, self._publish, self._clock, head, origin)
        if head.learn():
            known_secrets.learn_headers(dict(head.headers))
            known_secrets.learn_url(origin + head.target)
        self._waiting.append(exchange)
        return exchange

    def server_sent(self, data: bytes) -> None:
        """Bytes that nobody has taken apart."""
        self.server_answered(self._responses.feed(data))

    def server_ended(self, reason: str | None) -> None:
        self.server_answered(self._responses.eof(reason))

    def server_answered(self, parts: list[Part]) -> None:
        for kind, value, _ in parts:
            if kind is Kind.PROBLEM:
                self._publish(Remark(message=f"the server sent {value}"))
            elif kind is Kind.BEYOND:
                self._beyond("server", value)
            elif self._waiting:
                self._answered(self._waiting[0], kind, value)
            elif kind in (Kind.WHOLE, Kind.HEAD):
                self._publish(Remark(message="the server sent a response that answers no request"))

    def _answered(self, exchange: ObservedExchange, kind: Kind, value: Any) -> None:
        if kind is Kind.WHOLE:
            self._waiting.popleft()
            exchange.answered(*value)
        elif kind is Kind.HEAD:
            exchange.response_began(value)
        elif kind is Kind.SWITCHED:
            exchange.switched(value)
        elif kind is Kind.DATA:
            exchange.response_data(value)
        elif kind is Kind.END:
            # A client that closes its half may still wait for a body, but leaves a stream.
            exchange.ended(value if exchange.is_stream else None)
            self._waiting.popleft()

    def _beyond(self, side: Side, data: bytes) -> None:
        """Bytes after a switch to WebSocket; of others nothing is known."""
        if self._waiting:
            self._waiting[0].socket_data(side, data)

    def closed(self, how: tuple[str, bool]) -> None:
        """The connection is closed: with a text, and whether it broke."""
        error, is_broken = how
        while self._waiting:
            exchange = self._waiting.popleft()
            exchange.ended(None if exchange.is_switched and not is_broken else error)


class ObservedExchange:
    """What a client sent in one HTTP request, and what came back."""

    # What most exchanges never need is set when it is needed.
    is_switched = False
    _request: _Body | None = None
    _response: _Body | None = None
    _carrier: FrameSent | None = None
    _stream: SseParser | None = None
    _is_asked = False
    _is_json = False
    _is_over = False
    _has_binary = False
    _sockets: Mapping[Side, SocketReader] = MappingProxyType({})

    def __init__(
        self,
        conversation: Conversation,
        publish: Publisher,
        clock: Clock,
        head: RequestHead,
        origin: str,
    ) -> None:
        self.id = publish.next_exchange_id()
        self._conversation = conversation
        self._publish = publish.publish
        self._clock = clock
        self._head = head
        self._origin = origin
        self._started = clock.monotonic()

    def __repr__(self) -> str:
        return f"<ObservedExchange {self.id} {self._head!r}>"

    @property
    def is_stream(self) -> bool:
        return self._stream is not None

    # -- the request ---------------------------------------------------------------------------

    def request_data(self, data: bytes) -> None:
        if self._request is None:
            self._request = _Body()
        self._request.add(data)

    def request_ended(self, *, is_whole: bool = True) -> None:
        """The request is whole, or is answered before it is."""
        if not self._is_asked:
            whole = self._request
            body, is_cut = (b"", False) if whole is None else (whole.value, whole.is_cut)
            self.asked(body, is_cut=is_cut, is_whole=is_whole)

    def asked(self, body: bytes, *, is_cut: bool = False, is_whole: bool = True) -> None:
        """The client has sent this."""
        self._is_asked = True
        head = self._head
        is_message = is_whole and bool(body) and head.is_json and head.method == "POST"
        self._publish(
            HttpRequestSent(
                exchange_id=self.id,
                method=head.method,
                url=head.shown_url(self._origin),
                headers=head.shown,
                body=body if is_message else mask_body(body),
            ),
            0 if is_message else len(body),
        )
        if is_message and not _is_sign_in(body):
            self._carrier = self._conversation.client_said(_message(body, is_cut), self.id)

    # -- the response --------------------------------------------------------------------------

    def answered(self, head: ResponseHead, body: bytes) -> None:
        """The server has sent this, in one piece."""
        if head.is_json and not head.encoding and self._is_asked:  # almost all of them
            self._is_json = True
            self._publish_response(head)
            self._end(body, None)
        else:
            self.response_began(head)
            self.response_data(body)
            self.ended()

    def response_began(self, head: ResponseHead) -> None:
        self.request_ended(is_whole=False)
        self._response = _Body()
        self._is_json = head.is_json
        if head.is_stream:
            self._stream = SseParser(MAX_BODY_BYTES)
        if head.encoding and not self._response.decode(head.encoding):
            text = f"the response is compressed with {head.encoding}, so its messages are not shown"
            self._publish(Remark(message=text), 0)
        self._publish_response(head)

    def _publish_response(self, head: ResponseHead) -> None:
        self._publish(
            HttpResponseReceived(
                exchange_id=self.id,
                status=head.status,
                reason=head.reason,
                headers=head.shown,
                elapsed_s=self._clock.monotonic() - self._started,
            ),
            0,
        )

    def response_data(self, data: bytes) -> None:
        if self._response is None:
            return
        if self._stream is None:
            self._response.add(data)
            return
        plain = self._response.plain(data)
        if not plain:
            return
        self._publish(HttpBytesReceived(exchange_id=self.id, data=plain), len(plain))
        for event in self._stream.feed(plain):
            if event.event == "message" and event.data:
                whole = too_long(event.data, MAX_BODY_BYTES) if event.is_too_long else None
                message = whole or parse(event.data)
                self._conversation.server_said(message, self.id, self._carrier)

    # -- a WebSocket ---------------------------------------------------------------------------

    def switched(self, head: ResponseHead) -> None:
        """The server has agreed: from here on both sides send frames."""
        self.is_switched = True
        self._publish_response(head)
        if not self._head.is_websocket:
            return
        extensions = head.value("sec-websocket-extensions")
        self._sockets = {
            "client": SocketReader(self._client_frame, negotiated_deflate(extensions, "client")),
            "server": SocketReader(self._server_frame, negotiated_deflate(extensions, "server")),
        }

    def socket_data(self, side: Side, data: bytes) -> None:
        reader = self._sockets.get(side)
        if reader is None:
            return
        try:
            reader.feed(data)
        except NotFrames:
            self._sockets = {each: one for each, one in self._sockets.items() if each != side}
            text = f"the {side} sent bytes that are not WebSocket frames; the rest is not shown"
            self._publish(Remark(message=text), 0)

    def _client_frame(self, frame: SocketMessage | SocketClosed) -> None:
        if isinstance(frame, SocketMessage):
            self._conversation.client_said(frame.message, self.id)
        self._remark("client", frame)

    def _server_frame(self, frame: SocketMessage | SocketClosed) -> None:
        if isinstance(frame, SocketMessage):
            self._conversation.server_said(frame.message, self.id)
        self._remark("server", frame)

    def _remark(self, side: Side, frame: SocketMessage | SocketClosed) -> None:
        if isinstance(frame, SocketClosed):
            self._publish(Remark(message=f"the {side} {frame}"), 0)
        elif frame.is_binary and not self._has_binary:
            self._has_binary = True
            text = f"the {side} sends binary frames; MCP messages are text frames"
            self._publish(Remark(message=text), 0)

    def ended(self, error: str | None = None) -> None:
        """The exchange is over: as it should be, or because a side closed its connection."""
        if self._is_over:
            return
        self.request_ended(is_whole=False)
        if self._response is None or self._stream is not None:
            self._end(b"", error)
        else:
            self._end(self._response.value, error, is_cut=self._response.is_cut)

    def _end(self, body: bytes, error: str | None, *, is_cut: bool = False) -> None:
        self._is_over = True
        carrier = self._carrier
        is_message = error is None and bool(body) and self._carries_message(body)
        if is_message:
            self._conversation.server_said(_message(body, is_cut), self.id, carrier)
        self._publish(
            HttpExchangeEnded(
                exchange_id=self.id,
                elapsed_s=self._clock.monotonic() - self._started,
                body=body if is_message else mask_body(body),
                error=error,
            ),
            0 if is_message else len(body),
        )
        if carrier is not None and carrier.purpose == "listening":
            self._conversation.exchange_ended(carrier)

    def _carries_message(self, body: bytes) -> bool:
        return self._is_json and self._carrier is not None and b'"jsonrpc"' in body


class _Body:
    """A body as it comes in pieces, kept within the limit."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._plain: _Feed | None = None
        self.is_cut = False

    def __repr__(self) -> str:
        return f"<_Body {self._size} bytes>"

    def decode(self, encoding: str) -> bool:
        """What comes is compressed like this; False if we cannot read that."""
        if encoding in ("gzip", "x-gzip", "deflate"):
            self._plain = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress
            return True
        self.is_cut = encoding not in ("", "identity")
        return not self.is_cut

    def plain(self, data: bytes) -> bytes:
        if self._plain is None:
            return b"" if self.is_cut else data
        try:
            return self._plain(data)
        except zlib.error:
            self.is_cut = True
            self._plain = None
            return b""

    def add(self, data: bytes) -> None:
        if self.is_cut:
            return
        part = self.plain(data)
        self._size += len(part)
        self._parts.append(part)
        if self._size > MAX_BODY_BYTES:
            self.is_cut = True
            self._parts = [b"".join(self._parts)[:_KEPT_BYTES]]

    @property
    def value(self) -> bytes:
        return b"".join(self._parts)


def _message(body: bytes, is_cut: bool) -> Message:
    return too_long(body, MAX_BODY_BYTES) if is_cut else parse(body)


def _is_sign_in(body: bytes) -> bool:
    """A registration of a client is JSON too, but not a message: it has no `jsonrpc`."""
    return b'"redirect_uris"' in body and b'"jsonrpc"' not in body
