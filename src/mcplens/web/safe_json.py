"""Values and bytes from servers made safe for a JSON message to the page."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

NULL: Final = Raw(b"null")
TOO_DEEP: Final = "nested too deeply to be shown"


def raw_json(data: bytes | None) -> Raw:
    """Bytes that are JSON, safe to stand in a text message; bad UTF-8 is shown as such."""
    if not data:
        return NULL
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode("utf-8", "replace").encode()
    return Raw(data)


def json_safe(value: Any) -> Any:
    """A value that can be written as JSON, whatever a server or an error put into it."""
    try:
        msgspec.json.encode(value)
    except RecursionError:
        return _without_too_deep_members(value)
    except (TypeError, UnicodeEncodeError):
        import json

        return json.loads(json.dumps(value, default=str).encode("ascii", "replace"))
    return value


def _without_too_deep_members(value: Any) -> Any:
    if not isinstance(value, dict):
        return TOO_DEEP
    shown = {}
    for key, item in value.items():
        try:
            msgspec.json.encode(item)
            shown[key] = item
        except RecursionError:
            shown[key] = TOO_DEEP
    return shown
