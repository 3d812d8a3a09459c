"""Collects one request with its reply, progress, HTTP exchanges, and the requests it caused.

Follows the links of the events, and nothing else; a link to an event that is not recorded is left
out. One pass over a bounded number of events after the request; only the head of an HTTP exchange
that was already open is searched before it. Called by history.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from mcplens.protocol.frames import RequestId
from mcplens.store.filters import Filter
from mcplens.store.rows import FRAME_KINDS, Row

# Events read after a request, or before it for an open stream; takes a third of a second.
MOST_EVENTS: Final = 200_000
# Read on after the end: a late reply, the end of a task or a log line may follow.
AFTERMATH_EVENTS: Final = 20_000

_HEAD_KINDS: Final = frozenset({"HttpRequestSent", "HttpResponseReceived"})
_OUR_KINDS: Final = frozenset({"RequestStarted", "RequestEnded"})
_THEIR_KINDS: Final = frozenset({"ServerRequestReceived", "ServerRequestEnded"})
_STARTS: Final = frozenset({"RequestStarted", "ServerRequestReceived"})
_ENDS: Final = frozenset({"RequestEnded", "ServerRequestEnded"})

Scan = Callable[..., Iterator[tuple[str, Row]]]


class RequestRows(msgspec.Struct, eq=False):
    """The rows of a request; `is_cut` means that not all events after it were read."""

    request_seq: int
    server_id: str
    request_id: RequestId | None = None
    method: str | None = None
    is_ours: bool = True
    rows: list[Row] = []
    http: list[Row] = []
    caused: list[RequestRows] = []
    is_cut: bool = False
    _has_start: bool = False  # its start is recorded, so its end will be
    _is_ended: bool = False
    _is_answered: bool = False

    @property
    def is_over(self) -> bool:
        return self._is_ended if self._has_start else self._is_answered

    def take(self, row: Row) -> None:
        """Add a row that belongs to the request."""
        self.rows.append(row)
        is_reply = row.kind in FRAME_KINDS and row.status in ("result", "error")
        is_about = row.seq == self.request_seq or row.kind in _OUR_KINDS | _THEIR_KINDS
        if is_about or (is_reply and self.request_id is None):
            # We send our requests, and receive the replies to them.
            is_frame_of_ours = row.kind == ("FrameReceived" if is_reply else "FrameSent")
            self.is_ours = is_frame_of_ours or row.kind in _OUR_KINDS
            self.request_id = row.request_id
            self.method = self.method or row.method
        self._has_start |= row.kind in _STARTS
        self._is_ended |= row.kind in _ENDS
        self._is_answered |= is_reply


def gather(scan: Scan, run_id: str, seq: int) -> RequestRows | None:
    """The request that this event is or belongs to; None if there is none."""
    row = _row_at(scan, run_id, seq)
    request_seq = None if row is None else row.of_request
    if row is None or request_seq is None:
        return None
    gatherer = _Gatherer(RequestRows(request_seq, row.server_id))
    wanted = Filter(run_id=run_id, server_id=row.server_id)
    for _, other in scan(wanted, after=(run_id, request_seq - 1)):
        if not gatherer.take(other):
            break
    for exchange_id in gatherer.headless():
        gatherer.begin(_head(scan, run_id, row.server_id, exchange_id, request_seq))
    return gatherer.finish()


def _row_at(scan: Scan, run_id: str, seq: int) -> Row | None:
    for _, row in scan(Filter(run_id=run_id), after=(run_id, seq - 1)):
        return row if row.seq == seq else None
    return None


def _head(scan: Scan, run_id: str, server_id: str, exchange_id: int, before: int) -> list[Row]:
    """The head of an HTTP exchange that was already open when a request was sent."""
    wanted = Filter(run_id=run_id, server_id=server_id, exchange_id=exchange_id, kinds=_HEAD_KINDS)
    after = (run_id, max(before - MOST_EVENTS, 0))
    found = []
    for _, row in scan(wanted, after=after, before=(run_id, before), newest_first=True):
        found.append(row)
        if row.kind == "HttpRequestSent":
            break
    return found


def _paused(row: Row) -> list[int]:
    """The requests that a question pauses or resumes; an imported trace may hold any value."""
    seqs = row.detail.get("request_seqs") if row.detail is not None else None
    return [seq for seq in seqs if type(seq) is int] if isinstance(seqs, list) else []


def _opened(row: Row) -> int:
    """The seq of the event that opened the question which a row closes."""
    seq = row.detail.get("opened_seq") if row.detail is not None else None
    return seq if isinstance(seq, int) else 0


class _Gatherer:
    """Takes the rows after a request, until no more are expected to belong to it."""

    def __init__(self, root: RequestRows) -> None:
        self._root = root
        self._requests = {root.request_seq: root}
        self._questions: dict[int, RequestRows] = {}  # by the seq of QuestionOpened
        # Exchanges that carried a message we sent are kept whole, others only their head.
        self._whole: defaultdict[int, set[RequestRows]] = defaultdict(set)
        self._by_head: defaultdict[int, set[RequestRows]] = defaultdict(set)
        self._heads: defaultdict[int, list[Row]] = defaultdict(list)
        self._closed: set[int] = set()
        self._is_over = False
        self._events_left = MOST_EVENTS
        self._aftermath_left = AFTERMATH_EVENTS

    def take(self, row: Row) -> bool:
        """Keep the row if it belongs to the request; False once the search is over."""
        if self._take_http(row) if row.kind.startswith("Http") else self._take_own(row):
            self._is_over = self._whole.keys() <= self._closed and all(
                request.is_over for request in self._requests.values()
            )
            self._aftermath_left = AFTERMATH_EVENTS
        elif self._is_over:
            self._aftermath_left -= 1
        self._events_left -= 1
        self._root.is_cut = not self._events_left
        return self._events_left > 0 and self._aftermath_left > 0

    def _take_own(self, row: Row) -> bool:
        requests = self._requests_of(row)
        for request in requests:
            request.take(row)
            if row.kind == "QuestionOpened":
                self._questions[row.seq] = request
            if row.exchange_id is not None:
                carried = self._whole if row.kind == "FrameSent" else self._by_head
                carried[row.exchange_id].add(request)
        return bool(requests)

    def _requests_of(self, row: Row) -> list[RequestRows]:
        """The collected requests that a row belongs to."""
        known, cause = self._requests, row.caused_by_seq
        request_seq = row.of_request
        if request_seq is not None:
            if request_seq not in known and cause in known:
                known[request_seq] = caused = RequestRows(request_seq, row.server_id)
                known[cause].caused.append(caused)
            found = [known.get(request_seq)]
        elif cause is not None:
            found = [known.get(cause)]
        else:
            found = [known.get(seq) for seq in _paused(row)]
            found.append(self._questions.get(_opened(row)))
        return [request for request in found if request is not None]

    def _take_http(self, row: Row) -> bool:
        exchange_id = row.exchange_id
        if exchange_id is None:
            return False
        if row.kind in _HEAD_KINDS:
            self._heads[exchange_id].append(row)
        elif exchange_id in self._whole:
            for request in self._whole[exchange_id]:
                request.http.append(row)
        if row.kind == "HttpExchangeEnded":
            self._closed.add(exchange_id)
        return exchange_id in self._whole

    def headless(self) -> list[int]:
        """Exchanges that carried a message, and whose head is before the request."""
        return [
            exchange_id
            for exchange_id in self._whole.keys() | self._by_head.keys()
            if not any(row.kind == "HttpRequestSent" for row in self._heads.get(exchange_id, ()))
        ]

    def begin(self, head: list[Row]) -> None:
        """Add the rows of such a head."""
        for row in head:
            if row.exchange_id is not None:
                self._heads[row.exchange_id].append(row)

    def finish(self) -> RequestRows:
        """The request, with the heads of all exchanges that carried its messages."""
        for exchange_id in self._whole.keys() | self._by_head.keys():
            for request in self._whole[exchange_id] | self._by_head[exchange_id]:
                request.http += self._heads.get(exchange_id, ())
        for request in self._requests.values():
            request.http.sort(key=lambda row: row.seq)
        return self._root
