"""What leaves the recording is masked once more, by what is called secret now.

A key may have become secret after it was recorded. Called by transfer.py and har.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcplens.store.filters import Filter
from mcplens.store.history import History
from mcplens.store.masks import KeyMasker, KeysOf
from mcplens.store.rows import Row, mask_row


def scan_masked(
    history: History, wanted: Filter | None, keys_of: KeysOf | None
) -> Iterator[tuple[str, Row]]:
    """The events that are wanted, with the values of these keys masked."""
    maskers: dict[tuple[str, str], KeyMasker | None] = {}
    for run_id, row in history.scan(wanted):
        place = (run_id, row.server_id)
        if place not in maskers:
            keys = tuple(keys_of(row.server_id)) if keys_of is not None else ()
            maskers[place] = KeyMasker(keys) if keys else None
        masker = maskers[place]
        yield run_id, row if masker is None else mask_row(row, masker)
