"""Events as rows for the page: short, even if a server sent large messages.

The same view for live and for recorded events. Called by feed.py, recording_queries.py and
api/history.py.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.events import Event
from mcplens.protocol.eras import STATELESS_ERRORS, UNSUPPORTED_VERSION
from mcplens.protocol.tool_failures import is_tool_error
from mcplens.store.lenient_json import to_json
from mcplens.store.row_encoding import RowEncoder
from mcplens.store.rows import Row
from mcplens.store.segments import lost_body
from mcplens.store.truncation import short_id, short_method
from mcplens.web.api.events import EventView

# Enough for one line on a wide screen.
HEAD_CHARACTERS: Final = 300
# Enough for an error; a page of 100,000 rows must fit into a browser.
DETAIL_BYTES: Final = 8 * 1024
# Log lines are searched, copied and exported from the rows: all but the largest are there whole.
LOG_BYTES: Final = 16 * 1024
# Enough for a single event that is opened.
WHOLE_BYTES: Final = 1024 * 1024
# Larger messages are not parsed for their head, so that it stays fast.
_TRIMMED_BYTES: Final = 256 * 1024
# So much of a message is checked for invalid UTF-8, so that it stays fast.
_LOOKED_AT_BYTES: Final = 1024 * 1024
_FRAMES: Final = frozenset(
    {"FrameSent", "FrameReceived", "InboundReceived", "AppMessageReceived", "AppMessageSent"}
)


_encode: Final = msgspec.json.Encoder(enc_hook=str).encode


class EventEncoder:
    """Encodes the events of one run as rows in JSON."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._rows = RowEncoder()

    def __repr__(self) -> str:
        return f"<EventEncoder of {self._run_id}>"

    def encode(self, batch: list[Event]) -> list[bytes]:
        return [encoded(event_view(self._run_id, row)) for row in self._rows.encode(batch)]


def encoded(view: EventView) -> bytes:
    try:
        return _encode(view)
    except UnicodeEncodeError:  # lone surrogates, which only Python's own encoder takes
        return to_json(msgspec.to_builtins(view, enc_hook=str))


def event_view(run_id: str, row: Row, *, is_whole: bool = False) -> EventView:
    """One event as a short row, or with all its fields (`is_whole`)."""
    kind, detail = row.kind, dict(row.detail or {})
    malformed = detail.get("malformed")
    most = LOG_BYTES if kind == "LogReceived" else DETAIL_BYTES
    detail, is_cut = shortened(detail, WHOLE_BYTES if is_whole else most)
    data = row.payload or b""
    shown = without_meta(data) if kind in _FRAMES else data
    head = _head(shown, LOG_BYTES if kind == "StderrLine" else HEAD_CHARACTERS)
    head = head or lost_body(detail)
    reason = malformed["reason"] if isinstance(malformed, dict) else None
    if reason is None and kind in _FRAMES:
        reason = _invalid_utf8(data)
    return EventView(
        run_id,
        row.seq,
        row.wall,
        row.mono,
        row.server_id,
        kind,
        short_method(row.method),  # recordings of older versions have long ones
        short_id(row.request_id),
        row.status,
        len(data),
        head,
        reason,
        detail,
        is_cut or (kind == "StderrLine" and len(head) == LOG_BYTES < len(data)),
        row.status == "result" and is_tool_error(data),
        row.exchange_id,
        row.request_seq,
        row.caused_by_seq,
        row.is_inferred,
        row.call_id,
        row.purpose,
        _is_refused_probe(row, data),
    )


class _Code(msgspec.Struct):
    code: int = 0


class _Refusal(msgspec.Struct):
    error: _Code


_read_refusal: Final = msgspec.json.Decoder(_Refusal).decode
# What only a server that knows server/discover answers.
_FAULTS: Final = frozenset(STATELESS_ERRORS) - {UNSUPPORTED_VERSION}


def _is_refused_probe(row: Row, data: bytes) -> bool:
    """Whether a server of an older revision refused the question for its revision."""
    if row.purpose != "handshake" or row.status != "error" or row.method != "server/discover":
        return False
    try:
        return _read_refusal(data).error.code not in _FAULTS
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False


_read_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_META: Final = b'"_meta"'


def without_meta(data: bytes) -> bytes:
    """A message for its head: without `_meta`, which is long and the same in every message.

    One that cannot be parsed, is too large, or has no `_meta` near its start is left as it is.
    """
    if len(data) > _TRIMMED_BYTES or _META not in data[: HEAD_CHARACTERS * 4]:
        return data
    try:
        members = _read_members(data)
        for name in ("params", "result"):
            if _META in (inner := bytes(members.get(name, b""))) and inner.startswith(b"{"):
                parts = _read_members(inner)
                parts.pop("_meta", None)
                members[name] = msgspec.Raw(_encode(parts))
        return _encode(members)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return data


def _head(data: bytes, characters: int) -> str:
    # A character has four bytes at most.
    return data[: characters * 4].decode("utf-8", "replace")[:characters]


def _invalid_utf8(data: bytes) -> str | None:
    """The first invalid byte of a message that could be parsed nevertheless."""
    if data.isascii():
        return None
    looked_at = data[:_LOOKED_AT_BYTES]
    try:
        looked_at.decode()
    except UnicodeDecodeError as problem:
        if len(data) == len(looked_at) or problem.start < len(looked_at) - 4:  # not where we cut it
            return f"not UTF-8: byte 0x{data[problem.start]:02x} at {problem.start}"
    return None


def shortened(detail: dict[str, Any], most: int) -> tuple[dict[str, Any], bool]:
    """The fields of an event, too large ones shortened, and whether any was."""
    if not detail:
        return detail, False
    try:
        if len(_encode(detail)) <= most:
            return detail, False
    except (UnicodeEncodeError, RecursionError, TypeError):
        pass
    field = most // 4
    kept = {name: value for name, value in detail.items() if _size(value) <= field}
    cut = {name: _beginning(value, field) for name, value in detail.items() if name not in kept}
    return kept | cut, True


def _size(value: Any) -> int:
    try:
        return len(to_json(value))
    except (RecursionError, TypeError, ValueError):
        return WHOLE_BYTES


def _beginning(value: Any, most: int) -> str:
    """The beginning of a value that is too large, as text."""
    if isinstance(value, str):
        return value[:most]
    try:
        text = to_json(value)[:most].decode("utf-8", "replace")
    except (RecursionError, TypeError, ValueError):
        return "…"
    return f"{text}…"
