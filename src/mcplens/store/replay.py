"""Makes a recorded request ready to be sent again, with the current values of its secrets.

What is new in each request (progress token, protocol `_meta`) is left out; what was masked is
filled in from the configuration. Pure; called by `history replay` and by the web UI.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol.frames import Frame, Kind, decode_value
from mcplens.store.recorded_secrets import Mask
from mcplens.store.row_decoding import StoredEvent

# The protocol's own members of `_meta`: 2026-07-28 writes them into every request.
_OWN_META: Final = "io.modelcontextprotocol/"
_UNKNOWN: Final = "an unknown key"
# In place of a key, for a secret that was masked by its value.
KNOWN: Final = "a token or password that was masked"


class ReplayRequest(msgspec.Struct, frozen=True):
    """A request to send; `missing` are the secret keys that have no value in the configuration."""

    server_id: str
    method: str
    params: dict[str, Any] | None
    missing: tuple[str, ...] = ()


def is_request(stored: StoredEvent | None) -> bool:
    """Whether an event is a request."""
    message = getattr(stored.event, "message", None) if stored is not None else None
    return isinstance(message, Frame) and message.kind is Kind.REQUEST


def request_to_replay(stored: StoredEvent, secrets: Mapping[str, Any]) -> ReplayRequest:
    """The request of a recorded event, with masked values filled in from `secrets`.

    Raises:
        InspectorError: its params are not an object.
    """
    message: Frame = stored.event.message  # type: ignore[attr-defined]
    raw, signs = _signed(message.raw, stored.masked)
    missing = [KNOWN] if any(map(_is_within_text, stored.masked)) else []
    params = decode_value(raw)[0].get("params")
    if params is not None and not isinstance(params, dict):
        raise InspectorError("INVALID_REQUEST", "its params are not an object; send it raw")
    params = _without_own_meta(params)
    for sign, key in signs.items():
        if sign not in json.dumps(params, ensure_ascii=False):
            continue  # it was in a part that is left out
        if secrets.get(key) is None:
            missing.append(key)
        else:
            params = _filled(params, sign, secrets[key])
    return ReplayRequest(
        stored.event.server_id, message.method, params, tuple(dict.fromkeys(missing))
    )


def _without_own_meta(params: dict[str, Any] | None) -> dict[str, Any] | None:
    """Params without the progress token and the protocol's own members of `_meta`."""
    meta = params.get("_meta") if params is not None else None
    if params is None or not isinstance(meta, dict):
        return params
    given = {
        name: value
        for name, value in meta.items()
        if name != "progressToken" and not name.startswith(_OWN_META)
    }
    rest = {name: value for name, value in params.items() if name != "_meta"}
    return rest | ({"_meta": given} if given else {})


def _signed(raw: bytes, masked: tuple[Mask, ...]) -> tuple[bytes, dict[str, str]]:
    """The bytes with a placeholder for each masked value, and the key of each placeholder."""
    signs: dict[str, str] = {}
    for number, mark in reversed(list(enumerate(masked))):
        if mark.start is None or mark.end is None or _is_within_text(mark):
            continue
        sign = f"‹masked value {number}›"
        signs[sign] = mark.key or _UNKNOWN
        quote = b""
        if raw[mark.start - 1 : mark.start] != b'"':  # a number, an array or an object
            before = raw[: mark.start].rstrip(b" \t\r\n:")[:-1]
            quote = b"\\" * (len(before) - len(before.rstrip(b"\\"))) + b'"'
        raw = raw[: mark.start] + quote + sign.encode() + quote + raw[mark.end :]
    return raw, signs


def _is_within_text(mark: Mask) -> bool:
    """Whether a secret was masked by its value, which may be part of a text."""
    return mark.start is not None and mark.key is None


def _filled(value: Any, sign: str, secret: Any) -> Any:
    """A value with the secret in place of its placeholder, also in JSON inside a string."""
    if isinstance(value, dict):
        return {key: _filled(item, sign, secret) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, sign, secret) for item in value]
    if not isinstance(value, str) or sign not in value:
        return value
    if value == sign:
        return secret
    if f'"{sign}"' in value:
        return value.replace(f'"{sign}"', json.dumps(secret, ensure_ascii=False))
    return json.dumps(_filled(json.loads(value), sign, secret), ensure_ascii=False)
