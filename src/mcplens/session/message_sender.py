"""Sends messages over one transport, and publishes each with its links before it leaves.

A frame says which exchange carries it, which call it was sent for, and which request it belongs to.
Owned by the session; queue.py decides when a request starts. Nothing here blocks.
"""

from __future__ import annotations

from typing import Any, Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.events import FrameSent, RequestStarted
from mcplens.protocol.frames import (
    Frame,
    Kind,
    Message,
    RequestId,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    parse,
)
from mcplens.session.attribution import NOWHERE, Attribution, Link
from mcplens.session.envelope import Envelope, with_meta
from mcplens.session.in_flight import RequestsInFlight
from mcplens.session.queue import CallTag, QueueEntry, RequestStatus
from mcplens.transports.base import Outgoing, Transport

# Before Python 3.12 each look into an enum costs as much as a small frame's encoding.
_REQUEST: Final = Kind.REQUEST


class MessageSender:
    """Writes requests, notifications, answers and raw bytes to one transport."""

    def __init__(
        self,
        transport: Transport,
        *,
        in_flight: RequestsInFlight,
        attribution: Attribution,
        envelope: Envelope,
        publish: Publisher,
        clock: Clock,
    ) -> None:
        self._transport = transport
        self._in_flight = in_flight
        self._attribution = attribution
        self._envelope = envelope
        self._publish = publish.publish
        self._clock = clock

    def __repr__(self) -> str:
        return f"<MessageSender over {self._transport!r}>"

    # -- requests --------------------------------------------------------------------------------

    def start(self, entry: QueueEntry) -> None:
        """Send a request whose turn has come."""
        identity, method = entry.id, entry.method
        params, headers = entry.params, entry.headers
        if entry.on_progress is not None or method == "tools/call":
            params = with_meta(params, {"progressToken": identity})
        envelope = self._envelope
        if envelope.is_stateless:
            params = with_meta(params, envelope.meta)
            headers = envelope.headers(method, params, headers)
        try:
            data = encode_request(identity, method, params)
        except _UNWRITABLE as problem:
            raise _unwritable(method, problem) from None
        self._begin(entry, Frame(data, _REQUEST, identity, method), headers)

    def start_raw(
        self, entry: QueueEntry, message: Message, headers: dict[str, str] | None
    ) -> None:
        """Send a request whose bytes are given, and wait for its answer."""
        self._begin(entry, message, self._envelope.raw_headers(message, headers))

    def start_now(
        self,
        method: str,
        params: Any = None,
        *,
        tag: CallTag,
        timeout_s: float | None = None,
        headers: dict[str, str] | None = None,
        is_quiet: bool = False,
    ) -> QueueEntry:
        """Send a request past the queue (handshake, ping); await the entry for its answer."""
        entry = QueueEntry(
            self._in_flight.correlation.next_id(),
            method,
            params,
            created_at=self._clock.wall(),
            tag=tag,
            timeout_s=timeout_s,
            headers=headers,
            on_settled=self._note_end,
            is_quiet=is_quiet,
        )
        entry.status = RequestStatus.IN_PROGRESS
        entry.started_at = entry.created_at
        if tag.on_request is not None:
            tag.on_request(entry)
        self.start(entry)
        return entry

    def _begin(self, entry: QueueEntry, message: Message, headers: dict[str, str] | None) -> None:
        self._in_flight.add(entry)
        identity = entry.id
        out = Outgoing(message, is_request=True, id=identity, method=entry.method, headers=headers)
        seq = self._publish_request(out, entry.tag, entry.method)
        entry.sent = out.sent
        if not entry.is_quiet:
            started = RequestStarted(request_id=identity, method=entry.method, request_seq=seq)
            self._publish(started, 0)
        self._transport.write(out)

    def _publish_request(self, out: Outgoing, tag: CallTag, method: str | None) -> int:
        message = out.message
        size = len(message.raw)
        out.sent = tag.last_sent = FrameSent(
            message=message,
            size_bytes=size,
            method=method,
            exchange_id=self._transport.next_exchange_id(),
            request_seq=None,
            caused_by_seq=tag.first_seq,
            call_id=tag.call_id,
            purpose=tag.purpose,
            inbound_seq=tag.inbound_seq,
        )
        seq = self._publish(out.sent, size)
        if tag.first_seq is None:
            tag.first_seq = seq
        return seq

    def _note_end(self, entry: QueueEntry) -> None:
        entry.completed_at = self._clock.wall()

    # -- other messages --------------------------------------------------------------------------

    def notify(self, method: str, params: Any = None, link: Link = NOWHERE) -> None:
        """Send a notification; `link` is the request that it belongs to."""
        try:
            data = encode_notification(method, params)
        except _UNWRITABLE as problem:
            raise _unwritable(method, problem) from None
        headers = None
        if self._envelope.is_stateless:
            headers = self._envelope.headers(method, params or {}, None)
        message = Frame(data, Kind.NOTIFICATION, None, method)
        self._send(Outgoing(message, method=method, headers=headers), link)

    def answer(self, request_id: RequestId, result: Any) -> None:
        """Answer a request of the server's."""
        data = encode_result(request_id, result)
        link = self._attribution.answered(request_id)
        self._send(Outgoing(Frame(data, Kind.RESULT, request_id)), link)

    def refuse(self, request_id: RequestId, code: int, message: str, data: Any = None) -> None:
        """Answer a request of the server's with an error."""
        raw = encode_error(request_id, code, message, data)
        link = self._attribution.answered(request_id)
        self._send(Outgoing(Frame(raw, Kind.ERROR, request_id)), link)

    def send_bytes(
        self, data: bytes, headers: dict[str, str] | None = None, *, tag: CallTag
    ) -> None:
        """Send bytes exactly as they are, without waiting for an answer."""
        message = parse(data)
        out = Outgoing(message, headers=self._envelope.raw_headers(message, headers))
        method = message.method if isinstance(message, Frame) else None
        self._publish_request(out, tag, method or None)
        assert out.sent is not None
        self._attribution.sent_raw(message, out.sent)
        self._transport.write(out)

    def _send(self, out: Outgoing, link: Link) -> None:
        message = out.message
        size = len(message.raw)
        out.sent = FrameSent(
            message=message,
            size_bytes=size,
            method=out.method or link.method,
            exchange_id=self._transport.next_exchange_id(),
            request_seq=link.request_seq,
            is_inferred=link.is_inferred,
            call_id=link.call_id,
            purpose=link.purpose,
        )
        self._publish(out.sent, size)
        self._transport.write(out)


# What msgspec raises for a value that JSON cannot hold.
_UNWRITABLE: Final = (TypeError, ValueError, RecursionError, OverflowError)


def _unwritable(method: str, problem: Exception) -> InspectorError:
    message = f"the params of {method} cannot be written as JSON: {problem}"
    return InspectorError("INVALID_REQUEST", message)
