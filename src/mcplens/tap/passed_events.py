"""The events that one event of a whole message stands for.

Pure. Used by backlog.py for readers of a tap's bus; row_encoding.py makes their rows directly.
"""

from __future__ import annotations

from typing import Any

from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    Passed,
    RequestEnded,
    RequestPassed,
    RequestStarted,
    ResultPassed,
)
from mcplens.protocol.frames import parse


def events_of(event: Event) -> tuple[Event, ...]:
    """The events that this one stands for; any other stands for itself."""
    if isinstance(event, RequestPassed):
        return _of_request(event)
    if isinstance(event, ResultPassed):
        return _of_result(event)
    return (event,)


def _position(event: Passed, seq: int) -> dict[str, Any]:
    return {
        "run_id": event.run_id,
        "seq": seq,
        "wall": event.wall,
        "mono": event.mono,
        "server_id": event.server_id,
    }


def _frame(event: Passed) -> dict[str, Any]:
    return {
        "message": parse(event.raw),
        "size_bytes": len(event.raw),
        "method": event.method or None,
        "exchange_id": event.exchange_id,
        "call_id": event.call_id,
        "purpose": event.purpose,
    }


def _of_request(event: RequestPassed) -> tuple[Event, ...]:
    seq = event.seq
    sent = FrameSent(**_position(event, seq - 1), **_frame(event), request_seq=None)
    started = RequestStarted(
        **_position(event, seq),
        request_id=event.request_id,
        method=event.method,
        request_seq=seq - 1,
    )
    if event.headers is None or event.exchange_id is None:
        return sent, started
    request = HttpRequestSent(
        **_position(event, seq - 2),
        exchange_id=event.exchange_id,
        method="POST",
        url=event.url,
        headers=event.headers,
        body=event.raw,
    )
    return request, sent, started


def _of_result(event: ResultPassed) -> tuple[Event, ...]:
    seq = event.seq if event.headers is None else event.seq - 1
    received = FrameReceived(
        **_position(event, seq - 1), **_frame(event), request_seq=event.request_seq
    )
    ended = RequestEnded(
        **_position(event, seq),
        request_id=event.request_id,
        method=event.method,
        status="completed",
        elapsed_s=event.elapsed_s,
        request_seq=event.request_seq,
        purpose=event.purpose,
    )
    if event.headers is None or event.exchange_id is None:
        return received, ended
    response = HttpResponseReceived(
        **_position(event, seq - 2),
        exchange_id=event.exchange_id,
        status=event.status,
        reason=event.reason,
        headers=event.headers,
        elapsed_s=event.exchange_elapsed_s,
    )
    over = HttpExchangeEnded(
        **_position(event, seq + 1),
        exchange_id=event.exchange_id,
        elapsed_s=event.exchange_elapsed_s,
        body=event.raw,
    )
    return response, received, ended, over
