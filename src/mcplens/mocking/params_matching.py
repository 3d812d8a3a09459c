"""Which recorded params a request has: canonical keys, masked values, and how near two calls are.

Two requests are the same call if their params are equal in the form of RFC 8785, without what a
client makes anew for each request. A value that was masked in the recording equals every value of
its kind. Pure; called by recorded_calls.py and playback.py.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mcplens.contracts.canonical import canonical, decode, without_surrogates
from mcplens.protocol.json_comparison import Wildcard

# The protocol's own members of `_meta`: 2026-07-28 writes them into every request.
_OWN_META: Final = "io.modelcontextprotocol/"
# Empty and absent mean the same there.
_OPTIONAL: Final = ("arguments", "cursor", "_meta", "context")
# Around the number of a masked value, while its message is decoded; private use, so in no text.
_SIGN: Final = re.compile("\ue000([0-9]+)\ue001")
# The nearest call is found by the beginning of its params; a megabyte of them says no more.
_MOST_COMPARED: Final = 2_000
# Larger ones are shown as text: not every encoder has them.
_MOST_INTEGER: Final = 2**63 - 1

# Where a message was masked: start, end, and the secret key whose value it was, if any.
Span = tuple[int, int, str | None]


class MaskedValue(msgspec.Struct, Wildcard, frozen=True):
    """Stands for a value that was masked; `pattern` for a text that was masked in part."""

    kind: str  # text, number, array or object
    pattern: str | None = None
    key: str | None = None  # the secret key whose value it is

    def matches(self, value: Any) -> bool:
        if self.kind == "text":
            is_text = isinstance(value, str)
            if self.pattern is None:
                return is_text
            return is_text and re.fullmatch(self.pattern, value, re.DOTALL) is not None
        if self.kind == "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        return isinstance(value, list if self.kind == "array" else dict)


def own_params(method: str, params: Any) -> dict[str, Any]:
    """Params without what is new in each request, and without members that mean nothing."""
    if not isinstance(params, dict):
        return {}
    found = dict(params)
    meta = found.get("_meta")
    if isinstance(meta, dict):
        found["_meta"] = {
            name: value
            for name, value in meta.items()
            if name != "progressToken" and not name.startswith(_OWN_META)
        }
    for name in _OPTIONAL:
        if name in found and found[name] in (None, {}):
            del found[name]
    if isinstance(found.get("task"), dict):
        found["task"] = {}  # how long it is kept changes no answer
    return found


def call_key(method: str, params: Any) -> bytes:
    """Equal for requests that are the same call."""
    text = method.encode("utf-8", "replace") + b"\0" + canonical(own_params(method, params))
    return hashlib.sha256(text).digest()[:16]


def decode_masked(raw: bytes, spans: Sequence[Span]) -> Any:
    """The value of a message, with a `MaskedValue` for each value that was masked.

    Raises:
        ValueError: it is not JSON.
    """
    found: dict[str, MaskedValue] = {}
    for number, (start, end, key) in sorted(enumerate(spans), key=lambda one: -one[1][0]):
        sign = f"\ue000{number}\ue001"
        quote, kind = _place_of(raw, start, key)
        found[str(number)] = MaskedValue(kind, key=key)
        raw = raw[:start] + quote + sign.encode() + quote + raw[end:]
    value = decode(raw)
    return _with_masks(value, found) if found else value


def _place_of(raw: bytes, start: int, key: str | None) -> tuple[bytes, str]:
    """The quotes that the sign of a masked value needs, and its kind."""
    first = raw[start : start + 1]
    before = raw[:start].rstrip(b" \t\r\n:")
    is_value = key is not None and raw[start - 1 : start] != b'"' and not before.endswith(b'\\"')
    if is_value and first in (b"[", b"{"):
        return b'"', "array" if first == b"[" else "object"
    if is_value and first in b"-0123456789":
        return b'"', "number"
    return b"", "text"


def _with_masks(value: Any, found: dict[str, MaskedValue]) -> Any:
    if isinstance(value, dict):
        return {key: _with_masks(item, found) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_masks(item, found) for item in value]
    if not isinstance(value, str) or "\ue000" not in value:
        return value
    whole = _SIGN.fullmatch(value)
    if whole is not None:
        return found.get(whole[1], MaskedValue("text"))
    pattern = ".*".join(re.escape(part) for part in _SIGN.split(value)[::2])
    return MaskedValue("text", pattern)


def shown(value: Any) -> str:
    """A value as short text for a message; masked parts as stars."""
    return msgspec.json.encode(_plain(value)).decode()[:_MOST_COMPARED]


def _plain(value: Any) -> Any:
    if isinstance(value, MaskedValue):
        return "***"
    if isinstance(value, dict):
        return {without_surrogates(key): _plain(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return without_surrogates(value)
    is_whole = isinstance(value, int) and abs(value) > _MOST_INTEGER
    return str(value) if is_whole else value


def likeness(text: str, other: str) -> float:
    """How much two texts have in common, from 0 to 1."""
    if text == other:
        return 1.0
    return difflib.SequenceMatcher(None, text, other, autojunk=False).quick_ratio()
