"""What passes between a client and a server that are not ours, published with its links.

A message of the client's is a FrameSent, one of the server's a FrameReceived, as if the client were
our session. Replies are matched by their ids, progress by its token. Where the wire does not say
what a message of the server's belongs to, the rule of the session holds: the only call of the
client's in flight, marked as inferred. Nothing is answered, changed or refused here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import ServerError
from mcplens.events import (
    ClientIntroduced,
    EraDecided,
    FrameReceived,
    FrameSent,
    LogReceived,
    NotificationReceived,
    ProgressReceived,
    ReplyUnmatched,
    RequestEnded,
    RequestStarted,
    ServerIntroduced,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.eras import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    PROTOCOL_VERSION,
    SERVER_INFO,
    choose_version,
    era_of,
)
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, Message
from mcplens.tap.open_requests import OpenRequest, OpenRequests

_PURPOSES: Final = {
    "initialize": "handshake",
    "server/discover": "handshake",
    "ping": "heartbeat",
    "subscriptions/listen": "listening",
    "tasks/get": "task_polling",
}


class Conversation:
    """Publishes the messages of a client and its server. Not safe for threads: callers lock."""

    def __init__(self, publish: Publisher, clock: Clock) -> None:
        self._publish = publish
        self._clock = clock
        self._requests = OpenRequests()  # of the client's
        self._questions = OpenRequests()  # of the server's
        self._client: tuple[Any, Any] | None = None  # as it introduced itself last

    def __repr__(self) -> str:
        return f"<Conversation with {self._publish.server_id}>"

    # -- the client's messages -------------------------------------------------------------------

    def client_said(self, message: Message, exchange_id: int | None = None) -> FrameSent:
        """A message of the client's is on its way to the server."""
        asks = _requests_in(message)
        link: OpenRequest | None = None
        call_id, purpose = None, None
        if asks:
            call_id, purpose = self._publish.next_call_id(), _purpose(asks[0].method)
        elif (link := self._of_client(message)) is not None:
            call_id, purpose = link.call_id, link.purpose
        sent = FrameSent(
            message=message,
            size_bytes=len(message.raw),
            method=_method(message) or (link.method if link is not None else None),
            exchange_id=exchange_id,
            request_seq=None if link is None else link.seq,
            call_id=call_id,
            purpose=purpose,
        )
        seq = self._publish(sent, sent.size_bytes)
        for frame in asks:
            self._client_asked(frame, seq, call_id)
        for frame in _replies_in(message):
            self._client_answered(frame)
        return sent

    def _client_asked(self, frame: Frame, seq: int, call_id: str | None) -> None:
        assert frame.id is not None
        fields = _fields(frame)
        request = _opened(frame, fields, seq, call_id, _purpose(frame.method), self._clock)
        self._requests.add(request)
        self._publish(RequestStarted(request_id=frame.id, method=frame.method, request_seq=seq))
        self._introduce_client(frame, fields)

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
            )
        )

    def _of_client(self, message: Message) -> OpenRequest | None:
        """The request that a message of the client's belongs to, which asks nothing itself."""
        if isinstance(message, Batch):
            return _same([self._of_client(member) for member in message.members])
        if isinstance(message, Malformed):
            return _first(self._questions.get(identity) for identity in message.ids)
        if message.kind is not Kind.NOTIFICATION:
            return self._questions.get(message.id)
        fields = _fields(message)
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
        link, is_inferred = self._of_server(message, carrier)
        asks = _requests_in(message)
        received = FrameReceived(
            message=message,
            size_bytes=len(message.raw),
            method=_method(message) or (link.method if link is not None else None),
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

    def _server_frame(
        self, frame: Frame, received: FrameReceived, seq: int, link: OpenRequest | None
    ) -> None:
        match frame.kind:
            case Kind.RESULT | Kind.ERROR:
                self._server_answered(frame, seq)
            case Kind.REQUEST:
                self._server_asked(frame, received, seq)
            case Kind.NOTIFICATION:
                self._server_notified(frame, received, seq, link)

    def _server_answered(self, frame: Frame, seq: int) -> None:
        request = self._requests.answered(frame.id)
        if request is None:
            reason = "no request of the client waits for an answer with this id"
            if frame.id is None:
                reason = "an error without an id"
            self._publish(
                ReplyUnmatched(message=frame, reason=reason, request_seq=None, frame_seq=seq)
            )
            return
        failure = frame.error
        error = (
            None
            if failure is None
            else ServerError(failure.code, failure.message, failure.data).to_dict()
        )
        self._publish(
            RequestEnded(
                request_id=request.id,
                method=request.method,
                status="completed" if error is None else "error",
                elapsed_s=self._clock.monotonic() - request.started,
                error=error,
                request_seq=request.seq,
            )
        )
        if error is None and request.method in ("initialize", "server/discover"):
            self._introduce_server(request.method, _fields(frame))

    def _server_asked(self, frame: Frame, received: FrameReceived, seq: int) -> None:
        assert frame.id is not None
        fields = _fields(frame)
        self._questions.add(_opened(frame, fields, seq, received.call_id, None, self._clock))
        self._publish(
            ServerRequestReceived(
                request_id=frame.id,
                method=frame.method,
                params=_value(frame),
                request_seq=seq,
                caused_by_seq=received.caused_by_seq,
                is_inferred=received.is_inferred,
                call_id=received.call_id,
            )
        )

    def _server_notified(
        self, frame: Frame, received: FrameReceived, seq: int, link: OpenRequest | None
    ) -> None:
        fields = _fields(frame)
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
                    )
                )
        else:
            self._publish(
                NotificationReceived(
                    method=frame.method,
                    params=_value(frame),
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
        if not _may_infer(message):
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
            return self._requests.with_token(_fields(message).get("progressToken"))
        if message.method == "notifications/cancelled":
            return self._questions.get(_fields(message).get("requestId"))
        return None

    def only_request_seq(self) -> int | None:
        """The request that a line on stderr may belong to: that of the only call in flight."""
        only = self._requests.only_call()
        return None if only is None else only.seq

    # -- who they are ----------------------------------------------------------------------------

    def _introduce_client(self, frame: Frame, fields: Mapping[str, Any]) -> None:
        """2025-11-25 says it once, in initialize; 2026-07-28 in `_meta` of every request."""
        if frame.method == "initialize":
            version = fields.get("protocolVersion")
            about = (fields.get("clientInfo"), fields.get("capabilities"))
        else:
            meta = fields.get("_meta")
            if not isinstance(meta, Mapping) or CLIENT_INFO not in meta:
                return
            version = meta.get(PROTOCOL_VERSION)
            about = (meta.get(CLIENT_INFO), meta.get(CLIENT_CAPABILITIES))
        if about != self._client:
            self._client = about
            info, capabilities = about
            self._publish(
                ClientIntroduced(
                    protocol_version=str(version or ""),
                    client_info=info if isinstance(info, dict) else {},
                    capabilities=capabilities if isinstance(capabilities, dict) else {},
                )
            )

    def _introduce_server(self, method: str, fields: Mapping[str, Any]) -> None:
        version, info = fields.get("protocolVersion"), fields.get("serverInfo")
        if method == "server/discover":
            meta = fields.get("_meta")
            version = choose_version(fields.get("supportedVersions"))
            info = meta.get(SERVER_INFO) if isinstance(meta, Mapping) else None
        version = version if isinstance(version, str) else ""
        capabilities, instructions = fields.get("capabilities"), fields.get("instructions")
        self._publish(
            EraDecided(
                era=era_of(version).value,
                protocol_version=version,
                reason=f"the server answered the client's {method}",
            )
        )
        self._publish(
            ServerIntroduced(
                protocol_version=version,
                server_info=info if isinstance(info, dict) else {},
                capabilities=capabilities if isinstance(capabilities, dict) else {},
                instructions=instructions if isinstance(instructions, str) else None,
            )
        )


def _opened(
    frame: Frame,
    fields: Mapping[str, Any],
    seq: int,
    call_id: str | None,
    purpose: str | None,
    clock: Clock,
) -> OpenRequest:
    assert frame.id is not None
    meta = fields.get("_meta")
    return OpenRequest(
        id=frame.id,
        seq=seq,
        method=frame.method,
        call_id=call_id,
        purpose=purpose,
        token=meta.get("progressToken") if isinstance(meta, Mapping) else None,
        started=clock.monotonic(),
    )


def _purpose(method: str) -> str:
    return _PURPOSES.get(method, "call")


def _method(message: Message) -> str | None:
    return (message.method or None) if isinstance(message, Frame) else None


def _may_infer(message: Message) -> bool:
    if isinstance(message, Malformed):
        return message.is_reply_like
    if not isinstance(message, Frame):
        return False
    return message.kind is Kind.REQUEST or message.method == "notifications/message"


def _requests_in(message: Message) -> list[Frame]:
    members = message.members if isinstance(message, Batch) else (message,)
    return [one for one in members if isinstance(one, Frame) and one.kind is Kind.REQUEST]


def _replies_in(message: Message) -> list[Frame]:
    members = message.members if isinstance(message, Batch) else (message,)
    replies = (Kind.RESULT, Kind.ERROR)
    return [one for one in members if isinstance(one, Frame) and one.kind in replies]


def _first(found: Iterable[OpenRequest | None]) -> OpenRequest | None:
    return next((one for one in found if one is not None), None)


def _same(found: list[OpenRequest | None]) -> OpenRequest | None:
    """The request of all, if it is the same."""
    seqs = {None if one is None else one.seq for one in found}
    return found[0] if len(seqs) == 1 and found else None


def _value(frame: Frame) -> Any:
    try:
        return frame.value()
    except ValueError:
        return None


def _fields(frame: Frame) -> Mapping[str, Any]:
    value = _value(frame)
    return value if isinstance(value, Mapping) else {}
