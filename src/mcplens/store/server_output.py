"""Thins what floods a recording: a server's stderr, and lines on its stdout that are not messages.

The first megabytes of a server in a run are recorded as they come. From then on only the latest
lines are, now and then, and StrayOutputDropped says how much is missing. Messages, also malformed
replies, are never left out. Used by recorder.py, on its thread.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from mcplens.events import (
    Event,
    FrameReceived,
    ProcessExited,
    StderrLine,
    StrayOutputDropped,
)
from mcplens.protocol.frames import Malformed

DEFAULT_OUTPUT_BYTES: Final = 16_000_000
# What a line takes in the recording besides its own bytes.
_ROW_BYTES: Final = 250
# The latest lines that are kept of what comes after the limit, each time.
_TAIL_LINES: Final = 20
_TAIL_BYTES: Final = 16 * 1024
_LONGEST_LINE: Final = 64 * 1024
_OUTPUT_KINDS: Final = frozenset({FrameReceived, StderrLine})


class ServerOutput:
    """The output of one server in one run: how much was recorded, and what comes after that."""

    def __init__(self, limit_bytes: int) -> None:
        self._left_bytes = limit_bytes
        self._tail: deque[StderrLine | FrameReceived] = deque()
        self._tail_bytes = 0
        self._first_seq = 0  # of what was dropped since the last time that it was told
        self._last: StderrLine | FrameReceived | None = None
        self._stdout_lines = 0
        self._stderr_lines = 0
        self._dropped_bytes = 0

    def __repr__(self) -> str:
        return f"<ServerOutput, {self._left_bytes} bytes left, {len(self._tail)} lines held>"

    def takes(self, event: StderrLine | FrameReceived) -> bool:
        """Whether this line is held back or dropped, since the limit is reached."""
        size = _size(event)
        if self._left_bytes > 0:
            self._left_bytes -= size + _ROW_BYTES
            return False
        self._tail.append(event)
        self._tail_bytes += size
        while len(self._tail) > _TAIL_LINES or (
            self._tail_bytes > _TAIL_BYTES and len(self._tail) > 1
        ):
            self._drop_first()
        if self._tail_bytes > _LONGEST_LINE:
            self._drop_first()
        return True

    def release(self, *, with_tail: bool) -> list[Event]:
        """What is to be recorded of the lines that were held back, in their order."""
        while self._tail and not with_tail:
            self._drop_first()
        found: list[Event] = []
        if self._last is not None:
            found.append(self._dropped(self._last))
        found += self._tail
        self._tail.clear()
        self._tail_bytes = 0
        return found

    def _drop_first(self) -> None:
        event = self._tail.popleft()
        size = _size(event)
        self._tail_bytes -= size
        if self._last is None:
            self._first_seq = event.seq
        self._last = event
        self._dropped_bytes += size
        if type(event) is StderrLine:
            self._stderr_lines += 1
        else:
            self._stdout_lines += 1

    def _dropped(self, last: Event) -> StrayOutputDropped:
        told = StrayOutputDropped(
            run_id=last.run_id,
            seq=last.seq,
            wall=last.wall,
            mono=last.mono,
            server_id=last.server_id,
            first_seq=self._first_seq,
            last_seq=last.seq,
            stdout_lines=self._stdout_lines,
            stderr_lines=self._stderr_lines,
            size_bytes=self._dropped_bytes,
        )
        self._last = None
        self._stdout_lines = self._stderr_lines = self._dropped_bytes = 0
        return told


class OutputThinner:
    """Decides which events of a run are recorded; `limit_bytes` is per server, 0 for no limit."""

    def __init__(self, limit_bytes: int = DEFAULT_OUTPUT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._servers: dict[str, ServerOutput] = {}
        self._holding: dict[str, ServerOutput] = {}  # those with lines held back

    def __repr__(self) -> str:
        return f"<OutputThinner of {len(self._servers)} servers, {self._limit_bytes} bytes each>"

    def thin(self, events: list[Event]) -> list[Event]:
        """The events to record; others are held back, or counted and dropped."""
        if not self._limit_bytes:
            return events
        # Most events can be told by their type, without a call.
        is_any = any(_is_output(event) for event in events if type(event) in _OUTPUT_KINDS)
        if not is_any and not self._holding:
            return events
        kept: list[Event] = []
        for event in events:
            if isinstance(event, StderrLine | FrameReceived) and _is_output(event):
                server = self._servers.get(event.server_id)
                if server is None:
                    server = self._servers[event.server_id] = ServerOutput(self._limit_bytes)
                if server.takes(event):
                    self._holding[event.server_id] = server
                    continue
            if self._holding:
                # Rows are written in the order of their seq, so it is now or never.
                leaver = event.server_id if type(event) is ProcessExited else None
                kept += self._released(leaver)
            kept.append(event)
        return kept

    def tail(self) -> list[Event]:
        """The latest lines of servers over their limit, and how many others there were."""
        return self._released(None, with_tail=True)

    def _released(self, leaver: str | None, *, with_tail: bool = False) -> list[Event]:
        found: list[Event] = []
        for server_id, server in self._holding.items():
            found += server.release(with_tail=with_tail or server_id == leaver)
        self._holding.clear()
        found.sort(key=lambda event: event.seq)
        return found


def _is_output(event: Event) -> bool:
    if type(event) is FrameReceived:
        message = event.message
        return (
            type(message) is Malformed and not message.is_reply_like and event.exchange_id is None
        )
    return type(event) is StderrLine


def _size(event: StderrLine | FrameReceived) -> int:
    return len(event.data) if isinstance(event, StderrLine) else event.size_bytes
