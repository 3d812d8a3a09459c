"""Pinned events, with a label: copies that retention does not delete.

Stored beside the runs in the same file; a pin outlives its run. Called by the web UI, on a thread
that may block.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.store.blocks import pack, unpack
from mcplens.store.history import unreadable
from mcplens.store.rows import Row
from mcplens.store.schema import (
    SEQ_MASK,
    Locked,
    Unusable,
    explain,
    open_to_read,
    open_to_write,
    transaction,
)

if TYPE_CHECKING:
    import sqlite3

# More than a person reads; each may hold a large message.
MOST_PINS: Final = 500
LONGEST_LABEL: Final = 200


class PinnedEvent(msgspec.Struct, frozen=True):
    """A copy of an event, and its label."""

    run_id: str
    label: str
    pinned: float
    row: Row


def pins(path: str | os.PathLike[str]) -> list[PinnedEvent]:
    """All pins, newest first.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    return _read(os.fspath(path), "", ())


def find_pin(path: str | os.PathLike[str], run_id: str, seq: int) -> PinnedEvent | None:
    """The pin of one event.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    if seq > SEQ_MASK:  # no event has it, and SQLite cannot hold it
        return None
    found = _read(os.fspath(path), "WHERE run_id = ? AND seq = ?", (run_id, seq))
    return found[0] if found else None


def pin(path: str | os.PathLike[str], run_id: str, row: Row, label: str, wall: float) -> None:
    """Pin an event, or change the label of its pin.

    Raises:
        ConfigurationError: the file cannot be written.
        InspectorError: there are too many pins.
    """

    def insert(connection: sqlite3.Connection) -> None:
        (block,) = pack([row])
        label_now = label.strip()[:LONGEST_LABEL]
        connection.execute(
            "INSERT INTO pins VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (run_id, seq) DO UPDATE SET label = excluded.label",
            (run_id, row.seq, label_now, wall, block.data),
        )
        ((count,),) = connection.execute("SELECT count(*) FROM pins")
        if count > MOST_PINS:
            raise InspectorError(
                "INVALID_REQUEST", f"there are {MOST_PINS} pins already; remove one first"
            )

    _write(os.fspath(path), insert)


def unpin(path: str | os.PathLike[str], run_id: str, seq: int) -> None:
    """Remove a pin, if there is one.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    statement = "DELETE FROM pins WHERE run_id = ? AND seq = ?"
    _write(os.fspath(path), lambda connection: connection.execute(statement, (run_id, seq)))


def _read(path: str, condition: str, values: tuple[str | int, ...]) -> list[PinnedEvent]:
    import sqlite3

    if not os.path.exists(path):
        return []
    try:
        with closing(open_to_read(path)) as connection:
            found = connection.execute(
                f"SELECT run_id, label, pinned, data FROM pins {condition} "
                "ORDER BY pinned DESC, seq DESC",
                values,
            ).fetchall()
    except (Unusable, Locked) as problem:
        raise unreadable(problem) from None
    except sqlite3.Error as problem:
        raise unreadable(explain(problem, path)) from None
    return [
        PinnedEvent(run_id, label, pinned, unpack(data)[0]) for run_id, label, pinned, data in found
    ]


def _write(path: str, work: Callable[[sqlite3.Connection], object]) -> None:
    import sqlite3

    try:
        with closing(open_to_write(path)) as connection, transaction(connection):
            work(connection)
    except (Unusable, Locked) as problem:
        raise unreadable(problem) from None
    except sqlite3.Error as problem:
        raise unreadable(explain(problem, path)) from None
