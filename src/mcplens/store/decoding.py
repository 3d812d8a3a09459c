"""Rows of the store as the events that they were.

Pure: called by history.py and trace.py, and by whoever shows a single event.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.events import Event, FrameSent
from mcplens.protocol.frames import Frame, Kind, Malformed, Message, RequestId, parse
from mcplens.store.masks import Mask
from mcplens.store.rows import KINDS, Row, plan_of

_FRAME_STATUSES: Final = frozenset(kind.value for kind in Kind)


class Stored(msgspec.Struct, frozen=True):
    """An event as it was recorded, and what of it was masked."""

    event: Event
    masked: tuple[Mask, ...] = ()


def decode_row(run_id: str, row: Row) -> Stored:
    """The event that a row was; of a kind that this version does not know, what all events have."""
    seq, wall, mono, server_id, name, method, identity, status, about, payload = row
    detail = about or {}
    masked = tuple(msgspec.convert(mark, Mask) for mark in detail.get("masked", ()))
    shared: dict[str, Any] = {
        "run_id": run_id, "seq": seq, "wall": wall, "mono": mono, "server_id": server_id,
    }  # fmt: skip
    kind = KINDS.get(name)
    if kind is None:
        return Stored(Event(**shared), masked)
    plan = plan_of(kind)
    columns: dict[str, Any] = {"method": method, "request_id": identity, "status": status}
    fields = {column: value for column, value in columns.items() if column in plan.names}
    fields |= {name: value for name, value in detail.items() if name in plan.names}
    if plan.payload >= 0:
        field = plan.names[plan.payload]
        is_message = field == "message"
        fields[field] = (
            decode_message(payload or b"", method, identity, status, detail)
            if is_message
            else payload or b""
        )
        if is_message and "size_bytes" in plan.names:
            fields.setdefault("size_bytes", len(payload or b""))
    if "headers" in fields:
        fields["headers"] = [(str(name), str(value)) for name, value in fields["headers"]]
    if kind is FrameSent and status == "request":
        message = fields["message"]
        fields.setdefault("channel", message.id if isinstance(message, Frame) else identity)
    try:
        return Stored(kind(**shared, **fields), masked)
    except TypeError:  # a field that this version needs was not written by that one
        return Stored(Event(**shared), masked)


def decode_message(
    raw: bytes,
    method: str | None,
    identity: RequestId | None,
    status: str | int | None,
    detail: dict[str, Any],
) -> Message:
    """The message that these bytes were taken for."""
    about = detail.get("malformed")
    if about is not None:
        ids = tuple(about.get("ids", ()))
        return Malformed(raw, about.get("reason", ""), ids, about.get("is_reply_like", False))
    message = parse(raw)
    if isinstance(message, Malformed) and status in _FRAME_STATUSES:
        # Ours, and nested deeper than can be read back: the columns still tell what it was.
        return Frame(raw, Kind(status), identity, method or "")
    return message
