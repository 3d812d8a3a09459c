"""A collector on loopback, which keeps the spans and metrics that it is sent."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan

PROTOBUF = "application/x-protobuf"


@dataclass(frozen=True)
class SeenSpan:
    """A span with the name of its service."""

    service: str
    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    is_error: bool
    attributes: dict[str, Any]


@dataclass
class Collector:
    """What came."""

    url: str = ""
    spans: list[SeenSpan] = field(default_factory=list)
    # By metric: the attributes and the count of each point.
    counts: dict[str, list[tuple[dict[str, Any], int]]] = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def of(self, service: str, name: str) -> SeenSpan:
        """The only span of this name."""
        (found,) = [one for one in self.spans if (one.service, one.name) == (service, name)]
        return found

    async def _body(self, request: web.Request) -> bytes:
        assert request.content_type == PROTOBUF
        data = await request.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.bodies.append(data)
        self.headers.append(dict(request.headers))
        return data

    async def traces(self, request: web.Request) -> web.Response:
        sent = ExportTraceServiceRequest.FromString(await self._body(request))
        for group in sent.resource_spans:
            service = _values(group.resource.attributes)["service.name"]
            for scope in group.scope_spans:
                self.spans += [_seen(service, span) for span in scope.spans]
        answer = ExportTraceServiceResponse().SerializeToString()
        return web.Response(body=answer, content_type=PROTOBUF)

    async def metrics(self, request: web.Request) -> web.Response:
        sent = ExportMetricsServiceRequest.FromString(await self._body(request))
        for group in sent.resource_metrics:
            for scope in group.scope_metrics:
                for metric in scope.metrics:
                    self.counts[metric.name] = [
                        (_values(point.attributes), point.count)
                        for point in metric.histogram.data_points
                    ]
        answer = ExportMetricsServiceResponse().SerializeToString()
        return web.Response(body=answer, content_type=PROTOBUF)


def _seen(service: str, span: ProtoSpan) -> SeenSpan:
    kind = ProtoSpan.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_")
    ids = span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()
    return SeenSpan(service, span.name, kind, *ids, span.status.code == 2, _values(span.attributes))


def _values(attributes: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in attributes}


@asynccontextmanager
async def collector() -> AsyncIterator[Collector]:
    """A collector, for as long as the block lasts."""
    found = Collector()
    app = web.Application()
    app.add_routes([web.post("/v1/traces", found.traces), web.post("/v1/metrics", found.metrics)])
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        place = web.TCPSite(runner, "127.0.0.1", 0)
        await place.start()
        port = runner.addresses[0][1]
        found.url = f"http://127.0.0.1:{port}"
        yield found
    finally:
        await runner.cleanup()
