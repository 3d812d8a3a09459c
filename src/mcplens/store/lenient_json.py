"""JSON that takes whatever an event holds: lone surrogates, numbers that are none, odd values."""

from __future__ import annotations

from typing import Any

import msgspec


def to_json(value: Any) -> bytes:
    """JSON, also of text with lone surrogates, which msgspec refuses, and of odd values."""
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        import json

        text = json.dumps(value, separators=(",", ":"), default=str)
        if "NaN" in text or "Infinity" in text:  # as a number: null, as msgspec has it
            value = json.loads(text, parse_constant=lambda _: None)
            text = json.dumps(value, separators=(",", ":"))
        return text.encode()


def from_json(data: bytes) -> Any:
    """What `to_json` wrote."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        import json

        return json.loads(data.decode())
