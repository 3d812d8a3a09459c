"""The SQLite file of the recording: tables, migrations, opening, transactions.

Also turns whatever can be wrong with the file into `Unusable` or `Locked`, with a message for the
user. Called by database.py and pins.py to write, by history.py to read, and by retention.py.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import sqlite3

    from mcplens.store.blocks import Block

# "MCPL": distinguishes our file from any other SQLite file.
APPLICATION_ID: Final = 0x4D43504C
# How long a statement waits for another mcplens that writes; its transactions are short.
BUSY_TIMEOUT_S: Final = 2.0
# The WAL is truncated to this size after a huge message.
_WAL_LIMIT_BYTES: Final = 16 * 1024 * 1024
# Switching a new file to WAL needs exclusive access, and SQLite does not wait for that.
_ATTEMPTS: Final = 50

# A place is a position in the whole file: the number of the run above these bits, the seq below.
SEQ_BITS: Final = 40
SEQ_MASK: Final = (1 << SEQ_BITS) - 1

# Fewer and larger pages than SQLite's own 4096: a block of events is some 50 KiB.
_PAGE_BYTES: Final = 16_384

# Events are stored in blocks of a few hundred (blocks.py): a table row for each would cost three
# times the CPU. `place` is that of the first event of a block.
_VERSION_1: Final = (
    """CREATE TABLE runs (
         run_no INTEGER PRIMARY KEY AUTOINCREMENT,
         run_id TEXT NOT NULL UNIQUE,
         started REAL NOT NULL,
         ended REAL,
         title TEXT NOT NULL,
         version TEXT NOT NULL,
         servers TEXT NOT NULL,
         event_count INTEGER NOT NULL,
         size_bytes INTEGER NOT NULL,
         last_seq INTEGER NOT NULL,
         last_wall REAL NOT NULL,
         is_forgotten INTEGER NOT NULL)""",
    """CREATE TABLE blocks (
         place INTEGER PRIMARY KEY,
         last_seq INTEGER NOT NULL,
         first_wall REAL NOT NULL,
         last_wall REAL NOT NULL,
         data BLOB NOT NULL)""",
)

# A pin holds a copy of its event, and so outlives its run.
_VERSION_2: Final = (
    """CREATE TABLE pins (
         run_id TEXT NOT NULL,
         seq INTEGER NOT NULL,
         label TEXT NOT NULL,
         pinned REAL NOT NULL,
         data BLOB NOT NULL,
         PRIMARY KEY (run_id, seq))""",
)

# From here on rows have columns for links, and an older mcplens cannot read them. What it wrote
# before, and what it adds while it still runs, stays as it is: rows with fewer columns.
_VERSION_3: Final = ()

# From here on large bodies may be in files of their own (segments.py); `bodies` says where those of
# a block are. The table of blocks stays as it is: an older mcplens that still runs adds blocks
# without naming their columns. It may delete blocks too, hence the trigger.
_VERSION_4: Final = (
    """CREATE TABLE segments (
         segment_no INTEGER PRIMARY KEY AUTOINCREMENT,
         first_place INTEGER NOT NULL,
         last_place INTEGER NOT NULL,
         size_bytes INTEGER NOT NULL)""",
    """CREATE TABLE bodies (
         place INTEGER PRIMARY KEY,
         body_places BLOB NOT NULL)""",
    """CREATE TRIGGER bodies_of_deleted_block AFTER DELETE ON blocks
         BEGIN DELETE FROM bodies WHERE place = old.place; END""",
)

Migration = tuple[str, ...] | Callable[["sqlite3.Connection"], None]

# What brings a file from each version to the next; PRAGMA user_version counts them.
MIGRATIONS: Final[list[Migration]] = [_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4]


class Unusable(Exception):
    """The file cannot be used; the text says why, and what to do."""


class Locked(Exception):
    """Another program holds the file for longer than a short transaction."""


def open_to_write(path: str) -> sqlite3.Connection:
    """Open the file to write; creates or migrates it if needed.

    Raises:
        Unusable: it cannot be created, read or written.
        Locked: another program holds a lock on it.
    """
    import sqlite3

    try:
        _make_private(path)
        connection = sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as problem:
        raise Unusable(f"{path}: {words(problem)}") from None
    try:
        _prepare(connection, path)
    except sqlite3.Error as problem:
        connection.close()
        raise explain(problem, path) from None
    except BaseException:
        connection.close()
        raise
    return connection


def open_to_read(path: str) -> sqlite3.Connection:
    """Open the file without ever changing it.

    Raises:
        Unusable: it does not exist, or this version cannot read it.
    """
    import sqlite3
    from urllib.parse import quote

    if not os.path.exists(path):
        raise Unusable(f"{path}: nothing has been recorded yet")
    problem: sqlite3.Error | None = None
    # In a folder that we may not write to, a file in WAL mode can only be opened as immutable.
    for mode in ("mode=ro", "immutable=1"):
        uri = f"file:{quote(os.path.abspath(path))}?{mode}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            version = _checked_version(connection, path)
            if version < len(MIGRATIONS):
                connection.close()
                open_to_write(path).close()
                return open_to_read(path)
            return connection
        except sqlite3.Error as error:
            connection.close()
            problem = error
            if isinstance(explain(error, path), Locked):
                break
        except BaseException:
            connection.close()
            raise
    assert problem is not None
    raise explain(problem, path)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: committed at the end of the block, rolled back by an exception."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has rolled back itself in some cases (a full disk); a second time is an error.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def insert_blocks(connection: sqlite3.Connection, run_no: int, blocks: Iterable[Block]) -> None:
    """Add blocks of a run; inside a transaction."""
    placed = [(run_no << SEQ_BITS | block.first_seq, block) for block in blocks]
    connection.executemany(
        "INSERT INTO blocks (place, last_seq, first_wall, last_wall, data) VALUES (?, ?, ?, ?, ?)",
        [
            (place, block.last_seq, block.first_wall, block.last_wall, block.data)
            for place, block in placed
        ],
    )
    bodies = [(place, block.body_places) for place, block in placed if block.body_places]
    if bodies:
        connection.executemany("INSERT INTO bodies VALUES (?, ?)", bodies)


def explain(problem: sqlite3.Error, path: str) -> Unusable | Locked:
    """What an error of SQLite means for the file."""
    import sqlite3

    code = (getattr(problem, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Locked(f"{path}: locked by another program")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Unusable(
            f"{path} is damaged ({problem}); move it and its -bodies- files away to begin a new one"
        )
    return Unusable(f"{path}: {words(problem)}")


def words(problem: Exception) -> str:
    """An error of the system or of SQLite, in the words of a message."""
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror.lower()
    return str(problem)


def _make_private(path: str) -> None:
    """Create folder and file, readable only by the user."""
    folder = os.path.dirname(path)
    if folder:
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
    if not os.path.exists(path):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    version = _checked_version(connection, path)
    if version < len(MIGRATIONS):
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
        # Takes effect only in an empty file; lets it shrink after runs were deleted.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        _patiently(connection, "PRAGMA journal_mode = WAL")
        _migrate(connection, path)
    # After kill -9 nothing is lost of what was committed; after a power cut nothing is corrupt.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
    # Overwrite what is deleted: it may be a secret.
    connection.execute("PRAGMA secure_delete = ON").fetchall()


def _checked_version(connection: sqlite3.Connection, path: str) -> int:
    # In this order: another mcplens may make the tables between two of these statements.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID and (application or tables):
        raise Unusable(f"{path} is a database of another program")
    if version > len(MIGRATIONS):
        raise Unusable(
            f"{path} was written by a newer mcplens (format {version}, this one knows "
            f"{len(MIGRATIONS)}); use that, or another file"
        )
    return int(version)


def _migrate(connection: sqlite3.Connection, path: str) -> None:
    with transaction(connection):
        # Checked again: another mcplens may have migrated it while we waited.
        for migration in MIGRATIONS[_checked_version(connection, path) :]:
            if callable(migration):
                migration(connection)
            else:
                for statement in migration:
                    connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    import sqlite3
    from threading import Event

    for attempt in range(_ATTEMPTS):
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as problem:
            if attempt == _ATTEMPTS - 1 or not isinstance(explain(problem, ""), Locked):
                raise
            Event().wait(0.02)
