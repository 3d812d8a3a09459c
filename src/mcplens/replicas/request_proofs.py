"""The proof by which a replica knows that a request comes from another one, and for whom.

A request of a client is passed on to the replica that owns what it is about; a replica also sends
requests of its own, to the endpoint of a server that runs at another one. Either proof signs
method, target, the digest of the body, the caller, both replicas, a number and a time, and of a
request that is passed on also the headers that count. So it is checked before anything of the body
is kept, and the body afterwards. A number is used once: the receiver remembers which it has seen of
each sender, in a window. Times may differ by a minute between machines. Pure; made by forwarder.py
and gateway/replica_authorizer.py, checked by gateway/received_forwards.py.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec

from mcplens.replicas.signatures import SigningKeys

PROOF_HEADER: Final = "mcplens-forward"
# Said by a replica that does not own what it was asked for.
NOT_OWNER_HEADER: Final = "Mcplens-Not-Owner"
# Headers of a request that are passed on; all are signed.
PASSED_HEADERS: Final = (
    "accept", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version",
    "mcp-method", "mcp-name",
)  # fmt: skip
_PARAMETER_HEADERS: Final = "mcp-param-"
# The clocks of two replicas may differ by a minute, and a request may be on its way for a while.
MAX_SKEW_S: Final = 90.0
# Numbers of a sender that may arrive in another order.
WINDOW: Final = 4_096
_MAX_PROOF: Final = 4_096


class Claims(msgspec.Struct, frozen=True, array_like=True):
    """What a proof says."""

    sender: str
    receiver: str  # the id of a replica, or its address
    number: int
    time: float  # wall time of the sender
    caller: str  # of the request that is passed on, or the name of the replica whose own it is
    body: bytes  # the SHA-256 of the request's body
    is_own: bool = False  # the replica's own request: nothing is passed on


class ProofRefused(Exception):
    """A proof is not valid; the text is for the audit log."""


class ForAnotherReplica(Exception):
    """A proof is valid, and for another replica: perhaps for the one that was here before."""


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a request that its owner needs; never the caller's token."""
    return {
        name: value
        for name, value in headers.items()
        if name in PASSED_HEADERS or name.startswith(_PARAMETER_HEADERS)
    }


class ProofMaker:
    """Signs requests to other replicas; one for each process, since it counts them."""

    def __init__(self, keys: tuple[str, ...], replica_id: str) -> None:
        self._keys = SigningKeys(keys, "forward")
        self._replica_id = replica_id
        self._number = 0

    def __repr__(self) -> str:
        return f"<ProofMaker of {self._replica_id}, {self._number} made>"

    def make(
        self,
        receiver: str,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        caller: str,
        now: float,
    ) -> str:
        """The proof of a request that is passed on."""
        claims = Claims(self._replica_id, receiver, self._next(), now, caller, _digest(body))
        return self._signed(claims, method, target, headers)

    def make_own(
        self, receiver: str, method: str, target: str, body: bytes, *, name: str, now: float
    ) -> str:
        """The proof of a request of the replica's own; its headers are not signed."""
        digest = _digest(body)
        claims = Claims(self._replica_id, receiver, self._next(), now, name, digest, is_own=True)
        return self._signed(claims, method, target, {})

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _signed(self, claims: Claims, method: str, target: str, headers: Mapping[str, str]) -> str:
        raw = msgspec.json.encode(claims)
        signature = self._keys.sign(raw, *_parts(method, target, headers))
        return f"{base64.urlsafe_b64encode(raw).decode()}.{signature}"


class ProofChecker:
    """Accepts requests of other replicas, once."""

    def __init__(self, keys: tuple[str, ...], replica_id: str) -> None:
        self._keys = SigningKeys(keys, "forward")
        self._replica_id = replica_id
        self._seen: dict[str, _Window] = {}

    def __repr__(self) -> str:
        return f"<ProofChecker of {self._replica_id}, {len(self._seen)} senders>"

    def read(
        self,
        proof: str,
        method: str,
        target: str,
        headers: Mapping[str, str],
        now: float,
        address: str | None = None,
    ) -> Claims:
        """What a proof says, by the head of its request; `address` is ours, as others know it.

        Raises:
            ProofRefused: it is not valid.
        """
        claims, raw, signature = _read(proof)
        parts = _parts(method, target, {} if claims.is_own else headers)
        if not self._keys.is_signed(signature, raw, *parts):
            raise ProofRefused("a request between replicas is not signed by a key of ours")
        if claims.is_own and claims.receiver != address:
            raise ProofRefused("a request between replicas is for another address")
        is_for_us = claims.is_own or claims.receiver == self._replica_id
        if is_for_us and not abs(now - claims.time) <= MAX_SKEW_S:
            raise ProofRefused("a request between replicas is too old, or a clock is wrong")
        return claims

    def take(self, claims: Claims, body: bytes, now: float) -> None:
        """Accept the request of a proof that was read, once.

        Raises:
            ProofRefused: it has another body, or was accepted before.
            ForAnotherReplica: it is for another one.
        """
        if not claims.is_own and claims.receiver != self._replica_id:
            raise ForAnotherReplica
        if _digest(body) != claims.body:
            raise ProofRefused("a request between replicas has another body than was signed")
        if not self._window(claims.sender, now).take(claims.number, now):
            raise ProofRefused("a request between replicas was sent again")

    def _window(self, sender: str, now: float) -> _Window:
        known = self._seen.get(sender)
        if known is None:
            # What was seen of a sender can be forgotten once it would be too old anyway.
            self._seen = {
                name: one for name, one in self._seen.items() if now - one.used_at < 2 * MAX_SKEW_S
            }
            known = self._seen[sender] = _Window()
        return known


class _Window:
    """Which of the latest numbers of a sender were used: a bit for each."""

    def __init__(self) -> None:
        self.used_at = 0.0
        self._highest = 0
        self._bits = 0

    def take(self, number: int, now: float) -> bool:
        self.used_at = max(self.used_at, now)
        if number > self._highest:
            shift = number - self._highest
            self._bits = ((self._bits << shift) | 1) & ((1 << WINDOW) - 1) if shift < WINDOW else 1
            self._highest = number
            return True
        behind = self._highest - number
        if number < 1 or behind >= WINDOW or self._bits >> behind & 1:
            return False
        self._bits |= 1 << behind
        return True


def _read(proof: str) -> tuple[Claims, bytes, str]:
    encoded, _, signature = proof.partition(".")
    try:
        if len(proof) > _MAX_PROOF:
            raise ValueError
        raw = base64.b64decode(encoded, altchars=b"-_", validate=True)
        return msgspec.json.decode(raw, type=Claims), raw, signature
    except (ValueError, binascii.Error):
        raise ProofRefused("a request between replicas has no proof that can be read") from None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


def _parts(method: str, target: str, headers: Mapping[str, str]) -> list[bytes]:
    counted = sorted(passed_headers(headers).items())
    return [
        method.encode(),
        target.encode("utf-8", "surrogateescape"),
        msgspec.json.encode(counted),
    ]
