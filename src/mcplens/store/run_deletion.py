"""Deletes one run from the recording, on request of a person.

Works in small steps, so that a recorder never waits for long. Pins are copies, and stay. Called by
the web UI, on a thread that may block.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

from mcplens.errors import InspectorError
from mcplens.store.history import unreadable
from mcplens.store.retention import STEP_BLOCKS, record_gap
from mcplens.store.schema import (
    SEQ_BITS,
    SEQ_MASK,
    Locked,
    Unusable,
    explain,
    open_to_write,
    transaction,
)
from mcplens.store.segments import remove_unused

if TYPE_CHECKING:
    import sqlite3


def delete_run(path: str | os.PathLike[str], run_id: str, *, goes_on: bool = False) -> None:
    """Delete a run; of a running one (`goes_on`), all events so far.

    Raises:
        ConfigurationError: the file cannot be written.
        InspectorError: there is no such run.
    """
    import sqlite3

    try:
        with closing(open_to_write(os.fspath(path))) as connection:
            _delete(connection, run_id, goes_on)
            with transaction(connection):
                remove_unused(connection, os.fspath(path))
            # Deleted content stays in the write-ahead log until it is truncated.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except (Unusable, Locked) as problem:
        raise unreadable(problem) from None
    except sqlite3.Error as problem:
        raise unreadable(explain(problem, os.fspath(path))) from None


def _delete(connection: sqlite3.Connection, run_id: str, goes_on: bool) -> None:
    found = connection.execute("SELECT run_no FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if found is None:
        raise InspectorError("INVALID_REQUEST", f"the run {run_id} is not recorded")
    (run_no,) = found
    if not goes_on:
        connection.execute("UPDATE runs SET is_forgotten = 1 WHERE run_no = ?", found)
    newest = connection.execute(
        "SELECT place, last_seq, last_wall FROM blocks WHERE place BETWEEN ? AND ? "
        "ORDER BY place DESC LIMIT 1",
        (run_no << SEQ_BITS, run_no << SEQ_BITS | SEQ_MASK),
    ).fetchone()
    if newest is not None:
        place, last_seq, last_wall = newest
        while _deleted_some(connection, run_no, place):
            pass
        if goes_on:
            record_gap(connection, run_no, last_seq, last_wall)
    if goes_on:
        statement = "UPDATE runs SET event_count = 0, size_bytes = 0 WHERE run_no = ?"
    else:
        statement = "DELETE FROM runs WHERE run_no = ? AND is_forgotten"
    connection.execute(statement, found)


def _deleted_some(connection: sqlite3.Connection, run_no: int, last: int) -> bool:
    """Delete some blocks, in one transaction; returns whether there may be more."""
    cursor = connection.execute(
        "DELETE FROM blocks WHERE place IN "
        "(SELECT place FROM blocks WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?)",
        (run_no << SEQ_BITS, last, STEP_BLOCKS),
    )
    return cursor.rowcount == STEP_BLOCKS
