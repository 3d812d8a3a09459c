"""Server-sent events: bytes in, events out, by the HTML standard's rules for event streams.

Linear in its input, with a limit on one event. Called by both HTTP transports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from mcplens.protocol.line_splitter import split_lines

# 30,000 years; int() itself refuses numbers of some thousand digits.
_MOST_RETRY_DIGITS: Final = 15


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One dispatched event; `id` and `retry_ms` only if this event set them."""

    data: bytes
    event: str = "message"
    id: str | None = None
    retry_ms: int | None = None
    is_too_long: bool = False


class SseParser:
    """Feed it chunks; it returns events, also those without data if they have an id or retry."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._tail: list[bytes] = []  # an unfinished line
        self._tail_size = 0
        self._ends_with_cr = False
        self._is_first = True
        self._id: str | None = None
        self._retry_ms: int | None = None
        self._data: bytes | bytearray | None = None
        self._reset()

    def __repr__(self) -> str:
        return f"<SseParser with {self._held_bytes} bytes of an unfinished event>"

    @property
    def has_partial_event(self) -> bool:
        return self._data is not None or self._tail_size > 0

    def partial(self) -> bytes:
        """The part of an unfinished event that was received."""
        parts = [] if self._data is None else [self._data]
        return b"\n".join([*parts, b"".join(self._tail)])

    def feed(self, chunk: bytes) -> Iterator[SseEvent]:
        """The events that this chunk completes."""
        if self._ends_with_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._ends_with_cr = False
        if not chunk:
            return
        self._ends_with_cr = chunk.endswith(b"\r")
        lines, rest = _split_lines(chunk)
        for line in lines:
            if self._tail:
                self._tail.append(line)
                line = b"".join(self._tail)
                self._tail, self._tail_size = [], 0
            event = self._line(line)
            if event is not None:
                yield event
        if rest:
            self._hold(rest)

    @property
    def _held_bytes(self) -> int:
        return self._tail_size + len(self._data or b"")

    def _hold(self, part: bytes) -> None:
        if self._held_bytes > self._limit:
            self._is_too_long = True
            return
        self._tail.append(part)
        self._tail_size += len(part)

    def _line(self, line: bytes) -> SseEvent | None:
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        if line.startswith(b"data: "):  # nearly all bytes are here, so they are copied once
            self._add_data(line[6:])
            return None
        name, colon, value = line.partition(b":")
        if colon and value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            self._add_data(value)
        elif name == b"event":
            self._event = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MOST_RETRY_DIGITS:
            self._retry_ms = int(value)
        return None

    def _add_data(self, value: bytes) -> None:
        data = self._data
        if len(data or b"") + len(value) > self._limit:
            self._is_too_long = True
            if data is None:
                self._data = value[: 64 * 1024]
        elif data is None:
            self._data = value
        else:  # one buffer, since a list of millions of short lines is far larger than they are
            if isinstance(data, bytes):
                data = self._data = bytearray(data)
            data += b"\n"
            data += value

    def _dispatch(self) -> SseEvent | None:
        data = bytes(self._data or b"")
        is_worth = self._data is not None or self._id is not None or self._retry_ms is not None
        event = None
        if is_worth:
            name = self._event or "message"
            event = SseEvent(data, name, self._id, self._retry_ms, self._is_too_long)
        self._reset()
        return event

    def _reset(self) -> None:
        self._data = None
        self._event = ""
        self._id = None
        self._retry_ms = None
        self._is_too_long = False


def _split_lines(chunk: bytes) -> tuple[list[bytes], bytes]:
    """As `split_lines`, by LF, CR or CRLF."""
    lines, rest = split_lines(chunk)
    if b"\r" not in chunk:
        return lines, rest
    found: list[bytes] = []
    for line in lines:
        line = line.removesuffix(b"\r")
        found += line.split(b"\r") if b"\r" in line else (line,)
    *more, rest = rest.split(b"\r") if b"\r" in rest else (rest,)
    return found + more, rest
