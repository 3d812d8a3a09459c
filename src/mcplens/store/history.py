"""Reads the recording: runs, events by filter, search, one request with all that belongs to it.

Only the position of an event is indexed. A filter is first compared with the bytes of a block, so
that only blocks that can contain a match are unpacked. Called by the web UI and the command line;
writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from mcplens.errors import CancelledRequest, ConfigurationError
from mcplens.protocol.frames import RequestId
from mcplens.store.blocks import unpack
from mcplens.store.filters import EventMatcher
from mcplens.store.filters import Filter as Filter
from mcplens.store.lenient_json import from_json
from mcplens.store.recorded_secrets import KeysOf, Maskers
from mcplens.store.request_records import RequestRows, gather
from mcplens.store.row_decoding import StoredEvent, decode_row
from mcplens.store.row_masking import mask_row
from mcplens.store.rows import Row
from mcplens.store.schema import SEQ_BITS, SEQ_MASK, Locked, Unusable, explain, open_to_read
from mcplens.store.segments import (
    LOST_BYTES,
    BodyPlace,
    SegmentReader,
    lost_body,
    unpack_places,
)

# Enough of a payload for one line of a list.
HEAD_BYTES: Final = 200

# Called regularly by long work to see whether it was cancelled, on another thread.
IsStopped = Callable[[], bool]


def go_on() -> bool:
    """For work that is never cancelled."""
    return False


def check(is_stopped: IsStopped) -> None:
    """Raises:
    CancelledRequest: the work was cancelled.
    """
    if is_stopped():
        raise CancelledRequest("cancelled")


# The position of an event: (run_id, seq).
Place = tuple[str, int]


class RunSummary(msgspec.Struct, frozen=True):
    """A run, without its events."""

    run_id: str
    started: float
    ended: float | None
    title: str
    version: str
    servers: list[str]
    event_count: int
    size_bytes: int
    last_seq: int
    last_wall: float


class Entry(msgspec.Struct, frozen=True):
    """One event for a list; `head` is the beginning of its bytes."""

    run_id: str
    seq: int
    wall: float
    mono: float
    server_id: str
    kind: str
    method: str | None
    request_id: RequestId | None
    status: str | int | None
    size_bytes: int
    head: bytes
    detail: dict[str, Any]
    exchange_id: int | None = None
    request_seq: int | None = None
    caused_by_seq: int | None = None
    is_inferred: bool = False
    call_id: str | None = None
    purpose: str | None = None

    @property
    def is_masked(self) -> bool:
        return "masked" in self.detail

    @property
    def reason(self) -> str:
        """What is wrong with a malformed message; empty for any other."""
        return str(self.detail.get("malformed", {}).get("reason", ""))

    @property
    def lost(self) -> str:
        """What is said in place of bytes that cannot be read any more; empty if they can."""
        return lost_body(self.detail)


def _entry(run_id: str, row: Row) -> Entry:
    payload = row.payload or b""
    return Entry(
        run_id=run_id,
        seq=row.seq,
        wall=row.wall,
        mono=row.mono,
        server_id=row.server_id,
        kind=row.kind,
        method=row.method,
        request_id=row.request_id,
        status=row.status,
        size_bytes=len(payload),
        head=payload[:HEAD_BYTES],
        detail=row.detail or {},
        exchange_id=row.exchange_id,
        request_seq=row.request_seq,
        caused_by_seq=row.caused_by_seq,
        is_inferred=row.is_inferred,
        call_id=row.call_id,
        purpose=row.purpose,
    )


class RequestRecord(msgspec.Struct, frozen=True):
    """A request with all that belongs to it, in order: reply, progress, HTTP exchanges.

    `caused` are the requests that were made because of it, mostly questions from the server. Linked
    events that are not recorded are missing here. `is_cut` means that not all events after the
    request were read, because the run is long.
    """

    request_seq: int
    server_id: str
    request_id: RequestId | None
    method: str | None
    is_ours: bool
    entries: list[Entry]
    http: list[Entry]
    caused: list[RequestRecord]
    is_cut: bool = False


def _record(run_id: str, found: RequestRows) -> RequestRecord:
    return RequestRecord(
        request_seq=found.request_seq,
        server_id=found.server_id,
        request_id=found.request_id,
        method=found.method,
        is_ours=found.is_ours,
        entries=[_entry(run_id, row) for row in found.rows],
        http=[_entry(run_id, row) for row in found.http],
        caused=[_record(run_id, caused) for caused in found.caused],
        is_cut=found.is_cut,
    )


class History:
    """A recording, opened to be read; close it, or use it in a `with` block.

    Raises:
        ConfigurationError: the file is missing, damaged, or of a newer mcplens.
        CancelledRequest: `is_stopped` returned true during a search.
    """

    def __init__(self, path: str | os.PathLike[str], is_stopped: IsStopped = go_on) -> None:
        self.path = os.fspath(path)
        self._is_stopped = is_stopped
        try:
            self._connection = open_to_read(self.path)
        except (Unusable, Locked) as problem:
            raise unreadable(problem) from None
        self._segments = SegmentReader(self.path)

    def __repr__(self) -> str:
        return f"<History {self.path}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
        self._segments.close()

    # -- runs ----------------------------------------------------------------------------------

    def runs(self, limit: int | None = None) -> list[RunSummary]:
        """The runs, newest first."""
        columns = ", ".join(RunSummary.__struct_fields__)
        found = self._query(
            f"SELECT {columns} FROM runs WHERE NOT is_forgotten ORDER BY run_no DESC LIMIT ?",
            (-1 if limit is None else limit,),
        )
        return [_summary(row) for row in found]

    def run_count(self) -> int:
        """How many runs there are."""
        (row,) = self._query("SELECT count(*) FROM runs WHERE NOT is_forgotten", ())
        return int(row[0])

    def run(self, run_id: str) -> RunSummary | None:
        """One run, by its id or an unambiguous prefix of it."""
        found = self.runs_that_start_with(run_id)
        return found[0] if len(found) == 1 else None

    def runs_that_start_with(self, prefix: str) -> list[RunSummary]:
        """The runs whose ids start with a prefix, newest first; none for an empty one."""
        columns = ", ".join(RunSummary.__struct_fields__)
        found = self._query(
            f"SELECT {columns} FROM runs WHERE NOT is_forgotten AND substr(run_id, 1, ?) = ?"
            " ORDER BY run_no DESC",
            (len(prefix), prefix),
        )
        return [_summary(row) for row in found] if prefix else []

    def request_record(self, run_id: str, seq: int) -> RequestRecord | None:
        """The request that an event is or belongs to; None if there is none."""
        found = gather(self.scan, run_id, seq)
        return None if found is None else _record(run_id, found)

    # -- events --------------------------------------------------------------------------------

    def events(
        self,
        wanted: Filter | None = None,
        *,
        after: Place | None = None,
        before: Place | None = None,
        newest_first: bool = False,
        limit: int = 100,
    ) -> list[Entry]:
        """A page of events; continue with the position of the last one as `after` or `before`."""
        entries = []
        for run_id, row in self.scan(wanted, after=after, before=before, newest_first=newest_first):
            entries.append(_entry(run_id, row))
            if len(entries) >= limit:
                break
        return entries

    def event(self, run_id: str, seq: int) -> StoredEvent | None:
        """One event as it was published."""
        for _, row in self.scan(Filter(run_id=run_id), after=(run_id, seq - 1)):
            return decode_row(run_id, row) if row.seq == seq else None
        return None

    def scan(
        self,
        wanted: Filter | None = None,
        *,
        after: Place | None = None,
        before: Place | None = None,
        newest_first: bool = False,
    ) -> Iterator[tuple[str, Row]]:
        """Every row that matches the filter, with one block in memory at a time."""
        matcher = EventMatcher(wanted or Filter())
        run_ids = self._run_ids(matcher.wanted.run_id)
        if not run_ids:
            return
        bounds = self._bounds(run_ids, after, before)
        if bounds is None:
            return
        first, last = bounds
        bounded, values = matcher.bounds()
        found = self._query(
            f"SELECT place, data, body_places FROM blocks LEFT JOIN bodies USING (place) "
            f"WHERE place BETWEEN ? AND ? {bounded} "
            f"ORDER BY place {'DESC' if newest_first else ''}",
            (self._block_of(first), last, *values),
        )
        for place, data, packed in found:
            run_no = place >> SEQ_BITS
            run_id = run_ids.get(run_no)
            if run_id is None or not matcher.may_match(data, has_bodies=packed is not None):
                continue
            rows = unpack(data)
            bodies = {rows[body.row].seq: body for body in unpack_places(packed)}
            for row in reversed(rows) if newest_first else rows:
                is_within = first <= (run_no << SEQ_BITS | row.seq) <= last
                if not is_within or not matcher.matches_fields(row):
                    continue
                if row.seq in bodies:
                    row = self._with_body(row, bodies[row.seq])
                if matcher.matches_text(row):
                    yield run_id, row

    def _with_body(self, row: Row, place: BodyPlace) -> Row:
        """The row with its payload, which is in a segment."""
        payload = self._segments.read(place)
        if payload is None:
            lost = {LOST_BYTES: place.size_bytes}
            return msgspec.structs.replace(row, detail={**(row.detail or {}), **lost})
        return msgspec.structs.replace(row, payload=payload)

    def scan_masked(
        self, wanted: Filter | None, keys_of: KeysOf | None
    ) -> Iterator[tuple[str, Row]]:
        """As `scan`, with these keys and known secrets masked: one may have become secret since it
        was recorded."""
        # One for each run: a masker remembers streams by ids that are unique within a run.
        maskers: dict[str, Maskers] = {}
        for run_id, row in self.scan(wanted):
            if run_id not in maskers:
                maskers[run_id] = Maskers(keys_of or (lambda server_id: ()))
            masker = maskers[run_id].of(row.server_id)
            yield run_id, row if masker is None else mask_row(row, masker)

    def _block_of(self, place: int) -> int:
        """The position of the block that contains this position."""
        ((found,),) = self._query("SELECT max(place) FROM blocks WHERE place <= ?", (place,))
        return place if found is None else int(found)

    def _run_ids(self, run_id: str | None) -> dict[int, str]:
        condition, values = ("", ()) if run_id is None else ("AND run_id = ?", (run_id,))
        return dict(
            self._query(
                f"SELECT run_no, run_id FROM runs WHERE NOT is_forgotten {condition}", values
            )
        )

    def _bounds(
        self, run_ids: dict[int, str], after: Place | None, before: Place | None
    ) -> tuple[int, int] | None:
        """The first and the last position asked for; None if there is no such run."""
        numbers = {run_id: run_no for run_no, run_id in run_ids.items()}
        first, last = min(run_ids) << SEQ_BITS, max(run_ids) << SEQ_BITS | SEQ_MASK
        if any(place is not None and place[0] not in numbers for place in (after, before)):
            return None
        if after is not None:
            first = max(first, (numbers[after[0]] << SEQ_BITS | min(after[1], SEQ_MASK)) + 1)
        if before is not None:
            last = min(last, (numbers[before[0]] << SEQ_BITS | min(before[1], SEQ_MASK)) - 1)
        return first, last

    def _query(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        import sqlite3

        cursor = None
        while True:
            check(self._is_stopped)
            try:
                cursor = cursor or self._connection.execute(statement, values)
                row = cursor.fetchone()
            except sqlite3.Error as problem:
                raise unreadable(explain(problem, self.path)) from None
            if row is None:
                return
            yield row


def _summary(row: tuple[Any, ...]) -> RunSummary:
    facts = dict(zip(RunSummary.__struct_fields__, row, strict=True))
    return RunSummary(**(facts | {"servers": from_json(facts["servers"].encode())}))


def unreadable(problem: Exception) -> ConfigurationError:
    """The error that a surface shows for a recording that cannot be read."""
    return ConfigurationError("CONFIGURATION_INVALID", f"the recording cannot be read: {problem}")
