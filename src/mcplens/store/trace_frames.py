"""Lines of a trace that are read quickly: their kind alone, and ordinary messages as rows.

For readers that want the messages of a large trace (`read_trace` with `is_wanted`). What is unusual
about a line is left to trace.py, which reads every line; fields that only later versions know are
passed over.
"""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec

from mcplens.store.rows import FRAME_KINDS, Row
from mcplens.store.schema import SEQ_MASK
from mcplens.store.truncation import MOST_CHARACTERS

_WITHOUT_METHOD: Final = ("result", "error", "batch")
_KINDS: Final = ("request", "notification", *_WITHOUT_METHOD)


class LineHead(msgspec.Struct, gc=False):
    """What a reader decides by whether it wants a line."""

    type: str = ""
    status: Any = None


class _Message(msgspec.Struct, gc=False):
    kind: str
    id: int | str | None = None
    method: str | None = None
    raw: str | None = None
    raw_base64: str | None = None


class _FrameLine(msgspec.Struct, gc=False):
    type: str
    run_id: str
    seq: int
    wall: float
    mono: float
    server_id: str
    message: _Message
    method: str | None = None
    exchange_id: int | None = None
    request_seq: int | None = None
    caused_by_seq: int | None = None
    is_inferred: bool = False
    call_id: str | None = None
    purpose: str | None = None
    inbound_seq: int | None = None
    masked: list[dict[str, Any]] = []


_decode_head = msgspec.json.Decoder(LineHead).decode
_decode_frame = msgspec.json.Decoder(_FrameLine).decode


def read_head(data: bytes) -> LineHead | None:
    """The kind of a line; None if it cannot be read."""
    try:
        return _decode_head(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_frame(data: bytes) -> tuple[str, Row] | None:
    """The run and the row of an ordinary message; None for anything else."""
    try:
        line = _decode_frame(data)
        raw = _raw(line.message)
    except (msgspec.DecodeError, ValueError):
        return None
    message = line.message
    kind, identity, method = message.kind, message.id, message.method
    if raw is None or kind not in _KINDS or line.type not in FRAME_KINDS:
        return None
    if not 1 <= line.seq <= SEQ_MASK or len(method or "") > MOST_CHARACTERS:
        return None
    if isinstance(identity, str) and len(identity) > MOST_CHARACTERS:
        return None
    detail: dict[str, Any] = {}
    if line.inbound_seq is not None:
        detail["inbound_seq"] = line.inbound_seq
    if line.masked:
        detail["masked"] = line.masked
    return line.run_id, Row(
        line.seq, line.wall, line.mono, line.server_id, line.type,
        line.method if kind in _WITHOUT_METHOD else method, identity, kind,
        detail or None, raw, line.exchange_id, line.request_seq,
        line.caused_by_seq, line.is_inferred, line.call_id, line.purpose,
    )  # fmt: skip


def _raw(message: _Message) -> bytes | None:
    if message.raw_base64 is not None:
        return base64.b64decode(message.raw_base64, validate=True)
    return None if message.raw is None else message.raw.encode()
