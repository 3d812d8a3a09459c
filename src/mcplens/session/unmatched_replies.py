"""Replies that match no waiting request as they are: malformed, late, repeated, or unexpected.

All of them are published. One whose request is known fails it at once; where only one request can
be meant, that one fails a second later if nothing better comes. Called by message_receiver.py.
"""

from __future__ import annotations

from collections import deque
from logging import DEBUG, WARNING
from typing import Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import InspectorError, ProtocolError
from mcplens.events import LateReply, ReplyUnmatched
from mcplens.logs import get_logger
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, RequestId
from mcplens.session.attribution import Attribution, Received
from mcplens.session.in_flight import RequestsInFlight
from mcplens.session.queue import QueueEntry
from mcplens.transports.base import Transport

# How long a request may still wait for its right answer after one that cannot be attributed.
UNATTRIBUTED_GRACE_S: Final = 1.0
# Malformed messages quoted in the error of the request that waited for something better.
_EVIDENCE_LIMIT: Final = 3
_QUOTE_BYTES: Final = 200
# Answers by which one that comes twice is known; it must not count against the next request.
_REMEMBERED: Final = 16
_REMEMBERED_BYTES: Final = 64 * 1024
# A late reply that is larger is an event alone: the history may have one for each of its requests.
_LATE_BYTES: Final = 256 * 1024


_log: Final = get_logger(__name__)


