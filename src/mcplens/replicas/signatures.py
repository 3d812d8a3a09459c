"""Signatures of what replicas say: HMAC-SHA256 by keys that all of them have.

The first key signs and all verify, so that keys can be replaced one replica after another. Each
purpose has a key of its own, derived from the configured one: a signature for one purpose says
nothing for another. Used by owned_ids.py, request_proofs.py and replica.py.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Literal

Purpose = Literal["session", "task", "state", "forward", "presence"]


class SigningKeys:
    """The keys for one purpose."""

    def __init__(self, keys: tuple[str, ...], purpose: Purpose) -> None:
        self._keys = tuple(
            hmac.digest(key.encode(), f"mcplens {purpose}".encode(), hashlib.sha256) for key in keys
        )

    def __repr__(self) -> str:
        return f"<SigningKeys {len(self._keys)}>"

    def sign(self, *parts: bytes) -> str:
        return _digest(self._keys[0], parts)

    def is_signed(self, signature: str, *parts: bytes) -> bool:
        given = signature.encode("utf-8", "surrogateescape")
        found = False
        for key in self._keys:  # all of them, so that the time tells nothing
            found |= hmac.compare_digest(_digest(key, parts).encode(), given)
        return found


def _digest(key: bytes, parts: tuple[bytes, ...]) -> str:
    # With their lengths: no part can pass for a piece of its neighbour.
    joined = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    raw = hmac.digest(key, joined, hashlib.sha256)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
