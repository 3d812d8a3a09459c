"""One session over one transport: sends requests, matches answers, watches their clocks.

Owns no queue and no connection state: connection.py opens and ends sessions, queue.py decides when
a request starts. Everything here runs in callbacks on the loop; nothing blocks and nothing waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import (
    CancelledRequest,
    InspectorError,
    ServerError,
    TimeoutExpired,
)
from mcplens.events import RequestEnded, RequestStarted
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
)
from mcplens.session.capabilities import for_stateless
from mcplens.session.config import ConnectionConfig
from mcplens.session.expiry import Expiry
from mcplens.session.misfits import Misfits, begun_with, quote
from mcplens.session.queue import QueueEntry, RequestStatus
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
        on_request: Callable[[Frame, RequestId | None], None],
        on_notification: Callable[[Frame, RequestId | None], None],
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
            if not entry.is_quiet and entry.method != "subscriptions/listen"
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
            timeout_s=timeout_s,
            headers=headers,
            on_settled=self._stamp,
            is_quiet=is_quiet,
        )
        entry.status = RequestStatus.IN_PROGRESS
        entry.started_at = entry.created_at
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
        if not entry.is_quiet:
            publish = self._publish
            publish.put(RequestStarted, publish.server_id, 0, identity, entry.method)
        self.transport.send(
            Outgoing(message, is_request=True, id=identity, method=entry.method, headers=headers)
        )

    def notify(self, method: str, params: Any = None) -> None:
        try:
            data = encode_notification(method, params)
        except _UNWRITABLE as problem:
            raise _unwritable(method, problem) from None
        self.transport.send(Outgoing(Frame(data, Kind.NOTIFICATION, None, method), method=method))

    def answer(self, request_id: RequestId, result: Any) -> None:
        """Answer a question of the server's."""
        data = encode_result(request_id, result)
        self.transport.send(Outgoing(Frame(data, Kind.RESULT, request_id)))

    def refuse(self, request_id: RequestId, code: int, message: str, data: Any = None) -> None:
        """Refuse a question of the server's."""
        raw = encode_error(request_id, code, message, data)
        self.transport.send(Outgoing(Frame(raw, Kind.ERROR, request_id)))

    def send_bytes(self, data: bytes, headers: dict[str, str] | None = None) -> None:
        """Send bytes exactly as they are; no answer is waited for."""
        message = parse(data)
        self.transport.send(Outgoing(message, headers=self._raw_headers(message, headers)))

    def give_up(self, entry: QueueEntry, reason: str) -> None:
        """Stop waiting for a request and tell the server, as its revision wants it."""
        if self._correlation.give_up(entry.id) is None or self.is_lost:
            return
        stateless_http = self.is_stateless and self.transport.exchange_per_request
        # The specification forbids cancelling initialize, and what became a task like this.
        is_task = isinstance(entry.params, Mapping) and "task" in entry.params
        if entry.method != "initialize" and not is_task and not stateless_http:
            self.notify("notifications/cancelled", {"requestId": entry.id, "reason": reason})
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

    def message_received(self, message: Message, channel: RequestId | None) -> None:
        self.frames_received += 1
        if type(message) is Frame:
            kind = message.kind
            if kind is _RESULT:
                entry = self._correlation.waiting.pop(message.id, None)  # type: ignore[arg-type]
                if entry is not None:
                    self._completed(entry, message)
                    return
                self._misfits.answer_to_nothing(message, channel)
            elif kind is Kind.NOTIFICATION:
                self._on_notification(message, channel)
            elif kind is Kind.REQUEST:
                self._on_request(message, channel)
            else:
                self._error_received(message, channel)
        elif type(message) is Batch and self.version == BATCH_VERSION:
            for member in message.members:
                self.message_received(member, channel)
        elif type(message) is Batch:
            self._misfits.batch(message, channel)
        elif type(message) is Malformed:
            self._misfits.malformed(message, channel)

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

    def _error_received(self, frame: Frame, channel: RequestId | None) -> None:
        assert frame.error is not None
        error = frame.error
        if frame.id is None:
            reason = f"an error without an id: {error.code} {error.message}"
            self._misfits.unattributed(frame, channel, reason)
            return
        entry = self._correlation.close(frame.id)
        if entry is None:
            self._misfits.answer_to_nothing(frame, channel)
            return
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
        publish, status = self._publish, _STATUS_NAMES[entry.status]
        elapsed_s = self.clock.monotonic() - entry.started_mono
        size_bytes = 0 if entry.error is None else entry.error.size_bytes
        fields = entry.id, entry.method, status, elapsed_s, error
        publish.put(RequestEnded, publish.server_id, size_bytes, *fields)

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
