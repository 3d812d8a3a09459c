"""What the traffic of a server adds up to: requests, errors, durations, bytes, reconnects.

Each server of the workspace keeps one from its events, since mcplens started; bounded, whatever the
traffic. Pings, the handshake and subscription streams are left out; a tool that failed is an error.
Shown on the server's card and in Info.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import msgspec

from mcplens.events import Event, FrameReceived, FrameSent, RequestEnded
from mcplens.protocol.frames import Frame, Kind, Message
from mcplens.protocol.tool_failures import tool_failure

# Enough for a percentile that means something, and a few kilobytes.
_KEPT: Final = 200
_MOST_CHARACTERS: Final = 300
# Purposes that nobody asked for: a start of half a second would be the p95 of the first hundred
# calls, and a stream lasts as long as the connection.
_UNCOUNTED: Final = ("heartbeat", "handshake", "listening")
# How a request can end without an error.
_FINE: Final = ("completed", "cancelled")


class EndedRequest(msgspec.Struct, frozen=True):
    """One request for the plot: how long it took, and whether it failed."""

    method: str
    elapsed_s: float
    is_failed: bool


class LastError(msgspec.Struct, frozen=True):
    """The newest request that failed; `request_seq` is the event of its frame, if it was sent."""

    at: float
    method: str
    message: str
    request_seq: int | None


class ServerStatistics:
    """Sums of one server, and its newest requests."""

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        self.sent_bytes = 0
        self.received_bytes = 0
        self.last_error: LastError | None = None
        self.recent: deque[EndedRequest] = deque(maxlen=_KEPT)
        self._connections = 0
        # The newest result of a tool that failed: the frame of its request, and what it said. Its
        # request ends right after it.
        self._tool_failure: tuple[int | None, str] | None = None

    def __repr__(self) -> str:
        return f"<ServerStatistics {self.requests} requests, {self.errors} errors>"

    @property
    def reconnects(self) -> int:
        """How often it was connected again."""
        return max(0, self._connections - 1)

    def connected(self) -> None:
        """A connection was made."""
        self._connections += 1

    def handle_event(self, event: Event) -> bool:
        """Count an event; returns whether a request ended."""
        kind = type(event)  # each event of a flood comes here: isinstance takes five times as long
        if kind is FrameSent:
            self.sent_bytes += event.size_bytes  # type: ignore[attr-defined]
        elif kind is FrameReceived:
            self.received_bytes += event.size_bytes  # type: ignore[attr-defined]
            self._received(event.message, event.request_seq)  # type: ignore[attr-defined]
        elif isinstance(event, RequestEnded) and event.purpose not in _UNCOUNTED:
            self._ended(event)
            return True
        return False

    def percentile_s(self, share: float) -> float | None:
        """The time within which this share of the newest requests ended (nearest rank)."""
        if not self.recent:
            return None
        ordered = sorted(request.elapsed_s for request in self.recent)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def _received(self, message: Message, request_seq: int | None) -> None:
        if type(message) is Frame and message.kind is Kind.RESULT:
            failure = tool_failure(message.body, message.raw)
            if failure is not None:
                self._tool_failure = request_seq, failure

    def _ended(self, event: RequestEnded) -> None:
        (failed_seq, said), self._tool_failure = self._tool_failure or (None, ""), None
        is_tool_error = failed_seq is not None and failed_seq == event.request_seq
        is_failed = is_tool_error or event.status not in _FINE
        self.requests += 1
        self.recent.append(EndedRequest(event.method, event.elapsed_s, is_failed))
        if is_failed:
            self.errors += 1
            message = _short(said) if is_tool_error else _message_of(event.error)
            self.last_error = LastError(event.wall, event.method, message, event.request_seq)


def _message_of(error: dict[str, Any] | None) -> str:
    return _short(str((error or {}).get("message", "it failed")))


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


# The kinds of event that `handle_event` counts.
COUNTED_EVENTS: Final = frozenset({FrameSent, FrameReceived, RequestEnded})
