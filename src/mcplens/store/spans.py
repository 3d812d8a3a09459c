"""A set of numbers that mostly follow one another, held as where they begin and end.

For the rows that a page shows: a few bytes even where they are a hundred thousand. Pure.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence


class Spans:
    """The numbers from each first to each last one, both included.

    Raises:
        ValueError: they are not in pairs, or not in order.
    """

    def __init__(self, bounds: Sequence[int]) -> None:
        if len(bounds) % 2 or any(
            last < first for first, last in zip(bounds[::2], bounds[1::2], strict=True)
        ):
            raise ValueError("each first number needs a last one that is no less")
        if any(last >= then for last, then in zip(bounds[1::2], bounds[2::2], strict=False)):
            raise ValueError("they must be in order")
        try:
            self._firsts = array("q", bounds[::2])
            self._lasts = array("q", bounds[1::2])
        except OverflowError:
            raise ValueError("a number is too large") from None

    def __repr__(self) -> str:
        return f"<Spans, {len(self._firsts)} of them>"

    def __contains__(self, number: int) -> bool:
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number <= self._lasts[at]
