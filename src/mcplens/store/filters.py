"""Event filters, and matching of blocks and rows against them.

A matcher first checks whether the bytes of a block can contain a match; only then is the block
unpacked and each row compared. Pure; called by history.py and the web UI.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from mcplens.protocol.frames import RequestId
from mcplens.store.blocks import pack_value
from mcplens.store.rows import Row

SENT_KINDS: Final = frozenset({"FrameSent", "HttpRequestSent"})
RECEIVED_KINDS: Final = frozenset(
    {
        "FrameReceived", "HttpResponseReceived", "HttpBytesReceived", "HttpExchangeEnded",
        "StderrLine",
    }
)  # fmt: skip
_KINDS_OF: Final = {"sent": SENT_KINDS, "received": RECEIVED_KINDS}


class SeqRanges:
    """A set of seqs as ranges: small even for a hundred thousand rows of a page.

    `bounds` are the first and the last seq of each range, in order.

    Raises:
        ValueError: the bounds are not in pairs, or not in order.
    """

    def __init__(self, bounds: Sequence[int]) -> None:
        if len(bounds) % 2 or any(
            last < first for first, last in zip(bounds[::2], bounds[1::2], strict=True)
        ):
            raise ValueError("each range needs a first and a last number, in this order")
        if any(last >= then for last, then in zip(bounds[1::2], bounds[2::2], strict=False)):
            raise ValueError("the ranges must be in order")
        try:
            self._firsts = array("q", bounds[::2])
            self._lasts = array("q", bounds[1::2])
        except OverflowError:
            raise ValueError("a number is too large") from None

    def __repr__(self) -> str:
        return f"<SeqRanges, {len(self._firsts)} ranges>"

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number <= self._lasts[at]


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events are wanted; None means any."""

    run_id: str | None = None
    seqs: SeqRanges | None = None
    server_id: str | None = None
    kinds: frozenset[str] | None = None
    method: str | None = None
    request_id: RequestId | None = None
    direction: Literal["sent", "received"] | None = None
    status: str | int | None = None  # request, notification, result, error, malformed… or HTTP's
    since: float | None = None  # wall
    until: float | None = None
    request_seq: int | None = None  # the request at this seq, and what belongs to it
    exchange_id: int | None = None
    call_id: str | None = None
    purpose: str | None = None
    text: str | None = None  # in the bytes of a message or body, or in any other field
    ignore_case: bool = False


class EventMatcher:
    """A filter, prepared for matching many blocks."""

    def __init__(self, wanted: Filter) -> None:
        self.wanted = wanted
        self._kinds = wanted.kinds
        if wanted.direction is not None:
            kinds = _KINDS_OF[wanted.direction]
            self._kinds = kinds if wanted.kinds is None else kinds & wanted.kinds
        self._needles = _needles(wanted.text, wanted.ignore_case) if wanted.text else ()
        self._kind_parts = [pack_value(kind) for kind in sorted(self._kinds or ())]
        # A small number is one byte, found in almost every block; that only costs unpacking.
        values = (
            wanted.server_id,
            wanted.method,
            wanted.status,
            wanted.request_id,
            wanted.request_seq,
            wanted.exchange_id,
            wanted.call_id,
            wanted.purpose,
        )
        self._parts = [pack_value(value) for value in values if value is not None]

    def __repr__(self) -> str:
        return f"<EventMatcher {self.wanted}>"

    def bounds(self) -> tuple[str, list[Any]]:
        """Conditions on the columns of a block, as ` AND …`, and their values."""
        wanted = self.wanted
        bounds = (
            ("last_wall >= ?", wanted.since),
            ("first_wall <= ?", wanted.until),
            ("last_seq >= ?", wanted.request_seq),  # what belongs to a request comes after it
        )
        given = [(condition, value) for condition, value in bounds if value is not None]
        return "".join(f" AND {condition}" for condition, _ in given), [value for _, value in given]

    def may_match(self, data: bytes, *, has_bodies: bool = False) -> bool:
        """Whether a block can contain a match, by its bytes: Python searches them faster than
        SQLite does, and most blocks need not be unpacked. The text may be in bodies too."""
        if not all(part in data for part in self._parts):
            return False
        if self._kinds is not None and not any(kind in data for kind in self._kind_parts):
            return False
        return has_bodies or not self._needles or self._is_in(data)

    def matches(self, row: Row) -> bool:
        """Whether the filter matches a row."""
        return self.matches_fields(row) and self.matches_text(row)

    def matches_text(self, row: Row) -> bool:
        """Whether the row has the text of the filter."""
        return not self._needles or self._holds_text(row)

    def matches_fields(self, row: Row) -> bool:
        """Whether all of the filter but its text matches a row."""
        wanted = self.wanted
        return (
            (self._kinds is None or row.kind in self._kinds)
            and (wanted.seqs is None or row.seq in wanted.seqs)
            and (wanted.server_id is None or row.server_id == wanted.server_id)
            and (wanted.method is None or row.method == wanted.method)
            and (wanted.request_id is None or _is_same(row.request_id, wanted.request_id))
            and (wanted.status is None or row.status == wanted.status)
            and (wanted.since is None or row.wall >= wanted.since)
            and (wanted.until is None or row.wall <= wanted.until)
            and (wanted.request_seq is None or _is_of(row, wanted.request_seq))
            and (wanted.exchange_id is None or row.exchange_id == wanted.exchange_id)
            and (wanted.call_id is None or row.call_id == wanted.call_id)
            and (wanted.purpose is None or row.purpose == wanted.purpose)
        )

    def _holds_text(self, row: Row) -> bool:
        if self._is_in(row.payload):
            return True
        return row.detail is not None and self._is_in(pack_value(row.detail))

    def _is_in(self, data: bytes | None) -> bool:
        if not data:
            return False
        if self.wanted.ignore_case:
            data = data.lower()
        return any(needle in data for needle in self._needles)


def _is_same(found: RequestId | None, wanted: RequestId) -> bool:
    """1 and "1" are different ids."""
    return found == wanted and type(found) is type(wanted)


def _is_of(row: Row, request_seq: int) -> bool:
    """Whether a row is this request, or belongs to it."""
    return row.seq >= request_seq and row.of_request == request_seq


def _needles(text: str, ignore_case: bool) -> tuple[bytes, ...]:
    """The text as it can occur in the bytes: as it is, and as JSON escapes it."""
    import json

    forms = [text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]]
    found = [form.encode("utf-8", "surrogatepass") for form in forms]
    # Only ASCII letters ignore case: bytes.lower() changes no others.
    return tuple(dict.fromkeys(form.lower() if ignore_case else form for form in found))
