"""Some hundred events as one blob, in MessagePack: bytes stay bytes, text stays text.

So a block can be searched without being unpacked: what is not in its bytes is in none of its
rows. Pure; called by database.py to write and by history.py to read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from mcplens.store.rows import Row


class Block(NamedTuple):
    """Rows that lie together, in the order of the table's columns."""

    first_seq: int
    last_seq: int
    first_wall: float
    last_wall: float
    data: bytes
    row_count: int


_BLOCK_ROWS: Final = 256
_BLOCK_BYTES: Final = 64 * 1024
# A payload from here on has a block of its own, so that who reads its neighbours need not read it.
_LARGE_BYTES: Final = 32 * 1024

_SURROGATES: Final = 1
_INTEGER: Final = 2
_MSGPACK_INTEGERS: Final = range(-(1 << 63), 1 << 64)
# What msgspec raises for values that it cannot pack.
_UNPACKABLE: Final = (TypeError, ValueError, RecursionError, OverflowError)
# Deeper values are cut; no server that is not out to break us sends any.
_MAX_DEPTH: Final = 100


def pack(rows: Sequence[Row]) -> Iterator[Block]:
    """The rows as blocks, in their order."""
    weights = [len(row[9]) for row in rows if row[9] is not None]
    if 0 < len(rows) <= _BLOCK_ROWS and sum(weights) <= _BLOCK_BYTES:
        yield _block(rows)  # the usual case, by a short way
        return
    start, size = 0, 0
    for at, row in enumerate(rows):
        payload = row[9]
        weight = 0 if payload is None else len(payload)
        is_large = weight >= _LARGE_BYTES
        if at > start and (is_large or at - start >= _BLOCK_ROWS or size > _BLOCK_BYTES):
            yield _block(rows[start:at])
            start, size = at, 0
        # A large one closes its block behind it as well.
        size += _BLOCK_BYTES + 1 if is_large else weight
    if start < len(rows):
        yield _block(rows[start:])


def unpack(data: bytes) -> list[Row]:
    """The rows of a block."""
    rows: list[Row] = _decode(data)
    return rows


def pack_value(value: Any) -> bytes:
    """A part of a row as it lies in a block."""
    try:
        return _encode(value)
    except _UNPACKABLE:
        return _encode(_plain(value))


def _block(rows: Sequence[Row]) -> Block:
    first, last = rows[0], rows[-1]
    try:
        data = _encode(rows)
    except _UNPACKABLE:
        data = _encode([_packable(row) for row in rows])
    low, high = sorted((first[1], last[1]))
    return Block(first[0], last[0], low, high, data, len(rows))


def _packable(row: Row) -> Row:
    try:
        _encode(row)
    except _UNPACKABLE:
        return _plain(row)  # type: ignore[no-any-return]
    return row


def _plain(value: Any, depth: int = 0) -> Any:
    """The value with what MessagePack has no form for in a form of its own."""
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
_decode = msgspec.msgpack.Decoder(ext_hook=_restore).decode
