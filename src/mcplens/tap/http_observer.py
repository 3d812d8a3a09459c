"""The HTTP exchanges of one connection between a client and its server, published.

Bodies are collected within a limit; messages in them go to the conversation. What is compressed is
decompressed for the recording only. Reads from the backlog what http_relay.py has noted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from mcplens.auth.masking import mask_body
from mcplens.events import (
    Event,
    HttpBytesReceived,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    Remark,
)
from mcplens.known_secrets import known_secrets
from mcplens.protocol.frames import Frame, Message, parse, too_long
from mcplens.protocol.frames import Kind as FrameKind
from mcplens.protocol.sse import SseParser
from mcplens.tap.backlog import TapPublisher
from mcplens.tap.conversation import Conversation
from mcplens.tap.http_body import MAX_BODY_BYTES, Body
from mcplens.tap.http_framing import Kind, Part, ResponseFraming, Whole, whole_part
from mcplens.tap.http_head import RequestHead, ResponseHead
from mcplens.tap.open_requests import OpenRequest
from mcplens.tap.websocket import (
    NotFrames,
    SocketClosed,
    SocketMessage,
    SocketReader,
    negotiated_deflate,
)

Side = Literal["client", "server"]
# Enum members as globals: an attribute lookup each time would cost more.
_REQUEST, _RESULT = FrameKind.REQUEST, FrameKind.RESULT


class ObservedConnection:
    """The exchanges of one connection, in their order."""

    def __init__(
        self,
        conversation: Conversation,
        publish: TapPublisher,
        origin: str,
        responses: ResponseFraming,
    ) -> None:
        self.conversation = conversation
        self.publish = publish.publish
        self.next_exchange_id = publish.next_exchange_id
        self.times = publish.times
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
                self.client_asked(value)
            elif kind is Kind.HEAD:
                self._asking = self._began(value)
            elif kind is Kind.PROBLEM:
                self.publish(Remark(message=f"the client sent {value}"), 0)
            elif kind is Kind.BEYOND:
                self._beyond("client", value)
            elif self._asking is not None:
                if kind is Kind.DATA:
                    self._asking.request_data(value)
                elif kind is Kind.END:
                    self._asking.request_ended()
                    self._asking = None

    def client_asked(self, whole: Whole) -> None:
        """A request that came in one piece."""
        head, body = whole
        self._began(head).asked(body)

    def _began(self, head: RequestHead) -> ObservedExchange:
        origin = self._origins[head.is_websocket]
        if not head.is_learnt:
            head.is_learnt = True
            known_secrets.learn_headers(dict(head.headers))
            known_secrets.learn_url(origin + head.target)
        exchange = ObservedExchange(self, head, origin)
        self._waiting.append(exchange)
        return exchange

    def server_sent(self, data: bytes) -> None:
        """Bytes that nobody has taken apart."""
        whole = self._responses.whole(data)
        if whole is not None and self._waiting:  # as almost always
            head, body = whole
            self._waiting.popleft().answered(head, body)
        elif whole is not None:
            self.server_answered([whole_part(whole)])
        else:
            self.server_answered(self._responses.parts(data))

    def server_ended(self, reason: str | None) -> None:
        self.server_answered(self._responses.eof(reason))

    def server_answered(self, parts: list[Part]) -> None:
        for kind, value, _ in parts:
            if kind is Kind.WHOLE and self._waiting:
                head, body = value
                self._waiting.popleft().answered(head, body)
            elif kind is Kind.PROBLEM:
                self.publish(Remark(message=f"the server sent {value}"), 0)
            elif kind is Kind.BEYOND:
                self._beyond("server", value)
            elif self._waiting:
                self._answered(self._waiting[0], kind, value)
            elif kind in (Kind.WHOLE, Kind.HEAD):
                text = "the server sent a response that answers no request"
                self.publish(Remark(message=text), 0)

    def _answered(self, exchange: ObservedExchange, kind: Kind, value: Any) -> None:
        if kind is Kind.HEAD:
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
    _request: Body | None = None
    _response: Body | None = None
    _carried: OpenRequest | None = None  # the request in its body
    _is_carrying = False  # a message, of whatever kind
    _stream: SseParser | None = None
    _is_asked = False
    _is_json = False
    _is_over = False
    _has_binary = False
    _sockets: Mapping[Side, SocketReader] = MappingProxyType({})

    def __init__(self, connection: ObservedConnection, head: RequestHead, origin: str) -> None:
        self.id = connection.next_exchange_id()
        self._connection = connection
        self._head = head
        self._origin = origin
        self._started = connection.times[0]

    def __repr__(self) -> str:
        return f"<ObservedExchange {self.id} {self._head!r}>"

    @property
    def is_stream(self) -> bool:
        return self._stream is not None

    # -- the request ---------------------------------------------------------------------------

    def request_data(self, data: bytes) -> None:
        if self._request is None:
            self._request = Body()
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
        head, conversation = self._head, self._connection.conversation
        url = head.shown_url(self._origin)
        is_message = is_whole and head.is_post_of_json and bool(body)
        message = _message(body, is_cut) if is_message else None
        if type(message) is Frame and message.kind is _REQUEST:  # almost all of them
            self._is_carrying = True
            self._carried = conversation.request_passed(message, self.id, url, head.shown)
            return
        shown = body if is_message else mask_body(body)
        self._publish(
            HttpRequestSent(
                exchange_id=self.id, method=head.method, url=url, headers=head.shown, body=shown
            ),
            0 if is_message else len(body),
        )
        if message is not None and not _is_sign_in(body):
            self._is_carrying = True
            conversation.client_said(message, self.id)

    def _publish(self, event: Event, size_bytes: int) -> None:
        self._connection.publish(event, size_bytes)

    def _elapsed_s(self) -> float:
        return self._connection.times[0] - self._started

    # -- the response --------------------------------------------------------------------------

    def answered(self, head: ResponseHead, body: bytes) -> None:
        """The server has sent this, in one piece."""
        if head.is_json and not head.encoding and self._is_asked:  # almost all of them
            if self._carried is not None and self._is_result(head, body):
                return
            self._is_json = True
            self._publish_response(head)
            self._end(body, None)
        else:
            self.response_began(head)
            self.response_data(body)
            self.ended()

    def _is_result(self, head: ResponseHead, body: bytes) -> bool:
        """Whether this is the result that the client waits for, which is then published."""
        message = parse(body)
        conversation = self._connection.conversation
        self._is_over = (
            type(message) is Frame
            and message.kind is _RESULT
            and conversation.result_passed(message, self.id, head, self._started)
        )
        if self._is_over and self._carried is not None:
            conversation.exchange_ended(self._carried)
        return self._is_over

    def response_began(self, head: ResponseHead) -> None:
        self.request_ended(is_whole=False)
        self._response = Body()
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
                elapsed_s=self._elapsed_s(),
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
                self._connection.conversation.server_said(message, self.id, self._carried)

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
            self._connection.conversation.client_said(frame.message, self.id)
        self._remark("client", frame)

    def _server_frame(self, frame: SocketMessage | SocketClosed) -> None:
        if isinstance(frame, SocketMessage):
            self._connection.conversation.server_said(frame.message, self.id)
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
        conversation = self._connection.conversation
        is_message = error is None and bool(body) and self._carries_message(body)
        if is_message:
            conversation.server_said(_message(body, is_cut), self.id, self._carried)
        self._publish(
            HttpExchangeEnded(
                exchange_id=self.id,
                elapsed_s=self._elapsed_s(),
                body=body if is_message else mask_body(body),
                error=error,
            ),
            0 if is_message else len(body),
        )
        if self._carried is not None:
            conversation.exchange_ended(self._carried)

    def _carries_message(self, body: bytes) -> bool:
        # `find` is three times faster than `in`.
        return self._is_json and self._is_carrying and body.find(b'"jsonrpc"') >= 0


def _message(body: bytes, is_cut: bool) -> Message:
    return too_long(body, MAX_BODY_BYTES) if is_cut else parse(body)


def _is_sign_in(body: bytes) -> bool:
    """A registration of a client is JSON too, but not a message: it has no `jsonrpc`."""
    return body.find(b'"redirect_uris"') >= 0 and body.find(b'"jsonrpc"') < 0
