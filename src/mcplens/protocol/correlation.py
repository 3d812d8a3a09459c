"""Correlates answers with requests. Ids are never reused, and late answers are recognised.

Owned by one connection for its whole life, across reconnects. Called by the session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from mcplens.protocol.frames import RequestId

T = TypeVar("T")

# Abandoned requests that may still be answered; older ones count as unknown.
LATE_LIMIT: Final = 1_000
LATE_MAX_BYTES: Final = 16 * 1024 * 1024


class Correlation(Generic[T]):
    """Requests that wait for an answer, by id; `size_of` is what a request keeps in memory."""

    def __init__(self, size_of: Callable[[T], int] = lambda _: 0) -> None:
        self._size_of = size_of
        self._late_bytes = 0
        self._last_id = 0
        self._taken: set[int] = set()  # ids above the counter that raw frames used
        self._late: dict[RequestId, T] = {}
        self.waiting: dict[RequestId, T] = {}

    def __repr__(self) -> str:
        return f"<Correlation {len(self.waiting)} waiting, {len(self._late)} given up>"

    def next_id(self) -> int:
        """An id that no request of this connection has used."""
        self._last_id += 1
        if self._taken:
            while self._last_id in self._taken:
                self._taken.discard(self._last_id)
                self._last_id += 1
        return self._last_id

    def reserve(self, identity: RequestId) -> None:
        """Reserve an id that a raw frame used."""
        if isinstance(identity, int) and identity > self._last_id:
            self._taken.add(identity)

    def open(self, identity: RequestId, request: T) -> None:
        self.waiting[identity] = request

    def close(self, identity: RequestId) -> T | None:
        """The request that this id answers; it is no longer pending."""
        return self.waiting.pop(identity, None)

    def give_up(self, identity: RequestId) -> T | None:
        """Stop waiting, but recognise a late answer."""
        request = self.waiting.pop(identity, None)
        if request is not None:
            self._late[identity] = request
            self._late_bytes += self._size_of(request)
            while len(self._late) > LATE_LIMIT or (
                self._late_bytes > LATE_MAX_BYTES and len(self._late) > 1
            ):
                self.late(next(iter(self._late)))
        return request

    def late(self, identity: RequestId) -> T | None:
        """The abandoned request with this id, once."""
        request = self._late.pop(identity, None)
        if request is not None:
            self._late_bytes -= self._size_of(request)
        return request

    def given_up(self, identity: RequestId) -> T | None:
        """The request that was given up under this id and is still remembered."""
        return self._late.get(identity)

    def near_miss(self, identity: RequestId) -> RequestId | None:
        """The pending id that this one was probably meant to be: 7 for "7", or "7" for 7."""
        other: RequestId | None = None
        if isinstance(identity, int):
            other = str(identity)
        elif identity.removeprefix("-").isdecimal() and len(identity) < 40:
            other = int(identity)
        return other if other in self.waiting else None
