"""What the rows of one run say about its session: who spoke, what was called, what waits, and what
went wrong.

Rows are added in order; a run that is still recorded is kept up to date by adding those that came.
Pure. Used for the list of runs, and for those of other processes, which have no client of ours that
could be asked.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.events import ClientIntroduced, EraDecided, ServerIntroduced
from mcplens.protocol.frames import RequestId
from mcplens.protocol.tool_failures import is_tool_error
from mcplens.store.row_decoding import decode_row
from mcplens.store.rows import MESSAGE_KINDS, Row

# As many as a person looks through; older ones of a session that answers nothing are not listed.
MAX_OPEN: Final = 500
# Names of what was called, as many as fit in a line of a list.
MAX_CALLED: Final = 6
_MOST_CHARACTERS: Final = 60
# The methods that call something by its name, and the param that has it.
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_DECODED: Final = frozenset({"ClientIntroduced", "ServerIntroduced", "EraDecided"})


class WaitingRequest(msgspec.Struct, frozen=True):
    """A request that got no answer yet; `is_question` if the server asked it."""

    seq: int
    wall: float
    server_id: str
    method: str
    request_id: RequestId | None
    is_question: bool


class _Params(msgspec.Struct):
    name: str = ""
    uri: str = ""


class _Request(msgspec.Struct):
    params: _Params = msgspec.field(default_factory=_Params)


_decode_request: Final = msgspec.json.Decoder(_Request).decode


class RunFacts:
    """The facts of one run so far."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.last_seq = 0
        self.message_count = 0
        self.problem_count = 0  # messages that are malformed, or answer no request
        self.error_count = 0  # error replies, and results of tools that failed
        self._called: dict[str, None] = {}
        self.client: ClientIntroduced | None = None
        self.server: ServerIntroduced | None = None
        self.era: EraDecided | None = None
        self._waiting: dict[int, WaitingRequest] = {}

    def __repr__(self) -> str:
        return f"<RunFacts {self.run_id} at {self.last_seq}, {self.message_count} messages>"

    @property
    def waiting(self) -> list[WaitingRequest]:
        return list(self._waiting.values())

    @property
    def called(self) -> list[str]:
        """The first tools, prompts and resources that were asked for, each once."""
        return list(self._called)

    def add(self, row: Row) -> None:
        self.last_seq = row.seq
        kind = row.kind
        if kind in MESSAGE_KINDS:
            self._count(row)
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

    def _count(self, row: Row) -> None:
        self.message_count += 1
        data = row.payload or b""
        if row.detail is not None and "malformed" in row.detail:
            self.problem_count += 1
        elif row.status == "error":
            # A server of an older revision refuses the question for its revision.
            self.error_count += row.purpose != "handshake"
        elif row.status == "result":
            self.error_count += is_tool_error(data)
        elif row.status == "request" and row.method in _NAMED and len(self._called) < MAX_CALLED:
            try:
                params = _decode_request(data).params
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return
            name = getattr(params, _NAMED[row.method])
            if name:
                self._called[name[:_MOST_CHARACTERS]] = None

    def _opened(self, row: Row, *, is_question: bool) -> None:
        seq = row.request_seq or row.seq
        self._waiting[seq] = WaitingRequest(
            seq, row.wall, row.server_id, row.method or "", row.request_id, is_question
        )
        if len(self._waiting) > MAX_OPEN:
            del self._waiting[next(iter(self._waiting))]
