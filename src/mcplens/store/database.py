"""Writes the rows of one run to the SQLite file, in short transactions of many events.

Owns a connection, and is used by one thread only: that of the recorder, or of an import. schema.py
owns the file itself, retention.py what is kept for how long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from mcplens.store.blocks import LARGE_BYTES, Block, pack, rows_of
from mcplens.store.lenient_json import from_json, to_json
from mcplens.store.retention import Retention, Sweeper
from mcplens.store.rows import Row
from mcplens.store.schema import (
    Locked,
    Unusable,
    explain,
    insert_blocks,
    open_to_write,
    transaction,
)
from mcplens.store.segments import SegmentWriter, segment_bytes

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

# Large payloads of a run that are kept in the file itself: most runs have no more, and so need no
# other file.
_OWN_LARGE_BYTES: Final = 4 * 1024 * 1024
# Short: SQLite itself has waited already, in most cases.
_RETRY_S: Final = 0.05


class Run(msgspec.Struct, frozen=True):
    """A run, without its events."""

    run_id: str
    started: float
    title: str = ""
    version: str = ""


class Database:
    """Writes the rows of one run."""

    def __init__(
        self,
        path: str,
        run: Run,
        *,
        retention: Retention | None = None,
        is_patient: Callable[[], bool] = lambda: False,
    ) -> None:
        self.path = path
        self._run = run
        self._retention = retention
        self._is_patient = is_patient
        self._connection: sqlite3.Connection | None = None
        self._sweeper: Sweeper | None = None
        self._run_no = 0
        self._blocks: list[Block] = []
        self._servers: set[str] = set()
        self._large_bytes = 0
        max_bytes = None if retention is None else retention.max_bytes
        self._segments = SegmentWriter(path, segment_bytes(max_bytes))

    def __repr__(self) -> str:
        state = f"run {self._run_no}" if self._connection is not None else "closed"
        return f"<Database {self.path} {state}>"

    def open(self) -> None:
        """Open the file.

        Raises:
            Unusable, Locked: see schema.py.
        """
        self._connection = self._persist(lambda: open_to_write(self.path))
        if self._retention is not None:
            self._sweeper = Sweeper(self._connection, self.path, self._retention)

    def turn_to(self, run: Run) -> None:
        """Continue with the rows of another run; those of the former one must be committed."""
        self._run, self._run_no, self._servers = run, 0, set()
        self._large_bytes = 0
        self._segments.close()

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows, in the order of their seq; they are written by the next commit."""
        self._blocks.extend(pack(rows, has_bodies=self._large_bytes > _OWN_LARGE_BYTES))
        sizes = [len(row.payload) for row in rows if row.payload is not None]
        if sum(sizes) >= LARGE_BYTES:
            self._large_bytes += sum([size for size in sizes if size >= LARGE_BYTES])
        self._servers.update([row.server_id for row in rows])

    def commit(self, ended: float | None = None) -> int:
        """Write the added rows; returns how many were new. `ended` ends the run."""
        if not self._blocks and not self._run_no:
            return 0  # a run without events is not recorded
        run_no = self._run_no
        try:
            added = self._persist(lambda: self._write(ended))
        except BaseException:
            self._run_no = run_no
            raise
        self._blocks.clear()
        self._segments.commit()
        return added

    def sweep(self, wall: float) -> bool:
        """Delete a little of what is beyond the retention limits; returns whether there is more."""
        sweeper = self._sweeper
        if sweeper is None or not sweeper.is_due:
            return False
        try:
            self._transact(lambda: sweeper.step(wall, self._run_no))
            self._guard(sweeper.give_back)
        except Locked:  # the next sweep tries again
            return False
        return sweeper.is_due

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._segments.close()

    def _persist(self, work: Callable[[], T]) -> T:
        """Retry while another program holds the file, for as long as `is_patient` allows."""
        while True:
            try:
                return work()
            except Locked:
                if not self._is_patient():
                    raise
                threading.Event().wait(_RETRY_S)

    def _transact(self, work: Callable[[], T]) -> T:
        def inside() -> T:
            with transaction(self._opened):
                return work()

        return self._guard(inside)

    def _guard(self, work: Callable[[], T]) -> T:
        import sqlite3

        try:
            return work()
        except sqlite3.Error as problem:
            raise explain(problem, self.path) from None

    @property
    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise Unusable(f"{self.path} is closed")
        return self._connection

    def _write(self, ended: float | None) -> int:
        try:
            return self._transact(lambda: self._insert(ended))
        except BaseException:
            self._segments.roll_back()
            raise

    def _insert(self, ended: float | None) -> int:
        connection = self._opened
        last_seq = self._enter_run()
        blocks = self._blocks
        if blocks and blocks[0].first_seq <= last_seq:
            # Recorded already: imported twice, or by another recorder of the same bus.
            rows = [row for block in blocks for row in rows_of(block) if row.seq > last_seq]
            blocks = list(pack(rows, has_bodies=any(block.bodies for block in blocks)))
        insert_blocks(
            connection, self._run_no, self._segments.write(connection, self._run_no, blocks)
        )
        count = sum(block.row_count for block in blocks)
        size = sum(block.size_bytes for block in blocks)
        connection.execute(
            "UPDATE runs SET event_count = event_count + ?, size_bytes = size_bytes + ?, "
            "last_seq = ?, last_wall = max(last_wall, ?), ended = coalesce(?, ended), "
            "servers = ?, is_forgotten = 0 WHERE run_no = ?",
            (
                count,
                size,
                blocks[-1].last_seq if blocks else last_seq,
                blocks[-1].last_wall if blocks else 0.0,
                ended,
                to_json(sorted(filter(None, self._servers))).decode(),
                self._run_no,
            ),
        )
        if self._sweeper is not None:
            self._sweeper.wrote(size)
        return count

    def _enter_run(self) -> int:
        """Add the run if it is new; returns the seq of its last recorded event."""
        connection, run = self._opened, self._run
        while True:
            found = connection.execute(
                "SELECT run_no, last_seq, servers FROM runs WHERE run_id = ?", (run.run_id,)
            ).fetchone()
            if found is not None:
                self._run_no, last_seq, servers = found
                self._servers.update(from_json(servers.encode()))
                return int(last_seq)
            # A run that another mcplens took for dead and deleted keeps its number.
            connection.execute(
                "INSERT INTO runs VALUES (?, ?, ?, NULL, ?, ?, '[]', 0, 0, 0, ?, 0)",
                (
                    self._run_no or None,
                    run.run_id,
                    run.started,
                    run.title,
                    run.version,
                    run.started,
                ),
            )
