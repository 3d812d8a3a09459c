"""What the rows of one run say about its session: who spoke, what waits, and what went wrong.

Rows are added in order; a run that is still recorded is kept up to date by adding those that came.
Pure. Used for runs of other processes, which have no client of ours that could be asked.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.events import ClientIntroduced, EraDecided, ServerIntroduced
from mcplens.protocol.frames import RequestId
from mcplens.store.row_decoding import decode_row
from mcplens.store.rows import MESSAGE_KINDS, Row

# As many as a person looks through; older ones of a session that answers nothing are not listed.
MAX_OPEN: Final = 500

_DECODED: Final = frozenset({"ClientIntroduced", "ServerIntroduced", "EraDecided"})


class WaitingRequest(msgspec.Struct, frozen=True):
    """A request that got no answer yet; `is_question` if the server asked it."""

    seq: int
    wall: float
    server_id: str
    method: str
    request_id: RequestId | None
    is_question: bool


class RunFacts:
    """The facts of one run so far."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.last_seq = 0
        self.message_count = 0
        self.problem_count = 0  # messages that are malformed, or answer no request
        self.client: ClientIntroduced | None = None
        self.server: ServerIntroduced | None = None
        self.era: EraDecided | None = None
        self._waiting: dict[int, WaitingRequest] = {}

    def __repr__(self) -> str:
        return f"<RunFacts {self.run_id} at {self.last_seq}, {self.message_count} messages>"

    @property
    def waiting(self) -> list[WaitingRequest]:
        return list(self._waiting.values())

    def add(self, row: Row) -> None:
        self.last_seq = row.seq
        kind = row.kind
        if kind in MESSAGE_KINDS:
            self.message_count += 1
            if row.detail is not None and "malformed" in row.detail:
                self.problem_count += 1
        elif kind == "RequestStarted":
            self._opened(row, is_question=False)
        elif kind == "ServerRequestReceived":
            self._opened(row, is_question=True)
        elif kind in ("RequestEnded", "ServerRequestEnded"):
            self._waiting.pop(row.request_seq or 0, None)
        elif kind == "ReplyUnmatched":
            self.problem_count += 1
        elif kind in _DECODED:
            event = decode_row(self.run_id, row).event
            if isinstance(event, ClientIntroduced):
                self.client = event
            elif isinstance(event, ServerIntroduced):
                self.server = event
            elif isinstance(event, EraDecided):
                self.era = event

    def _opened(self, row: Row, *, is_question: bool) -> None:
        seq = row.request_seq or row.seq
        self._waiting[seq] = WaitingRequest(
            seq, row.wall, row.server_id, row.method or "", row.request_id, is_question
        )
        if len(self._waiting) > MAX_OPEN:
            del self._waiting[next(iter(self._waiting))]
