"""Sets of numbers as spans."""

from __future__ import annotations

import pytest

from mcplens.store.filters import SeqRanges


def test_a_number_is_in_the_span_that_it_lies_in() -> None:
    spans = SeqRanges([2, 4, 7, 7, 9, 12])
    assert [number for number in range(15) if number in spans] == [2, 3, 4, 7, 9, 10, 11, 12]
    assert 1 not in SeqRanges([])


@pytest.mark.parametrize("bounds", [[1], [3, 2], [1, 5, 5, 6], [4, 5, 1, 2], [1, 2**64]])
def test_what_is_not_in_pairs_or_not_in_order_is_refused(bounds: list[int]) -> None:
    with pytest.raises(ValueError, match=r"must|needs|large"):
        SeqRanges(bounds)
