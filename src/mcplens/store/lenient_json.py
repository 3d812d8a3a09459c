"""JSON of any value that an event can hold: lone surrogates, NaN, values of unknown types."""

from __future__ import annotations

from typing import Any

import msgspec


def to_json(value: Any) -> bytes:
    """JSON of any value; unlike msgspec, also of text with lone surrogates."""
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        import json

        text = json.dumps(value, separators=(",", ":"), default=str)
        if (
            "NaN" in text or "Infinity" in text
        ):  # NaN and Infinity become null, as msgspec writes them
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
