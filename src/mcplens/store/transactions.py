"""One transaction on the SQLite file, all or nothing; used by whoever writes to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Begin to write now, commit at the end of the block; an exception takes it all back."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite takes it back by itself on a full disk, for one; a second time is an error.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
