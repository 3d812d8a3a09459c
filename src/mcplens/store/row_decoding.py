"""Decodes rows of the store back into events.

Pure; called by history.py and trace.py, and by the web UI to show a single event.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Final

import msgspec

from mcplens.events import Event
from mcplens.protocol.frames import Frame, Kind, Malformed, Message, parse
from mcplens.store.recorded_secrets import Mask
from mcplens.store.rows import KINDS, NO_LINKS, Row, plan_of
from mcplens.store.segments import LOST_BYTES

_FRAME_STATUSES: Final = frozenset(kind.value for kind in Kind)


class StoredEvent(msgspec.Struct, frozen=True):
    """A recorded event, and what was masked in it."""

    event: Event
    masked: tuple[Mask, ...] = ()


def decode_row(run_id: str, row: Row) -> StoredEvent:
    """The event of a row; a plain `Event` if this version does not know its kind."""
    detail = row.detail or {}
    masked = tuple(msgspec.convert(mark, Mask) for mark in detail.get("masked", ()))
    place: dict[str, Any] = {
        "run_id": run_id, "seq": row.seq, "wall": row.wall, "mono": row.mono,
        "server_id": row.server_id,
    }  # fmt: skip
    kind = KINDS.get(row.kind)
    if kind is None:
        return StoredEvent(Event(**place), masked)
    plan = plan_of(kind)
    # Links that were not recorded are read as not known.
    fields = {name: copy(NO_LINKS[name]) for name in plan.names if name in NO_LINKS}
    fields |= {name: getattr(row, name) for name in plan.columns}
    fields |= {name: value for name, value in detail.items() if name in plan.names}
    if plan.payload == "message":
        fields["message"] = _message(row, detail)
        if "size_bytes" in plan.names:
            fields.setdefault("size_bytes", detail.get(LOST_BYTES, len(row.payload or b"")))
    elif plan.payload is not None:
        fields[plan.payload] = row.payload or b""
    if "headers" in fields:
        fields["headers"] = [(str(name), str(value)) for name, value in fields["headers"]]
    try:
        return StoredEvent(kind(**place, **fields), masked)
    except TypeError:  # written by a version that lacked a required field
        return StoredEvent(Event(**place), masked)


def _message(row: Row, detail: dict[str, Any]) -> Message:
    """The message that these bytes were taken for."""
    raw = row.payload or b""
    about = detail.get("malformed")
    if about is not None:
        ids = tuple(about.get("ids", ()))
        return Malformed(raw, about.get("reason", ""), ids, about.get("is_reply_like", False))
    message = parse(raw)
    if isinstance(message, Malformed) and row.status in _FRAME_STATUSES:
        # A message of ours that is nested too deeply to parse; the columns still say what it was.
        is_own = row.status in ("request", "notification")
        return Frame(raw, Kind(row.status), row.request_id, (row.method or "") if is_own else "")
    return message
