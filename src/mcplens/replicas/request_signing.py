"""Signatures of HTTP requests between replicas: who sends this very request, to whom, and when.

An HMAC over sender, receiver, time, nonce, method, path and digest of the body, by the keys of
`gateway.replica`. A request of another time, one that came before, and one for another replica are
refused. Pure but for the clock; used by gateway/replica_access.py and gateway/singletons.py.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from mcplens.clock import Clock

HEADER: Final = "Mcplens-Replica"
_SCHEME: Final = "v1"
# Clocks of replicas may differ by a minute, and a request takes a while.
ALLOWED_S: Final = 120.0
# Nonces that are remembered; at more requests than this within the time, the oldest are forgotten.
_MOST_NONCES: Final = 200_000


class InvalidSignature(Exception):
    """A request that does not come from a replica, or not now."""


def _mac(key: str, parts: Sequence[str], body: bytes) -> str:
    text = "\n".join(["mcplens-replica", _SCHEME, *parts, hashlib.sha256(body).hexdigest()])
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


class RequestSigner:
    """Signs the requests of one replica."""

    def __init__(self, keys: Sequence[str], name: str, clock: Clock) -> None:
        self._key = keys[0]
        self._name = base64.urlsafe_b64encode(name.encode()).decode()
        self._clock = clock

    def __repr__(self) -> str:
        return "<RequestSigner>"

    def sign(self, receiver: str, method: str, path: str, body: bytes) -> str:
        """The value of the header for a request to the replica at this address."""
        given = [self._name, f"{self._clock.wall():.3f}", secrets.token_hex(12)]
        mac = _mac(self._key, [*given, receiver, method, path], body)
        return " ".join([_SCHEME, *given, mac])


class RequestVerifier:
    """Verifies requests to one replica."""

    def __init__(self, keys: Sequence[str], clock: Clock) -> None:
        self._keys = tuple(keys)
        self._clock = clock
        self._seen: OrderedDict[str, float] = OrderedDict()  # nonces, and when they may be used

    def __repr__(self) -> str:
        return f"<RequestVerifier {len(self._seen)} nonces>"

    def verify(self, value: str, receiver: str, method: str, path: str, body: bytes) -> str:
        """The name of the replica that signed a request.

        Raises:
            InvalidSignature: it is not signed by a key that we have, too old, or a replay.
        """
        try:
            scheme, name, time, nonce, mac = value.split(" ")
            wall = float(time)
            sender = base64.urlsafe_b64decode(name).decode()
        except ValueError:
            raise InvalidSignature("the signature cannot be read") from None
        parts = [name, time, nonce, receiver, method, path]
        matching = [key for key in self._keys if hmac.compare_digest(_mac(key, parts, body), mac)]
        if scheme != _SCHEME or not matching:
            raise InvalidSignature("the signature is not that of a replica")
        now = self._clock.wall()
        if not abs(now - wall) <= ALLOWED_S:
            text = f"it was signed {abs(now - wall):.0f} s ago or from now: look at the clocks"
            raise InvalidSignature(text)
        self._forget(now)
        if nonce in self._seen:
            raise InvalidSignature("the request came before")
        self._seen[nonce] = now
        return sender

    def _forget(self, now: float) -> None:
        while self._seen:
            nonce, seen_at = next(iter(self._seen.items()))
            if now - seen_at <= 2 * ALLOWED_S and len(self._seen) < _MOST_NONCES:
                return
            del self._seen[nonce]
