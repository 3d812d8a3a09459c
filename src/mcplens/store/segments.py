"""Segments: files beside the recording that hold large bodies, so that each byte is written once.

SQLite would write it to its log, read it from there and write it again. The table `segments` says
which files there are, the table `bodies` where the bodies of a block's rows are. A segment belongs
to one run, and is removed when no block needs it. Segments are written and removed only
inside a write transaction of the recording, so never by two at a time. Called by database.py,
retention.py, run_deletion.py and history.py.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from mcplens.store.blocks import Block
from mcplens.store.schema import SEQ_BITS, Unusable, words

if TYPE_CHECKING:
    import sqlite3

# A recording within its limits has about so many of them: each is removed as a whole.
_SEGMENTS: Final = 64
_MOST_BYTES: Final = 16 * 1024 * 1024
_LEAST_BYTES: Final = 256 * 1024
# Bodies are written together up to this size, which costs the system a tenth less than one by one.
# Several MB at a time cost it more again: it looks for pages that are as large.
_WRITE_BYTES: Final = 256 * 1024
# Files that a reader keeps open: rows that are read one after the other are in one or two.
_OPEN_FILES: Final = 4


# In the detail of a row whose body cannot be read any more: how many bytes it had.
LOST_BYTES: Final = "lost_bytes"


class BodyPlace(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where the payload of a row is; `row` is the index of the row in its block."""

    row: int
    segment_no: int
    offset: int
    size_bytes: int


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[BodyPlace]).decode


def unpack_places(data: bytes | None) -> list[BodyPlace]:
    """The bodies of a block, in the order of its rows."""
    return [] if data is None else _decode(data)


def lost_body(detail: dict[str, Any]) -> str:
    """What is said in place of a body that cannot be read any more; empty for any other."""
    return f"{detail[LOST_BYTES]:,} bytes are not recorded" if LOST_BYTES in detail else ""