class UnmatchedReplies:
    """Finds out which request a reply may be meant for, and publishes what is wrong with it."""

    def __init__(
        self,
        transport: Transport,
        in_flight: RequestsInFlight,
        attribution: Attribution,
        *,
        publish: Publisher,
        clock: Clock,
    ) -> None:
        self._transport = transport
        self._in_flight = in_flight
        self._correlation = in_flight.correlation
        self._attribution = attribution
        self._publish = publish
        self._clock = clock
        self._answered: deque[bytes] = deque(maxlen=_REMEMBERED)
        self._has_warned = False
        self._doomed: set[RequestId] = set()  # will fail within the second if nothing better comes

    def __repr__(self) -> str:
        return f"<UnmatchedReplies, {len(self._answered)} answers remembered>"

    def remember(self, frame: Frame) -> None:
        """A request was answered by this."""
        if len(frame.raw) <= _REMEMBERED_BYTES:
            self._answered.append(frame.raw)

    def batch(self, batch: Batch, received: Received, version: str) -> None:
        """A batch in a revision that has none: as malformed as its members are replies."""
        replies = [
            member
            for member in batch.members
            if type(member) is Frame and member.kind in (Kind.RESULT, Kind.ERROR)
        ]
        broken = [member for member in batch.members if type(member) is Malformed]
        ids = [reply.id for reply in replies if reply.id is not None]
        ids += [identity for member in broken for identity in member.ids]
        is_reply_like = bool(replies) or any(member.is_reply_like for member in broken)
        reason = f"a batch, which {version or 'this revision'} does not allow"
        self.malformed(Malformed(batch.raw, reason, tuple(ids), is_reply_like), received)

    def malformed(self, message: Malformed, received: Received) -> None:
        """Bytes that are not a message; a request whose id can be read in them fails at once."""
        self._log_malformed(message)
        is_attributed = False
        for identity in message.ids:
            late = self._correlation.late(identity)
            # Given up, not closed: a right answer that still comes counts as late.
            entry = self._correlation.give_up(identity)
            if late is not None:
                _keep_late(late, message)
                self._publish_late(late, message, received)
            elif entry is not None:
                self._in_flight.fail(entry, _malformed_error(message))
            is_attributed = is_attributed or late is not None or entry is not None
        if is_attributed:
            return
        if received.carrier_id is not None or message.is_reply_like:
            self.unattributed(message, received, received.carrier_id, message.reason)
        else:
            self._note_evidence(message)

    def _log_malformed(self, message: Malformed) -> None:
        """Warn once: a server that prints to stdout may do so with every line."""
        level = DEBUG if self._has_warned else WARNING
        self._has_warned = True
        if _log.isEnabledFor(level):
            size, name = len(message.raw), self._publish.server_id
            _log.log(level, "%s: received a malformed message of %d bytes", name, size)

    def answer_to_nothing(self, frame: Frame, received: Received) -> None:
        """A well-formed reply whose id no waiting request has."""
        assert frame.id is not None
        late = self._correlation.late(frame.id)
        if late is not None:
            _keep_late(late, frame)
            self._publish_late(late, frame, received)
            return
        self._attribution.raw_answered(frame.id, received.link.request_seq)
        if frame.raw in self._answered:
            reason = f"request {quote_id(frame.id)} was answered twice"
            self._publish_unmatched(frame, reason, received)
            return
        meant = self._correlation.near_miss(frame.id)
        hint = f"; request {meant!r} is waiting" if meant is not None else ""
        reason = f"no request with the id {quote_id(frame.id)} is waiting{hint}"
        carrier_id = received.carrier_id
        self.unattributed(frame, received, meant if carrier_id is None else carrier_id, reason)

    def unattributed(
        self,
        message: Frame | Malformed,
        received: Received,
        channel: RequestId | None,
        reason: str,
    ) -> None:
        """Show it; where one request alone can be meant, it fails if nothing better comes."""
        self._publish_unmatched(message, reason, received)
        waiting = self._correlation.waiting
        if channel is None and not self._transport.exchange_per_request:
            # A stream of notifications is open for long and waits for no answer.
            meant = [e.id for e in waiting.values() if e.method != "subscriptions/listen"]
            channel = meant[0] if len(meant) == 1 else None
        entry = waiting.get(channel) if channel is not None else None
        if entry is None:
            self._note_evidence(message)
            return
        if entry.id in self._doomed:
            return  # its second runs already, and a flood of these must not pile up
        self._doomed.add(entry.id)
        entry.evidence.append(message.raw[:_QUOTE_BYTES])
        error = ProtocolError(
            "INVALID_RESPONSE",
            f"the answer to {entry.method} cannot be attributed: {reason}; it came as "
            f"{quote(message.raw)}",
            raw=message.raw,
        )
        self._clock.call_at(
            self._clock.monotonic() + UNATTRIBUTED_GRACE_S,
            lambda: self._fail_waiting(entry, error),
        )

    def _publish_late(
        self, late: QueueEntry, message: Frame | Malformed, received: Received
    ) -> None:
        self._publish(
            LateReply(
                request_id=late.id,
                method=late.method,
                message=message,
                request_seq=None if late.sent is None else late.sent.seq,
                frame_seq=received.seq,
            )
        )

    def _publish_unmatched(
        self, message: Frame | Malformed, reason: str, received: Received
    ) -> None:
        self._publish(
            ReplyUnmatched(
                message=message,
                reason=reason,
                request_seq=received.link.request_seq,
                is_inferred=received.link.is_inferred,
                frame_seq=received.seq,
            )
        )

    def _fail_waiting(self, entry: QueueEntry, error: InspectorError) -> None:
        self._doomed.discard(entry.id)
        if self._correlation.waiting.get(entry.id) is entry:
            self._correlation.give_up(entry.id)
            self._transport.abandon(entry.id)
            self._in_flight.fail(entry, error)

    def _note_evidence(self, message: Frame | Malformed) -> None:
        for entry in self._correlation.waiting.values():
            if len(entry.evidence) < _EVIDENCE_LIMIT:
                entry.evidence.append(message.raw[:_QUOTE_BYTES])


def _keep_late(entry: QueueEntry, message: Frame | Malformed) -> None:
    if len(message.raw) <= _LATE_BYTES:
        entry.late_reply = message


def _malformed_error(message: Malformed) -> ProtocolError:
    text = f"the server's answer is malformed: {message.reason}; it came as {quote(message.raw)}"
    return ProtocolError("INVALID_RESPONSE", text, raw=message.raw)


def quote_id(identity: RequestId) -> str:
    """An id that a server made up, which may be of any length."""
    text = repr(identity)
    return text if len(text) <= _QUOTE_BYTES else f"{text[:_QUOTE_BYTES]}…"


def quote_unfinished(unfinished: bytes) -> str:
    """What a timeout says of a message that came in part; nothing if none did."""
    return f"; a message has come whose end is missing: {quote(unfinished)}" if unfinished else ""


def quote(raw: bytes) -> str:
    """Bytes as text for an error message: shortened, with what is not UTF-8 escaped."""
    text = raw[:_QUOTE_BYTES].decode("utf-8", "backslashreplace")
    more = f"… ({len(raw)} bytes)" if len(raw) > _QUOTE_BYTES else ""
    return f"{text!r}{more}"
