"""Which HTTP exchanges carried messages that are wanted.

An exchange is known by where it begins. The recording does not say what carried what: the body of a
request is the message that was sent last, an answer comes with its request's exchange, and what
else comes is in the piece that came last. Called by har.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

import msgspec

from mcplens.protocol.frames import RequestId
from mcplens.store.rows import Row
from mcplens.store.spans import Spans

FRAME_KINDS: Final = frozenset({"FrameSent", "FrameReceived"})
# Messages that wait for their exchange to begin, and requests that wait for their answer.
_MOST_WAITING: Final = 64
_MOST_ASKED: Final = 20_000

# Where an exchange begins: (run_id, seq).
Place = tuple[str, int]


class _Sent(msgspec.Struct):
    """A message of ours, before its exchange began."""

    request_id: RequestId | None
    is_wanted: bool


class _Channel(msgspec.Struct):
    """What is known of one server's exchanges."""

    begun: dict[int, int] = {}
    waiting: OrderedDict[bytes, _Sent] = msgspec.field(default_factory=OrderedDict)
    asked: OrderedDict[RequestId, int] = msgspec.field(default_factory=OrderedDict)
    latest: int | None = None


def carriers(rows: Iterable[tuple[str, Row]], wanted: Spans) -> set[Place]:
    """Where the exchanges begin that a wanted event is part of, or was carried by."""
    found: set[Place] = set()
    channels: dict[tuple[str, str], _Channel] = {}
    for run_id, row in rows:
        channel = channels.setdefault((run_id, row[3]), _Channel())
        is_wanted = row[0] in wanted
        if row[4] == "FrameSent":
            _wait(channel, row, is_wanted)
            continue
        if row[4] == "FrameReceived":
            start = _carrier(channel, row)
        elif row[4] == "HttpRequestSent":
            start = row[0]
            is_wanted = _begin(channel, row) or is_wanted
        else:
            start = channel.begun.get((row[8] or {}).get("exchange_id", 0))
            channel.latest = start
            if row[4] == "HttpExchangeEnded":
                channel.begun.pop((row[8] or {}).get("exchange_id", 0), None)
        if is_wanted and start is not None:
            found.add((run_id, start))
    return found


def _wait(channel: _Channel, row: Row, is_wanted: bool) -> None:
    request_id = row[6] if row[7] == "request" else None
    channel.waiting[row[9] or b""] = _Sent(request_id, is_wanted)
    if len(channel.waiting) > _MOST_WAITING:
        channel.waiting.popitem(last=False)


def _begin(channel: _Channel, row: Row) -> bool:
    """An exchange begins; whether the message that it carries is wanted."""
    channel.begun[(row[8] or {}).get("exchange_id", 0)] = row[0]
    sent = channel.waiting.pop(row[9] or b"", None)
    if sent is None:
        return False
    if sent.request_id is not None:
        channel.asked[sent.request_id] = row[0]
        if len(channel.asked) > _MOST_ASKED:
            channel.asked.popitem(last=False)
    return sent.is_wanted


def _carrier(channel: _Channel, row: Row) -> int | None:
    is_reply = row[7] in ("result", "error")
    request_id = (row[8] or {}).get("channel", row[6] if is_reply else None)
    return channel.latest if request_id is None else channel.asked.get(request_id, channel.latest)
