"""Events as rows of the store.

A row has what is asked for most in columns, the bytes of a message or body as they were in
`payload`, and the event's other fields in `detail`. Pure: called by the recorder's thread and by
trace.py, which writes rows as lines; blocks.py packs rows for the disk, decoding.py reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

import msgspec
from msgspec import NODEFAULT

from mcplens.bus import Published
from mcplens.events import (
    AnyEvent,
    Event,
    FrameReceived,
    FrameSent,
    HttpRequestSent,
    HttpResponseReceived,
    ProcessStarted,
    RequestEnded,
    RequestStarted,
)
from mcplens.protocol.frames import Frame, Kind, Malformed, Message, RequestId
from mcplens.store.any_json import from_json, to_json
from mcplens.store.masks import (
    KeyMasker,
    KeysOf,
    Mask,
    Maskers,
    mask_argv,
    mask_named_headers,
    masked_texts,
)
from mcplens.store.names import MOST_CHARACTERS, short_id, short_method

# seq, wall, mono, server_id, kind, method, request_id, status, detail, payload. A plain tuple:
# four of them are made for every call.
Row = tuple[
    int, float, float, str, str, str | None, RequestId | None, str | int | None,
    dict[str, Any] | None, bytes | None,
]  # fmt: skip

# Requests whose method a reply may still want to know: at least these, at most twice as many.
_REMEMBERED: Final = 2048
# Members of an enum, which cost a lookup of their own in Python each time.
_REQUEST, _RESULT = Kind.REQUEST, Kind.RESULT

_COLUMNS: Final = ("method", "request_id", "status")
_PAYLOADS: Final = ("message", "body", "data")
_PAYLOAD_KINDS: Final = frozenset(
    {
        "FrameSent", "FrameReceived", "HttpRequestSent", "HttpBytesReceived", "HttpExchangeEnded",
        "StderrLine", "LateReply", "ReplyUnmatched",
    }
)  # fmt: skip

KINDS: Final[dict[str, type[Event]]] = {kind.__name__: kind for kind in get_args(AnyEvent)}


class Plan:
    """Where the fields of one kind of event go."""

    __slots__ = ("columns", "kind", "name", "names", "payload", "rest")

    def __init__(self, kind: type[Event]) -> None:
        self.kind = kind
        self.name = kind.__name__
        # Not msgspec.structs.fields, which also works out every field's type.
        self.names = kind.__struct_fields__[len(Event.__struct_fields__) :]
        defaults = (NODEFAULT,) * len(self.names) + kind.__struct_defaults__
        defaults = defaults[len(defaults) - len(self.names) :]
        self.payload = -1
        if self.name in _PAYLOAD_KINDS:
            self.payload = next(n for n, name in enumerate(self.names) if name in _PAYLOADS)
        self.columns = [
            self.names.index(column) if column in self.names else -1 for column in _COLUMNS
        ]
        self.rest = [
            (n, name, default)
            for n, (name, default) in enumerate(zip(self.names, defaults, strict=True))
            if n != self.payload and n not in self.columns
        ]

    def __repr__(self) -> str:
        return f"<Plan of {self.name}: {self.names}>"


_plans: dict[type[Event], Plan] = {}


def plan_of(kind: type[Event]) -> Plan:
    """The plan of a kind, made when it is first met."""
    plan = _plans.get(kind)
    if plan is None:
        plan = _plans[kind] = Plan(kind)
    return plan


class _Asked:
    """The methods of the last requests, by server and id.

    Two dictionaries that take turns: to drop the oldest entry of one means to step over all that
    were dropped before.
    """

    __slots__ = ("older", "recent")

    def __init__(self) -> None:
        self.recent: dict[tuple[str, RequestId | None], str] = {}
        self.older = self.recent

    def remember(self, server_id: str, identity: RequestId | None, method: str) -> None:
        recent = self.recent
        recent[server_id, identity] = method
        if len(recent) >= _REMEMBERED:
            self.older, self.recent = recent, {}

    def method(self, server_id: str, identity: RequestId | None) -> str | None:
        asked = server_id, identity
        method = self.recent.get(asked)
        return self.older.get(asked) if method is None else method


class RowEncoder:
    """Makes the rows of one run, in order; replies get the method of their request."""

    def __init__(
        self,
        secret_keys: Iterable[str] = (),
        *,
        keys_of: KeysOf | None = None,
        is_masked: bool = False,
    ) -> None:
        keys = tuple(secret_keys)
        has_keys = keys_of is not None or keys
        self._maskers = Maskers(keys_of or (lambda server_id: keys)) if has_keys else None
        self._is_masked = is_masked  # the events come from a recording: nothing is left to hide
        self._ours = _Asked()
        self._theirs = _Asked()
        # Those that make up most of a recording have makers of their own.
        self._makers: dict[type[Event], Callable[[Published], Row]] = {
            FrameSent: self._sent,
            FrameReceived: self._received,
            RequestStarted: _started,
            RequestEnded: self._ended,
        }

    def __repr__(self) -> str:
        return f"<RowEncoder, {len(self._ours.recent)} requests remembered, {self._maskers}>"

    def encode(self, batch: Iterable[Published]) -> list[Row]:
        """The rows of these events."""
        makers, other = self._makers, self._other
        rows = [makers.get(published[0], other)(published) for published in batch]
        return rows if self._maskers is None else mask_rows(rows, self._maskers)

    def _sent(self, published: Published) -> Row:
        _, server_id, seq, wall, mono, fields, _ = published
        message = fields[0]
        if type(message) is Frame and message.kind is _REQUEST and len(fields) > 2:
            identity, method = message.id, message.method
            if fields[2] == identity and type(identity) is int and len(method) <= MOST_CHARACTERS:
                self._ours.remember(server_id, identity, method)
                return (
                    seq, wall, mono, server_id, "FrameSent", method, identity, "request", None,
                    message.raw,
                )  # fmt: skip
        return self._frame(published, "FrameSent", self._ours, self._theirs)

    def _received(self, published: Published) -> Row:
        _, server_id, seq, wall, mono, fields, _ = published
        message = fields[0]
        if (
            type(message) is Frame
            and message.kind is _RESULT
            and len(fields) > 2
            and type(message.id) is int
        ):
            identity, channel = message.id, fields[2]
            method = self._ours.method(server_id, identity)
            detail = None if channel is None else {"channel": channel}
            return (
                seq, wall, mono, server_id, "FrameReceived", method, identity, "result", detail,
                message.raw,
            )  # fmt: skip
        return self._frame(published, "FrameReceived", self._theirs, self._ours)

    def _frame(self, published: Published, name: str, asked: _Asked, answered: _Asked) -> Row:
        """A frame of any sort; `channel` is written where it is not the usual one."""
        _, server_id, seq, wall, mono, fields, _ = published
        message = fields[0]
        whole_id, status, detail = _about(message)
        identity = short_id(whole_id)
        method: str | None = None
        usual = None
        if status in ("result", "error"):
            method = answered.method(server_id, identity)
        elif type(message) is Frame:
            method = short_method(message.method)
            if status == "request":
                asked.remember(server_id, identity, method or "")
                usual = whole_id if name == "FrameSent" else None
        channel = fields[2] if len(fields) > 2 else None
        if channel != usual:
            detail["channel"] = channel
        return (
            seq, wall, mono, server_id, name, method, identity, status, detail or None, message.raw,
        )  # fmt: skip

    def _ended(self, published: Published) -> Row:
        if published[5][-1] is not None:
            return self._other(published)
        _, server_id, seq, wall, mono, (identity, method, status, elapsed_s, _), _ = published
        detail = {"elapsed_s": elapsed_s}
        if type(identity) is not int or len(method) > MOST_CHARACTERS:
            identity, method = short_id(identity), short_method(method)
        return (seq, wall, mono, server_id, "RequestEnded", method, identity, status, detail, None)

    def _other(self, published: Published) -> Row:
        kind, server_id, seq, wall, mono, fields, _ = published
        plan = plan_of(kind)
        count = len(fields)
        detail = {
            name: fields[n] for n, name, default in plan.rest if n < count and fields[n] != default
        }
        n_method, n_id, n_status = plan.columns
        method = fields[n_method] if -1 < n_method < count else None
        identity = fields[n_id] if -1 < n_id < count else None
        status = fields[n_status] if -1 < n_status < count else None
        payload = None
        if -1 < plan.payload < count:
            payload = fields[plan.payload]
            if type(payload) is not bytes:
                found, status, about = _about(payload)
                identity = found if identity is None else identity
                detail |= about
                payload = payload.raw
        if self._is_masked:
            pass
        elif kind is HttpRequestSent or kind is HttpResponseReceived:
            marks = masked_texts("headers", detail["headers"])
            if "url" in detail:
                marks += masked_texts("url", [("", detail["url"])])
            if marks:
                detail["masked"] = [msgspec.to_builtins(mark) for mark in marks]
        elif kind is ProcessStarted or "error" in detail:
            detail = _without_secrets(detail)
        return (
            seq, wall, mono, server_id, plan.name, short_method(method), short_id(identity), status,
            detail or None, payload or None,
        )  # fmt: skip


def _started(published: Published) -> Row:
    _, server_id, seq, wall, mono, (identity, method), _ = published
    if type(identity) is not int or len(method) > MOST_CHARACTERS:
        identity, method = short_id(identity), short_method(method)
    return (seq, wall, mono, server_id, "RequestStarted", method, identity, None, None, None)


def published(event: Event) -> Published:
    """An event as the bus publishes it."""
    fields = msgspec.structs.astuple(event)[len(Event.__struct_fields__) :]
    return (type(event), event.server_id, event.seq, event.wall, event.mono, fields, 0)


def _about(message: Message) -> tuple[RequestId | None, str, dict[str, Any]]:
    """Id and status of a message, and what cannot be read from its bytes again."""
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
    """The rows without what is secret for their servers."""
    # Asked once for all rows of a server: there may be a flood of them.
    found = {server_id: maskers.of(server_id) for server_id in {row[3] for row in rows}}
    if not any(found.values()):
        return rows
    return [row if (one := found[row[3]]) is None else mask_row(row, one) for row in rows]


def mask_row(row: Row, masker: KeyMasker) -> Row:
    """The row with the values of secret keys starred out; what was masked before stays so."""
    server_id, name, detail, payload = row[3], row[4], row[8], row[9]
    marks: list[Mask] = []
    known: list[Any] = []
    stream = None if detail is None else (server_id, detail.get("exchange_id"))
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
    return (*row[:8], detail, payload)


def _without_secrets(detail: dict[str, Any], names: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The fields of an event with the commands in them masked: its own, and those of an error."""
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
    """The field of a kind of event that is its payload; empty where it has none."""
    known = KINDS.get(kind)
    plan = plan_of(known) if known is not None else None
    return plan.names[plan.payload] if plan is not None and plan.payload >= 0 else ""
