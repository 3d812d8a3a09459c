"""Masks secrets in the bodies of a sign-in: forms that we send, JSON that comes back.

Pure. Called when an exchange of a sign-in is published.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec

from mcplens.protocol.secret_masking import mask

_SECRET_FIELDS: Final = frozenset(
    (
        "access_token", "refresh_token", "id_token", "token", "client_secret", "client_assertion",
        "assertion", "code", "code_verifier", "device_code", "subject_token", "actor_token",
        "registration_access_token", "password",
    )
)  # fmt: skip
_FORM: Final = re.compile(rb"[\w.-]+=[^\s<>{}]*")


def mask_body(body: bytes) -> bytes:
    """A body with its secrets masked; what is neither JSON nor a form stays as it is."""
    if not body:
        return body
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return _mask_form(body)
    return msgspec.json.encode(_masked(value)) if _has_secret(value) else body


def _mask_form(body: bytes) -> bytes:
    if not _FORM.fullmatch(body):
        return body
    pairs = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
    shown = [(name, mask(text) if name in _SECRET_FIELDS else text) for name, text in pairs]
    # Not encoded, since nobody parses it again, and people read it.
    return "&".join(f"{name}={text}" for name, text in shown).encode()


def _has_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key in _SECRET_FIELDS or _has_secret(each) for key, each in value.items())
    return isinstance(value, list) and any(map(_has_secret, value))


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: mask(each) if key in _SECRET_FIELDS and isinstance(each, str) else _masked(each)
            for key, each in value.items()
        }
    return [_masked(each) for each in value] if isinstance(value, list) else value
