"""What the traffic of a server adds up to, as its card and Info draw it; part of a ServerView."""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.workspace.statistics import ServerStatistics

# Of a small plot: a bar of two pixels each.
_MOST_BARS: Final = 60


class EndedRequestView(msgspec.Struct, frozen=True):
    """One request for a plot."""

    method: str
    elapsed_s: float
    is_failed: bool


class LastErrorView(msgspec.Struct, frozen=True):
    """The newest request that failed; `request_seq` leads to it in Traffic."""

    at: float
    method: str
    message: str
    request_seq: int | None


class StatisticsView(msgspec.Struct, frozen=True, kw_only=True):
    """What the traffic adds up to since mcplens started, without pings, handshakes and
    subscription streams.

    The percentiles are of the newest 200 requests; `recent` has the newest of them, the oldest
    first.
    """

    requests: int
    errors: int
    median_s: float | None
    p95_s: float | None
    sent_bytes: int
    received_bytes: int
    reconnects: int
    last_error: LastErrorView | None
    recent: list[EndedRequestView]


def statistics_view(kept: ServerStatistics) -> StatisticsView:
    """The sums as they stand now."""
    last = kept.last_error
    return StatisticsView(
        requests=kept.requests,
        errors=kept.errors,
        median_s=kept.percentile_s(0.5),
        p95_s=kept.percentile_s(0.95),
        sent_bytes=kept.sent_bytes,
        received_bytes=kept.received_bytes,
        reconnects=kept.reconnects,
        last_error=None if last is None else LastErrorView(*msgspec.structs.astuple(last)),
        recent=[
            EndedRequestView(*msgspec.structs.astuple(one))
            for one in list(kept.recent)[-_MOST_BARS:]
        ],
    )