def segment_bytes(max_bytes: int | None) -> int:
    """The size of a segment, in a recording with this limit."""
    if max_bytes is None:
        return _MOST_BYTES
    return min(max(max_bytes // _SEGMENTS, _LEAST_BYTES), _MOST_BYTES)


def segment_path(path: str, segment_no: int) -> str:
    return f"{path}-bodies-{segment_no}"


class SegmentWriter:
    """Writes the bodies of one run."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._file: BinaryIO | None = None
        self._segment_no = 0
        self._end = 0
        self._last_place = 0
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        # The body that this transaction wrote last. An HTTP answer and the message in it are one.
        self._last: tuple[bytes, BodyPlace] | None = None
        self._full: list[BinaryIO] = []
        self._begun: list[BinaryIO] = []  # by this transaction
        self._is_written = False  # by this transaction

    def __repr__(self) -> str:
        return f"<SegmentWriter {segment_path(self._path, self._segment_no)} at {self._end}>"

    def write(
        self, connection: sqlite3.Connection, run_no: int, blocks: Sequence[Block]
    ) -> list[Block]:
        """Write the bodies of these blocks, inside a transaction; the blocks then say where.

        Raises:
            Unusable: the disk is full, or the file cannot be written.
        """
        if not any(block.bodies for block in blocks):
            return list(blocks)
        self._check(connection)
        self._is_written = True
        try:
            placed = [self._place(connection, run_no, block) for block in blocks]
            self._note(connection)
        except OSError as problem:
            path = segment_path(self._path, self._segment_no)
            raise Unusable(f"{path}: {words(problem)}") from None
        return placed

    def commit(self) -> None:
        """The transaction is committed."""
        self._begun, self._is_written, self._last = [], False, None
        full, self._full = self._full, []
        for file in full:
            _finish(file)

    def roll_back(self) -> None:
        """The transaction failed: what it wrote is given up, and the next begins a segment."""
        if self._is_written:
            for file in self._begun:  # nothing refers to it, and its number will be used again
                with contextlib.suppress(OSError):
                    file.truncate(0)
            self._leave()
            self._begun, self._waiting, self._waiting_bytes = [], [], 0
            self._is_written = False

    def close(self) -> None:
        """End the segment; the next body begins a new one."""
        self._leave()
        self.commit()

    def _check(self, connection: sqlite3.Connection) -> None:
        """Leave a segment that another mcplens removed with the run so far."""
        found = connection.execute(
            "SELECT 1 FROM segments WHERE segment_no = ?", (self._segment_no,)
        ).fetchone()
        if found is None:
            self._leave()

    def _place(self, connection: sqlite3.Connection, run_no: int, block: Block) -> Block:
        """Choose the places of a block's bodies; they are written together with others."""
        if not block.bodies:
            return block
        place = run_no << SEQ_BITS | block.first_seq
        places = []
        for row, payload in block.bodies:
            if self._last is not None and self._last[0] is payload:
                places.append(msgspec.structs.replace(self._last[1], row=row))
                self._last_place = place
                continue
            if self._file is None or (self._end and self._end + len(payload) > self._max_bytes):
                self._begin(connection, place)
            places.append(BodyPlace(row, self._segment_no, self._end, len(payload)))
            self._end += len(payload)
            self._last_place = place
            self._waiting.append(payload)
            self._waiting_bytes += len(payload)
            self._last = payload, places[-1]
            if self._waiting_bytes >= _WRITE_BYTES:
                self._flush()
        return block._replace(body_places=_encode(places))

    def _flush(self) -> None:
        """Write the bodies that wait."""
        waiting, self._waiting, self._waiting_bytes = self._waiting, [], 0
        if self._file is not None and waiting:
            _write_all(self._file, waiting)

    def _note(self, connection: sqlite3.Connection) -> None:
        """Write what waits, and the size of the segment."""
        self._flush()
        connection.execute(
            "UPDATE segments SET last_place = ?, size_bytes = ? WHERE segment_no = ?",
            (self._last_place, self._end, self._segment_no),
        )

    def _begin(self, connection: sqlite3.Connection, place: int) -> None:
        """Begin a segment with the body of a block at this place."""
        if self._file is not None:
            self._note(connection)
        self._leave()
        cursor = connection.execute(
            "INSERT INTO segments (first_place, last_place, size_bytes) VALUES (?, ?, 0)",
            (place, place),
        )
        assert cursor.lastrowid is not None
        self._segment_no = cursor.lastrowid
        path = segment_path(self._path, self._segment_no)
        # One that was left by a killed process: a reader may still have it open.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        self._file = _create(path)
        self._begun.append(self._file)

    def _leave(self) -> None:
        if self._file is not None:
            self._full.append(self._file)
        self._file, self._segment_no, self._end, self._last = None, 0, 0, None


class SegmentReader:
    """Reads bodies of one recording."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._files: dict[int, BinaryIO] = {}

    def __repr__(self) -> str:
        return f"<SegmentReader {self._path}, {len(self._files)} files open>"

    def read(self, place: BodyPlace) -> bytes | None:
        """A body; None if it is not there, or not whole: removed, or lost with the power."""
        try:
            file = self._files.get(place.segment_no) or self._open(place.segment_no)
            file.seek(place.offset)
            payload = file.read(place.size_bytes)
        except OSError:
            return None
        return payload if len(payload) == place.size_bytes else None

    def close(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def _open(self, segment_no: int) -> BinaryIO:
        while len(self._files) >= _OPEN_FILES:
            self._files.pop(next(iter(self._files))).close()
        file = self._files[segment_no] = _open(segment_path(self._path, segment_no))
        return file


def total_bytes(connection: sqlite3.Connection) -> int:
    """The size of all segments."""
    ((size,),) = connection.execute("SELECT coalesce(sum(size_bytes), 0) FROM segments")
    return int(size)


def unused_segments(connection: sqlite3.Connection) -> list[int]:
    """Segments that no block needs any more."""
    found = connection.execute(
        "SELECT segment_no FROM segments WHERE NOT EXISTS "
        "(SELECT 1 FROM bodies WHERE place BETWEEN first_place AND last_place)"
    )
    return [segment_no for (segment_no,) in found]


def remove_unused(connection: sqlite3.Connection, path: str) -> None:
    """Remove segments that no block needs, inside a transaction of its own: the deletion of the
    blocks must be committed."""
    for segment_no in unused_segments(connection):
        with contextlib.suppress(OSError):  # where an open file cannot be removed: another time
            with contextlib.suppress(FileNotFoundError):
                os.unlink(segment_path(path, segment_no))
            connection.execute("DELETE FROM segments WHERE segment_no = ?", (segment_no,))


def _create(path: str) -> BinaryIO:
    """A new file that only its owner can read."""
    return open(path, "xb", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600))


def _open(path: str) -> BinaryIO:
    return open(path, "rb", buffering=0)


def _write_all(file: BinaryIO, payloads: list[bytes]) -> None:
    written = os.writev(file.fileno(), payloads) if hasattr(os, "writev") else 0
    if written < sum(map(len, payloads)):  # a disk that is nearly full, or Windows
        rest = memoryview(b"".join(payloads))[written:]
        while rest:
            rest = rest[file.write(rest) :]


def _finish(file: BinaryIO) -> None:
    """Close a segment that is not written to any more; once it is on the disk, as SQLite's own file
    is after a checkpoint."""
    try:
        os.fsync(file.fileno())
    finally:
        file.close()
