"""What the traffic of a server adds up to: requests, errors, durations, bytes, reconnects.

Each server of the workspace keeps one from its events, since mcplens started; bounded, whatever the
traffic. Pings and the handshake are left out. Shown on the server's card and in Info.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import msgspec

from mcplens.events import Event, FrameReceived, FrameSent, RequestEnded

# Enough for a percentile that means something, and a few kilobytes.
_KEPT: Final = 200
_MOST_CHARACTERS: Final = 300
# What nobody asked for: a start of half a second would be the p95 of the first hundred calls.
_UNCOUNTED: Final = ("ping", "initialize", "server/discover")
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
        match event:
            case FrameSent():
                self.sent_bytes += event.size_bytes
            case FrameReceived():
                self.received_bytes += event.size_bytes
            case RequestEnded() if event.method not in _UNCOUNTED:
                self._ended(event)
                return True
        return False

    def percentile_s(self, share: float) -> float | None:
        """The time within which this share of the newest requests ended (nearest rank)."""
        if not self.recent:
            return None
        ordered = sorted(request.elapsed_s for request in self.recent)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def _ended(self, event: RequestEnded) -> None:
        is_failed = event.status not in _FINE
        self.requests += 1
        self.recent.append(EndedRequest(event.method, event.elapsed_s, is_failed))
        if is_failed:
            self.errors += 1
            message = _message_of(event.error)
            self.last_error = LastError(event.wall, event.method, message, event.request_seq)


def _message_of(error: dict[str, Any] | None) -> str:
    text = str((error or {}).get("message", "it failed"))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


# The kinds of event that `handle_event` counts.
COUNTED_EVENTS: Final = frozenset({FrameSent, FrameReceived, RequestEnded})
