"""Spans of notifications, by the semantic conventions for MCP: a server span for each that comes,
from a client or from a server, and a client span for each that is sent.

Who is told something because of a notification gets a span below that one, and the trace context
in `_meta`. Owned by telemetry.py, so that nothing of it is loaded while telemetry is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, set_span_in_context

from mcplens.gateway.telemetry_attributes import (
    Attributes,
    client_attributes,
    metric_attributes,
    server_attributes,
)
from mcplens.gateway.wire import members, text_of
from mcplens.protocol.eras import STATELESS_VERSIONS
from mcplens.protocol.secret_masking import mask_url

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient
    from mcplens.gateway.telemetry import Telemetry
    from mcplens.protocol.frames import Frame, RequestId

_CANCELLED: Final = "notifications/cancelled"
_UPDATED: Final = "notifications/resources/updated"
# Those of both revisions; all that goes by another name is counted together.
KNOWN_NOTIFICATIONS: Final = frozenset({
    _CANCELLED, _UPDATED, "notifications/initialized", "notifications/message",
    "notifications/progress", "notifications/prompts/list_changed",
    "notifications/resources/list_changed", "notifications/roots/list_changed",
    "notifications/tools/list_changed", "notifications/elicitation/complete",
    "notifications/tasks", "notifications/tasks/status",
    "notifications/subscriptions/acknowledged",
})  # fmt: skip
_OTHER: Final = "_OTHER"
_NO_HEADERS: Final[Mapping[str, str]] = {}
_MAX_URI: Final = 500


class NotificationSpans:
    """Makes the spans of one gateway's notifications."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        self._cause: Context | None = None  # the notification that is being passed on

    def __repr__(self) -> str:
        return f"<NotificationSpans of {self._telemetry!r}>"

    # -- those that come ---------------------------------------------------------------------------

    @contextmanager
    def from_client(
        self, client: InboundClient, frame: Frame, headers: Mapping[str, str]
    ) -> Iterator[None]:
        """A client sent a notification, which is processed in the block."""
        parent = self._telemetry.parent_of(frame.body, headers)
        with self._processed(frame, client_attributes(client, headers), parent):
            yield

    @contextmanager
    def from_server(
        self, session: ServerConnection | None, frame: Frame, call: InboundCall | None
    ) -> Iterator[None]:
        """A server sent a notification, which is processed in the block."""
        attributes = {} if session is None else server_attributes(session)
        for name in ("server.address", "server.port"):  # these are of client spans
            attributes.pop(name, None)
        parent = self._telemetry.parent_of(frame.body, _NO_HEADERS)
        if parent is None and call is not None and call.trace is not None:
            parent = call.trace.context
        with self._processed(frame, attributes, parent):
            yield

    @contextmanager
    def _processed(
        self, frame: Frame, attributes: Attributes, parent: Context | None
    ) -> Iterator[None]:
        telemetry, began_at = self._telemetry, self._telemetry.monotonic()
        method = attributes["mcp.method.name"] = _known(frame.method)
        span = telemetry.tracer.start_span(
            method, context=parent, kind=SpanKind.SERVER, attributes=attributes
        )
        if method == _UPDATED and (uri := text_of(members(frame.body).get("uri"))) is not None:
            span.set_attribute("mcp.resource.uri", mask_url(uri[:_MAX_URI]))
        before, self._cause = self._cause, set_span_in_context(span)
        try:
            yield
        finally:
            self._cause = before
            span.end()
            elapsed_s = telemetry.monotonic() - began_at
            telemetry.server_durations.record(elapsed_s, metric_attributes(attributes))

    # -- those that are sent -----------------------------------------------------------------------

    def to_client(
        self,
        client: InboundClient,
        method: str,
        params: Raw | bytes | Mapping[str, Any],
        during: RequestId | None,
    ) -> Mapping[str, Any]:
        """A client is notified: the params with the context of this trace."""
        call = None if during is None else client.calls.get(during)
        parent = self._cause
        if parent is None and call is not None and call.trace is not None:
            parent = call.trace.context
        carrier = self._sent(method, client_attributes(client, _NO_HEADERS), parent)
        return with_context(params, carrier)

    def to_server(
        self, session: ServerConnection, method: str, params: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """A server is notified: the params with the context of this trace."""
        carrier = self._sent(method, server_attributes(session), self._cause)
        return with_context(params, carrier)

    def cancelled(self, session: ServerConnection, parent: Context) -> None:
        """A server is told that a request is cancelled, where its revision has such a message."""
        introduction = session.introduction
        is_stateless = introduction is not None and introduction.version in STATELESS_VERSIONS
        if session.entry.transport == "stdio" or not is_stateless:
            self._sent(_CANCELLED, server_attributes(session), parent)

    def _sent(self, method: str, attributes: Attributes, parent: Context | None) -> dict[str, str]:
        """The span of a notification that is sent now: nobody answers it, so it ends at once."""
        telemetry = self._telemetry
        name = attributes["mcp.method.name"] = _known(method)
        span = telemetry.tracer.start_span(
            name, context=parent, kind=SpanKind.CLIENT, attributes=attributes
        )
        carrier: dict[str, str] = {}
        telemetry.context_format.inject(carrier, set_span_in_context(span))
        span.end()
        telemetry.client_durations.record(0.0, metric_attributes(attributes))
        return carrier


def _known(method: str) -> str:
    return method if method in KNOWN_NOTIFICATIONS else _OTHER


def with_context(
    params: Raw | bytes | Mapping[str, Any], carrier: Mapping[str, str]
) -> Mapping[str, Any]:
    """Params with a trace context in their `_meta`."""
    given: Mapping[str, Any] = params if isinstance(params, Mapping) else members(params)
    meta = given.get("_meta")
    own = meta if isinstance(meta, Mapping) else members(meta) if meta is not None else {}
    return {**given, "_meta": {**own, **carrier}}
