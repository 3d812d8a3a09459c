"""Reads one server of one run from a trace or from the recording, as calls.

A stream: each call is written to the table when it has ended. Version 1 has no links; there a
message belongs to the request whose progress token it has, to the only one in flight, or to the
newest. What the server said on its own belongs to what the client said last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final

from mcplens.mocking.params_matching import Span
from mcplens.mocking.recorded_calls import RecordedCall, RecordedServer, Step, StepKind
from mcplens.protocol.frames import Batch, Frame, Kind, parse
from mcplens.store.rows import Row
from mcplens.store.trace import BrokenLine, TraceRow, read_trace
from mcplens.store.trace_frames import LineHead

_FRAMES: Final = ("FrameSent", "FrameReceived")
_WANTED: Final = frozenset((*_FRAMES, "ServerIntroduced", "RequestEnded"))
# Broken lines that are reported one by one.
_MOST_BROKEN: Final = 100
# Requests without an answer that are remembered: a recording may have millions.
_MOST_OPEN: Final = 10_000
_SHOWN: Final = 12


class RecordingUnclear(Exception):
    """There is no such run or server, or more than one; the text says which there are."""


def read_trace_file(
    path: str | os.PathLike[str],
    *,
    run: str | None = None,
    server: str | None = None,
    broken: list[BrokenLine] | None = None,
) -> RecordedServer:
    """One server of one run in a trace; unreadable lines are added to `broken`.

    Raises:
        ConfigurationError: it is not a trace, or of an unknown version.
        RecordingUnclear: `run` and `server` do not say which.
    """

    def leave_out(line: BrokenLine) -> None:
        if broken is not None and len(broken) < _MOST_BROKEN:
            broken.append(line)

    rows = (
        entry
        for entry in read_trace(path, leave_out, is_wanted=_is_wanted)
        if isinstance(entry, TraceRow)
    )
    return read_rows(rows, os.fspath(path), run=run, server=server)


def read_rows(
    rows: Iterable[tuple[str, Row]],
    name: str,
    *,
    run: str | None = None,
    server: str | None = None,
) -> RecordedServer:
    """One server of one run in these rows, which errors call by `name`.

    Raises:
        RecordingUnclear: `run` and `server` do not say which.
    """
    found: dict[tuple[str, str], _CallReader] = {}
    candidates: list[_CallReader] = []
    try:
        for run_id, row in rows:
            if row.kind not in _WANTED or not run_id.startswith(run or ""):
                continue
            reader = found.get((run_id, row.server_id))
            if reader is None:
                reader = found[run_id, row.server_id] = _CallReader(
                    run_id, row.server_id, is_wanted=server in (None, row.server_id)
                )
            was_known = reader.is_candidate
            reader.take(row)
            if reader.is_candidate and not was_known:
                candidates.append(reader)
                for one in candidates[-2:] if len(candidates) > 1 else ():
                    one.forget()  # none of them will be served
        return _chosen(name, list(found.values()), run, server)
    except BaseException:
        for reader in found.values():
            reader.table.close()
        raise


def _chosen(
    name: str, found: list[_CallReader], run: str | None, server: str | None
) -> RecordedServer:
    for reader in found:
        reader.end()
    left = [one.table for one in found if one.is_candidate]
    if len(left) == 1:
        for reader in found:
            if reader.table is not left[0]:
                reader.table.close()
        return left[0]
    if left:
        texts = ", ".join(f"{one.server_id} in run {one.run_id[:8]}" for one in left[:_SHOWN])
        raise RecordingUnclear(
            f"{name} has several servers or runs: {texts}. Choose one with --server and --run."
        )
    which = f" to {server!r}" if server else ""
    where = f" in run {run}" if run else ""
    known = sorted({one.table.server_id for one in found if one.has_requests})
    there = f"; servers in it: {', '.join(known[:_SHOWN])}" if known else ""
    raise RecordingUnclear(f"{name} has no request{which}{where}{there}")


def _is_wanted(head: LineHead) -> bool:
    """Messages; and how a request ended, if it was not by its reply."""
    return head.type in _WANTED and head.status != "completed"


class _Open:
    """A call that is being read."""

    def __init__(self, row: Row, frame: Frame) -> None:
        self.row = row
        self.raw = frame.raw
        self.method = frame.method
        self.id = frame.id
        self.masked = _spans(row)
        self.token = _progress_token(frame)
        self.last_mono = row.mono
        self.steps: list[Step] = []
        self.trailing: list[Step] = []
        self.reply: bytes | None = None
        self.reply_masked: tuple[Span, ...] = ()
        self.reply_after_s = 0.0
        self.reply_seq: int | None = None
        self.is_answered = frame.id is None
        self.place = row.seq  # among the open ones
        self.why_unanswered = "it has no answer"

    def __repr__(self) -> str:
        return f"<_Open {self.method} {self.id!r}, {len(self.steps)} steps>"

    def elapsed(self, row: Row) -> float:
        """Seconds since the last message of this call."""
        before, self.last_mono = self.last_mono, row.mono
        return max(0.0, row.mono - before)

    def call(self) -> RecordedCall:
        return RecordedCall(
            self.row.seq, self.method, self.raw, self.id, self.masked, tuple(self.steps),
            self.reply, self.reply_after_s, tuple(self.trailing), self.reply_masked,
            self.why_unanswered, self.row.purpose, self.reply_seq,
        )  # fmt: skip


class _CallReader:
    """The calls of one server in one run, as their messages come."""

    def __init__(self, run_id: str, server_id: str, *, is_wanted: bool) -> None:
        self.table = RecordedServer(run_id, server_id)
        self.is_wanted = is_wanted
        self.has_requests = False
        self._is_forgotten = False
        self._open: dict[int, _Open] = {}  # by the seq of the frame
        self._ids: dict[str, _Open] = {}
        self._asked: dict[str, _Open] = {}  # by the id of the question
        self._last: _Open | None = None  # what the client said last

    def __repr__(self) -> str:
        return f"<_CallReader {self.table!r}, {len(self._open)} open>"

    @property
    def is_candidate(self) -> bool:
        return self.is_wanted and self.has_requests

    def forget(self) -> None:
        """Keep no messages: only that there were some counts from now on."""
        self._is_forgotten = True
        self._open.clear()
        self._ids.clear()
        self._asked.clear()
        self._last = None
        self.table.close()

    def take(self, row: Row) -> None:
        if self._is_forgotten:
            return
        if not self.is_wanted:
            self.has_requests = self.has_requests or row.kind == "FrameSent"
        elif row.kind == "ServerIntroduced":
            self.table.introduction = dict(row.detail or {})
        elif row.kind == "RequestEnded":
            self._ended(row)
        else:
            take = self._sent if row.kind == "FrameSent" else self._received
            for frame in _frames(row):
                take(row, frame)

    def end(self) -> None:
        """The recording is over: what is still open has no answer."""
        if self._is_forgotten:
            return
        for call in self._open.values():
            self.table.add(call.call())
        if self._last is not None and self._last.is_answered:
            self.table.add(self._last.call())
        self._open.clear()
        self._last = None
        self.table.seal()

    # -- what the client sent ------------------------------------------------------------------

    def _sent(self, row: Row, frame: Frame) -> None:
        if frame.kind not in (Kind.REQUEST, Kind.NOTIFICATION):
            self._answered(row, frame)
        elif frame.kind is Kind.NOTIFICATION:
            if frame.method == "notifications/cancelled":
                self._cancelled(frame)
            elif frame.method != "notifications/progress":
                self._follow(_Open(row, frame))
        elif row.request_seq is None or row.request_seq == row.seq:  # otherwise it is sent again
            self.has_requests = True
            call = _Open(row, frame)
            if len(self._open) >= _MOST_OPEN:
                self._close(next(iter(self._open.values())))
            while call.place in self._open:  # a member of a batch
                call.place -= 1
            self._open[call.place] = call
            self._ids[_id_key(frame.id)] = call
            self._follow(call)

    def _follow(self, call: _Open) -> None:
        """The client said something: nothing more can follow from what it said before."""
        last, self._last = self._last, call
        if last is not None and last.is_answered:
            self.table.add(last.call())

    def _answered(self, row: Row, frame: Frame) -> None:
        call = self._asked.pop(_id_key(frame.id), None)
        if call is not None:
            steps = call.trailing if call.is_answered else call.steps
            steps.append(Step("answer", frame.raw, call.elapsed(row), frame.id, _spans(row)))

    def _cancelled(self, frame: Frame) -> None:
        call = self._ids.get(_id_key(_params_of(frame).get("requestId")))
        if call is not None:
            call.why_unanswered = "the client cancelled it"

    # -- what the server sent ------------------------------------------------------------------

    def _received(self, row: Row, frame: Frame) -> None:
        if frame.kind not in (Kind.REQUEST, Kind.NOTIFICATION):
            self._replied(row, frame)
            return
        call = self._cause(row, frame)
        if call is None:
            return  # before the client said anything
        is_question = frame.kind is Kind.REQUEST
        kind: StepKind = "question" if is_question else "notification"
        step = Step(kind, frame.raw, call.elapsed(row), frame.id, _spans(row))
        (call.trailing if call.is_answered else call.steps).append(step)
        if is_question:
            self._asked[_id_key(frame.id)] = call

    def _cause(self, row: Row, frame: Frame) -> _Open | None:
        linked = row.caused_by_seq if frame.kind is Kind.REQUEST else row.request_seq
        if linked is not None and linked in self._open:
            return self._open[linked]
        if frame.method == "notifications/progress":
            token = _params_of(frame).get("progressToken")
            for call in self._open.values():
                if call.token == token and type(call.token) is type(token):
                    return call
        if self._last is not None and self._last.is_answered and len(self._open) == 1:
            return next(iter(self._open.values()))
        return self._last

    def _replied(self, row: Row, frame: Frame) -> None:
        call = self._open.get(row.request_seq) if row.request_seq is not None else None
        if call is None or call.id != frame.id:
            call = self._ids.get(_id_key(frame.id))
        if call is None or call.is_answered:
            return
        call.reply, call.reply_masked, call.reply_seq = frame.raw, _spans(row), row.seq
        call.reply_after_s = call.elapsed(row)
        self._close(call)

    def _ended(self, row: Row) -> None:
        call = self._open.get(row.request_seq) if row.request_seq is not None else None
        if call is None:
            return
        error = (row.detail or {}).get("error")
        message = error.get("message") if isinstance(error, dict) else None
        if isinstance(message, str):
            call.why_unanswered = message
        if call.method != "subscriptions/listen":
            self._close(call)

    def _close(self, call: _Open) -> None:
        """The call is over; what the server says next on its own may still follow from it."""
        call.is_answered = True
        self._open.pop(call.place, None)
        if self._ids.get(_id_key(call.id)) is call:
            del self._ids[_id_key(call.id)]
        if call is not self._last:
            self.table.add(call.call())


def _frames(row: Row) -> tuple[Frame, ...]:
    """The messages of a frame; none if its bytes are lost or broken."""
    message = parse(row.payload or b"")
    members = message.members if isinstance(message, Batch) else (message,)
    return tuple(member for member in members if isinstance(member, Frame))


def _params_of(frame: Frame) -> dict[str, Any]:
    try:
        params = frame.value()
    except ValueError:
        return {}
    return params if isinstance(params, dict) else {}


def _spans(row: Row) -> tuple[Span, ...]:
    if row.detail is None or row.status == "batch":
        return ()
    marks = row.detail.get("masked")
    size = len(row.payload or b"")
    spans: list[Span] = []
    for mark in marks if isinstance(marks, list | tuple) else ():
        start, end, key = (
            (mark.get("start"), mark.get("end"), mark.get("key"))
            if isinstance(mark, dict)
            else (None, None, None)
        )
        if type(start) is int and type(end) is int and 0 < start < end <= size:
            spans.append((start, end, key if isinstance(key, str) else None))
    return tuple(spans)


def _progress_token(frame: Frame) -> Any:
    if b"progressToken" not in frame.raw:
        return None
    meta = _params_of(frame).get("_meta")
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _id_key(identity: Any) -> str:
    return f"{type(identity).__name__} {identity}"
