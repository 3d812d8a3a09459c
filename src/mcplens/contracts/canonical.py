"""JSON in the canonical form of RFC 8785, and its digest.

What the RFC cannot hold enters as text: integers beyond 2^53, numbers beyond a double, and lone
surrogates as escapes. Called by contract.py and schema_changes.py.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any, Final

import rfc8785

# RFC 8785 (section 3.2.2.3) takes numbers as doubles, whose integers are exact up to here.
_MOST_INTEGER: Final = 2**53 - 1
# Nobody writes a schema this deep, and each level costs several calls of the interpreter's stack.
_MOST_LEVELS: Final = 150
# More digits take Python a second each; such a number is kept as its text.
_MOST_DIGITS: Final = 400


def decode(data: bytes | str) -> Any:
    """A JSON value with its numbers as they are written: integers exact, too large floats as text.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    text = data if isinstance(data, str) else data.decode("utf-8", "replace")
    try:
        value = json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=str)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None
    _check_depth(value)
    return value


def _check_depth(value: Any) -> None:
    level: list[Any] = [value] if isinstance(value, dict | list) else []
    for _ in range(_MOST_LEVELS):
        members = (one.values() if isinstance(one, dict) else one for one in level)
        level = [item for items in members for item in items if isinstance(item, dict | list)]
        if not level:
            return
    raise ValueError("nested too deeply to be read")


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _MOST_DIGITS else text


def _float(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else text


def canonical(value: Any) -> bytes:
    """The value in the form of RFC 8785; equal values have equal bytes."""
    data: bytes = rfc8785.dumps(_holdable(value))
    return data


def digest(value: Any) -> str:
    """SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _holdable(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else without_surrogates(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_MOST_INTEGER <= value <= _MOST_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {_holdable(str(key)): _holdable(item) for key, item in value.items()}
    return [_holdable(item) for item in value]


def without_surrogates(text: str) -> str:
    """A text that can be written as UTF-8: lone surrogates as escapes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
