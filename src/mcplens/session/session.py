"""One session over one transport: sends requests, matches answers, watches their clocks.

Publishes every frame with its links: which exchange carried it, which request it belongs to. Owns
no queue and no connection state: connection.py opens and ends sessions, queue.py decides when a
request starts. Everything here runs in callbacks on the loop; nothing blocks and nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from msgspec.structs import replace

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import (
    CancelledRequest,
    InspectorError,
    ServerError,
    TimeoutExpired,
)
from mcplens.events import FrameReceived, FrameSent, RequestEnded, RequestStarted
from mcplens.protocol.correlation import Correlation
from mcplens.protocol.deadlines import Deadline
from mcplens.protocol.eras import (
    BATCH_VERSION,
    LOG_LEVEL,
    PROTOCOL_VERSION,
    Era,
    HeaderPath,
    envelope_meta,
    era_of,
    header_value,
    parameter_headers,
    standard_headers,
)
from mcplens.protocol.frames import (
    Batch,
    Frame,
    Kind,
    Malformed,
    Message,
    RequestId,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    parse,
    request_ids,
)
from mcplens.session.attribution import (
    NOWHERE,
    Attribution,
    Link,
    Received,
    TaskRequests,
    link_to,
)
from mcplens.session.capabilities import for_stateless
from mcplens.session.config import ConnectionConfig
from mcplens.session.expiry import Expiry
from mcplens.session.misfits import Misfits, begun_with, quote
from mcplens.session.queue import CallTag, QueueEntry, RequestStatus
from mcplens.transports.base import Outgoing, Transport

# Before Python 3.12 each look into an enum costs as much as a small frame's encoding.
_REQUEST: Final = Kind.REQUEST
_RESULT: Final = Kind.RESULT
_STATUS_NAMES: Final = {status: status.value for status in RequestStatus}


class Session:
    """What is sent and received between opening a transport and losing it."""

    def __init__(
        self,
        transport: Transport,
        *,
        correlation: Correlation[QueueEntry],
        publish: Publisher,
        clock: Clock,
        config: ConnectionConfig,
        client_info: Mapping[str, Any],
        client_capabilities: Mapping[str, Any],
        on_lost: Callable[[InspectorError], None],
        on_expired: Callable[[InspectorError], None],
        on_request: Callable[[Frame, Received], None],
        on_notification: Callable[[Frame, Received], None],
        tasks: TaskRequests,
    ) -> None:
        self.transport = transport
        self.client_info = client_info
        self.client_capabilities = client_capabilities
        self.version = ""
        self.is_stateless = False
        self.header_parameters: dict[str, dict[str, HeaderPath]] = {}
        self.frames_received = 0
        self.is_lost = False
        self.lost_by: InspectorError | None = None
        self.clock = clock
        self._correlation = correlation
        self._publish = publish
        self._config = config
        self._on_lost = on_lost
        self._on_expired = on_expired
        self._on_request = on_request
        self._on_notification = on_notification
        self._envelope: dict[str, Any] = {}
        self.attribution = Attribution(correlation, tasks)
        self._misfits = Misfits(self, correlation, publish)
        self._expiry = Expiry(clock, correlation.waiting, self._time_out)
        transport.attach(self, publish, clock)

    def __repr__(self) -> str:
        waiting = len(self._correlation.waiting)
        return f"<Session {self.transport.kind} {self.version or 'new'} {waiting} waiting>"

    def calls(self) -> list[QueueEntry]:
        """The requests in flight that somebody waits for: no ping, no stream of notifications."""
        return [
            entry
            for entry in self._correlation.waiting.values()
            if not entry.is_quiet and entry.tag.purpose not in ("heartbeat", "listening")
        ]

    # -- out ---------------------------------------------------------------------------------

    def speak(self, version: str) -> None:
        """From now on this revision is spoken."""
        self.version = version
        self.is_stateless = era_of(version) is Era.STATELESS
        if self.is_stateless:
            capabilities = for_stateless(self.client_capabilities)
            self._envelope = envelope_meta(version, capabilities, self.client_info)

    def set_log_level(self, level: str) -> None:
        """Ask for logs with every request, as 2026-07-28 does it."""
        self._envelope = {**self._envelope, LOG_LEVEL: level}

    def direct(
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
            self._correlation.next_id(),
            method,
            params,
            created_at=self.clock.wall(),
            tag=tag,
            timeout_s=timeout_s,
            headers=headers,
            on_settled=self._stamp,
            is_quiet=is_quiet,
        )
        entry.status = RequestStatus.IN_PROGRESS
        entry.started_at = entry.created_at
        if tag.on_request is not None:
            tag.on_request(entry)
        self.start(entry)
        return entry

    def start(self, entry: QueueEntry) -> None:
        """Send a request whose turn has come."""
        identity, method = entry.id, entry.method
        params, headers = entry.params, entry.headers
        if entry.on_progress is not None or method == "tools/call":
            params = _with_meta(params, {"progressToken": identity})
        if self.is_stateless:
            params = _with_meta(params, self._envelope)
            if self.transport.exchange_per_request:
                headers = self._stateless_headers(method, params, headers)
        try:
            data = encode_request(identity, method, params)
        except _UNWRITABLE as problem:
            raise _unwritable(method, problem) from None
        self._begin(entry, Frame(data, _REQUEST, identity, method), headers)

    def start_raw(
        self, entry: QueueEntry, message: Message, headers: dict[str, str] | None
    ) -> None:
        """Send a request whose bytes are given, and wait for its answer."""
        self._begin(entry, message, self._raw_headers(message, headers))

    def _begin(self, entry: QueueEntry, message: Message, headers: dict[str, str] | None) -> None:
        identity = entry.id
        now = entry.started_mono = self.clock.monotonic()
        config = self._config
        timeout_s = entry.timeout_s if entry.timeout_s is not None else config.request_timeout_s
        deadline = entry.deadline = Deadline(
            now, timeout_s, config.max_total_timeout_s, config.progress_resets_timeout
        )
        self._correlation.open(identity, entry)
        self._expiry.watch(deadline)
        out = Outgoing(message, is_request=True, id=identity, method=entry.method, headers=headers)
        seq = self._publish_request(out, entry.tag, entry.method)
        entry.sent = out.sent
        if not entry.is_quiet:
            self._publish(RequestStarted(request_id=identity, method=entry.method, request_seq=seq))
        self.transport.write(out)

    def _publish_request(self, out: Outgoing, tag: CallTag, method: str | None) -> int:
        message = out.message
        size = len(message.raw)
        out.sent = tag.last_sent = FrameSent(
            message=message,
            size_bytes=size,
            method=method,
            exchange_id=self.transport.next_exchange_id(),
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

    def _send(self, out: Outgoing, link: Link) -> None:
        """Send what is not a request, and publish what it belongs to."""
        message = out.message
        size = len(message.raw)
        out.sent = FrameSent(
            message=message,
            size_bytes=size,
            method=out.method or link.method,
            exchange_id=self.transport.next_exchange_id(),
            request_seq=link.request_seq,
            is_inferred=link.is_inferred,
            call_id=link.call_id,
            purpose=link.purpose,
        )
        self._publish(out.sent, size)
        self.transport.write(out)

    def notify(self, method: str, params: Any = None, link: Link = NOWHERE) -> None:
        try:
            data = encode_notification(method, params)
        except _UNWRITABLE as problem:
            raise _unwritable(method, problem) from None
        self._send(Outgoing(Frame(data, Kind.NOTIFICATION, None, method), method=method), link)

    def answer(self, request_id: RequestId, result: Any) -> None:
        """Answer a question of the server's."""
        data = encode_result(request_id, result)
        link = self.attribution.answered(request_id)
        self._send(Outgoing(Frame(data, Kind.RESULT, request_id)), link)

    def refuse(self, request_id: RequestId, code: int, message: str, data: Any = None) -> None:
        """Refuse a question of the server's."""
        raw = encode_error(request_id, code, message, data)
        link = self.attribution.answered(request_id)
        self._send(Outgoing(Frame(raw, Kind.ERROR, request_id)), link)

    def send_bytes(
        self, data: bytes, headers: dict[str, str] | None = None, *, tag: CallTag
    ) -> None:
        """Send bytes exactly as they are; no answer is waited for."""
        message = parse(data)
        out = Outgoing(message, headers=self._raw_headers(message, headers))
        method = message.method if isinstance(message, Frame) else None
        self._publish_request(out, tag, method or None)
        assert out.sent is not None
        self.attribution.sent_raw(message, out.sent)
        self.transport.write(out)

    def give_up(self, entry: QueueEntry, reason: str) -> None:
        """Stop waiting for a request and tell the server, as its revision wants it."""
        if self._correlation.give_up(entry.id) is None or self.is_lost:
            return
        stateless_http = self.is_stateless and self.transport.exchange_per_request
        # The specification forbids cancelling initialize, and what became a task like this.
        is_task = isinstance(entry.params, Mapping) and "task" in entry.params
        if entry.method != "initialize" and not is_task and not stateless_http:
            link = NOWHERE if entry.sent is None else link_to(entry.sent)
            params = {"requestId": entry.id, "reason": reason}
            # An id that was sent raw may be one that cannot be written again.
            with suppress(InspectorError):
                self.notify("notifications/cancelled", params, link)
        self.transport.abandon(entry.id)

    def call_off(self, entry: QueueEntry, reason: str) -> None:
        """Give a request up because its caller wants no answer any more."""
        self.give_up(entry, reason)
        self.end(entry, CancelledRequest(reason))

    def fail_all(self, error: InspectorError) -> None:
        """Reject every request that waits; the session is over."""
        self.is_lost = True
        self._expiry.stop()
        for identity in list(self._correlation.waiting):
            entry = self._correlation.give_up(identity)
            if entry is not None:
                self.end(entry, error.copy())

    def _stateless_headers(
        self, method: str, params: Mapping[str, Any], extra: dict[str, str] | None
    ) -> dict[str, str]:
        headers = standard_headers(method, params)
        name = params.get("name")
        if method == "tools/call" and isinstance(name, str) and name in self.header_parameters:
            mirrored = self.header_parameters[name]
            headers |= parameter_headers(mirrored, params.get("arguments") or {})
        headers["MCP-Protocol-Version"] = self._version_in(params)
        return headers | extra if extra else headers

    def _version_in(self, params: Mapping[str, Any]) -> str:
        """The revision that a request names, which its header must repeat."""
        meta = params.get("_meta")
        named = meta.get(PROTOCOL_VERSION) if isinstance(meta, Mapping) else None
        return header_value(named) if isinstance(named, str) else self.version

    def _raw_headers(self, message: Message, extra: dict[str, str] | None) -> dict[str, str] | None:
        """Headers that repeat the body, without which no server would look at a raw request."""
        is_mirrored = self.is_stateless and self.transport.exchange_per_request
        if not is_mirrored or not isinstance(message, Frame) or message.kind is not _REQUEST:
            return extra
        try:
            params = message.value()
        except ValueError:
            params = None
        return self._stateless_headers(
            message.method, params if isinstance(params, Mapping) else {}, extra
        )

    # -- in (Receiver) -------------------------------------------------------------------------

    def message_received(
        self,
        message: Message,
        size_bytes: int,
        exchange_id: int | None = None,
        carrier: Outgoing | None = None,
    ) -> None:
        self.frames_received += 1
        if type(message) is Frame and message.kind is _RESULT:
            entry = self._correlation.waiting.get(message.id)  # type: ignore[arg-type]
            if entry is not None and _may_answer(entry, carrier):
                del self._correlation.waiting[message.id]  # type: ignore[arg-type]
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
                self._completed(entry, message)
                return
        link = self.attribution.of(message, carrier)
        seq = self._publish_received(message, size_bytes, exchange_id, link)
        carrier_id = carrier.id if carrier is not None and carrier.is_request else None
        self._take(message, Received(seq, link, carrier_id))

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

    def _take(self, message: Message, received: Received) -> None:
        if type(message) is Frame:
            kind = message.kind
            if kind is _RESULT:
                self._result_received(message, received)
            elif kind is Kind.NOTIFICATION:
                self._on_notification(message, received)
            elif kind is _REQUEST:
                self._question_received(message, received)
            else:
                self._error_received(message, received)
        elif type(message) is Batch and self.version == BATCH_VERSION:
            for member in message.members:
                link = self.attribution.of(member, None)
                self._take(member, Received(received.seq, link, received.carrier_id))
        elif type(message) is Batch:
            self._misfits.batch(message, received)
        elif type(message) is Malformed:
            self._misfits.malformed(message, received)

    def _question_received(self, frame: Frame, received: Received) -> None:
        if frame.id is not None:
            link = received.link
            question = Link(
                received.seq,
                frame.id,
                frame.method,
                link.call_id,
                is_inferred=link.is_inferred,
            )
            self.attribution.asked(frame.id, question)
        self._on_request(frame, received)

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
        return self.attribution.inferred().request_seq

    def _result_received(self, frame: Frame, received: Received) -> None:
        entry = self._waiting_for(frame, received)
        if entry is None:
            self._misfits.answer_to_nothing(frame, received)
        else:
            self._correlation.close(entry.id)
            self._completed(entry, frame)

    def _waiting_for(self, frame: Frame, received: Received) -> QueueEntry | None:
        """The request that a reply answers; not one of the same id that another reply is for."""
        entry = self._correlation.waiting.get(frame.id)  # type: ignore[arg-type]
        if entry is None or entry.sent is None:
            return entry
        return entry if entry.sent.seq == received.link.request_seq else None

    def request_failed(self, request_id: RequestId, error: InspectorError) -> None:
        entry = self._correlation.close(request_id)
        if entry is not None:
            self.end(entry, error)

    def connection_lost(self, error: InspectorError) -> None:
        if not self.is_lost:
            self.is_lost = True
            self.lost_by = error
            self._on_lost(error)

    def session_expired(self, error: InspectorError) -> None:
        if not self.is_lost:
            self.is_lost = True
            self.lost_by = error
            self._on_expired(error)

    def _completed(self, entry: QueueEntry, frame: Frame) -> None:
        self._misfits.remember(frame)
        entry.resolve(frame)
        if not entry.is_quiet:
            self._publish_end(entry)

    def _error_received(self, frame: Frame, received: Received) -> None:
        assert frame.error is not None
        error = frame.error
        if frame.id is None:
            reason = f"an error without an id: {error.code} {error.message}"
            self._misfits.unattributed(frame, received, received.carrier_id, reason)
            return
        entry = self._waiting_for(frame, received)
        if entry is None:
            self._misfits.answer_to_nothing(frame, received)
            return
        self._correlation.close(entry.id)
        self._misfits.remember(frame)
        self.end(entry, ServerError(error.code, error.message, error.data, raw=frame.raw))

    # -- ends ----------------------------------------------------------------------------------

    def end(self, entry: QueueEntry, error: InspectorError) -> None:
        """Reject one request, with what only we know put into the error."""
        error.with_details(server_id=self._publish.server_id, method=entry.method)
        error.with_details(elapsed_s=round(self._elapsed_s(entry), 3))
        entry.reject(error)
        if not entry.is_quiet:
            self._publish_end(entry)

    def _publish_end(self, entry: QueueEntry) -> None:
        error = None if entry.error is None else entry.error.to_dict()
        ended = RequestEnded(
            request_id=entry.id,
            method=entry.method,
            status=_STATUS_NAMES[entry.status],
            elapsed_s=self.clock.monotonic() - entry.started_mono,
            error=error,
            request_seq=None if entry.sent is None else entry.sent.seq,
        )
        self._publish(ended, 0 if entry.error is None else entry.error.size_bytes)

    def _elapsed_s(self, entry: QueueEntry) -> float:
        return self.clock.monotonic() - entry.started_mono

    def _stamp(self, entry: QueueEntry) -> None:
        entry.completed_at = self.clock.wall()

    def limit(self, entry: QueueEntry) -> None:
        """A request that could take any time has the limits of the configuration from now on."""
        config = self._config
        if entry.deadline is not None:
            now = self.clock.monotonic()
            entry.deadline.restart(now, config.request_timeout_s, config.max_total_timeout_s)
            self._expiry.watch(entry.deadline)

    def look_again(self, entry: QueueEntry) -> None:
        """A deadline was paused or resumed."""
        if entry.deadline is not None:
            self._expiry.watch(entry.deadline)

    def _time_out(self, entry: QueueEntry) -> None:
        message = f"no answer to {entry.method} within {self._elapsed_s(entry):.3g} s"
        if entry.evidence:
            shown = ", ".join(quote(raw) for raw in entry.evidence)
            message += f"; what came meanwhile is no valid message: {shown}"
        message += begun_with(self.transport.unfinished(entry.id))
        self.give_up(entry, "timed out")
        self.end(entry, TimeoutExpired("REQUEST_TIMEOUT", message))


def _may_answer(entry: QueueEntry, carrier: Outgoing | None) -> bool:
    """Not where another request of the same id, sent raw, is what this HTTP answer is for."""
    if carrier is None or carrier.sent is entry.sent:
        return True
    return entry.id not in request_ids(carrier.message)


def _with_meta(params: Any, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Params with `_meta` members added; what the caller put there himself wins."""
    if params is None:
        return {"_meta": meta}
    own = params.get("_meta")
    return {**params, "_meta": {**meta, **own} if own else meta}


# What msgspec raises for a value that JSON cannot hold.
_UNWRITABLE: Final = (TypeError, ValueError, RecursionError, OverflowError)


def _unwritable(method: str, problem: Exception) -> InspectorError:
    message = f"the params of {method} cannot be written as JSON: {problem}"
    return InspectorError("INVALID_REQUEST", message)
