"""Retention: deletes runs that are too old, then the oldest while the file is too large.

A run is first marked, which hides it, then deleted in small steps, so that neither another mcplens
nor a command that ends has to wait. Called by database.py between two commits, in its own
transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from mcplens.events import EventsMissed
from mcplens.store.blocks import pack
from mcplens.store.row_encoding import RowEncoder
from mcplens.store.schema import SEQ_BITS, SEQ_MASK, insert_blocks
from mcplens.store.segments import remove_unused, total_bytes, unpack_places

if TYPE_CHECKING:
    import sqlite3

DEFAULT_MAX_AGE_S: Final = 30 * 86_400.0
DEFAULT_MAX_BYTES: Final = 1024 * 1024 * 1024

# A step of this many blocks takes a few milliseconds.
STEP_BLOCKS: Final = 32
# Limits are checked again after so much was written.
_LOOK_AGAIN_BYTES: Final = 16 * 1024 * 1024
# A run without an end whose last event is this old was killed.
_DEAD_AFTER_S: Final = 86_400.0
# Free pages kept for later writes, and how many are returned to the disk in one step.
_SPARE_PAGES: Final = 4_096
_PAGES_PER_STEP: Final = 256


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long and how much is kept; None means no limit."""

    max_age_s: float | None = DEFAULT_MAX_AGE_S
    max_bytes: int | None = DEFAULT_MAX_BYTES


class Sweeper:
    """Brings a file within its limits, step by step."""

    def __init__(self, connection: sqlite3.Connection, path: str, retention: Retention) -> None:
        self._connection = connection
        self._path = path
        self._retention = retention
        self._has_more = True
        self._written_bytes = 0

    def __repr__(self) -> str:
        return f"<Sweeper {self._retention} {'at work' if self._has_more else 'done'}>"

    @property
    def is_due(self) -> bool:
        return self._has_more or self._written_bytes > _LOOK_AGAIN_BYTES

    def wrote(self, size_bytes: int) -> None:
        """Count bytes that were added to the file."""
        self._written_bytes += size_bytes

    def step(self, wall: float, own_run_no: int) -> None:
        """Delete a little; inside a transaction."""
        self._written_bytes = 0
        remove_unused(self._connection, self._path)  # of earlier steps
        run_no = self._forgotten(wall, own_run_no)
        if run_no is None and self._excess_bytes():
            # Nothing else is left to delete: our own run loses its beginning.
            run_no = own_run_no or None
        self._has_more = run_no is not None and self._take_from(run_no, is_own=run_no == own_run_no)

    def give_back(self) -> None:
        """Return free pages to the disk; outside a transaction."""
        if self._number("PRAGMA freelist_count") > _SPARE_PAGES:
            # As a script: `execute` ends this statement after its first page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_PER_STEP})")
            self._has_more = True

    def _forgotten(self, wall: float, own_run_no: int) -> int | None:
        """A run to delete, marked now or before."""
        found = self._connection.execute(
            "SELECT run_no FROM runs WHERE is_forgotten ORDER BY run_no LIMIT 1"
        ).fetchone()
        if found is None and self._retention.max_age_s is not None:
            found = self._mark("last_wall < ?", (wall - self._retention.max_age_s,), own_run_no)
        if found is None and self._excess_bytes():
            is_over = "(ended IS NOT NULL OR last_wall < ?)"
            found = self._mark(is_over, (wall - _DEAD_AFTER_S,), own_run_no)
        return None if found is None else int(found[0])

    def _mark(
        self, condition: str, values: tuple[float, ...], own_run_no: int
    ) -> tuple[int] | None:
        """Mark the oldest run that meets a condition."""
        found: tuple[int] | None = self._connection.execute(
            f"SELECT run_no FROM runs WHERE {condition} AND run_no <> ? ORDER BY last_wall LIMIT 1",
            (*values, own_run_no),
        ).fetchone()
        if found is not None:
            self._connection.execute("UPDATE runs SET is_forgotten = 1 WHERE run_no = ?", found)
        return found

    def _take_from(self, run_no: int, *, is_own: bool) -> bool:
        """Delete the first events of a run; returns whether there may be more."""
        connection = self._connection
        first, last = run_no << SEQ_BITS, run_no << SEQ_BITS | SEQ_MASK
        found = connection.execute(
            "SELECT place, last_seq, last_wall, length(data), body_places FROM blocks "
            "LEFT JOIN bodies USING (place) WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?",
            (first, last, STEP_BLOCKS),
        ).fetchall()
        if is_own:
            found = _enough(found, self._excess_bytes())
        if found:
            place, last_seq, last_wall, *_ = found[-1]
            connection.execute("DELETE FROM blocks WHERE place BETWEEN ? AND ?", (first, place))
            if is_own:
                record_gap(connection, run_no, last_seq, last_wall)
        if is_own:
            return len(found) > 1 and self._excess_bytes() > 0
        if len(found) < STEP_BLOCKS:
            connection.execute("DELETE FROM runs WHERE run_no = ?", (run_no,))
        return True

    def _excess_bytes(self) -> int:
        """How many bytes the file and its segments are over their limit."""
        limit = self._retention.max_bytes
        if limit is None:
            return 0
        pages = self._number("PRAGMA page_count") - self._number("PRAGMA freelist_count")
        size_bytes = pages * self._number("PRAGMA page_size") + total_bytes(self._connection)
        return max(size_bytes - limit, 0)

    def _number(self, statement: str) -> int:
        (value,) = self._connection.execute(statement).fetchone()
        return int(value)


def record_gap(connection: sqlite3.Connection, run_no: int, seq: int, wall: float) -> None:
    """Record a gap in place of the events deleted from a running run."""
    missed = EventsMissed(seq=seq, wall=wall, first_seq=1, last_seq=seq)
    insert_blocks(connection, run_no, pack(RowEncoder().encode([missed])))


_FoundBlock = tuple[int, int, float, int, bytes | None]


def _enough(blocks: list[_FoundBlock], excess: int) -> list[_FoundBlock]:
    """The first blocks, as many as cover the excess."""
    for count, (_, _, _, size_bytes, bodies) in enumerate(blocks, start=1):
        excess -= size_bytes + sum(body.size_bytes for body in unpack_places(bodies))
        if excess <= 0:
            return blocks[:count]
    return blocks
