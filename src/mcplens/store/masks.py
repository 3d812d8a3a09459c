"""Secrets out of what is recorded: values of configured JSON members, headers and URLs in commands.

The length of what is masked stays, and a `Mask` says where it was. Headers and URLs of HTTP
exchanges come masked already (protocol/masking.py); here they are marked. Called by rows.py.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Final

import msgspec

# What the patterns of masking.py and ours take to compile is paid where they are needed.

Spans = list[tuple[int, int]]

_BACKSLASH: Final = ord("\\")
# Around a key: quotes, colon, and the blanks of a generous pretty-printer.
_AROUND_BYTES: Final = 64
# Streams whose secrets may be cut by the end of a piece; more are never open at once.
_MAX_STREAMS: Final = 256


class Mask(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was masked: bytes of a field from `start` to `end`, or in the text of the field."""

    field: str
    start: int | None = None
    end: int | None = None


def masked_texts(field: str, texts: Iterable[tuple[str, str]]) -> list[Mask]:
    """Marks for (name, text) pairs that hold the sign of a mask."""
    from mcplens.protocol.masking import mask

    sign = mask("").partition("0")[0]  # how every masked text begins
    return [Mask(f"{field}.{name}" if name else field) for name, text in texts if sign in text]


class KeyMasker:
    """Finds the string values of some JSON members in any bytes, whole or in pieces.

    JSON inside a JSON string is looked into as well: there each quote has backslashes before it.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        import re

        keys = [key for key in dict.fromkeys(keys) if key]
        self._colon = re.compile(rb'(\\*)"[ \t\r\n]*:[ \t\r\n]*(\\*)"')
        self.names = frozenset(_plain(key) for key in keys)
        self._keys = [msgspec.json.encode(key)[1:-1] for key in keys]
        self._tail_bytes = max(map(len, self._keys), default=0) + _AROUND_BYTES
        self._tails: dict[Hashable, bytes] = {}

    def __repr__(self) -> str:
        return f"<KeyMasker of {len(self._keys)} keys>"

    def mask(self, data: bytes) -> tuple[bytes, Spans]:
        """The bytes with every secret value starred out, and where."""
        spans, _ = self._find(data)
        return _starred(data, spans), spans

    def mask_piece(self, stream: Hashable, data: bytes) -> tuple[bytes, Spans]:
        """The next piece of a stream; a value may begin in one piece and end in another."""
        tail = self._tails.pop(stream, b"")
        spans, rest = self._find(tail + data)
        at = len(tail)
        spans = [(max(start - at, 0), end - at) for start, end in spans if end > at]
        self._tails[stream] = rest
        if len(self._tails) > _MAX_STREAMS:
            self.end_stream(next(iter(self._tails)))
        return _starred(data, spans), spans

    def end_stream(self, stream: Hashable) -> None:
        self._tails.pop(stream, None)

    def _find(self, data: bytes) -> tuple[Spans, bytes]:
        """Where the values are; and what the next piece must be read after."""
        spans: Spans = []
        rest = data[-self._tail_bytes :]
        open_since = len(data)
        for key in self._keys:
            at = data.find(key)
            while at >= 0:
                opening = self._opening(data, at, len(key))
                if opening is None:
                    at = data.find(key, at + 1)
                    continue
                start, depth = opening
                end, is_whole = _value_end(data, start, depth)
                if end > start:
                    spans.append((start, end))
                if not is_whole and start < open_since:
                    # The value itself need not be kept, only that it is open.
                    open_since = start
                    rest = data[at - 1 - depth : start]
                    rest += b"\\" * _backslashes_before(data, len(data), start)
                at = data.find(key, max(end, at + 1))
        return sorted(spans), rest

    def _opening(self, data: bytes, at: int, length: int) -> tuple[int, int] | None:
        """If a member begins at this key: where its string begins, and its quotes' backslashes."""
        match = self._colon.match(data, at + length)
        if match is None:
            return None
        before, after = match.groups()
        depth = len(before)
        # 0, 1, 3, 7…: each level of quoting doubles the backslashes and adds one.
        if len(after) != depth or depth & (depth + 1):
            return None
        first = at - 1 - depth
        if first < 0 or data[first:at] != before + b'"' or data[first - 1 : first] == b"\\":
            return None
        return match.end(), depth


def _value_end(data: bytes, start: int, depth: int) -> tuple[int, bool]:
    """Where the string that begins here ends, and whether its end is there."""
    at = data.find(b'"', start)
    while at >= 0:
        backslashes = _backslashes_before(data, at, start)
        if backslashes % (2 * (depth + 1)) == depth:
            return at - depth, True
        if backslashes < depth:  # the string around it ends, so that it was cut off
            return at - backslashes, True
        at = data.find(b'"', at + 1)
    # The last backslashes may belong to the quote that ends it, in the next piece.
    open_ended = _backslashes_before(data, len(data), start) % (2 * (depth + 1))
    return len(data) - (open_ended if open_ended <= depth else 0), False


def _backslashes_before(data: bytes, at: int, start: int) -> int:
    first = at
    while first > start and data[first - 1] == _BACKSLASH:
        first -= 1
    return at - first


def _starred(data: bytes, spans: Spans) -> bytes:
    if not spans:
        return data
    starred = bytearray(data)
    for start, end in spans:
        starred[start:end] = b"*" * (end - start)
    return bytes(starred)


def mask_argv(argv: Sequence[str], names: frozenset[str] = frozenset()) -> list[str]:
    """A command without URL secrets, secret headers, and the options that are configured keys."""
    shown: list[str] = []
    is_value = False
    for argument in argv:
        name, equals, value = argument.partition("=")
        is_option = argument.startswith("-") and _plain(name) in names
        if is_value or (is_option and equals):
            from mcplens.protocol.masking import mask

            shown.append(mask(argument) if is_value else f"{name}={mask(value)}")
            is_value = False
        else:
            shown.append(_mask_argument(argument))
            is_value = is_option
    return shown


def _mask_argument(argument: str) -> str:
    if "://" in argument:
        from mcplens.protocol.masking import mask_url

        return mask_url(argument)
    name, colon, value = argument.partition(":")
    if not colon or not name.replace("-", "").replace("_", "").isalnum():
        return argument
    from mcplens.protocol.masking import mask_headers

    value = value.strip()
    ((_, shown),) = mask_headers([(name, value)])
    return argument if shown == value else f"{name}: {shown}"


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "_").lower()
