"""The trace file format: a recording as text, one JSON object per line, without loss.

Owns the format (docs/reference/trace-format.md): rows as lines, lines as rows, and a file that is
written while events happen. Called by recorder.py (`--trace`) and trace_transfer.py.
"""

from __future__ import annotations

import base64
import math
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, Final, NamedTuple

import msgspec

from mcplens.errors import ConfigurationError
from mcplens.events import Event
from mcplens.store.database import Run
from mcplens.store.lenient_json import from_json, to_json
from mcplens.store.recording_file import open_private
from mcplens.store.row_decoding import decode_row
from mcplens.store.rows import COLUMNS, FRAME_KINDS, KINDS, NO_LINKS, Row, plan_of
from mcplens.store.schema import SEQ_MASK
from mcplens.store.trace_frames import LineHead, read_frame, read_head
from mcplens.store.truncation import short_id, short_method

FORMAT: Final = "mcplens-trace"
# Version 1 has no links.
VERSION: Final = 2
READABLE: Final = (1, 2)
RUN_TYPE: Final = "Run"
# Suffix of the name of a field whose bytes are not valid UTF-8; its value is base64.
BASE64_SUFFIX: Final = "_base64"

# One line must not fill the memory. The largest message (64 MiB) may be six times as long once it
# is escaped.
MOST_LINE_BYTES: Final = 400 * 1024 * 1024
_MOST_REASON: Final = 200

_SHARED: Final = Event.__struct_fields__
_MALFORMED: Final = ("reason", "ids", "is_reply_like")
# Kinds of message without a method of their own.
_WITHOUT_METHOD: Final = ("result", "error", "malformed", "batch")
# Fields that link to other events, and their types.
_LINKS: Final = {
    "exchange_id": int, "request_seq": int, "caused_by_seq": int, "is_inferred": bool,
    "call_id": str, "purpose": str,
}  # fmt: skip


class BrokenLine(msgspec.Struct, frozen=True):
    """A line that could not be read; `is_cut` for a last line that is incomplete."""

    line: int
    reason: str
    is_cut: bool = False


class TraceRow(NamedTuple):
    """One event of a trace."""

    run_id: str
    row: Row


# -- writing ----------------------------------------------------------------------------------


def header_line() -> bytes:
    """The first line of every trace file."""
    return to_json({"format": FORMAT, "version": VERSION}) + b"\n"


def run_line(run: Run) -> bytes:
    """The line of a run, before its events."""
    return to_json({"type": RUN_TYPE} | msgspec.structs.asdict(run)) + b"\n"


def event_line(run_id: str, row: Row) -> bytes:
    """One event."""
    detail = dict(row.detail or {})
    masked = detail.pop("masked", None)
    line: dict[str, Any] = {
        "type": row.kind, "run_id": run_id, "seq": row.seq, "wall": row.wall, "mono": row.mono,
        "server_id": row.server_id,
    }  # fmt: skip
    kind = KINDS.get(row.kind)
    for field in () if kind is None else plan_of(kind).names:
        if kind is not None and field == plan_of(kind).payload:
            if field == "message":
                line[field] = _message(row) | detail.pop("malformed", {})
            elif row.payload:
                line |= _text(field, row.payload)
        elif field == "size_bytes":
            line[field] = len(row.payload or b"")
        elif field in detail:
            line[field] = detail.pop(field)
        elif field in COLUMNS and _is_written(row, field):
            line[field] = getattr(row, field)
    line |= detail
    if masked:
        line["masked"] = masked
    return to_json(line) + b"\n"


def _message(row: Row) -> dict[str, Any]:
    message = {"kind": row.status, "id": row.request_id, "method": row.method}
    if row.status in _WITHOUT_METHOD:
        del message["method"]  # the method of its request is beside the message
    if row.status in ("notification", "batch"):
        del message["id"]
    return message | _text("raw", row.payload or b"")


def _is_written(row: Row, field: str) -> bool:
    """Whether a column becomes a field: not if it has its default, or is in the message."""
    value = getattr(row, field)
    if row.kind in FRAME_KINDS and field == "method":
        return value is not None and row.status in _WITHOUT_METHOD
    return field not in NO_LINKS or value != NO_LINKS[field]


def _text(field: str, data: bytes) -> dict[str, str]:
    try:
        return {field: data.decode()}
    except UnicodeDecodeError:
        return {field + BASE64_SUFFIX: base64.b64encode(data).decode()}


class TraceFile:
    """A trace file that is written while events happen."""

    def __init__(self, path: str, run: Run) -> None:
        self.path = path
        self._run = run
        self._file: BinaryIO | None = None

    def __repr__(self) -> str:
        return f"<TraceFile {self.path} {'open' if self._file else 'closed'}>"

    def open(self) -> None:
        try:
            self._file = open_private(self.path)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise OSError(f"{self.path}: {reason}") from None
        self._file.write(header_line() + run_line(self._run))

    def add(self, rows: Sequence[Row]) -> None:
        if self._file is not None:
            self._file.writelines(event_line(self._run.run_id, row) for row in rows)

    def commit(self, ended: float | None = None) -> None:
        if self._file is not None:
            self._file.flush()

    def sweep(self, wall: float) -> bool:
        """A trace file belongs to the user: nothing in it is ever deleted."""
        return False

    def close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


# -- reading ----------------------------------------------------------------------------------


