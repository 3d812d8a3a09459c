"""Blocks: a few hundred rows packed into one blob of MessagePack.

Bytes and text are packed unchanged, so a block can be searched without unpacking it: what is not in
its bytes is in none of its rows. Large payloads may be left out, as bodies that segments.py writes.
Rows of other versions, with fewer or more columns, are read too. Pure; called by database.py to
write and by history.py to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mcplens.store.rows import NO_LINKS, Row


class Block(NamedTuple):
    """Packed rows; the fields are in the order of the table's columns."""

    first_seq: int
    last_seq: int
    first_wall: float
    last_wall: float
    data: bytes
    row_count: int
    # Large payloads that are not in `data`, each with the index of its row.
    bodies: tuple[tuple[int, bytes], ...] = ()
    # Where they were written (segments.py).
    body_places: bytes | None = None

    @property
    def size_bytes(self) -> int:
        return len(self.data) + sum(len(payload) for _, payload in self.bodies)


_BLOCK_ROWS: Final = 256
_BLOCK_BYTES: Final = 64 * 1024
# A payload of this size or more is kept apart, so that reading its neighbours stays cheap: in its
# own block, or outside of blocks.
LARGE_BYTES: Final = 32 * 1024

# Columns that link to other events, and their types.
_LINKS: Final = (
    ("exchange_id", int | None),
    ("request_seq", int | None),
    ("caused_by_seq", int | None),
    ("is_inferred", bool),
    ("call_id", str | None),
    ("purpose", str | None),
)

_SURROGATES: Final = 1
_INTEGER: Final = 2
_MSGPACK_INTEGERS: Final = range(-(1 << 63), 1 << 64)
# What msgspec raises for values that it cannot pack.
_UNPACKABLE: Final = (TypeError, ValueError, RecursionError, OverflowError)
# Deeper values are cut; only a malicious server sends them.
_MAX_DEPTH: Final = 100


def pack(rows: Sequence[Row], *, has_bodies: bool = False) -> Iterator[Block]:
    """The rows as blocks, in their order; with `has_bodies`, large payloads as bodies."""
    weights = [len(row.payload) for row in rows if row.payload is not None]
    if 0 < len(rows) <= _BLOCK_ROWS and sum(weights) <= _BLOCK_BYTES:
        yield _block(rows)  # the common case, without counting further
        return
    bodies: list[tuple[int, bytes]] = []
    if has_bodies:
        rows, bodies = _without_large(rows)
    start, size = 0, 0
    for at, row in enumerate(rows):
        payload = row.payload
        weight = 0 if payload is None else len(payload)
        is_large = weight >= LARGE_BYTES
        if at > start and (is_large or at - start >= _BLOCK_ROWS or size > _BLOCK_BYTES):
            yield _block(rows[start:at], _within(bodies, start, at))
            start, size = at, 0
        # A large payload also closes its own block.
        size += _BLOCK_BYTES + 1 if is_large else weight
    if start < len(rows):
        yield _block(rows[start:], _within(bodies, start, len(rows)))


def rows_of(block: Block) -> list[Row]:
    """The rows of a block with all their payloads, before it is written."""
    rows = unpack(block.data)
    for at, payload in block.bodies:
        rows[at] = msgspec.structs.replace(rows[at], payload=payload)
    return rows


def unpack(data: bytes) -> list[Row]:
    """The rows of a block."""
    try:
        return _decode(data)
    except msgspec.ValidationError:  # an extension value, or a row of another version
        return [_row(values) for values in _decode_any(data)]


def pack_value(value: Any) -> bytes:
    """One value of a row as it is packed in a block."""
    try:
        return _encode(value)
    except _UNPACKABLE:
        return _encode(_plain(value))


def _without_large(rows: Sequence[Row]) -> tuple[list[Row], list[tuple[int, bytes]]]:
    """The rows without their large payloads, and these."""
    kept, bodies = list(rows), []
    for at, row in enumerate(rows):
        payload = row.payload
        if payload is not None and len(payload) >= LARGE_BYTES:
            bodies.append((at, payload))
            kept[at] = msgspec.structs.replace(row, payload=None)
    return kept, bodies


def _within(bodies: list[tuple[int, bytes]], start: int, end: int) -> tuple[tuple[int, bytes], ...]:
    """The bodies of these rows, which become the first of their block."""
    return tuple((at - start, payload) for at, payload in bodies if start <= at < end)


def _block(rows: Sequence[Row], bodies: tuple[tuple[int, bytes], ...] = ()) -> Block:
    first, last = rows[0], rows[-1]
    try:
        data = _encode(rows)
    except _UNPACKABLE:
        data = _encode([_packable(row) for row in rows])
    low, high = sorted((first.wall, last.wall))
    return Block(first.seq, last.seq, low, high, data, len(rows), bodies)


def _packable(row: Row) -> Row | list[Any]:
    try:
        _encode(row)
    except _UNPACKABLE:
        return [_plain(value, 1) for value in msgspec.structs.astuple(row)]
    return row


def _row(values: list[Any]) -> Row:
    """The row of these columns; an invalid link is dropped."""
    row = Row(*values[: len(Row.__struct_fields__)])
    wrong = {
        name: NO_LINKS[name] for name, kind in _LINKS if not isinstance(getattr(row, name), kind)
    }
    return msgspec.structs.replace(row, **wrong) if wrong else row


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with everything that MessagePack cannot represent as an extension value."""
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return msgspec.msgpack.Ext(_SURROGATES, value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, int) and value not in _MSGPACK_INTEGERS:
        return msgspec.msgpack.Ext(_INTEGER, b"%d" % value)
    elif isinstance(value, dict):
        return {
            str(key).encode("utf-8", "backslashreplace").decode(): _plain(item, depth + 1)
            for key, item in value.items()
        }
    elif isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    return value


def _restore(code: int, data: memoryview) -> Any:
    if code == _SURROGATES:
        return bytes(data).decode("utf-8", "surrogatepass")
    if code == _INTEGER:
        return int(bytes(data))
    return msgspec.msgpack.Ext(code, bytes(data))


_encode = msgspec.msgpack.Encoder(enc_hook=str).encode
_decode = msgspec.msgpack.Decoder(list[Row], ext_hook=_restore).decode
_decode_any = msgspec.msgpack.Decoder(list[list[Any]], ext_hook=_restore).decode
