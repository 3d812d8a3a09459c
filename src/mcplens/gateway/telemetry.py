"""OpenTelemetry for the gateway, by the semantic conventions for MCP: spans and durations.

The only module that imports opentelemetry (the extra `otel`), loaded when telemetry is switched on.
A request of a client is a server span, its request to a server a client span below it. The trace
context comes from `_meta` of the params, else from the HTTP header, and goes on in `_meta`. Data is
exported by threads of the SDK, whose queues are bounded; no attribute has a payload or a secret.
Made by service.py; called by gateway.py, inbound_call.py and plain_calls.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import msgspec
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from mcplens.errors import InspectorError, ServerError
from mcplens.events import Remark
from mcplens.gateway.statistics import KNOWN_METHODS
from mcplens.gateway.wire import UNREADABLE, members
from mcplens.known_secrets import known_secrets
from mcplens.protocol.eras import STATELESS_VERSIONS
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
# Attributes that both the span and the metric of an operation have.
_OF_METRICS: Final = frozenset({
    "mcp.method.name", "mcp.protocol.version", "gen_ai.tool.name", "gen_ai.prompt.name",
    "gen_ai.operation.name", "network.transport", "network.protocol.name", "error.type",
    "rpc.response.status_code", "server.address", "server.port", "mcplens.server",
})  # fmt: skip
_NAMED: Final = {"tools/call": "gen_ai.tool.name", "prompts/get": "gen_ai.prompt.name"}
_URI_METHODS: Final = frozenset({"resources/read", "resources/subscribe", "resources/unsubscribe"})
_OTHER: Final = "_OTHER"
_CONTEXT_KEYS: Final = ("traceparent", "tracestate")

Attributes = dict[str, str | int]


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
        self._monotonic: Callable[[], float] = gateway.clock.monotonic
        self._reported_at = float("-inf")
        self._loop = asyncio.get_running_loop()
        resource = _resource(settings, name or gateway.id)
        headers = settings.headers or None
        known_secrets.learn(*settings.headers.values())
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        spans = OTLPSpanExporter(_address(settings, "/v1/traces"), headers=headers)
        metrics = OTLPMetricExporter(_address(settings, "/v1/metrics"), headers=headers)
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
        self._handler = _ExportProblems(self._failed_elsewhere)
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
        attributes = _transport(call.client.peer.kind)
        attributes["mcp.method.name"] = method
        attributes["jsonrpc.request.id"] = str(call.id)[:200]
        attributes["mcplens.path"] = call.client.path
        version = _version_of(call)
        if version is not None:
            attributes["mcp.protocol.version"] = version
        session = call.headers.get("mcp-session-id")
        if session is not None:  # it opens the session, so only its digest is told
            attributes["mcp.session.id"] = hashlib.sha256(session.encode()).hexdigest()[:16]
        span = self.tracer.start_span(
            method, context=self._parent(call), kind=SpanKind.SERVER, attributes=attributes
        )
        call.trace = CallTrace(self, span, attributes)

    def _parent(self, call: InboundCall) -> Context | None:
        """The trace that a request belongs to: by its `_meta`, else by its HTTP request."""
        body = bytes(call.body)
        if b'"traceparent"' in body:
            try:
                meta = _decode_head(body).meta
                given = {"traceparent": meta.traceparent, "tracestate": meta.tracestate}
                return self.context_format.extract({k: v for k, v in given.items() if v})
            except UNREADABLE:
                pass  # not as the conventions have it: it begins a trace of its own
        headers = call.headers
        if "traceparent" not in headers:
            return None
        return self.context_format.extract({k: headers[k] for k in _CONTEXT_KEYS if k in headers})

    def session_ended(self, client: InboundClient, reason: str) -> None:
        """A session of a client's is over."""
        attributes = _transport(client.peer.kind)
        attributes["mcp.protocol.version"] = client.peer.protocol_version or ""
        elapsed_s = max(0.0, self._gateway.clock.wall() - client.use.since)
        self._sessions.record(elapsed_s, attributes)

    # -- its end, and what goes wrong ----------------------------------------------------------

    async def close(self) -> None:
        """Send what is left, within a few seconds."""
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
        now = self._monotonic()
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

    def __repr__(self) -> str:
        return f"<CallTrace {'at its server' if self._hop is not None else 'here'}>"

    def passed_on(
        self, session: ServerConnection, method: str, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The request goes to a server: its params with the context of this trace."""
        telemetry = self._telemetry
        if self._hop is None:
            attributes = self._hop_attributes = _server_attributes(session)
            attributes["mcp.method.name"] = method
            name = _text(params.get("name"))
            _add_name(attributes, method, name)
            self._hop_at = telemetry._monotonic()
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
        _end(hop, attributes, error, code)
        elapsed_s = telemetry._monotonic() - self._hop_at
        telemetry.client_durations.record(elapsed_s, _metric(attributes))

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
        self._telemetry.server_durations.record(elapsed_s, _metric(attributes))


class _ExportProblems(logging.Handler):
    """What the SDK logs, which would else go to stderr with a traceback."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self._logger = logging.getLogger("opentelemetry")
        self._did_propagate = self._logger.propagate

    def __repr__(self) -> str:
        return "<_ExportProblems>"

    def attach(self) -> None:
        self._logger.addHandler(self)
        self._logger.propagate = False

    def detach(self) -> None:
        self._logger.removeHandler(self)
        self._logger.propagate = self._did_propagate

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(record.getMessage())


def _resource(settings: TelemetrySettings, instance: str) -> Resource:
    given = Resource.create()  # with those of the environment
    named = {"service.version": VERSION, "service.instance.id": instance}
    name = settings.service_name
    if name is None and str(given.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        name = "mcplens-gateway"
    if name is not None:
        named[SERVICE_NAME] = name
    return given.merge(Resource(named))


def _address(settings: TelemetrySettings, path: str) -> str | None:
    """Where one kind of data goes; None leaves it to the variables of OpenTelemetry."""
    return None if settings.endpoint is None else f"{settings.endpoint}{path}"


def _transport(kind: str) -> Attributes:
    if kind == "stdio":
        return {"network.transport": "pipe"}
    name = "websocket" if kind == "websocket" else "http"
    return {"network.transport": "tcp", "network.protocol.name": name}


def _server_attributes(session: ServerConnection) -> Attributes:
    entry = session.entry
    attributes = _transport(entry.transport or "http")
    attributes["mcplens.server"] = session.server_id
    if session.introduction is not None:
        attributes["mcp.protocol.version"] = session.introduction.version
    if entry.url is not None:
        parts = urlsplit(entry.url)
        port = parts.port or {"https": 443, "wss": 443}.get(parts.scheme, 80)
        attributes |= {"server.address": parts.hostname or "", "server.port": port}
    return attributes


def _version_of(call: InboundCall) -> str | None:
    given = call.client.peer.protocol_version
    if given is None and call.is_stateless:
        given = call.headers.get("mcp-protocol-version")
        return given if given in STATELESS_VERSIONS else next(iter(STATELESS_VERSIONS))
    return given


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


def _metric(attributes: Attributes) -> Attributes:
    return {key: value for key, value in attributes.items() if key in _OF_METRICS}


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
