"""The HTTP exchanges of one connection between a client and its server, published.

Bodies are collected within a limit; messages in them go to the conversation. What is compressed is
decompressed for the recording only. Reads from the backlog what http_relay.py has noted.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable
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
from mcplens.protocol.secret_masking import mask_url
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
        self._origin = origin  # what follows `http` or `ws` in the address of the server
        self._responses = responses
        self._asking: ObservedExchange | None = None  # its request is not whole
        self._waiting: deque[ObservedExchange] = deque()  # for the end of their responses

    def __repr__(self) -> str:
        return f"<ObservedConnection to {self._origin}, {len(self._waiting)} exchanges>"

    def client_sent(self, parts: list[Part]) -> None:
        for kind, value, _ in parts:
            if kind is Kind.WHOLE:
                head, body = value
                exchange = self._began(head)
                exchange.request_data(body)
                exchange.request_ended()
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
        exchange = ObservedExchange(self._conversation, self._publish, self._clock)
        scheme = "ws" if head.is_websocket else "http"
        exchange.request_began(head, scheme + self._origin)
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
            head, body = value
            exchange.response_began(head)
            exchange.response_data(body)
            exchange.ended()
            self._waiting.popleft()
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

    def __init__(self, conversation: Conversation, publish: Publisher, clock: Clock) -> None:
        self.id = publish.next_exchange_id()
        self._conversation = conversation
        self._publish = publish.publish
        self._clock = clock
        self._head: RequestHead | None = None
        self._url = ""
        self._request = _Body()
        self._response = _Body()
        self._carrier: FrameSent | None = None
        self._is_asked = False
        self._stream: SseParser | None = None
        self._is_json = False
        self._started = clock.monotonic()
        self._is_over = False
        self.is_switched = False
        self._sockets: dict[Side, SocketReader] = {}
        self._has_binary = False

    def __repr__(self) -> str:
        return f"<ObservedExchange {self.id} {self._url}>"

    @property
    def is_stream(self) -> bool:
        return self._stream is not None

    # -- the request ---------------------------------------------------------------------------

    def request_began(self, head: RequestHead, origin: str) -> None:
        self._head, self._url = head, origin + head.target
        if head.learn():
            known_secrets.learn_headers(dict(head.headers))
            known_secrets.learn_url(self._url)

    def request_data(self, data: bytes) -> None:
        self._request.add(data)

    def request_ended(self, *, is_whole: bool = True) -> None:
        """The request is whole, or is answered before it is."""
        head = self._head
        if head is None or self._is_asked:
            return
        self._is_asked = True
        body = self._request.value
        is_message = is_whole and bool(body) and head.method == "POST" and head.is_json
        self._publish(
            HttpRequestSent(
                exchange_id=self.id,
                method=head.method,
                url=mask_url(self._url),
                headers=head.shown,
                body=body if is_message else mask_body(body),
            ),
            0 if is_message else len(body),
        )
        if is_message and not _is_sign_in(body):
            self._carrier = self._conversation.client_said(self._request.message(), self.id)

    # -- the response --------------------------------------------------------------------------

    def response_began(self, head: ResponseHead) -> None:
        if not self._is_asked:
            self.request_ended(is_whole=False)
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
        if self._head is None or not self._head.is_websocket:
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
            del self._sockets[side]
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
        self._is_over = True
        if not self._is_asked:
            self.request_ended(is_whole=False)
        body = b"" if self._stream is not None else self._response.value
        is_message = error is None and bool(body) and self._carries_message(body)
        if is_message:
            self._conversation.server_said(self._response.message(), self.id, self._carrier)
        self._publish(
            HttpExchangeEnded(
                exchange_id=self.id,
                elapsed_s=self._clock.monotonic() - self._started,
                body=body if is_message else mask_body(body),
                error=error,
            ),
            0 if is_message else len(body),
        )
        if self._carrier is not None:
            self._conversation.exchange_ended(self._carrier)

    def _carries_message(self, body: bytes) -> bool:
        return self._is_json and self._carrier is not None and b'"jsonrpc"' in body


class _Body:
    """A body as it comes in pieces, kept within the limit."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._plain: _Feed | None = None
        self._is_cut = False

    def __repr__(self) -> str:
        return f"<_Body {self._size} bytes>"

    def decode(self, encoding: str) -> bool:
        """What comes is compressed like this; False if we cannot read that."""
        if encoding in ("gzip", "x-gzip", "deflate"):
            self._plain = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress
            return True
        self._is_cut = encoding not in ("", "identity")
        return not self._is_cut

    def plain(self, data: bytes) -> bytes:
        if self._plain is None:
            return b"" if self._is_cut else data
        try:
            return self._plain(data)
        except zlib.error:
            self._is_cut = True
            self._plain = None
            return b""

    def add(self, data: bytes) -> None:
        if self._is_cut:
            return
        part = self.plain(data)
        self._size += len(part)
        self._parts.append(part)
        if self._size > MAX_BODY_BYTES:
            self._is_cut = True
            self._parts = [b"".join(self._parts)[:_KEPT_BYTES]]

    @property
    def value(self) -> bytes:
        return b"".join(self._parts)

    def message(self) -> Message:
        return too_long(self.value, MAX_BODY_BYTES) if self._is_cut else parse(self.value)


def _is_sign_in(body: bytes) -> bool:
    """A registration of a client is JSON too, but not a message: it has no `jsonrpc`."""
    return b'"redirect_uris"' in body and b'"jsonrpc"' not in body
