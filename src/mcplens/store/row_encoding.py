"""Encodes events as rows, with secrets masked.

Pure; called by recorder.py, and for rows that the page is shown of the bus. The most frequent kinds
have their own encoders. What a tap publishes as one event of a whole message (`Passed`) becomes a
row for each of the events that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from mcplens.events import (
    Event,
    FrameReceived,
    FrameSent,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    InboundAnswered,
    InboundReceived,
    ProcessStarted,
    RequestEnded,
    RequestPassed,
    RequestStarted,
    ResultPassed,
)
from mcplens.known_secrets import known_secrets
from mcplens.protocol.frames import Frame, Kind, Malformed, Message, RequestId
from mcplens.store.recorded_secrets import KeysOf, Maskers, masked_texts
from mcplens.store.row_masking import mask_rows, without_secrets
from mcplens.store.rows import Row, plan_of
from mcplens.store.truncation import MOST_CHARACTERS, short_id, short_method

# Enum members as globals: an attribute lookup each time would cost more.
_REQUEST, _RESULT = Kind.REQUEST, Kind.RESULT
# Lists of headers whose masks are remembered: a tap has few, and each comes again and again.
_KNOWN_HEADERS: Final = 256


class RowEncoder:
    """Encodes events as rows, with secrets masked."""

    def __init__(self, secret_keys: Iterable[str] = (), *, keys_of: KeysOf | None = None) -> None:
        keys = tuple(secret_keys)
        self._has_keys = keys_of is not None or bool(keys)
        self._maskers = Maskers(keys_of or (lambda server_id: keys))

    def __repr__(self) -> str:
        return f"<RowEncoder {self._maskers}>"

    def encode(self, batch: Iterable[Event]) -> list[Row]:
        """The rows of these events."""
        rows: list[Row] = []
        add, maker_of = rows.append, _MAKERS.get
        for event in batch:
            make = maker_of(type(event))
            if make is not None:
                add(make(event))
            elif type(event) is RequestPassed:
                rows += _request_passed(event)
            elif type(event) is ResultPassed:
                rows += _result_passed(event)
            else:
                add(_other(event))
        return mask_rows(rows, self._maskers) if self._has_keys or known_secrets else rows


def exact_row(event: Event) -> Row:
    """The row of an event with known secrets in it: to send it again, or to show it to the one page
    whose user asked for it; never to be kept."""
    return _MAKERS.get(type(event), _other)(event)


def _sent(event: FrameSent) -> Row:
    message = event.message
    if type(message) is Frame and message.kind is _REQUEST:
        identity, method = message.id, message.method
        if type(identity) is int and len(method) <= MOST_CHARACTERS:
            inbound_seq = event.inbound_seq
            detail = None if inbound_seq is None else {"inbound_seq": inbound_seq}
            return Row(
                event.seq, event.wall, event.mono, event.server_id, "FrameSent", method, identity,
                "request", detail, message.raw, event.exchange_id, event.request_seq,
                event.caused_by_seq, event.is_inferred, event.call_id, event.purpose,
            )  # fmt: skip
    return _frame(event)


def _received(event: FrameReceived) -> Row:
    message = event.message
    if type(message) is Frame and message.kind is _RESULT:
        identity, method = message.id, event.method
        if type(identity) is int and (method is None or len(method) <= MOST_CHARACTERS):
            return Row(
                event.seq, event.wall, event.mono, event.server_id, "FrameReceived", method,
                identity, "result", None, message.raw, event.exchange_id, event.request_seq,
                event.caused_by_seq, event.is_inferred, event.call_id, event.purpose,
            )  # fmt: skip
    return _frame(event)


def _frame(event: FrameSent | FrameReceived) -> Row:
    """A frame of any kind."""
    message = event.message
    identity, status, detail = _about(message)
    is_own = type(message) is Frame and status in ("request", "notification")
    method = message.method if type(message) is Frame and is_own else event.method
    if type(event) is FrameSent and event.inbound_seq is not None:
        detail["inbound_seq"] = event.inbound_seq
    return Row(
        event.seq, event.wall, event.mono, event.server_id, type(event).__name__,
        short_method(method), short_id(identity), status, detail or None, message.raw,
        event.exchange_id, event.request_seq, event.caused_by_seq, event.is_inferred,
        event.call_id, event.purpose,
    )  # fmt: skip


def _started(event: RequestStarted) -> Row:
    identity, method = event.request_id, event.method
    if type(identity) is not int or len(method) > MOST_CHARACTERS:
        return _other(event)
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "RequestStarted", method, identity,
        None, None, None, None, event.request_seq,
    )  # fmt: skip


def _ended(event: RequestEnded) -> Row:
    identity, method = event.request_id, event.method
    if event.error is not None or type(identity) is not int or len(method) > MOST_CHARACTERS:
        return _other(event)
    detail = {"elapsed_s": event.elapsed_s}
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "RequestEnded", method, identity,
        event.status, detail, None, None, event.request_seq, None, False, None, event.purpose,
    )  # fmt: skip


def _inbound_received(event: InboundReceived) -> Row:
    message, method = event.message, event.method
    if type(message) is not Frame or method is None or len(method) > MOST_CHARACTERS:
        return _other(event)
    detail = {
        "client_id": event.client_id, "client_name": event.client_name,
        "size_bytes": event.size_bytes,
    }  # fmt: skip
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "InboundReceived", method,
        short_id(message.id), message.kind.value, detail, message.raw or None,
    )  # fmt: skip


def _inbound_answered(event: InboundAnswered) -> Row:
    if len(event.method) > MOST_CHARACTERS:
        return _other(event)
    detail = {
        "client_id": event.client_id, "client_name": event.client_name,
        "target_id": event.target_id, "outcome": event.outcome, "size_bytes": event.size_bytes,
        "elapsed_s": event.elapsed_s,
    }  # fmt: skip
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "InboundAnswered", event.method, None,
        None, detail, None, None, event.request_seq,
    )  # fmt: skip


def _http_request(event: HttpRequestSent) -> Row:
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "HttpRequestSent",
        short_method(event.method), None, None, _request_detail(event.url, event.headers),
        event.body or None, event.exchange_id,
    )  # fmt: skip


def _http_response(event: HttpResponseReceived) -> Row:
    detail: dict[str, Any] = {
        "reason": event.reason, "headers": event.headers, "elapsed_s": event.elapsed_s,
    }  # fmt: skip
    if marks := _marks_of(event.headers):
        detail["masked"] = marks
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "HttpResponseReceived", None, None,
        event.status, detail, None, event.exchange_id,
    )  # fmt: skip


Headers = list[tuple[str, str]]
# By the identity of a list of headers: that list, a URL, and the detail of a request with both.
_request_details: dict[int, tuple[Headers, str, dict[str, Any]]] = {}
# By the identity of a list of headers: that list, and the marks of its secrets.
_header_marks: dict[int, tuple[Headers, list[Any]]] = {}


def _request_detail(url: str, headers: Headers) -> dict[str, Any]:
    """The detail of a request; a tap gives the same list of headers for all that are the same."""
    known = _request_details.get(id(headers))
    if known is not None and known[0] is headers and known[1] == url:
        return known[2]
    detail: dict[str, Any] = {"url": url, "headers": headers}
    if marks := [*_marks("headers", headers), *_marks("url", [("", url)])]:
        detail["masked"] = marks
    if len(_request_details) >= _KNOWN_HEADERS:
        _request_details.clear()
    _request_details[id(headers)] = headers, url, detail
    return detail


def _marks_of(headers: Headers) -> list[Any]:
    """The marks of the headers of a response, remembered in the same way."""
    known = _header_marks.get(id(headers))
    if known is not None and known[0] is headers:
        return known[1]
    marks = _marks("headers", headers)
    if len(_header_marks) >= _KNOWN_HEADERS:
        _header_marks.clear()
    _header_marks[id(headers)] = headers, marks
    return marks


def _marks(field: str, texts: Iterable[tuple[str, str]]) -> list[Any]:
    return [msgspec.to_builtins(mark) for mark in masked_texts(field, texts)]


def _http_end(event: HttpExchangeEnded) -> Row:
    detail: dict[str, Any] = {"elapsed_s": event.elapsed_s}
    if event.error is not None:
        detail["error"] = event.error
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "HttpExchangeEnded", None, None, None,
        detail, event.body or None, event.exchange_id,
    )  # fmt: skip


def _request_passed(event: RequestPassed) -> tuple[Row, ...]:
    """The rows of HttpRequestSent, if there was one, FrameSent and RequestStarted."""
    seq, wall, mono, server_id, method, identity = (
        event.seq, event.wall, event.mono, event.server_id, event.method, event.request_id,
    )  # fmt: skip
    if type(identity) is not int or len(method) > MOST_CHARACTERS:
        method, identity = short_method(method) or "", short_id(identity)
    sent = Row(
        seq - 1, wall, mono, server_id, "FrameSent", method, identity, "request", None, event.raw,
        event.exchange_id, None, None, False, event.call_id, event.purpose,
    )  # fmt: skip
    started = Row(
        seq, wall, mono, server_id, "RequestStarted", method, identity, None, None, None, None,
        seq - 1,
    )  # fmt: skip
    headers = event.headers
    if headers is None:
        return sent, started
    request = Row(
        seq - 2, wall, mono, server_id, "HttpRequestSent", "POST", None, None,
        _request_detail(event.url, headers), event.raw, event.exchange_id,
    )  # fmt: skip
    return request, sent, started


def _result_passed(event: ResultPassed) -> tuple[Row, ...]:
    """The rows of FrameReceived and RequestEnded, with those of an HTTP response around them."""
    wall, mono, server_id, method, identity, headers = (
        event.wall, event.mono, event.server_id, event.method, event.request_id, event.headers,
    )  # fmt: skip
    if type(identity) is not int or len(method) > MOST_CHARACTERS:
        method, identity = short_method(method) or "", short_id(identity)
    seq = event.seq if headers is None else event.seq - 1
    received = Row(
        seq - 1, wall, mono, server_id, "FrameReceived", method or None, identity, "result", None,
        event.raw, event.exchange_id, event.request_seq, None, False, event.call_id, event.purpose,
    )  # fmt: skip
    ended = Row(
        seq, wall, mono, server_id, "RequestEnded", method, identity, "completed",
        {"elapsed_s": event.elapsed_s}, None, None, event.request_seq, None, False, None,
        event.purpose,
    )  # fmt: skip
    if headers is None:
        return received, ended
    elapsed_s = event.exchange_elapsed_s
    detail = {"reason": event.reason, "headers": headers, "elapsed_s": elapsed_s}
    if marks := _marks_of(headers):
        detail["masked"] = marks
    response = Row(
        seq - 2, wall, mono, server_id, "HttpResponseReceived", None, None, event.status, detail,
        None, event.exchange_id,
    )  # fmt: skip
    over = Row(
        seq + 1, wall, mono, server_id, "HttpExchangeEnded", None, None, None,
        {"elapsed_s": elapsed_s}, event.raw, event.exchange_id,
    )  # fmt: skip
    return response, received, ended, over


def _other(event: Event) -> Row:
    """An event of any kind, by the names of its fields."""
    plan = plan_of(type(event))
    detail = {}
    for name, default in plan.rest:
        value = getattr(event, name)
        if value != default:
            detail[name] = value
    columns = {name: getattr(event, name) for name in plan.columns}
    payload = None if plan.payload is None else getattr(event, plan.payload)
    if payload is not None and type(payload) is not bytes:
        identity, columns["status"], about = _about(payload)
        if columns.get("request_id") is None:
            columns["request_id"] = identity
        detail |= about
        payload = payload.raw
    columns["method"] = short_method(columns.get("method"))
    columns["request_id"] = short_id(columns.get("request_id"))
    if type(event) is ProcessStarted or "error" in detail:
        detail = without_secrets(detail)
    return Row(
        event.seq, event.wall, event.mono, event.server_id, plan.name, detail=detail or None,
        payload=payload or None, **columns,
    )  # fmt: skip


# The most frequent kinds have their own encoders, for speed: a row of sixteen columns is created
# five times faster by position than by name.
_MAKERS: Final[dict[type[Event], Callable[[Any], Row]]] = {
    FrameSent: _sent,
    FrameReceived: _received,
    RequestStarted: _started,
    RequestEnded: _ended,
    HttpRequestSent: _http_request,
    HttpResponseReceived: _http_response,
    HttpExchangeEnded: _http_end,
    InboundReceived: _inbound_received,
    InboundAnswered: _inbound_answered,
}


def _about(message: Message) -> tuple[RequestId | None, str, dict[str, Any]]:
    """Id and status of a message, and what cannot be parsed from its bytes again."""
    if type(message) is Frame:
        return message.id, message.kind.value, {}
    if type(message) is Malformed:
        about = {
            "reason": message.reason,
            "ids": message.ids,
            "is_reply_like": message.is_reply_like,
        }
        return message.ids[0] if message.ids else None, "malformed", {"malformed": about}
    return None, "batch", {}
