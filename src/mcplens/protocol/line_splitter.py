"""Splits a byte stream into lines, in linear time, with a limit on the length of a line.

Called by the stdio transport (messages and stderr); sse.py uses its search for newlines.
"""

from __future__ import annotations

from mcplens.protocol.frames import Malformed, too_long

# The part of an overlong line that is kept, so that it can be shown.
KEPT_OF_TOO_LONG_BYTES = 64 * 1024


def split_lines(chunk: bytes) -> tuple[list[bytes], bytes]:
    """The lines that end in this chunk, by LF, and what is left after the last one.

    `find` passes 100 KB in 1 µs; `split` and `splitlines` look at each byte, and take 25.
    """
    lines = []
    start, end = 0, chunk.find(b"\n")
    while end >= 0:
        lines.append(chunk[start:end])
        start = end + 1
        end = chunk.find(b"\n", start)
    return lines, chunk[start:]


class LineSplitter:
    """Feed it chunks; it returns lines without their newline, and overlong ones as Malformed."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._is_skipping = False

    def __repr__(self) -> str:
        return f"<LineSplitter with {self._size} bytes of an unfinished line>"

    def feed(self, chunk: bytes) -> list[bytes | Malformed]:
        """The lines that this chunk completes."""
        pieces, rest = split_lines(chunk)
        lines: list[bytes | Malformed] = []
        if pieces and self._size:
            self._keep(pieces[0])
            lines.append(self._take())
            del pieces[0]
        if len(chunk) <= self._limit:
            lines += pieces
        else:
            lines += (each if len(each) <= self._limit else self._shorten(each) for each in pieces)
        if rest:
            self._keep(rest)
        return lines

    @property
    def is_in_line(self) -> bool:
        """Whether a line has begun that no newline has ended."""
        return self._size > 0

    @property
    def unfinished(self) -> bytes:
        """The start of the unfinished line, as far as it came in one chunk; b"" if none."""
        return self._parts[0] if self._parts else b""

    def flush(self) -> bytes | Malformed | None:
        """What is left when the stream ends in the middle of a line."""
        return self._take() if self._size else None

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._is_skipping:
            return
        self._parts.append(part)
        if self._size > self._limit:
            self._is_skipping = True
            self._parts = [b"".join(self._parts)[:KEPT_OF_TOO_LONG_BYTES]]

    def _take(self) -> bytes | Malformed:
        line = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        was_skipping, self._is_skipping = self._is_skipping, False
        self._parts, self._size = [], 0
        return too_long(line, self._limit) if was_skipping else line

    def _shorten(self, line: bytes) -> Malformed:
        return too_long(line[:KEPT_OF_TOO_LONG_BYTES], self._limit)
