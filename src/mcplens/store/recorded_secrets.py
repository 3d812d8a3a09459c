"""Masks secrets in what is recorded, exported or shown of events: values of secret keys in JSON,
secrets in commands, and every secret that is known by its value (known_secrets.py).

A masked value keeps its length, and a `Mask` says where it was. Headers and URLs of HTTP exchanges
are masked by their names before they are published (protocol/secret_masking.py); here also headers
that the configuration calls secret. Called by row_masking.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from mcplens.known_secrets import known_secrets, may_hold_secrets

if TYPE_CHECKING:
    import re

# Patterns are compiled, and secret_masking is imported, only when needed: it takes time.

# The secret keys of a server, by its id.
KeysOf = Callable[[str], Iterable[str]]
# A secret value: where it begins, where it ends, and the key that it belongs to; None for one that
# is known by its value.
Secret = tuple[int, int, str | None]
# What is overwritten in a value: start, end, and the byte written.
_Spans = list[tuple[int, int, bytes]]

_BACKSLASH: Final = ord("\\")
# Around a key: quotes, colon, and white space of a pretty-printer.
_AROUND_BYTES: Final = 64
# Streams in which a secret may continue in the next piece; more are never open at once.
_MAX_STREAMS: Final = 256
_STAR: Final = b"*"
# Written over digits, so that a masked number is still a number.
_DIGIT: Final = b"9"


class Mask(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was masked: the bytes of a field from `start` to `end`, or part of a text field."""

    field: str
    start: int | None = None
    end: int | None = None
    key: str | None = None


def masked_texts(field: str, texts: Iterable[tuple[str, str]]) -> list[Mask]:
    """Marks for (name, text) pairs whose text contains a mask."""
    sign = _sign()
    return [Mask(f"{field}.{name}" if name else field) for name, text in texts if sign in text]


def is_masked(text: str) -> bool:
    """Whether a text contains a mask."""
    return _sign() in text


@cache
def _sign() -> str:
    """The beginning of every mask."""
    from mcplens.protocol.secret_masking import mask

    return mask("").partition("0")[0]


def mask_named_headers(
    headers: Sequence[tuple[str, str]], names: frozenset[str]
) -> tuple[list[tuple[str, str]], list[Mask]]:
    """Headers with the values of secret keys masked, and the marks."""
    from mcplens.protocol.secret_masking import mask

    shown, marks = [], []
    for name, value in headers:
        # 2026-07-28 repeats arguments in headers, behind this prefix.
        is_named = plain(name).removeprefix("mcp_param_") in names
        is_open = is_named and not is_masked(value)
        shown.append((name, mask(value) if is_open else value))
        if is_open:
            marks.append(Mask(f"headers.{name}"))
    return shown, marks


