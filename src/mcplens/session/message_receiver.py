"""Receives messages from one transport: publishes each with its links, and settles its request.

The transport calls it, on the event loop, for every message and for what happens to its channel.
Replies that answer no waiting request go to unmatched_replies.py, requests and notifications of
the server's to the client. Owned by the session. Nothing here blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from mcplens.bus import Publisher
from mcplens.errors import InspectorError, ServerError
from mcplens.events import FrameReceived
from mcplens.protocol.eras import BATCH_VERSION
from mcplens.protocol.frames import (
    Batch,
    Frame,
    Kind,
    Malformed,
    Message,
    RequestId,
    request_ids,
)
from mcplens.session.attribution import Attribution, Link, Received
from mcplens.session.envelope import Envelope
from mcplens.session.in_flight import RequestsInFlight
from mcplens.session.queue import QueueEntry
from mcplens.session.unmatched_replies import UnmatchedReplies
from mcplens.transports.base import Outgoing

# Before Python 3.12 each look into an enum costs as much as a small frame's encoding.
_REQUEST: Final = Kind.REQUEST
_RESULT: Final = Kind.RESULT

OnMessage = Callable[[Frame, Received], None]


class MessageReceiver:
    """What a transport calls (transports.base.Receiver)."""

    def __init__(
        self,
        *,
        in_flight: RequestsInFlight,
        attribution: Attribution,
        unmatched: UnmatchedReplies,
        envelope: Envelope,
        publish: Publisher,
        on_request: OnMessage,
        on_notification: OnMessage,
        on_lost: Callable[[InspectorError], None],
        on_expired: Callable[[InspectorError], None],
    ) -> None:
        self.frames_received = 0
        self._in_flight = in_flight
        self._waiting = in_flight.waiting
        self._attribution = attribution
        self._unmatched = unmatched
        self._envelope = envelope
        self._publish = publish.publish
        self._on_request = on_request
        self._on_notification = on_notification
        self._on_lost = on_lost
        self._on_expired = on_expired

    def __repr__(self) -> str:
        return f"<MessageReceiver {self.frames_received} received>"

    # -- messages --------------------------------------------------------------------------------

    def message_received(
        self,
        message: Message,
        size_bytes: int,
        exchange_id: int | None = None,
        carrier: Outgoing | None = None,
    ) -> None:
        self.frames_received += 1
        if type(message) is Frame and message.kind is _RESULT:
            entry = self._waiting.get(message.id)  # type: ignore[arg-type]
            if entry is not None and (carrier is None or _may_answer(entry, carrier)):
                del self._waiting[message.id]  # type: ignore[arg-type]
                sent = entry.sent
                assert sent is not None
                received = FrameReceived(
                    message=message,
                    size_bytes=size_bytes,
                    method=sent.method,
                    exchange_id=exchange_id,
                    request_seq=sent.seq,
                    call_id=sent.call_id,
                    purpose=sent.purpose,
                )
                self._publish(received, size_bytes)
                self._unmatched.remember(message)
                self._in_flight.complete(entry, message)
                return
        link = self._attribution.of(message, carrier)
        seq = self._publish_received(message, size_bytes, exchange_id, link)
        carrier_id = carrier.id if carrier is not None and carrier.is_request else None
        self._dispatch(message, Received(seq, link, carrier_id))

    def _publish_received(
        self, message: Message, size_bytes: int, exchange_id: int | None, link: Link
    ) -> int:
        own_method = message.method if type(message) is Frame else ""
        is_asking = type(message) is Frame and message.kind is _REQUEST
        received = FrameReceived(
            message=message,
            size_bytes=size_bytes,
            method=own_method or link.method,
            exchange_id=exchange_id,
            request_seq=None if is_asking else link.request_seq,
            caused_by_seq=link.request_seq if is_asking else None,
            is_inferred=link.is_inferred,
            call_id=link.call_id,
            purpose=None if is_asking else link.purpose,
        )
        return self._publish(received, size_bytes)

    def _dispatch(self, message: Message, received: Received) -> None:
        if type(message) is Frame:
            kind = message.kind
            if kind is _RESULT:
                self._result_received(message, received)
            elif kind is Kind.NOTIFICATION:
                self._on_notification(message, received)
            elif kind is _REQUEST:
                self._request_received(message, received)
            else:
                self._error_received(message, received)
        elif type(message) is Batch and self._envelope.version == BATCH_VERSION:
            for member in message.members:
                link = self._attribution.of(member, None)
                self._dispatch(member, Received(received.seq, link, received.carrier_id))
        elif type(message) is Batch:
            self._unmatched.batch(message, received, self._envelope.version)
        elif type(message) is Malformed:
            self._unmatched.malformed(message, received)

    def _request_received(self, frame: Frame, received: Received) -> None:
        if frame.id is not None:
            link = received.link
            question = Link(
                received.seq,
                frame.id,
                frame.method,
                link.call_id,
                is_inferred=link.is_inferred,
            )
            self._attribution.asked(frame.id, question)
        self._on_request(frame, received)

    def _result_received(self, frame: Frame, received: Received) -> None:
        entry = self._answered_by(frame, received)
        if entry is None:
            self._unmatched.answer_to_nothing(frame, received)
        else:
            del self._waiting[entry.id]
            self._unmatched.remember(frame)
            self._in_flight.complete(entry, frame)

    def _error_received(self, frame: Frame, received: Received) -> None:
        assert frame.error is not None
        error = frame.error
        if frame.id is None:
            reason = f"an error without an id: {error.code} {error.message}"
            self._unmatched.unattributed(frame, received, received.carrier_id, reason)
            return
        entry = self._answered_by(frame, received)
        if entry is None:
            self._unmatched.answer_to_nothing(frame, received)
            return
        del self._waiting[entry.id]
        self._unmatched.remember(frame)
        failure = ServerError(error.code, error.message, error.data, raw=frame.raw)
        self._in_flight.fail(entry, failure)

    def _answered_by(self, frame: Frame, received: Received) -> QueueEntry | None:
        """The request that a reply answers; not one of the same id that another reply is for."""
        entry = self._waiting.get(frame.id)  # type: ignore[arg-type]
        if entry is None or entry.sent is None:
            return entry
        return entry if entry.sent.seq == received.link.request_seq else None

    # -- the channel -----------------------------------------------------------------------------

    def message_resent(self, out: Outgoing, exchange_id: int) -> None:
        first = out.sent
        if first is None:
            return
        seq = first.request_seq
        if seq is None and request_ids(out.message):
            seq = first.seq
        resent = replace(first, exchange_id=exchange_id, request_seq=seq)
        self._publish(resent, first.size_bytes)

    def only_request_seq(self) -> int | None:
        return self._attribution.inferred().request_seq

    def request_failed(self, request_id: RequestId, error: InspectorError) -> None:
        entry = self._in_flight.correlation.close(request_id)
        if entry is not None:
            self._in_flight.fail(entry, error)

    def connection_lost(self, error: InspectorError) -> None:
        self._on_lost(error)

    def session_expired(self, error: InspectorError) -> None:
        self._on_expired(error)


def _may_answer(entry: QueueEntry, carrier: Outgoing) -> bool:
    """Not where another request of the same id, sent raw, is what this HTTP answer is for."""
    return carrier.sent is entry.sent or entry.id not in request_ids(carrier.message)