def read_trace(
    path: str | os.PathLike[str],
    on_broken: Callable[[BrokenLine], None],
    name: str | None = None,
    is_wanted: Callable[[LineHead], bool] | None = None,
) -> Iterator[Run | TraceRow]:
    """The runs and rows of a trace file, in order; `on_broken` is called with unreadable lines.

    Errors name the file by `name`, or by its path. Events that are not wanted are passed over
    unread, which is much faster.

    Raises:
        ConfigurationError: it is not a trace file, or of an unknown version.
    """
    name = name or os.fspath(path)
    try:
        file = open(path, "rb")  # noqa: SIM115 (closed below)
    except OSError as problem:
        raise _unreadable(name, (problem.strerror or str(problem)).lower()) from None
    with file:
        _check_header(name, file.readline(MOST_LINE_BYTES))
        for number, data in enumerate(_lines(file), start=2):
            if data is None:
                reason = f"longer than {MOST_LINE_BYTES // 1024 // 1024} MiB"
                on_broken(BrokenLine(number, reason))
                continue
            if not data.strip() or (is_wanted is not None and _is_other(data, is_wanted)):
                continue
            frame = read_frame(data) if is_wanted is not None else None
            if frame is not None:
                yield TraceRow(*frame)
                continue
            try:
                found = _read_line(name, data)
            except _UNREADABLE as problem:
                # Only the last line can lack its newline: its writer was killed, or still writes.
                is_cut = not data.endswith(b"\n")
                reason = "cut off" if is_cut else _words(problem)
                on_broken(BrokenLine(number, reason, is_cut))
                continue
            if found is not None:
                yield found


def _is_other(data: bytes, is_wanted: Callable[[LineHead], bool]) -> bool:
    """Whether a line is a known event that is not wanted; a broken line is not."""
    head = read_head(data)
    return head is not None and head.type in KINDS and not is_wanted(head)


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
    """The remaining lines; None for one that is too long."""
    while data := file.readline(MOST_LINE_BYTES + 1):
        is_long = len(data) > MOST_LINE_BYTES
        while is_long and data and not data.endswith(b"\n"):
            data = file.readline(MOST_LINE_BYTES)
        yield None if is_long else data


# What parsing a line of any content may raise.
_UNREADABLE: Final = (ValueError, TypeError, KeyError, AttributeError, RecursionError)


def _words(problem: Exception) -> str:
    words = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
    return words[:_MOST_REASON]


def _check_header(name: str, data: bytes) -> None:
    try:
        header = from_json(data)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise _unreadable(name, f'its first line is not {{"format":"{FORMAT}",…}}')
    version = header.get("version")
    if version not in READABLE:
        known = " and ".join(str(one) for one in READABLE)
        raise _unreadable(name, f"its version is {version!r}; this mcplens reads {known}")


def _read_line(name: str, data: bytes) -> Run | TraceRow | None:
    line = from_json(data)
    if not isinstance(line, dict):
        raise ValueError("not a JSON object")
    if "format" in line:  # traces that were concatenated
        _check_header(name, data)
        return None
    kind = line.pop("type", None)
    if kind == RUN_TYPE:
        return msgspec.convert(line, Run)
    if kind not in KINDS:
        raise ValueError(f"the type {kind!r} is not known")
    run_id, seq, wall, mono, server_id = (line.pop(field) for field in _SHARED)
    if not isinstance(run_id, str) or type(seq) is not int or seq < 1:
        raise ValueError("run_id must be text, and seq a number of at least 1")
    if seq > SEQ_MASK:  # its position would be in another run
        raise ValueError(f"seq must be {SEQ_MASK} at most")
    if not (math.isfinite(wall) and math.isfinite(mono)):
        raise ValueError("wall and mono must be numbers")
    row = Row(seq, float(wall), float(mono), str(server_id), kind, **_columns(kind, line))
    if type(decode_row(run_id, row).event).__name__ != kind:
        raise ValueError(f"fields of {kind} are missing")
    return TraceRow(run_id, row)


def _columns(kind: str, line: dict[str, Any]) -> dict[str, Any]:
    """The fields of an event as columns; a field without a column goes into the detail."""
    plan = plan_of(KINDS[kind])
    columns = {name: line.pop(name) for name in plan.columns if name in line}
    for name, needed in _LINKS.items():
        if columns.get(name) is None:
            columns.pop(name, None)
        elif type(columns[name]) is not needed:
            raise ValueError(f"{name} must be {_JSON_NAMES[needed]}")
    if plan.payload == "message":
        message = line.pop("message")
        columns["payload"] = _bytes("raw", message)
        columns["status"] = message["kind"]
        columns["method"] = message.get("method", columns.get("method"))
        columns["request_id"] = message.get("id", columns.get("request_id"))
        if "reason" in message:
            line["malformed"] = {name: message[name] for name in _MALFORMED if name in message}
        if "size_bytes" in plan.names:
            line.pop("size_bytes", None)
    elif plan.payload is not None:
        columns["payload"] = _bytes(plan.payload, line) or None
    columns["method"] = short_method(columns.get("method"))
    columns["request_id"] = short_id(columns.get("request_id"))
    if not line.get("masked"):
        line.pop("masked", None)
    return columns | {"detail": line or None}


_JSON_NAMES: Final = {int: "a number", bool: "true or false", str: "text"}


def _bytes(field: str, fields: dict[str, Any]) -> bytes:
    encoded = fields.pop(field + BASE64_SUFFIX, None)
    if encoded is not None:
        return base64.b64decode(encoded, validate=True)
    return str(fields.pop(field, "")).encode()


def _unreadable(name: str, reason: str) -> ConfigurationError:
    message = f"{name} cannot be read as a trace: {reason}"
    return ConfigurationError("CONFIGURATION_INVALID", message)
