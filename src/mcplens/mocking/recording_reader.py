"""Reads one server of one run from a trace or from the recording, as calls.

A stream: each call is written to the table when it has ended. Version 1 has no links; there a
message belongs to the request whose progress token it has, to the only one in flight, or to the
newest. What the server said on its own belongs to what the client said last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from mcplens.contracts.canonical import decode
from mcplens.mocking.params_matching import Span
from mcplens.mocking.recorded_calls import RecordedCall, RecordedServer, Step
from mcplens.protocol.frames import RequestId
from mcplens.store.rows import Row
from mcplens.store.trace import BrokenLine, TraceRow, read_trace

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

    rows = (entry for entry in read_trace(path, leave_out) if isinstance(entry, TraceRow))
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
    try:
        for run_id, row in rows:
            if row.kind not in _WANTED or not run_id.startswith(run or ""):
                continue
            reader = found.get((run_id, row.server_id))
            if reader is None:
                reader = found[run_id, row.server_id] = _CallReader(
                    run_id, row.server_id, is_wanted=server in (None, row.server_id)
                )
            reader.take(row)
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
    left = [one.table for one in found if one.is_wanted and one.has_requests]
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


class _Open:
    """A call that is being read."""

    def __init__(self, row: Row, raw: bytes, method: str, identity: RequestId | None) -> None:
        self.row = row
        self.raw = raw
        self.method = method
        self.id = identity
        self.masked = _spans(row)
        self.token = _progress_token(raw)
        self.last_mono = row.mono
        self.steps: list[Step] = []
        self.trailing: list[Step] = []
        self.reply: bytes | None = None
        self.reply_masked: tuple[Span, ...] = ()
        self.reply_after_s = 0.0
        self.reply_seq: int | None = None
        self.is_answered = identity is None
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
        self._open: dict[int, _Open] = {}  # by the seq of the frame
        self._ids: dict[str, _Open] = {}
        self._asked: dict[str, _Open] = {}  # by the id of the question
        self._last: _Open | None = None  # what the client said last

    def __repr__(self) -> str:
        return f"<_CallReader {self.table!r}, {len(self._open)} open>"

    def take(self, row: Row) -> None:
        if not self.is_wanted:
            self.has_requests = self.has_requests or row.kind == "FrameSent"
        elif row.kind == "ServerIntroduced":
            self.table.introduction = dict(row.detail or {})
        elif row.kind == "RequestEnded":
            self._ended(row)
        else:
            take = self._sent if row.kind == "FrameSent" else self._received
            for raw, message in _messages(row):
                take(row, raw, message)

    def end(self) -> None:
        """The recording is over: what is still open has no answer."""
        for call in self._open.values():
            self.table.add(call.call())
        if self._last is not None and self._last.is_answered:
            self.table.add(self._last.call())
        self._open.clear()
        self._last = None
        self.table.seal()

    # -- what the client sent ------------------------------------------------------------------

    def _sent(self, row: Row, raw: bytes, message: dict[str, Any]) -> None:
        method, identity = message.get("method"), message.get("id")
        if not isinstance(method, str):
            self._answered(row, raw, identity)
        elif "id" not in message:
            if method == "notifications/cancelled":
                self._cancelled(message)
            elif method != "notifications/progress":
                self._follow(_Open(row, raw, method, None))
        elif row.request_seq is None or row.request_seq == row.seq:  # otherwise it is sent again
            self.has_requests = True
            call = _Open(row, raw, method, identity)
            if len(self._open) >= _MOST_OPEN:
                self._close(next(iter(self._open.values())))
            while call.place in self._open:  # a member of a batch
                call.place -= 1
            self._open[call.place] = call
            self._ids[_id_key(identity)] = call
            self._follow(call)

    def _follow(self, call: _Open) -> None:
        """The client said something: nothing more can follow from what it said before."""
        last, self._last = self._last, call
        if last is not None and last.is_answered:
            self.table.add(last.call())

    def _answered(self, row: Row, raw: bytes, identity: Any) -> None:
        call = self._asked.pop(_id_key(identity), None)
        if call is not None:
            steps = call.trailing if call.is_answered else call.steps
            steps.append(Step("answer", raw, call.elapsed(row), identity, _spans(row)))

    def _cancelled(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        identity = params.get("requestId") if isinstance(params, dict) else None
        call = self._ids.get(_id_key(identity))
        if call is not None:
            call.why_unanswered = "the client cancelled it"

    # -- what the server sent ------------------------------------------------------------------

    def _received(self, row: Row, raw: bytes, message: dict[str, Any]) -> None:
        method, identity = message.get("method"), message.get("id")
        if not isinstance(method, str):
            self._replied(row, raw, identity)
            return
        is_question = "id" in message
        call = self._cause(row, message)
        if call is None:
            return  # before the client said anything
        step = Step(
            "question" if is_question else "notification", raw, call.elapsed(row),
            identity if is_question else None, _spans(row),
        )  # fmt: skip
        (call.trailing if call.is_answered else call.steps).append(step)
        if is_question:
            self._asked[_id_key(identity)] = call

    def _cause(self, row: Row, message: dict[str, Any]) -> _Open | None:
        linked = row.caused_by_seq if "id" in message else row.request_seq
        if linked is not None and linked in self._open:
            return self._open[linked]
        params = message.get("params")
        token = params.get("progressToken") if isinstance(params, dict) else None
        if token is not None:
            for call in self._open.values():
                if call.token == token and type(call.token) is type(token):
                    return call
        if self._last is not None and self._last.is_answered and len(self._open) == 1:
            return next(iter(self._open.values()))
        return self._last

    def _replied(self, row: Row, raw: bytes, identity: Any) -> None:
        call = self._open.get(row.request_seq) if row.request_seq is not None else None
        if call is None or call.id != identity:
            call = self._ids.get(_id_key(identity))
        if call is None or call.is_answered:
            return
        call.reply, call.reply_masked, call.reply_seq = raw, _spans(row), row.seq
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


def _messages(row: Row) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The messages of a frame; none if its bytes are lost or broken."""
    raw = row.payload or b""
    try:
        value = decode(raw)
    except ValueError:
        return
    if isinstance(value, dict):
        yield raw, value
    elif isinstance(value, list):
        for member in value:
            if isinstance(member, dict):
                yield msgspec.json.encode(member), member


def _spans(row: Row) -> tuple[Span, ...]:
    if row.detail is None or row.status == "batch":
        return ()
    marks = row.detail.get("masked", ())
    return tuple(
        (mark["start"], mark["end"], mark.get("key"))
        for mark in marks
        if isinstance(mark, dict) and mark.get("start") is not None and mark.get("end") is not None
    )


def _progress_token(raw: bytes) -> Any:
    if b"progressToken" not in raw:
        return None
    try:
        meta = (decode(raw).get("params") or {}).get("_meta") or {}
        return meta.get("progressToken")
    except (ValueError, AttributeError):
        return None


def _id_key(identity: Any) -> str:
    return f"{type(identity).__name__} {identity}"
