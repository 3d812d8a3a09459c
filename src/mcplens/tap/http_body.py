"""The body of an HTTP message as it comes in pieces, for the recording: decompressed, and bounded.

Pure. Used by http_observer.py.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final

# A longer body is passed on like any other, but only its start is recorded.
MAX_BODY_BYTES: Final = 64 * 1024 * 1024
_KEPT_BYTES: Final = 64 * 1024


class Body:
    """A body as it comes in pieces, kept within the limit."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0
        self._plain: Callable[[bytes], bytes] | None = None
        self.is_cut = False

    def __repr__(self) -> str:
        return f"<Body {self._size} bytes>"

    def decode(self, encoding: str) -> bool:
        """What comes is compressed like this; False if we cannot read that."""
        if encoding in ("gzip", "x-gzip", "deflate"):
            self._plain = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress
            return True
        self.is_cut = encoding not in ("", "identity")
        return not self.is_cut

    def plain(self, data: bytes) -> bytes:
        if self._plain is None:
            return b"" if self.is_cut else data
        try:
            return self._plain(data)
        except zlib.error:
            self.is_cut = True
            self._plain = None
            return b""

    def add(self, data: bytes) -> None:
        if self.is_cut:
            return
        part = self.plain(data)
        self._size += len(part)
        self._parts.append(part)
        if self._size > MAX_BODY_BYTES:
            self.is_cut = True
            self._parts = [b"".join(self._parts)[:_KEPT_BYTES]]

    @property
    def value(self) -> bytes:
        return b"".join(self._parts)
