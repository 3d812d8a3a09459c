"""What passes between a client and a server that are not ours, published with its links.

A message of the client's is a FrameSent, one of the server's a FrameReceived, as if the client were
our session; links.py says what it belongs to. Almost all messages are requests of the client and
their results: these take a short path, which publishes the events of a message as one. Nothing is
answered, changed or refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mcplens.errors import ServerError
from mcplens.events import (
    FrameReceived,
    FrameSent,
    LogReceived,
    NotificationReceived,
    ProgressReceived,
    ReplyUnmatched,
    RequestEnded,
    RequestPassed,
    RequestStarted,
    ResultPassed,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.frames import Batch, Frame, Kind, Message
from mcplens.tap.backlog import TapPublisher
from mcplens.tap.http_head import Headers, ResponseHead
from mcplens.tap.introductions import Introductions
from mcplens.tap.links import Links
from mcplens.tap.message_parts import (
    fields_of,
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
_INTRODUCTIONS: Final = ("initialize", "server/discover")

# Enum members as globals: an attribute lookup each time would cost more.
_REQUEST, _RESULT = Kind.REQUEST, Kind.RESULT


class Conversation:
    """Publishes the messages of a client and its server. Not safe for threads: callers lock."""

    def __init__(self, publish: TapPublisher) -> None:
        self._publish, self._publish_passed = publish.publish, publish.publish_passed
        self._next_call_id = publish.next_call_id
        self._run_id, self._server_id = publish.run_id, publish.server_id
        self._times = publish.times
        self._requests = OpenRequests()  # of the client's
        self._questions = OpenRequests()  # of the server's
        self._links = Links(self._requests, self._questions)
        self._introductions = Introductions(publish)

    def __repr__(self) -> str:
        return f"<Conversation with {self._server_id}>"

    def ended(self) -> None:
        """Neither side says anything more: what was listened to has ended with it."""
        for request in self._requests.with_purpose("listening"):
            self._client_ended(request)

    def exchange_ended(self, carried: OpenRequest) -> None:
        """The HTTP response that could answer this request is over; of a stream, that is its end.

        Other requests may still be answered: a client resumes a stream that broke.
        """
        if carried.purpose == "listening":
            request = self._requests.get(carried.id)
            if request is not None and request.seq == carried.seq:
                self._client_ended(request)

    def _client_ended(self, request: OpenRequest) -> None:
        """The client does not wait for an answer any more."""
        if self._requests.end(request):
            self._publish(
                RequestEnded(
                    request_id=request.id,
                    method=request.method,
                    status="cancelled",
                    elapsed_s=self._times[0] - request.started,
                    request_seq=request.seq,
                    purpose=request.purpose,
                ),
                0,
            )

    # -- the client's messages -------------------------------------------------------------------

    def client_said(self, message: Message, exchange_id: int | None = None) -> OpenRequest | None:
        """A message of the client's is on its way to the server; gives its request, if it is one"""
        if type(message) is Frame and message.kind is _REQUEST:  # almost all of them
            return self.request_passed(message, exchange_id)
        asks = requests_in(message)
        link: OpenRequest | None = None
        call_id, purpose = None, None
        if asks:
            call_id, purpose = self._next_call_id(), _purpose(asks[0].method)
        elif (link := self._links.of_client(message)) is not None:
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
        seq = self._publish(sent, sent.size_bytes)
        for frame in asks:
            assert frame.id is not None
            started = RequestStarted(request_id=frame.id, method=frame.method, request_seq=seq)
            self._publish(started, 0)
            self._client_asked(frame, seq, call_id, _purpose(frame.method))
        for frame in replies_in(message):
            self._client_answered(frame)
        if link is not None and sent.method == "notifications/cancelled":
            self._client_ended(link)
        return None

    def request_passed(
        self,
        frame: Frame,
        exchange_id: int | None = None,
        url: str = "",
        headers: Headers | None = None,
    ) -> OpenRequest:
        """A request of the client's, alone in a message; with the head of its HTTP request."""
        raw, method, identity = frame.raw, frame.method, frame.id
        assert identity is not None
        call_id, purpose = self._next_call_id(), _PURPOSES.get(method, "call")
        mono, wall = self._times
        passed = RequestPassed(
            raw, identity, method, call_id, purpose, exchange_id, headers, url,
            run_id=self._run_id, wall=wall, mono=mono, server_id=self._server_id,
        )  # fmt: skip
        seq = self._publish_passed(passed, 2 if headers is None else 3, len(raw)) - 1
        return self._client_asked(frame, seq, call_id, purpose)

    def _client_asked(
        self, frame: Frame, seq: int, call_id: str | None, purpose: str
    ) -> OpenRequest:
        identity, method, token = frame.id, frame.method, None
        assert identity is not None
        # `find` is three times faster than `in`.
        if frame.raw.find(b'"_meta"') >= 0 and (meta := meta_of(frame)) is not None:
            token = meta.get("progressToken")
            self._introductions.client_asked(meta)
        if method == "initialize":
            self._introductions.client_initialized(fields_of(frame))
        request = OpenRequest(identity, seq, method, call_id, purpose, token, self._times[0])
        self._requests.add(request)
        return request

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

    # -- the server's messages -------------------------------------------------------------------

    def server_said(
        self,
        message: Message,
        exchange_id: int | None = None,
        carried: OpenRequest | None = None,
    ) -> None:
        """A message of the server's is on its way to the client.

        `carried` is the request of the client's whose HTTP response carried it.
        """
        if (
            type(message) is Frame
            and message.kind is _RESULT
            and self.result_passed(message, exchange_id)
        ):
            return  # almost all of them
        link, is_inferred = self._links.of_server(message, carried)
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

    def result_passed(
        self,
        frame: Frame,
        exchange_id: int | None = None,
        head: ResponseHead | None = None,
        since: float = 0.0,
    ) -> bool:
        """A result, alone in a message; with the head of its HTTP response, and when its request
        was sent. False if nobody waits for it: then nothing is published."""
        request = self._requests.take(frame.id)
        if request is None:
            return False
        method, raw, (mono, wall) = request.method, frame.raw, self._times
        shown, status, reason = (None, 0, "") if head is None else head.about
        passed = ResultPassed(
            raw, request.id, method, request.call_id, request.purpose, exchange_id, shown,
            request.seq, mono - request.started, status, reason, mono - since,
            run_id=self._run_id, wall=wall, mono=mono, server_id=self._server_id,
        )  # fmt: skip
        self._publish_passed(passed, 2 if head is None else 4, len(raw))
        if method in _INTRODUCTIONS:
            self._introductions.server_answered(method, fields_of(frame))
        return True

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
                purpose=request.purpose,
            ),
            0,
        )
        if error is None and method in _INTRODUCTIONS:
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

    def only_request_seq(self) -> int | None:
        """The request that a line on stderr may belong to: that of the only call in flight."""
        only = self._requests.only_call()
        return None if only is None else only.seq


def _purpose(method: str) -> str:
    return _PURPOSES.get(method, "call")
