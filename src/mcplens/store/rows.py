"""The stored row of an event, and which fields of each kind of event its columns hold.

A row has the fields that are most often filtered by in columns, the bytes of a message or body in
`payload`, and all other fields in `detail`. Pure. row_encoding.py encodes events as rows,
row_decoding.py decodes them; blocks.py packs them for the disk, trace.py writes them as lines.
"""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec
from msgspec import NODEFAULT

from mcplens.events import AnyEvent, Event
from mcplens.protocol.frames import RequestId

FRAME_KINDS: Final = frozenset({"FrameSent", "FrameReceived"})
# What counts as a message of a run: those with a server, and those between an app and its host.
MESSAGE_KINDS: Final = FRAME_KINDS | {"AppMessageReceived", "AppMessageSent"}


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


def payload_field(kind: str) -> str:
    """The field of a kind of event that is its payload; empty if it has none."""
    known = KINDS.get(kind)
    return (plan_of(known).payload or "") if known is not None else ""
