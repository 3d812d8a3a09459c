"""Lines out of chunks: the same lines however the stream is cut, each byte looked at once."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from mcplens.protocol.frames import Malformed
from mcplens.protocol.line_splitter import KEPT_OF_TOO_LONG_BYTES, LineSplitter

MIB = 1024 * 1024


def split(chunks: Iterable[bytes], limit_bytes: int = MIB) -> list[bytes | Malformed]:
    splitter = LineSplitter(limit_bytes)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    rest = splitter.flush()
    return lines if rest is None else [*lines, rest]


class CountedChunk(bytes):
    """Counts the bytes that are searched for a newline."""

    searched = 0

    def find(self, newline: Any, start: Any = 0, *end: Any) -> int:
        found = super().find(newline, start, *end)
        CountedChunk.searched += (len(self) if found < 0 else found + 1) - start
        return found


def test_a_40_mb_line_in_small_chunks_is_searched_once_and_comes_whole() -> None:
    line = random.Random(1).randbytes(40 * MIB).replace(b"\n", b" ")
    stream = line + b"\n"
    CountedChunk.searched = 0
    chunks = [CountedChunk(stream[at : at + 65_536]) for at in range(0, len(stream), 65_536)]
    assert split(chunks, 64 * MIB) == [line]
    assert CountedChunk.searched == len(stream)


def test_lines_are_the_same_wherever_the_stream_is_cut() -> None:
    stream = b'{"a":1}\n\n{"b":2}\r\nlast'
    for first in range(len(stream)):
        for second in range(first, len(stream)):
            chunks = [stream[:first], stream[first:second], stream[second:]]
            assert split(chunks) == [b'{"a":1}', b"", b'{"b":2}\r', b"last"]


def test_a_stream_that_ends_with_a_newline_leaves_nothing_over() -> None:
    assert split([b"a\n", b"b\n"]) == [b"a", b"b"]
    assert LineSplitter(10).flush() is None


@pytest.mark.parametrize("chunk_bytes", [1, 7, 1_000_000])
def test_a_line_over_the_limit_is_shown_by_its_start_and_the_next_is_well(chunk_bytes: int) -> None:
    long = b'{"jsonrpc":"2.0","id":7,"result":"' + b"x" * 100_000
    stream = long + b"\nnext\n"
    chunks = [stream[at : at + chunk_bytes] for at in range(0, len(stream), chunk_bytes)]
    shown, following = split(chunks, 50_000)
    assert isinstance(shown, Malformed)
    assert shown.ids == (7,)
    assert long.startswith(shown.raw)
    assert "limit of 50000 bytes" in shown.reason
    assert following == b"next"


def test_no_more_than_a_little_is_kept_of_a_line_over_the_limit() -> None:
    splitter = LineSplitter(100_000)
    for _ in range(1_000):
        assert list(splitter.feed(b"y" * 10_000)) == []
        assert sum(map(len, splitter._parts)) <= 110_000
    (shown,) = splitter.feed(b"\n")
    assert isinstance(shown, Malformed)
    assert len(shown.raw) == KEPT_OF_TOO_LONG_BYTES


def test_a_line_exactly_at_the_limit_is_whole() -> None:
    assert split([b"x" * 10 + b"\n"], 10) == [b"x" * 10]
    assert split([b"x" * 5, b"x" * 5, b"\n"], 10) == [b"x" * 10]
    (over,) = split([b"x" * 11 + b"\n"], 10)
    assert isinstance(over, Malformed)


def test_an_unfinished_line_over_the_limit_is_shown_at_the_end() -> None:
    (shown,) = split([b"x" * 20], 10)
    assert isinstance(shown, Malformed)
