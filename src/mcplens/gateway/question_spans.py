"""Spans of what a server asks because of a call (sampling, elicitation, roots), by the conventions.

A server span for the question as it comes to the gateway, below the call, and below that a client
span for the question as it goes to the call's client. Called by telemetry.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Raw
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from mcplens.errors import ServerError
from mcplens.gateway.inbound_call import CAPABILITY_OF
from mcplens.gateway.notification_spans import with_context
from mcplens.gateway.telemetry_attributes import (
    Attributes,
    client_attributes,
    metric_attributes,
    server_attributes,
)
from mcplens.gateway.wire import encoded

if TYPE_CHECKING:
    from mcplens.downstream.server_connection import ServerConnection
    from mcplens.gateway.inbound_call import InboundCall
    from mcplens.gateway.telemetry import Telemetry


async def ask_with_spans(
    telemetry: Telemetry,
    call: InboundCall,
    session: ServerConnection | None,
    parent: Context,
    method: str,
    params: Raw,
) -> Raw:
    """Pass a server's question on to the client of a call.

    Raises:
        ServerError: the client refused, or is gone.
    """
    heard = {} if session is None else server_attributes(session)
    for name in ("server.address", "server.port"):  # these are of client spans
        heard.pop(name, None)
    asked = client_attributes(call.client, call.headers)
    durations = (telemetry.server_durations, telemetry.client_durations)
    with (
        _span(telemetry, SpanKind.SERVER, method, heard, parent, durations[0]) as outer,
        _span(
            telemetry, SpanKind.CLIENT, method, asked, set_span_in_context(outer), durations[1]
        ) as inner,
    ):
        carrier: dict[str, str] = {}
        telemetry.context_format.inject(carrier, set_span_in_context(inner))
        return await call.client.ask(method, Raw(encoded(with_context(params, carrier))), call.id)


@contextmanager
def _span(
    telemetry: Telemetry,
    kind: SpanKind,
    method: str,
    attributes: Attributes,
    parent: Context,
    durations: Any,
) -> Iterator[Span]:
    name = attributes["mcp.method.name"] = method if method in CAPABILITY_OF else "_OTHER"
    span = telemetry.tracer.start_span(name, context=parent, kind=kind, attributes=attributes)
    began_at, error = telemetry.monotonic(), ""
    try:
        yield span
    except ServerError as problem:
        error = str(problem.rpc_code)
        raise
    except asyncio.CancelledError:
        error = "cancelled"
        raise
    finally:
        if error:
            attributes["error.type"] = error
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR))
        span.end()
        durations.record(telemetry.monotonic() - began_at, metric_attributes(attributes))
