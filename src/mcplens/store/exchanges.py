"""One exchange whole: a request, its reply, what happened on the way, and what it caused.

Gathers what the recording holds of it in one pass over the events between its two ends. Called by
history.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from mcplens.protocol.frames import RequestId
from mcplens.store.filters import Filter
from mcplens.store.names import short_id
from mcplens.store.rows import Row

# Rows after the end in which the HTTP side of an exchange may still end.
_AFTERMATH: Final = 1_000

Scan = Callable[..., Iterator[tuple[str, Row]]]


class Found(msgspec.Struct):
    """The rows of an exchange."""

    server_id: str
    request_id: RequestId
    is_ours: bool
    method: str | None = None
    rows: list[Row] = []
    http: list[Row] = []
    questions: list[int] = []  # where the server's questions begin


def is_ours(row: Row) -> bool | None:
    """Whether a row is about a request of ours or one of the server's; None if about none."""
    kind, status = row[4], row[7]
    if row[6] is None:
        return None
    if kind in ("FrameSent", "FrameReceived"):
        is_sent = kind == "FrameSent"
        if status == "request":
            return is_sent
        return not is_sent if status in ("result", "error", "malformed") else None
    if kind.startswith("ServerRequest"):
        return False
    return True if kind in _ABOUT_OURS else None


_ABOUT_OURS: Final = frozenset(
    {"RequestStarted", "RequestEnded", "ProgressReceived", "LateReply", "ReplyUnmatched"}
)


def gather(scan: Scan, run_id: str, seq: int) -> Found | None:
    """The exchange that the event at this place belongs to; None if it belongs to none."""
    row = _row_at(scan, run_id, seq)
    ours = None if row is None else is_ours(row)
    if row is None or ours is None or row[6] is None:
        return None
    found = Found(row[3], row[6], ours)
    start = _start(scan, run_id, row, ours)
    gatherer = _Gatherer(found)
    for _, other in scan(Filter(run_id=run_id), after=(run_id, start - 1)):
        if not gatherer.take(other):
            break
    return found


def _row_at(scan: Scan, run_id: str, seq: int) -> Row | None:
    for _, row in scan(Filter(run_id=run_id), after=(run_id, seq - 1)):
        return row if row[0] == seq else None
    return None


def _start(scan: Scan, run_id: str, row: Row, ours: bool) -> int:
    """Where the exchange begins: RequestStarted stands right before the frame of the request."""
    wanted = Filter(run_id=run_id, server_id=row[3], request_id=row[6])
    start = row[0]
    for _, other in scan(wanted, before=(run_id, row[0] + 1), newest_first=True):
        if is_ours(other) is ours:
            start = other[0]
            if other[4] == "RequestStarted" or (not ours and other[7] == "request"):
                break
            if other[7] == "request":
                before = _row_at(scan, run_id, start - 1)
                is_told = before is not None and before[4] == "RequestStarted"
                start -= 1 if is_told and before is not None and before[6] == row[6] else 0
                break
    return start


def _cause(row: Row) -> RequestId | None:
    """The request of ours that a question of the server's belongs to."""
    is_question = row[4] == "ServerRequestReceived" and row[8] is not None
    return short_id(row[8].get("caused_by")) if is_question and row[8] is not None else None


class _Gatherer:
    """Takes rows from the beginning of an exchange on, until nothing more belongs to it."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._raw: bytes | None = None
        self._http_id: Any = None
        self._is_told = False  # RequestStarted was there, so RequestEnded will be
        self._is_answered = False
        self._is_ended = False
        self._rows_left = _AFTERMATH

    def take(self, row: Row) -> bool:
        """Keep the row if it belongs to the exchange; False once nothing more can come."""
        found = self._found
        if row[3] == found.server_id:
            if row[4].startswith("Http"):
                self._take_http(row)
            elif row[6] == found.request_id and is_ours(row) is found.is_ours:
                if found.rows and row[7] == "request" and self._raw is not None:
                    return False  # the server begins anew with its ids
                self._take_own(row)
            elif found.is_ours and _cause(row) == found.request_id:
                found.questions.append(row[0])
        if self._is_over:
            self._rows_left -= 1
        return self._rows_left > 0 and not (self._is_over and self._http_id is None)

    @property
    def _is_over(self) -> bool:
        return self._is_answered and (self._is_ended or not self._is_told)

    def _take_own(self, row: Row) -> None:
        found, kind, status = self._found, row[4], row[7]
        found.rows.append(row)
        found.method = found.method or row[5]
        if kind in ("RequestStarted", "ServerRequestReceived"):
            self._is_told = True
        elif kind in ("RequestEnded", "ServerRequestEnded"):
            self._is_ended = True
        elif status == "request":
            self._raw = row[9]
        else:
            self._is_answered = self._is_answered or kind in ("FrameSent", "FrameReceived")

    def _take_http(self, row: Row) -> None:
        http_id = (row[8] or {}).get("exchange_id")
        if row[4] == "HttpRequestSent" and self._raw is not None and row[9] == self._raw:
            self._http_id = http_id
        if self._http_id is not None and http_id == self._http_id:
            self._found.http.append(row)
            if row[4] == "HttpExchangeEnded":
                self._http_id = None
