"""The stored row of an event, and the encoding of events as rows.

A row has the fields that are most often filtered by in columns, the bytes of a message or body in
`payload`, and all other fields in `detail`. Pure; called by recorder.py. trace.py writes rows as
lines, blocks.py packs them for the disk, row_decoding.py decodes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

import msgspec
from msgspec import NODEFAULT

from mcplens.events import (
    AnyEvent,
    Event,
    FrameReceived,
    FrameSent,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    ProcessStarted,
    RequestEnded,
    RequestStarted,
)
from mcplens.known_secrets import known_secrets
from mcplens.protocol.frames import Frame, Kind, Malformed, Message, RequestId
from mcplens.store.lenient_json import from_json, to_json
from mcplens.store.recorded_secrets import (
    KeyMasker,
    KeysOf,
    Mask,
    Maskers,
    mask_argv,
    mask_named_headers,
    masked_texts,
)
from mcplens.store.truncation import MOST_CHARACTERS, short_id, short_method

FRAME_KINDS: Final = frozenset({"FrameSent", "FrameReceived"})


class Row(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One event as it is stored.

    The order of the fields is the format on the disk: new ones are added at the end, with a
    default. The first ten are all that a row of format 2 has; such a row has no links.
    """

    seq: int
    wall: float
    mono: float
    server_id: str
    kind: str
    method: str | None = None
    request_id: RequestId | None = None
    status: str | int | None = None
    detail: dict[str, Any] | None = None
    payload: bytes | None = None
    exchange_id: int | None = None
    request_seq: int | None = None
    caused_by_seq: int | None = None
    is_inferred: bool = False
    call_id: str | None = None
    purpose: str | None = None

    @property
    def of_request(self) -> int | None:
        """The seq of the request that the event is or belongs to."""
        if self.request_seq is not None:
            return self.request_seq
        is_request = self.kind in FRAME_KINDS and self.status in ("request", "batch")
        return self.seq if is_request else None

    @property
    def http_id(self) -> int | None:
        """The exchange of an HTTP event; in a row of format 2 unique only per HTTP client."""
        if self.exchange_id is None and self.detail is not None:
            return self.detail.get("exchange_id")
        return self.exchange_id


# Columns that hold a field of the same name.
COLUMNS: Final = (
    "method", "request_id", "status", "exchange_id", "request_seq", "caused_by_seq", "is_inferred",
    "call_id", "purpose",
)  # fmt: skip
# Values of links that were not recorded or are not known.
NO_LINKS: Final[dict[str, Any]] = {
    "exchange_id": None, "request_seq": None, "caused_by_seq": None, "is_inferred": False,
    "call_id": None, "purpose": None, "frame_seq": None, "question_seq": None, "opened_seq": None,
    "request_seqs": [],
}  # fmt: skip

# Enum members as globals: an attribute lookup each time would cost more.
_REQUEST, _RESULT = Kind.REQUEST, Kind.RESULT

_PAYLOADS: Final = ("message", "body", "data")
_PAYLOAD_KINDS: Final = frozenset(
    {
        "FrameSent", "FrameReceived", "HttpRequestSent", "HttpBytesReceived", "HttpExchangeEnded",
        "StderrLine", "LateReply", "ReplyUnmatched", "InboundReceived",
        "AppMessageReceived", "AppMessageSent",
    }
)  # fmt: skip

KINDS: Final[dict[str, type[Event]]] = {kind.__name__: kind for kind in get_args(AnyEvent)}


class Plan:
    """Where the fields of one kind of event are stored: columns, payload or detail."""

    __slots__ = ("columns", "kind", "name", "names", "payload", "rest")

    def __init__(self, kind: type[Event]) -> None:
        self.kind = kind
        self.name = kind.__name__
        # Not msgspec.structs.fields, which is slow: it resolves every type.
        shared = len(Event.__struct_fields__)
        self.names = kind.__struct_fields__[shared:]
        given = kind.__struct_defaults__[-len(self.names) :]
        defaults = (NODEFAULT,) * (len(self.names) - len(given)) + given
        self.payload: str | None = None
        if self.name in _PAYLOAD_KINDS:
            self.payload = next(name for name in self.names if name in _PAYLOADS)
        self.columns = tuple(name for name in self.names if name in COLUMNS)
        self.rest = [
            (name, NO_LINKS.get(name, default))
            for name, default in zip(self.names, defaults, strict=True)
            if name != self.payload and name not in self.columns
        ]

    def __repr__(self) -> str:
        return f"<Plan of {self.name}: {self.names}>"


_plans: dict[type[Event], Plan] = {}


def plan_of(kind: type[Event]) -> Plan:
    """The plan of a kind, created when it is first needed."""
    plan = _plans.get(kind)
    if plan is None:
        plan = _plans[kind] = Plan(kind)
    return plan


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
        rows = [_MAKERS.get(type(event), _other)(event) for event in batch]
        return mask_rows(rows, self._maskers) if self._has_keys or known_secrets else rows


def exact_row(event: Event) -> Row:
    """The row of an event with known secrets in it: to send it again, or to show it to the one page
    whose user asked for it; never to be kept."""
    return _MAKERS.get(type(event), _other)(event)


