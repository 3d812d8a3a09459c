"""One HTTP exchange between a client and its server, read as it passes and published.

Bodies are collected within a limit; messages in them go to the conversation. What is compressed is
decompressed for the recording only. Used by http.py, which moves the bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Final, Literal

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
from mcplens.protocol.secret_masking import mask_headers, mask_url
from mcplens.protocol.sse import SseParser
from mcplens.tap.conversation import Conversation
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

Headers = Sequence[tuple[str, str]]
Side = Literal["client", "server"]
_Feed = Callable[[bytes], bytes]


class ObservedExchange:
    """What a client sent in one HTTP request, and what came back."""

    def __init__(self, conversation: Conversation, publish: Publisher, clock: Clock) -> None:
        self.id = publish.next_exchange_id()
        self._conversation = conversation
        self._publish = publish
        self._clock = clock
        self._method = ""
        self._url = ""
        self._headers: Headers = ()
        self._request = _Body()
        self._response = _Body()
        self._carrier: FrameSent | None = None
        self._status = 0
        self._stream: SseParser | None = None
        self._is_json = False
        self._started = clock.monotonic()
        self._is_over = False
        self._sockets: dict[Side, SocketReader] = {}
        self._has_binary = False

    def __repr__(self) -> str:
        return f"<ObservedExchange {self.id} {self._method} {self._url}>"

    # -- the request ---------------------------------------------------------------------------

    def request_began(self, method: str, url: str, headers: Headers) -> None:
        self._method, self._url, self._headers = method, url, headers
        known_secrets.learn_headers(dict(headers))
        known_secrets.learn_url(url)

    def request_data(self, data: bytes) -> None:
        self._request.add(data)

    def request_ended(self) -> None:
        """The request is whole, and published before its last piece leaves."""
        body = self._request.value
        is_message = self._method == "POST" and bool(body) and _is_json(self._headers)
        self._publish(
            HttpRequestSent(
                exchange_id=self.id,
                method=self._method,
                url=mask_url(self._url),
                headers=mask_headers(self._headers),
                body=body if is_message else mask_body(body),
            ),
            0 if is_message else len(body),
        )
        if is_message and not _is_sign_in(body):
            self._carrier = self._conversation.client_said(self._request.message(), self.id)

    # -- the response --------------------------------------------------------------------------

    def response_began(self, status: int, reason: str, headers: Headers) -> None:
        self._status = status
        kind = _header(headers, "content-type").partition(";")[0].strip().lower()
        self._is_json = kind == "application/json" or kind.endswith("+json")
        if kind == "text/event-stream":
            self._stream = SseParser(MAX_BODY_BYTES)
        encoding = _header(headers, "content-encoding").strip().lower()
        if not self._response.decode(encoding):
            text = f"the response is compressed with {encoding}, so its messages are not shown"
            self._publish(Remark(message=text))
        self._publish_response(status, reason, headers)

    def _publish_response(self, status: int, reason: str, headers: Headers) -> None:
        self._publish(
            HttpResponseReceived(
                exchange_id=self.id,
                status=status,
                reason=reason,
                headers=mask_headers(headers),
                elapsed_s=self._clock.monotonic() - self._started,
            )
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

    def switched(self, status: int, reason: str, headers: Headers) -> None:
        """The server has agreed: from here on both sides send frames."""
        self._publish_response(status, reason, headers)
        extensions = _header(headers, "sec-websocket-extensions")
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
            self._publish(Remark(message=text))

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
            self._publish(Remark(message=f"the {side} {frame}"))
        elif frame.is_binary and not self._has_binary:
            self._has_binary = True
            text = f"the {side} sends binary frames; MCP messages are text frames"
            self._publish(Remark(message=text))

    def ended(self, error: str | None = None) -> None:
        """The exchange is over: as it should be, or because a side closed its connection."""
        if self._is_over:
            return
        self._is_over = True
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


def _header(headers: Headers, name: str) -> str:
    return next((value for each, value in headers if each.lower() == name), "")


def _is_json(headers: Headers) -> bool:
    return "json" in _header(headers, "content-type").lower()


def _is_sign_in(body: bytes) -> bool:
    """A registration of a client is JSON too, but not a message: it has no `jsonrpc`."""
    return b'"redirect_uris"' in body and b'"jsonrpc"' not in body
