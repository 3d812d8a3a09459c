"""The `store` and `replica` keys of the `gateway` block, as values: what several replicas share.

Reads and validates; called by views.py. Secrets come in by placeholders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from mcplens.config.keys import InvalidValue, filled, milliseconds, names

Reader = Callable[[Any, str], Any]

# A key that signs must not be guessed: 128 bits as hexadecimal digits are 32 characters.
_SHORTEST_KEY: Final = 32


class StoreSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The `store` of the gateway: where state is that replicas share."""

    url: str = "memory"
    username: str | None = None
    password: str | None = None
    ca_file: str | None = None
    prefix: str = "mcplens"
    timeout_s: float = 2.0

    def __repr__(self) -> str:  # the URL may have a password, too
        return f"<StoreSettings {urlsplit(self.url).hostname or self.url}>"


class ReplicaSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The `replica` of the gateway: how other replicas know and reach this one."""

    name: str | None = None
    address: str | None = None
    keys: tuple[str, ...] = ()

    def __repr__(self) -> str:  # the keys are secrets
        return f"<ReplicaSettings {self.name!r} at {self.address!r}, {len(self.keys)} keys>"


def store_url(value: Any, key: str) -> str:
    """`memory`, or the address of a Redis or Valkey."""
    found = filled(value, key)
    if found == "memory":
        return found
    try:
        parts = urlsplit(found)
        is_right = parts.scheme in ("redis", "rediss") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_right = False
    if not is_right:
        raise InvalidValue(key, "must be memory, redis://HOST:PORT or rediss://HOST:PORT (TLS)")
    return found


def replica_address(value: Any, key: str) -> str:
    """The origin at which other replicas reach this one."""
    found = filled(value, key).rstrip("/")
    try:
        parts = urlsplit(found)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.path
        _ = parts.port
    except ValueError:
        is_right = False
    if not is_right:
        raise InvalidValue(key, "must be http://HOST:PORT or https://HOST:PORT, without a path")
    return found


def signing_keys(value: Any, key: str) -> tuple[str, ...]:
    """One key or several: the first signs, all verify."""
    found = names([value] if isinstance(value, str) else value, key)
    for at, one in enumerate(found):
        if len(one) < _SHORTEST_KEY:
            text = f"must have {_SHORTEST_KEY} characters or more (openssl rand -hex 32)"
            raise InvalidValue(f"{key}[{at}]", text)
    return found


STORE_KEYS: Final[Mapping[str, tuple[str, Reader]]] = {
    "url": ("url", store_url),
    "username": ("username", filled),
    "password": ("password", filled),
    "caFile": ("ca_file", filled),
    "prefix": ("prefix", filled),
    "timeoutMs": ("timeout_s", milliseconds),
}

REPLICA_KEYS: Final[Mapping[str, tuple[str, Reader]]] = {
    "name": ("name", filled),
    "address": ("address", replica_address),
    "keys": ("keys", signing_keys),
}