class KeyMasker:
    """Finds the values of secret JSON members, and known secrets, in bytes, whole or in pieces.

    JSON inside a JSON string is searched as well: there each quote has backslashes before it. In an
    array or object all strings and numbers are secret; true, false and null stay.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        import re

        keys = [key for key in dict.fromkeys(keys) if key]
        self._colon = re.compile(rb'(\\*)"[ \t\r\n]*:[ \t\r\n]*')
        self._number = re.compile(rb"-?[0-9][0-9.eE+-]*")
        self._token = re.compile(rb'["{}\[\]]|-?[0-9][0-9.eE+-]*')
        self.names = frozenset(plain(key) for key in keys)
        self._keys = [(key, msgspec.json.encode(key)[1:-1]) for key in keys]
        self._tail_bytes = max((len(data) for _, data in self._keys), default=0) + _AROUND_BYTES
        # Of each stream: the end of what was searched for keys, and for values.
        self._tails: dict[Hashable, tuple[bytes, bytes]] = {}

    def __repr__(self) -> str:
        return f"<KeyMasker of {len(self._keys)} keys>"

    def mask(self, data: bytes) -> tuple[bytes, list[Secret]]:
        """The bytes with every secret value masked, and where those are."""
        secrets, spans, _ = self._find(data)
        for start, end, fill in spans:
            # The name of a member is masked here; as a secret it would be masked everywhere.
            if fill == _STAR and self._colon.match(data, end) is None:
                known_secrets.learn_from_traffic(_text(data[start:end]))
        return self._with_known(_starred(data, spans), secrets)

    def mask_piece(self, stream: Hashable, data: bytes) -> tuple[bytes, list[Secret]]:
        """The next piece of a stream; a value may begin in one piece and end in another."""
        tail, before = self._tails.pop(stream, (b"", b""))
        secrets, spans, rest = self._find(tail + data)
        at = len(tail)
        last = (before + data)[-known_secrets.longest :] if known_secrets else b""
        self._tails[stream] = rest, last
        if len(self._tails) > _MAX_STREAMS:
            self.end_stream(next(iter(self._tails)))
        shown = _starred(data, _after(at, spans))
        return self._with_known(shown, _after(at, secrets), before, is_piece=True)

    def end_stream(self, stream: Hashable) -> None:
        self._tails.pop(stream, None)

    def _with_known(
        self, data: bytes, secrets: list[Secret], before: bytes = b"", *, is_piece: bool = False
    ) -> tuple[bytes, list[Secret]]:
        """Mask the secrets that are known by their values too; `before` is the end of the piece
        before this one, in which one may have begun."""
        if not known_secrets:
            return data, secrets
        whole, at = before + data, len(before)
        found = known_secrets.find(whole)
        # The rest of it comes with the next piece, but this one is written now.
        if is_piece and (begun := known_secrets.begun_at_end(whole)) < len(whole):
            found.append((begun, len(whole)))
        spans = _after(at, [(start, end, _fill(whole[start:end])) for start, end in found])
        if not spans:
            return data, secrets
        known: list[Secret] = [(start, end, None) for start, end, _ in spans]
        return _starred(data, spans), sorted([*secrets, *known], key=lambda secret: secret[:2])

    def _find(self, data: bytes) -> tuple[list[Secret], _Spans, bytes]:
        """The secret values, the spans to overwrite, and the tail to search the next piece with."""
        values: list[tuple[int, int, str, _Spans]] = []
        rest = data[-self._tail_bytes :]
        open_since = len(data)
        for name, key in self._keys:
            at = data.find(key)
            while at >= 0:
                opening = self._opening(data, at, len(key))
                if opening is None:
                    at = data.find(key, at + 1)
                    continue
                start, depth = opening
                start, end, spans, is_open = self._value(data, start, depth)
                if end > start:
                    values.append((start, end, name, spans))
                if is_open is not None and start < open_since:
                    # The value itself need not be kept, only that it is open.
                    open_since = start
                    rest = data[at - 1 - depth : start] + is_open
                at = data.find(key, max(end, at + 1))
        outermost = _outermost(values)
        secrets: list[Secret] = [(start, end, name) for start, end, name, _ in outermost]
        return secrets, [span for value in outermost for span in value[3]], rest

    def _opening(self, data: bytes, at: int, length: int) -> tuple[int, int] | None:
        """If a member begins with this key: where its value begins, and the depth of quoting."""
        match = self._colon.match(data, at + length)
        if match is None:
            return None
        depth = len(match[1])
        # 0, 1, 3, 7…: each level of quoting doubles the backslashes and adds one.
        if depth & (depth + 1):
            return None
        first = at - 1 - depth
        if first < 0 or data[first:at] != match[1] + b'"' or data[first - 1 : first] == b"\\":
            return None
        return match.end(), depth

    def _value(self, data: bytes, at: int, depth: int) -> tuple[int, int, _Spans, bytes | None]:
        """Start and end of the value here, the spans to overwrite, and, if it continues in the next
        piece, what to put before that piece."""
        quote = b"\\" * depth + b'"'
        if data.startswith(quote, at):
            start = at + len(quote)
            end, is_whole = _value_end(data, start, depth)
            spans = [(start, end, _STAR)]
            return start, end, spans, None if is_whole else _backslashes_at_end(data, start)
        if data[at : at + 1] in (b"{", b"["):
            return self._container(data, at, depth)
        match = self._number.match(data, at)
        if match is None:
            return at, at, [], None
        end = match.end()
        return at, end, [_digits(match)], _DIGIT if end == len(data) else None

    def _container(
        self, data: bytes, start: int, depth: int
    ) -> tuple[int, int, _Spans, bytes | None]:
        """As `_value`, for an array or object."""
        spans: _Spans = []
        level, at = 0, start
        while (match := self._token.search(data, at)) is not None:
            token, at = match[0], match.end()
            if token in (b"{", b"["):
                level += 1
            elif token in (b"}", b"]"):
                level -= 1
                if level == 0:
                    return start, at, spans, None
            elif token != b'"':
                spans.append(_digits(match))
                if at == len(data):
                    return start, at, spans, b"[" * level + _DIGIT
            elif (before := _backslashes_before(data, at - 1, start)) < depth:
                # The string around it ends, so that it was cut off.
                return start, at - 1 - before, spans, None
            else:
                end, is_whole = _value_end(data, at, depth)
                spans.append((at, end, _STAR))
                if not is_whole:
                    opened = b"\\" * depth + b'"' + _backslashes_at_end(data, at)
                    return start, len(data), spans, b"[" * level + opened
                closing = b"\\" * depth + b'"'
                at = end + (len(closing) if data.startswith(closing, end) else 0)
        return start, len(data), spans, b"[" * level + _backslashes_at_end(data, start)


def _text(data: bytes) -> str | None:
    """The text that these bytes of a JSON string stand for, also in JSON within JSON."""
    found: str | None = None
    with contextlib.suppress(msgspec.DecodeError, UnicodeError):
        while found is None or b"\\" in data:
            found = msgspec.json.decode(b'"' + data + b'"', type=str)
            data = found.encode()
    return found


def _fill(secret: bytes) -> bytes:
    return _DIGIT if secret.isdigit() else _STAR


class Maskers:
    """The masker of each server, by its current secret keys."""

    def __init__(self, keys_of: KeysOf) -> None:
        self._keys_of = keys_of
        self._known: dict[str, tuple[tuple[str, ...], KeyMasker | None]] = {}

    def __repr__(self) -> str:
        return f"<Maskers of {len(self._known)} servers>"

    def of(self, server_id: str) -> KeyMasker | None:
        """The masker of a server; None if it has no secret keys, and no secret is known."""
        keys = tuple(self._keys_of(server_id))
        known = self._known.get(server_id)
        # Kept while the keys are the same: it remembers open streams.
        if known is None or known[0] != keys:
            known = self._known[server_id] = keys, None
        masker = known[1]
        if masker is None and (keys or known_secrets):
            masker = KeyMasker(keys)
            self._known[server_id] = keys, masker
        return masker


def _outermost(
    values: list[tuple[int, int, str, _Spans]],
) -> list[tuple[int, int, str, _Spans]]:
    """The values in order, without those inside another."""
    found: list[tuple[int, int, str, _Spans]] = []
    for value in sorted(values, key=lambda value: (value[0], -value[1])):
        if not found or value[0] >= found[-1][1]:
            found.append(value)
    return found


_T = TypeVar("_T")


def _after(at: int, spans: list[tuple[int, int, _T]]) -> list[tuple[int, int, _T]]:
    """The parts of these spans after this position, relative to it."""
    return [(max(start - at, 0), end - at, what) for start, end, what in spans if end > at]


def _digits(number: re.Match[bytes]) -> tuple[int, int, bytes]:
    """The span of a number to overwrite: all but its sign."""
    return number.start() + (number[0][:1] == b"-"), number.end(), _DIGIT


def _value_end(data: bytes, start: int, depth: int) -> tuple[int, bool]:
    """Where the string that begins here ends, and whether its closing quote is there."""
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


def _backslashes_at_end(data: bytes, start: int) -> bytes:
    return b"\\" * _backslashes_before(data, len(data), start)


def _starred(data: bytes, spans: _Spans) -> bytes:
    if not spans:
        return data
    starred = bytearray(data)
    for start, end, fill in spans:
        starred[start:end] = fill * (end - start)
    return bytes(starred)


def mask_argv(argv: Sequence[str], names: frozenset[str] = frozenset()) -> list[str]:
    """A command with secrets in URLs and headers, the values of options that are named like
    secrets, and values of secret keys, masked."""
    if not names and not may_hold_secrets(argv):
        return list(argv)
    from mcplens.protocol.secret_masking import mask, option_values

    options = dict(option_values(argv))
    shown: list[str] = []
    is_value = False
    for at, argument in enumerate(argv):
        name, equals, value = argument.partition("=")
        is_named = plain(name) in names
        is_option = is_named and argument.startswith("-")
        if is_masked(argument):
            shown.append(argument)
            is_value = False
        elif is_value or (is_named and equals):
            shown.append(mask(argument) if is_value else f"{name}={mask(value)}")
            is_value = False
        elif at in options:
            shown.append(argument.removesuffix(options[at]) + mask(options[at]))
        else:
            shown.append(_mask_argument(argument))
            is_value = is_option
    return shown


def _mask_argument(argument: str) -> str:
    if "://" in argument:
        from mcplens.protocol.secret_masking import mask_url

        return mask_url(argument)
    name, colon, value = argument.partition(":")
    if not colon or not name.replace("-", "").replace("_", "").isalnum():
        return argument
    from mcplens.protocol.secret_masking import mask_headers

    value = value.strip()
    ((_, shown),) = mask_headers([(name, value)])
    return argument if shown == value else f"{name}: {shown}"


def plain(name: str) -> str:
    """A name in lower case, with _ for -, for comparison."""
    return name.lstrip("-").replace("-", "_").lower()
