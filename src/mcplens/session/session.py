"""One session over one transport, from opening it to losing it.

Joins the parts (message_sender.py, message_receiver.py, in_flight.py, attribution.py) and ends what
they began: requests that time out or are cancelled, and the session itself. Owns no queue and no
connection state: connector.py opens and ends sessions. Everything here runs in callbacks on the
event loop; nothing blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import CancelledRequest, InspectorError, TimeoutExpired
from mcplens.logs import get_logger
from mcplens.protocol.correlation import Correlation
from mcplens.session.attribution import NOWHERE, Attribution, TaskRequests, link_to
from mcplens.session.config import ConnectionConfig
from mcplens.session.envelope import Envelope
from mcplens.session.in_flight import RequestsInFlight
from mcplens.session.message_receiver import MessageReceiver, OnMessage
from mcplens.session.message_sender import MessageSender
from mcplens.session.queue import QueueEntry
from mcplens.session.unmatched_replies import UnmatchedReplies, quote, quote_unfinished
from mcplens.transports.base import Transport

_log: Final = get_logger(__name__)


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
        names: Mapping[str, str],
        client_info: Mapping[str, Any],
        client_capabilities: Mapping[str, Any],
        on_lost: Callable[[InspectorError], None],
        on_expired: Callable[[InspectorError], None],
        on_request: OnMessage,
        on_notification: OnMessage,
        tasks: TaskRequests,
    ) -> None:
        self.transport = transport
        self.clock = clock
        self._server_id = publish.server_id
        self.client_info = client_info
        self.client_capabilities = client_capabilities
        self.is_lost = False
        self.lost_by: InspectorError | None = None
        self._on_lost = on_lost
        self._on_expired = on_expired
        self.envelope = Envelope(
            client_info, client_capabilities, has_headers=transport.exchange_per_request
        )
        self.attribution = Attribution(correlation, tasks)
        self.in_flight = RequestsInFlight(
            correlation,
            publish=publish,
            clock=clock,
            config=config,
            names=names,
            on_due=self._time_out,
        )
        self.sender = MessageSender(
            transport,
            in_flight=self.in_flight,
            attribution=self.attribution,
            envelope=self.envelope,
            publish=publish,
            clock=clock,
        )
        self.receiver = MessageReceiver(
            in_flight=self.in_flight,
            attribution=self.attribution,
            unmatched=UnmatchedReplies(
                transport, self.in_flight, self.attribution, publish=publish, clock=clock
            ),
            envelope=self.envelope,
            publish=publish,
            on_request=on_request,
            on_notification=on_notification,
            on_lost=self.lose,
            on_expired=self._expire,
        )
        transport.attach(self.receiver, publish, clock)

    def __repr__(self) -> str:
        waiting = len(self.in_flight.waiting)
        return f"<Session {self.transport.kind} {self.version or 'new'} {waiting} waiting>"

    @property
    def version(self) -> str:
        """The protocol revision that is spoken; empty before the handshake."""
        return self.envelope.version

    @property
    def is_stateless(self) -> bool:
        """Whether 2026-07-28 is spoken."""
        return self.envelope.is_stateless

    # -- the end of a request --------------------------------------------------------------------

    def give_up(self, entry: QueueEntry, reason: str) -> None:
        """Stop waiting for a request and tell the server, as its revision wants it."""
        if self.in_flight.correlation.give_up(entry.id) is None or self.is_lost:
            return
        # Over HTTP 2026-07-28 cancels by closing the stream; the probe for it does so as well.
        is_stateless = self.is_stateless or entry.method == "server/discover"
        stateless_http = is_stateless and self.transport.exchange_per_request
        # The specification forbids cancelling initialize, and what became a task like this.
        is_task = isinstance(entry.params, Mapping) and "task" in entry.params
        if entry.method != "initialize" and not is_task and not stateless_http:
            link = NOWHERE if entry.sent is None else link_to(entry.sent)
            params = {"requestId": entry.id, "reason": reason}
            # An id that was sent raw may be one that cannot be written again.
            with suppress(InspectorError):
                self.sender.notify("notifications/cancelled", params, link)
        self.transport.abandon(entry.id)

    def cancel(self, entry: QueueEntry, reason: str) -> None:
        """Give a request up because its caller no longer wants an answer."""
        self.give_up(entry, reason)
        self.in_flight.fail(entry, CancelledRequest(reason))

    def cancelled_by_server(self, entry: QueueEntry, why: str) -> None:
        """The server says that it will not answer a request."""
        if self.in_flight.correlation.give_up(entry.id) is not None:
            self.transport.abandon(entry.id)
            details = {"cancelled_by": "server"}
            self.in_flight.fail(entry, CancelledRequest(why, details=details))

    def _time_out(self, entry: QueueEntry) -> None:
        elapsed_s = self.in_flight.elapsed_s(entry)
        message = f"no answer to {entry.method} within {elapsed_s:.3g} s"
        queued_s = 0.0 if entry.started_at is None else entry.started_at - entry.created_at
        if queued_s >= 0.001:
            message += f" of being sent, after {queued_s:.3g} s in the queue"
        if entry.evidence:
            shown = ", ".join(quote(raw) for raw in entry.evidence)
            message += f"; these bytes came meanwhile and are not a valid message: {shown}"
        message += quote_unfinished(self.transport.unfinished(entry.id))
        name = self._server_id
        _log.debug("%s: no answer to %s within %.3g s", name, entry.method, elapsed_s)
        self.give_up(entry, "timed out")
        details = {"phase": "request"}
        self.in_flight.fail(entry, TimeoutExpired("REQUEST_TIMEOUT", message, details=details))

    # -- the end of the session ------------------------------------------------------------------

    def fail_all(self, error: InspectorError) -> None:
        """Fail every request that waits; the session is over."""
        self.is_lost = True
        self.in_flight.fail_all(error)

    def lose(self, error: InspectorError) -> None:
        """The channel is gone, or the heartbeat found the server dead."""
        if not self.is_lost:
            self.is_lost = True
            self.lost_by = error
            self._on_lost(error)

    def _expire(self, error: InspectorError) -> None:
        if not self.is_lost:
            self.is_lost = True
            self.lost_by = error
            self._on_expired(error)
