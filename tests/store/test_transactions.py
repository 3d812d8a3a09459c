"""What is written in one transaction is all there, or nothing of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from mcplens.store.schema import transaction


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as opened:
        opened.execute("CREATE TABLE numbers (number UNIQUE ON CONFLICT ROLLBACK)")
        yield opened


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT number FROM numbers")]


def add(connection: sqlite3.Connection, *added: int) -> None:
    """Add them one by one, in one transaction; 0 is the user's Ctrl-C."""
    with transaction(connection):
        for number in added:
            if not number:
                raise KeyboardInterrupt
            connection.execute("INSERT INTO numbers VALUES (?)", (number,))


def test_a_block_that_ends_is_written(connection: sqlite3.Connection) -> None:
    add(connection, 1, 2)
    assert numbers(connection) == [1, 2]
    assert not connection.in_transaction


def test_a_block_that_fails_leaves_nothing(connection: sqlite3.Connection) -> None:
    with pytest.raises(KeyboardInterrupt):
        add(connection, 1, 0)
    assert numbers(connection) == []
    assert not connection.in_transaction


def test_the_error_is_kept_where_sqlite_took_it_back_itself(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        add(connection, 1, 1)
    assert numbers(connection) == []
