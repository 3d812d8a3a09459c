"""OpenTelemetry for the gateway, by the semantic conventions for MCP: spans and durations.

With question_spans.py, notification_spans.py and telemetry_export.py the only module that imports
opentelemetry (the extra `otel`), loaded when telemetry is switched on. A request of a client is a
server span, its request to a server a client span below it. The trace context comes from `_meta` of
the params, else from the HTTP header, and goes on in `_meta`. Data is exported by threads of the
SDK, whose queues are bounded; no attribute has a payload or a secret. Made by service.py; called by
gateway.py, inbound_call.py and plain_calls.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Raw
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from mcplens.errors import InspectorError, ServerError
from mcplens.events import Remark
from mcplens.gateway.notification_spans import NotificationSpans
from mcplens.gateway.question_spans import ask_with_spans
from mcplens.gateway.session_durations import SessionDurations
from mcplens.gateway.statistics import KNOWN_METHODS
from mcplens.gateway.telemetry_attributes import (
    Attributes,
    client_attributes,
    metric_attributes,
    server_attributes,
    transport_attributes,
)
from mcplens.gateway.telemetry_export import ExportProblems, address_of, resource_of
from mcplens.gateway.wire import UNREADABLE, members
from mcplens.known_secrets import known_secrets
from mcplens.version import VERSION

if TYPE_CHECKING:
    from mcplens.config.telemetry_settings import TelemetrySettings
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.inbound_client import InboundClient

_log = logging.getLogger("mcplens.gateway")

# What the conventions recommend for durations of MCP operations, in seconds.
_BOUNDARIES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
# When the gateway ends, what is left is sent within this time; a collector may be gone.
_CLOSE_WITHIN_S: Final = 3.0
# A collector that is gone is reported so often.
_REPORT_EVERY_S: Final = 300.0
_NAMED: Final = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name"}
_URI_METHODS: Final = frozenset({"resources/read", "resources/subscribe", "resources/unsubscribe"})
_OTHER: Final = "_OTHER"
_CONTEXT_KEYS: Final = ("traceparent", "tracestate")


class _TraceMeta(msgspec.Struct, gc=False):
    traceparent: str = ""
    tracestate: str = ""


class _TraceHead(msgspec.Struct, gc=False):
    meta: _TraceMeta = msgspec.field(default_factory=_TraceMeta, name="_meta")


_decode_head = msgspec.json.Decoder(_TraceHead).decode


class Telemetry:
    """Spans and metrics of one gateway."""

    def __init__(self, gateway: Gateway, settings: TelemetrySettings, name: str | None) -> None:
        self._gateway = gateway
        self.monotonic: Callable[[], float] = gateway.clock.monotonic
        self._reported_at = float("-inf")
        self._loop = asyncio.get_running_loop()
        resource = resource_of(settings, name or gateway.id)
        headers = settings.headers or None
        known_secrets.learn(*settings.headers.values())
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(address_of(settings, "/v1/traces"), headers=headers)
        metrics = OTLPMetricExporter(address_of(settings, "/v1/metrics"), headers=headers)
        self._exporters = (spans, metrics)
        self._spans.add_span_processor(BatchSpanProcessor(spans))
        interval_s = settings.metrics_interval_s
        reader = PeriodicExportingMetricReader(
            metrics,
            export_interval_millis=None if interval_s is None else interval_s * 1000,
        )
        self._metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self.tracer = self._spans.get_tracer("mcplens.gateway", VERSION)
        self.context_format = TraceContextTextMapPropagator()
        self.server_durations = self._histogram("mcp.server.operation.duration")
        self.client_durations = self._histogram("mcp.client.operation.duration")
        self._sessions = self._histogram("mcp.server.session.duration")
        to_servers = self._histogram("mcp.client.session.duration")
        self._to_servers = SessionDurations(gateway, to_servers.record)
        self.notifications = NotificationSpans(self)
        self._handler = ExportProblems(self._failed_elsewhere)
        self._handler.attach()

    def __repr__(self) -> str:
        return f"<Telemetry of {self._gateway.id}>"

    def _histogram(self, name: str) -> Any:
        meter = self._metrics.get_meter("mcplens.gateway", VERSION)
        return meter.create_histogram(
            name, unit="s", explicit_bucket_boundaries_advisory=list(_BOUNDARIES)
        )

    # -- requests of clients -------------------------------------------------------------------

    def began(self, call: InboundCall) -> None:
        """A request of a client's is being served."""
        method = call.method if call.method in KNOWN_METHODS else _OTHER
        attributes = client_attributes(call.client, call.headers)
        attributes["mcp.method.name"] = method
        attributes["jsonrpc.request.id"] = str(call.id)[:200]
        parent = self.parent_of(call.body, call.headers)
        span = self.tracer.start_span(
            method, context=parent, kind=SpanKind.SERVER, attributes=attributes
        )
        call.trace = CallTrace(self, span, attributes)

    def parent_of(self, params: bytes | Raw, headers: Mapping[str, str]) -> Context | None:
        """The trace that a message belongs to: by its `_meta`, else by its HTTP request."""
        body = bytes(params)
        if b'"traceparent"' in body:
            try:
                meta = _decode_head(body).meta
                given = {"traceparent": meta.traceparent, "tracestate": meta.tracestate}
                return self.context_format.extract({k: v for k, v in given.items() if v})
            except UNREADABLE:
                pass  # not as the conventions have it: it begins a trace of its own
        if "traceparent" not in headers:
            return None
        return self.context_format.extract({k: headers[k] for k in _CONTEXT_KEYS if k in headers})

    def session_ended(self, client: InboundClient, reason: str) -> None:
        """A session of a client's is over."""
        attributes = transport_attributes(client.peer.kind)
        attributes["mcp.protocol.version"] = client.peer.protocol_version or ""
        elapsed_s = max(0.0, self._gateway.clock.wall() - client.use.since)
        self._sessions.record(elapsed_s, attributes)

    # -- its end, and what goes wrong ----------------------------------------------------------

    async def close(self) -> None:
        """Send what is left, within a few seconds."""
        self._to_servers.close()
        done = asyncio.Event()

        def shut_down() -> None:
            try:
                self._spans.shutdown()
                self._metrics.shutdown()
            finally:
                self._call(done.set)

        # Not of the loop's executor, whose threads the process waits for.
        threading.Thread(target=shut_down, name="telemetry shutdown", daemon=True).start()
        try:
            async with asyncio.timeout(_CLOSE_WITHIN_S):
                await done.wait()
        except TimeoutError:
            _log.warning("telemetry: not all data could be sent before the end")
            for exporter in self._exporters:  # which end their attempts
                exporter.shutdown()
        else:
            self._handler.detach()  # else their threads may still have something to say

    def _failed_elsewhere(self, text: str) -> None:
        """A thread of the SDK could not do its work."""
        self._call(lambda: self._failed(text))

    def _call(self, function: Callable[[], None]) -> None:
        """Call it in our loop, from another thread; after its end nobody is interested."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def _failed(self, text: str) -> None:
        now = self.monotonic()
        if now - self._reported_at >= _REPORT_EVERY_S:
            self._reported_at = now
            message = f"telemetry: {known_secrets.mask_text(text)[:500]}"
            _log.warning(message)
            self._gateway.bus.publish(Remark(message=message), "")


class CallTrace:
    """The spans of one request: that of the client, and the one to the server below it."""

    __slots__ = (
        "_attributes",
        "_hop",
        "_hop_at",
        "_hop_attributes",
        "_is_tool_error",
        "_session",
        "_span",
        "_telemetry",
    )  # fmt: skip

    def __init__(self, telemetry: Telemetry, span: Span, attributes: Attributes) -> None:
        self._telemetry = telemetry
        self._span = span
        self._attributes = attributes
        self._hop: Span | None = None
        self._hop_at = 0.0
        self._hop_attributes: Attributes = {}
        self._is_tool_error = False
        self._session: ServerConnection | None = None  # that the hop goes to

    def __repr__(self) -> str:
        return f"<CallTrace {'at its server' if self._hop is not None else 'here'}>"

    @property
    def context(self) -> Context:
        """The innermost of its spans that is open, as the parent of others."""
        return set_span_in_context(self._hop or self._span)

    def passed_on(
        self, session: ServerConnection, method: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The request goes to a server: its params with the context of this trace."""
        telemetry = self._telemetry
        if self._hop is None:
            attributes = self._hop_attributes = server_attributes(session)
            attributes["mcp.method.name"] = method
            self._session = session
            name = _text(params.get("name"))
            _add_name(attributes, method, name)
            self._hop_at = telemetry.monotonic()
            self._hop = telemetry.tracer.start_span(
                _span_name(method, name),
                context=set_span_in_context(self._span),
                kind=SpanKind.CLIENT,
                attributes=attributes,
            )
        carrier: dict[str, str] = {}
        telemetry.context_format.inject(carrier, set_span_in_context(self._hop))
        meta = params.get("_meta")
        return {**params, "_meta": {**(meta if isinstance(meta, Mapping) else {}), **carrier}}

    async def ask(self, call: InboundCall, method: str, params: Raw) -> Raw:
        """Pass a question of the server on to the client; raises ServerError."""
        return await ask_with_spans(
            self._telemetry, call, self._session, self.context, method, params
        )

    def answered(self, call: InboundCall, body: bytes) -> None:
        """The server gave a result."""
        self._is_tool_error = b'"isError"' in body and _is_true(members(body).get("isError"))
        self._end_hop(call, "tool_error" if self._is_tool_error else None, None)

    def failed(self, call: InboundCall, error: BaseException) -> None:
        """The server gave an error, or no answer."""
        if isinstance(error, ServerError):
            self._end_hop(call, str(error.rpc_code), error.rpc_code)
        elif isinstance(error, asyncio.CancelledError):
            self._end_hop(call, "cancelled", None)
        else:
            self._end_hop(call, error.code if isinstance(error, InspectorError) else _OTHER, None)

    def _end_hop(self, call: InboundCall, error: str | None, code: int | None) -> None:
        hop, self._hop = self._hop, None
        if hop is None:
            return
        if call.answered_id is not None:
            hop.set_attribute("jsonrpc.request.id", str(call.answered_id))
        telemetry, attributes = self._telemetry, self._hop_attributes
        if error == "cancelled" and self._session is not None:
            telemetry.notifications.cancelled(self._session, set_span_in_context(hop))
        _end(hop, attributes, error, code)
        elapsed_s = telemetry.monotonic() - self._hop_at
        telemetry.client_durations.record(elapsed_s, metric_attributes(attributes))

    def end(self, call: InboundCall, outcome: str, elapsed_s: float) -> None:
        """The client was answered."""
        error: str | None = None
        code = call.error_code
        if outcome == "cancelled":
            error = "cancelled"
        elif outcome != "ok":
            error = _OTHER if code is None else str(code)
        elif self._is_tool_error:
            error = "tool_error"
        self._end_hop(call, error or _OTHER, None)
        span, attributes, method = self._span, self._attributes, call.method
        if call.server_id:
            span.set_attribute("mcplens.server", call.server_id)
            attributes["mcplens.server"] = call.server_id
            # A name that no server has is any text of the client's.
            _add_name(attributes, method, call.name)
            if method in _NAMED:
                span.update_name(_span_name(method, call.name))
        if method in _URI_METHODS and call.name is not None:
            span.set_attribute("mcp.resource.uri", known_secrets.mask_text(call.name))
        for key in (*_NAMED.values(), "gen_ai.operation.name"):
            if key in attributes:
                span.set_attribute(key, attributes[key])
        _end(span, attributes, error, code)
        self._telemetry.server_durations.record(elapsed_s, metric_attributes(attributes))


def _add_name(attributes: Attributes, method: str, name: str | None) -> None:
    if method in _NAMED and name is not None:
        attributes[_NAMED[method]] = known_secrets.mask_text(name)
        if method == "tools/call":
            attributes["gen_ai.operation.name"] = "execute_tool"


def _span_name(method: str, name: str | None) -> str:
    is_named = method in _NAMED and name is not None
    return f"{method} {known_secrets.mask_text(name)}" if is_named and name else method


def _end(span: Span, attributes: Attributes, error: str | None, code: int | None) -> None:
    """End a span; the words of an error may hold anything, so only its class is told."""
    if code is not None:
        attributes["rpc.response.status_code"] = str(code)
        span.set_attribute("rpc.response.status_code", str(code))
    if error is not None:
        attributes["error.type"] = error
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    span.end()


def _text(value: Any) -> str | None:
    """A member of params: a string, or one that was not decoded."""
    if isinstance(value, str):
        return value[:500]
    try:
        found = None if value is None else msgspec.json.decode(value)
    except (TypeError, *UNREADABLE):
        return None
    return found[:500] if isinstance(found, str) else None


def _is_true(value: msgspec.Raw | None) -> bool:
    return value is not None and bytes(value).strip() == b"true"
