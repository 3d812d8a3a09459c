"""The gateway's figures for Prometheus, made when they are asked for (`/metrics`).

The only module that imports prometheus_client; called by operation_pages.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from mcplens.downstream.status import ServerStatus
from mcplens.gateway.statistics import BUCKETS_S

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class GatewayCollector(Collector):
    """Reads the counts of a gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def __repr__(self) -> str:
        return f"<GatewayCollector of {self._gateway!r}>"

    def collect(self) -> Iterator[Metric]:
        yield self._calls()
        yield self._times()
        yield self._bytes()
        gateway = self._gateway
        yield _gauge("calls_in_flight", "Calls that are under way", gateway.running_calls)
        yield _gauge("clients", "Clients that are connected", len(gateway.clients))
        yield self._servers()
        if gateway.approvals is not None and gateway.approvals.is_on:
            waiting = len(gateway.approvals.waiting)
            yield _gauge("definitions_waiting", "Definitions that wait for approval", waiting)
        replica = gateway.replica
        yield _gauge(
            "store_up", "Whether the shared store can be used", replica.store.state.status == "up"
        )
        yield _gauge(
            "replicas", "Replicas that are there, this one included", 1 + len(replica.others)
        )

        shared = gateway.shared_sessions
        forwards, takeovers = (
            (0, 0) if shared is None else (shared.forwarder.count, shared.takeovers)
        )
        yield _counter("forwards", "Requests passed on to other replicas", forwards)
        yield _counter("takeovers", "Sessions taken over from other replicas", takeovers)

    def _calls(self) -> Metric:
        found = CounterMetricFamily(
            "mcplens_gateway_calls",
            "Requests of clients that have ended",
            labels=["server", "method", "outcome"],
        )
        for kind, count in self._gateway.statistics.calls.items():
            found.add_metric([kind.server_id, kind.method, kind.outcome], count)
        return found

    def _times(self) -> Metric:
        found = HistogramMetricFamily(
            "mcplens_gateway_call_seconds",
            "Time from a request to its answer",
            labels=["server", "method"],
        )
        bounds = [*map(str, BUCKETS_S), "+Inf"]
        for labels, times in self._gateway.statistics.times.items():
            counts = zip(bounds, accumulate(times.counts), strict=True)
            found.add_metric(list(labels), list(counts), times.sum_s)
        return found

    def _bytes(self) -> Metric:
        found = CounterMetricFamily(
            "mcplens_gateway_bytes", "Bytes of requests and answers", labels=["direction"]
        )
        statistics = self._gateway.statistics
        found.add_metric(["in"], statistics.request_bytes)
        found.add_metric(["out"], statistics.answer_bytes)
        return found

    def _servers(self) -> Metric:
        found = GaugeMetricFamily(
            "mcplens_gateway_server_up",
            "Whether there is a session with a server",
            labels=["server"],
        )
        for connection in self._gateway.offered():
            found.add_metric([connection.server_id], connection.status is ServerStatus.RUNNING)
        return found


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"mcplens_gateway_{name}", text, value=value)


def _counter(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"mcplens_gateway_{name}", text, value=value)


def exposition(gateway: Gateway) -> bytes:
    """All figures, with those of the process, in the text format."""
    registry = CollectorRegistry()
    registry.register(GatewayCollector(gateway))
    ProcessCollector(registry=registry)
    return generate_latest(registry)