def _sent(event: FrameSent) -> Row:
    message = event.message
    if type(message) is Frame and message.kind is _REQUEST and event.inbound_seq is None:
        identity, method = message.id, message.method
        if type(identity) is int and len(method) <= MOST_CHARACTERS:
            return Row(
                event.seq, event.wall, event.mono, event.server_id, "FrameSent", method, identity,
                "request", None, message.raw, event.exchange_id, event.request_seq,
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
        event.status, detail, None, None, event.request_seq,
    )  # fmt: skip


def _http_request(event: HttpRequestSent) -> Row:
    detail: dict[str, Any] = {"url": event.url, "headers": event.headers}
    marks = masked_texts("headers", event.headers) + masked_texts("url", [("", event.url)])
    if marks:
        detail["masked"] = [msgspec.to_builtins(mark) for mark in marks]
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "HttpRequestSent",
        short_method(event.method), None, None, detail, event.body or None, event.exchange_id,
    )  # fmt: skip


def _http_response(event: HttpResponseReceived) -> Row:
    detail: dict[str, Any] = {
        "reason": event.reason, "headers": event.headers, "elapsed_s": event.elapsed_s,
    }  # fmt: skip
    if marks := masked_texts("headers", event.headers):
        detail["masked"] = [msgspec.to_builtins(mark) for mark in marks]
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "HttpResponseReceived", None, None,
        event.status, detail, None, event.exchange_id,
    )  # fmt: skip


def _http_end(event: HttpExchangeEnded) -> Row:
    detail: dict[str, Any] = {"elapsed_s": event.elapsed_s}
    if event.error is not None:
        detail["error"] = event.error
    return Row(
        event.seq, event.wall, event.mono, event.server_id, "HttpExchangeEnded", None, None, None,
        detail, event.body or None, event.exchange_id,
    )  # fmt: skip


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
        detail = _without_secrets(detail)
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


def mask_rows(rows: list[Row], maskers: Maskers) -> list[Row]:
    """The rows with the secret keys of their servers, and known secrets, masked."""
    # Once per server, not per row: there may be a flood of them.
    found = {server_id: maskers.of(server_id) for server_id in {row.server_id for row in rows}}
    if not any(found.values()):
        return rows
    if not any(one.names for one in found.values() if one is not None) and not _have_known(rows):
        return [_mask_piece_of(row, found[row.server_id]) for row in rows]
    return [row if (one := found[row.server_id]) is None else mask_row(row, one) for row in rows]


def _have_known(rows: list[Row]) -> bool:
    """Whether a known secret is anywhere in these rows: one search for all is much faster."""
    payloads = b"\n".join([row.payload for row in rows if row.payload is not None])
    if known_secrets.find(payloads):
        return True
    details = [row.detail for row in rows if row.detail is not None]
    return bool(known_secrets.find(to_json(details)))


def _mask_piece_of(row: Row, masker: KeyMasker | None) -> Row:
    """The row of a batch without known secrets: one may still go on from piece to piece."""
    if masker is not None:
        if row.kind == "HttpBytesReceived":
            return mask_row(row, masker)
        if row.kind == "HttpExchangeEnded":
            masker.end_stream((row.server_id, row.http_id))
    return row


def mask_row(row: Row, masker: KeyMasker) -> Row:
    """The row with the values of secret keys, and known secrets, masked; earlier masks stay."""
    name, detail, payload = row.kind, row.detail, row.payload
    marks: list[Mask] = []
    known: list[Any] = []
    stream = (row.server_id, row.http_id)
    if detail is not None:
        detail = {**_without_secrets(detail, masker.names)}
        known = list(detail.pop("masked", ()))
        shown, secrets = masker.mask(to_json(detail))
        if secrets:
            detail = from_json(shown)
            marks.append(Mask("detail"))
        if "headers" in detail:
            detail["headers"], named = mask_named_headers(detail["headers"], masker.names)
            marks += named
    if payload is not None:
        is_piece = name == "HttpBytesReceived"
        payload, secrets = masker.mask_piece(stream, payload) if is_piece else masker.mask(payload)
        field = payload_field(name)
        marks += [Mask(field, start, end, key) for start, end, key in secrets]
    if name == "HttpExchangeEnded":
        masker.end_stream(stream)
    known += [mark for mark in map(msgspec.to_builtins, marks) if mark not in known]
    if known:
        detail = {**(detail or {}), "masked": known}
    return msgspec.structs.replace(row, detail=detail, payload=payload)


def _without_secrets(detail: dict[str, Any], names: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The detail with secrets masked in commands: its `argv`, and that of an error."""
    argv = detail.get("argv")
    if isinstance(argv, list) and (shown := mask_argv(argv, names)) != argv:
        mark = msgspec.to_builtins(Mask("argv"))
        return {**detail, "argv": shown, "masked": [*detail.get("masked", ()), mark]}
    error: Any = detail.get("error")
    about: Any = error.get("details") if isinstance(error, dict) else None
    command = about.get("command") if isinstance(about, dict) else None
    if isinstance(command, list) and (shown := mask_argv(command, names)) != command:
        mark = msgspec.to_builtins(Mask("error"))
        error = {**error, "details": {**about, "command": shown}}
        return {**detail, "error": error, "masked": [*detail.get("masked", ()), mark]}
    return detail


def payload_field(kind: str) -> str:
    """The field of a kind of event that is its payload; empty if it has none."""
    known = KINDS.get(kind)
    return (plan_of(known).payload or "") if known is not None else ""
