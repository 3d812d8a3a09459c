"""What passes between a client and a server that are not ours, published with its links.

A message of the client's is a FrameSent, one of the server's a FrameReceived, as if the client were
our session. Replies are matched by their ids, progress by its token. Where the wire does not say
what a message of the server's belongs to, the rule of the session holds: the only call of the
client's in flight, marked as inferred. Nothing is answered, changed or refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import ServerError
from mcplens.events import (
    FrameReceived,
    FrameSent,
    LogReceived,
    NotificationReceived,
    ProgressReceived,
    ReplyUnmatched,
    RequestEnded,
    RequestStarted,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, Message
from mcplens.tap.introductions import Introductions
from mcplens.tap.message_parts import (
    fields_of,
    may_infer,
    meta_of,
    method_of,
    replies_in,
    requests_in,
    value_of,
)
from mcplens.tap.open_requests import OpenRequest, OpenRequests

_PURPOSES: Final = {
    "initialize": "handshake",
    "server/discover": "handshake",
    "ping": "heartbeat",
    "subscriptions/listen": "listening",
    "tasks/get": "task_polling",
}


# Enum members as globals: an attribute lookup each time would cost more.
_REQUEST, _RESULT = Kind.REQUEST, Kind.RESULT


class Conversation:
    """Publishes the messages of a client and its server. Not safe for threads: callers lock."""

    def __init__(self, publish: Publisher, clock: Clock) -> None:
        self._clock = clock
        self._publish = publish.publish
        self._next_call_id = publish.next_call_id
        self._server_id = publish.server_id
        self._requests = OpenRequests()  # of the client's
        self._questions = OpenRequests()  # of the server's
        self._introductions = Introductions(publish)

    def __repr__(self) -> str:
        return f"<Conversation with {self._server_id}>"

    def ended(self) -> None:
        """Neither side says anything more: what was listened to has ended with it."""
        for request in self._requests.with_purpose("listening"):
            self._client_ended(request)

    def exchange_ended(self, carrier: FrameSent) -> None:
        """The HTTP response that could answer this message is over; of a stream, that is its end.

        Other requests may still be answered: a client resumes a stream that broke.
        """
        if carrier.purpose == "listening" and isinstance(carrier.message, Frame):
            request = self._requests.get(carrier.message.id)
            if request is not None and request.seq == carrier.seq:
                self._client_ended(request)

    def _client_ended(self, request: OpenRequest) -> None:
        """The client does not wait for an answer any more."""
        if self._requests.end(request):
            self._publish(
                RequestEnded(
                    request_id=request.id,
                    method=request.method,
                    status="cancelled",
                    elapsed_s=self._clock.monotonic() - request.started,
                    request_seq=request.seq,
                ),
                0,
            )

    # -- the client's messages -------------------------------------------------------------------

    def client_said(self, message: Message, exchange_id: int | None = None) -> FrameSent:
        """A message of the client's is on its way to the server."""
        if type(message) is Frame and message.kind is _REQUEST:  # almost all of them
            return self._client_request(message, exchange_id)
        asks = requests_in(message)
        link: OpenRequest | None = None
        call_id, purpose = None, None
        if asks:
            call_id, purpose = self._next_call_id(), _purpose(asks[0].method)
        elif (link := self._of_client(message)) is not None:
            call_id, purpose = link.call_id, link.purpose
        sent = FrameSent(
            message=message,
            size_bytes=len(message.raw),
            method=method_of(message) or (link.method if link is not None else None),
            exchange_id=exchange_id,
            request_seq=None if link is None else link.seq,
            call_id=call_id,
            purpose=purpose,
        )
        self._publish(sent, sent.size_bytes)
        for frame in asks:
            self._client_asked(frame, sent, _purpose(frame.method))
        for frame in replies_in(message):
            self._client_answered(frame)
        if link is not None and sent.method == "notifications/cancelled":
            self._client_ended(link)
        return sent

    def _client_request(self, frame: Frame, exchange_id: int | None) -> FrameSent:
        method, size_bytes = frame.method, len(frame.raw)
        purpose = _PURPOSES.get(method, "call")
        sent = FrameSent(
            message=frame,
            size_bytes=size_bytes,
            method=method or None,
            exchange_id=exchange_id,
            request_seq=None,
            call_id=self._next_call_id(),
            purpose=purpose,
        )
        self._publish(sent, size_bytes)
        self._client_asked(frame, sent, purpose)
        return sent

    def _client_asked(self, frame: Frame, sent: FrameSent, purpose: str) -> None:
        identity, method, seq = frame.id, frame.method, sent.seq
        assert identity is not None
        meta = meta_of(frame)
        token = None if meta is None else meta.get("progressToken")
        self._requests.add(
            OpenRequest(identity, seq, method, sent.call_id, purpose, token, sent.mono)
        )
        self._publish(RequestStarted(request_id=identity, method=method, request_seq=seq), 0)
        if meta is not None:
            self._introductions.client_asked(meta)
        if method == "initialize":
            self._introductions.client_initialized(fields_of(frame))

    def _client_answered(self, frame: Frame) -> None:
        question = self._questions.answered(frame.id)
        if question is None:
            return
        error = frame.error
        outcome = "answered" if error is None else f"refused: {error.message}"
        self._publish(
            ServerRequestEnded(
                request_id=question.id,
                method=question.method,
                outcome=outcome,
                request_seq=question.seq,
            ),
            0,
        )

    def _of_client(self, message: Message) -> OpenRequest | None:
        """The request that a message of the client's belongs to, which asks nothing itself."""
        if isinstance(message, Batch):
            return _same([self._of_client(member) for member in message.members])
        if isinstance(message, Malformed):
            return _first(self._questions.get(identity) for identity in message.ids)
        if message.kind is not Kind.NOTIFICATION:
            return self._questions.get(message.id)
        fields = fields_of(message)
        if message.method == "notifications/progress":
            return self._questions.with_token(fields.get("progressToken"))
        if message.method == "notifications/cancelled":
            return self._requests.get(fields.get("requestId"))
        return None

    # -- the server's messages -------------------------------------------------------------------

    def server_said(
        self,
        message: Message,
        exchange_id: int | None = None,
        carrier: FrameSent | None = None,
    ) -> None:
        """A message of the server's is on its way to the client.

        `carrier` is the message of the client's whose HTTP response carried it.
        """
        if type(message) is Frame and message.kind is _RESULT:  # almost all of them
            request = self._requests.answered(message.id)
            if request is not None:
                self._server_result(message, request, exchange_id)
                return
        link, is_inferred = self._of_server(message, carrier)
        asks = requests_in(message)
        received = FrameReceived(
            message=message,
            size_bytes=len(message.raw),
            method=method_of(message) or (link.method if link is not None else None),
            exchange_id=exchange_id,
            request_seq=None if link is None or asks else link.seq,
            caused_by_seq=link.seq if link is not None and asks else None,
            is_inferred=is_inferred,
            call_id=None if link is None else link.call_id,
            purpose=None if link is None or asks else link.purpose,
        )
        seq = self._publish(received, received.size_bytes)
        members = message.members if isinstance(message, Batch) else (message,)
        for member in members:
            if isinstance(member, Frame):
                self._server_frame(member, received, seq, link)

    def _server_result(self, frame: Frame, request: OpenRequest, exchange_id: int | None) -> None:
        method, seq, size_bytes = request.method, request.seq, len(frame.raw)
        received = FrameReceived(
            message=frame,
            size_bytes=size_bytes,
            method=method or None,
            exchange_id=exchange_id,
            request_seq=seq,
            call_id=request.call_id,
            purpose=request.purpose,
        )
        self._publish(received, size_bytes)
        self._answer(request, received, frame)

    def _answer(self, request: OpenRequest, received: FrameReceived, frame: Frame) -> None:
        if request.is_over:
            return
        method, failure, error = request.method, frame.error, None
        if failure is not None:
            error = ServerError(failure.code, failure.message, failure.data).to_dict()
        self._publish(
            RequestEnded(
                request_id=request.id,
                method=method,
                status="completed" if error is None else "error",
                elapsed_s=received.mono - request.started,
                error=error,
                request_seq=request.seq,
            ),
            0,
        )
        if error is None and method in ("initialize", "server/discover"):
            self._introductions.server_answered(method, fields_of(frame))

    def _server_frame(
        self, frame: Frame, received: FrameReceived, seq: int, link: OpenRequest | None
    ) -> None:
        match frame.kind:
            case Kind.RESULT | Kind.ERROR:
                self._server_answered(frame, received)
            case Kind.REQUEST:
                self._server_asked(frame, received, seq)
            case Kind.NOTIFICATION:
                self._server_notified(frame, received, seq, link)

    def _server_answered(self, frame: Frame, received: FrameReceived) -> None:
        request = self._requests.answered(frame.id)
        if request is None:
            reason = "no request of the client waits for an answer with this id"
            if frame.id is None:
                reason = "an error without an id"
            self._publish(
                ReplyUnmatched(
                    message=frame, reason=reason, request_seq=None, frame_seq=received.seq
                ),
                0,
            )
            return
        self._answer(request, received, frame)

    def _server_asked(self, frame: Frame, received: FrameReceived, seq: int) -> None:
        assert frame.id is not None
        fields = fields_of(frame)
        meta = fields.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, Mapping) else None
        self._questions.add(
            OpenRequest(frame.id, seq, frame.method, received.call_id, None, token, received.mono)
        )
        self._publish(
            ServerRequestReceived(
                request_id=frame.id,
                method=frame.method,
                params=value_of(frame),
                request_seq=seq,
                caused_by_seq=received.caused_by_seq,
                is_inferred=received.is_inferred,
                call_id=received.call_id,
            ),
            0,
        )

    def _server_notified(
        self, frame: Frame, received: FrameReceived, seq: int, link: OpenRequest | None
    ) -> None:
        fields = fields_of(frame)
        if frame.method == "notifications/message":
            self._publish(
                LogReceived(
                    level=str(fields.get("level", "info")),
                    logger=fields.get("logger") if isinstance(fields.get("logger"), str) else None,
                    data=fields.get("data"),
                    request_seq=received.request_seq,
                    is_inferred=received.is_inferred,
                    call_id=received.call_id,
                    frame_seq=seq,
                ),
                received.size_bytes,
            )
        elif frame.method == "notifications/progress" and link is not None:
            progress, total, text = (fields.get(key) for key in ("progress", "total", "message"))
            if isinstance(progress, int | float):
                self._publish(
                    ProgressReceived(
                        request_id=link.id,
                        progress=progress,
                        total=total if isinstance(total, int | float) else None,
                        message=text if isinstance(text, str) else None,
                        request_seq=link.seq,
                        frame_seq=seq,
                    ),
                    0,
                )
        else:
            self._publish(
                NotificationReceived(
                    method=frame.method,
                    params=value_of(frame),
                    request_seq=received.request_seq,
                    is_inferred=received.is_inferred,
                    frame_seq=seq,
                ),
                received.size_bytes,
            )

    def _of_server(
        self, message: Message, carrier: FrameSent | None
    ) -> tuple[OpenRequest | None, bool]:
        """The request that a message of the server's belongs to, and whether that is inferred."""
        told = self._told_by_server(message)
        if told is not None:
            return told, False
        if carrier is not None and isinstance(carrier.message, Frame):
            carried = self._requests.get(carrier.message.id)
            if carried is not None:
                return carried, False
        if not may_infer(message):
            return None, False
        only = self._requests.only_call()
        return only, only is not None

    def _told_by_server(self, message: Message) -> OpenRequest | None:
        if isinstance(message, Batch):
            return _same([self._told_by_server(member) for member in message.members])
        if isinstance(message, Malformed):
            return _first(self._requests.get(identity) for identity in message.ids)
        if message.kind in (Kind.RESULT, Kind.ERROR):
            return self._requests.get(message.id)
        if message.method == "notifications/progress":
            return self._requests.with_token(fields_of(message).get("progressToken"))
        if message.method == "notifications/cancelled":
            return self._questions.get(fields_of(message).get("requestId"))
        return None

    def only_request_seq(self) -> int | None:
        """The request that a line on stderr may belong to: that of the only call in flight."""
        only = self._requests.only_call()
        return None if only is None else only.seq


def _purpose(method: str) -> str:
    return _PURPOSES.get(method, "call")


def _first(found: Iterable[OpenRequest | None]) -> OpenRequest | None:
    return next((one for one in found if one is not None), None)


def _same(found: list[OpenRequest | None]) -> OpenRequest | None:
    """The request of all, if it is the same."""
    seqs = {None if one is None else one.seq for one in found}
    return found[0] if len(seqs) == 1 and found else None
