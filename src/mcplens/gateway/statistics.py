"""What the gateway has counted: calls by server, method and outcome, their times and sizes.

Plain numbers, since every call passes here; metrics.py and the surfaces read them.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final, NamedTuple

import msgspec

# Upper bounds of the times in seconds: from a local tool to one that takes minutes.
BUCKETS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# The requests that clients make; all that goes by another name is counted together.
KNOWN_METHODS: Final = frozenset({
    "initialize", "server/discover", "ping", "logging/setLevel", "subscriptions/listen",
    "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/read",
    "resources/templates/list", "resources/subscribe", "resources/unsubscribe",
    "completion/complete", "tasks/list", "tasks/get", "tasks/result", "tasks/cancel",
    "tasks/update",
})  # fmt: skip
OTHER: Final = "other"
_FAILURES: Final = ("error", "failed")


class CallKind(NamedTuple):
    """Calls that are counted together."""

    server_id: str
    method: str
    outcome: str


class Times(msgspec.Struct):
    """How long calls of one kind took: a count per bucket (the last is beyond all), and a sum."""

    counts: list[int]
    sum_s: float = 0.0


class ServerCounts(msgspec.Struct):
    """Calls of one server, and those that failed."""

    calls: int = 0
    failed: int = 0


class CallStatistics:
    """Counts since the gateway was started."""

    def __init__(self) -> None:
        self.calls: dict[CallKind, int] = {}
        self.times: dict[tuple[str, str], Times] = {}
        self.servers: dict[str, ServerCounts] = {}
        self.request_bytes = 0
        self.answer_bytes = 0

    def __repr__(self) -> str:
        return f"<CallStatistics {sum(self.calls.values())} calls>"

    def add(
        self,
        server_id: str,
        method: str,
        outcome: str,
        elapsed_s: float,
        request_bytes: int,
        answer_bytes: int,
    ) -> None:
        """Count a call that has ended."""
        if method not in KNOWN_METHODS:
            method = OTHER  # a client can name as many methods as it likes
        calls, key = self.calls, (server_id, method, outcome)
        if key in calls:
            calls[key] += 1  # equal to its CallKind, and cheaper to make
        else:
            calls[CallKind(*key)] = 1
        times = self.times.get((server_id, method))
        if times is None:
            times = self.times[server_id, method] = Times([0] * (len(BUCKETS_S) + 1))
        times.counts[bisect_left(BUCKETS_S, elapsed_s)] += 1
        times.sum_s += elapsed_s
        server = self.servers.get(server_id)
        if server is None:
            server = self.servers[server_id] = ServerCounts()
        server.calls += 1
        server.failed += outcome in _FAILURES
        self.request_bytes += request_bytes
        self.answer_bytes += answer_bytes
