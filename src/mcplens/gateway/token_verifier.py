"""Verifies access tokens of an identity provider (JWT, RFC 9068): of whom, and for which audience.

Signatures by public keys alone, of the algorithms listed here; issuer, audience, times with a
minute of tolerance, the type of the token. What was verified is remembered until the keys change.
Called by access.py; joserfc does the cryptography.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from joserfc.errors import JoseError, SecurityWarning
from joserfc.jws import CompactSignature, JWSRegistry, extract_compact, validate_compact
from msgspec import Raw

from mcplens.clock import Clock
from mcplens.config.access_keys import OAuthSettings
from mcplens.gateway import callers
from mcplens.gateway.issuer_keys import FRESH_S, IssuerKeys, KeysNeeded
from mcplens.gateway.wire import object_of

# The clocks of the provider and of this machine may differ by so much.
SKEW_S: Final = 60.0
# A token travels in a header.
MAX_TOKEN: Final = 16 * 1024
# Tokens whose verification is remembered: a signature costs as much as relaying a call.
_KEPT: Final = 2_048
_MAX_SUBJECT: Final = 255
# Of keys that fit a token without a key id, so many are tried.
_MAX_TRIES: Final = 5
# Asymmetric ones only: the keys are public. By algorithm, the type of key.
_ALGORITHMS: Final = {
    "RS256": "RSA", "RS384": "RSA", "RS512": "RSA", "PS256": "RSA", "PS384": "RSA", "PS512": "RSA",
    "ES256": "EC", "ES384": "EC", "ES512": "EC", "EdDSA": "OKP", "Ed25519": "OKP",
}  # fmt: skip
# RFC 9068 says at+jwt; many providers say JWT, or nothing.
_TYPES: Final = ("at+jwt", "application/at+jwt", "jwt", None)
# Claims that only ID tokens have (OpenID Connect Core, 3.1.3.6 and 3.3.2.11).
_OF_ID_TOKENS: Final = ("at_hash", "c_hash")


class TokenProblem(Exception):
    """A token that is not accepted; the text is for its sender and for the audit log."""


class KeysUnavailable(Exception):
    """The keys cannot be fetched now, so no token can be verified."""


class VerifiedToken(NamedTuple):
    """What a token says, after its signature was verified; `expires_at` is a wall time."""

    caller: str
    audiences: frozenset[str]
    scopes: frozenset[str]
    expires_at: float
    verified_at: float  # monotonic


class TokenVerifier:
    """Verifies the tokens of one issuer."""

    def __init__(
        self, settings: OAuthSettings, clock: Clock, on_changed: Callable[[], None]
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._on_changed = on_changed
        self._known: dict[bytes, VerifiedToken] = {}
        self._registry = JWSRegistry(algorithms=list(_ALGORITHMS), strict_check_header=False)
        self.keys = IssuerKeys(settings, clock, self._forget)

    def __repr__(self) -> str:
        return f"<TokenVerifier of {self.settings.issuer}, {len(self._known)} known>"

    def _forget(self) -> None:
        """Keys have changed: a token of a former one may not count any more."""
        self._known.clear()
        self._on_changed()

    async def close(self) -> None:
        await self.keys.close()

    def verify(self, token: str) -> VerifiedToken:
        """What a token says, if it may be believed.

        Raises:
            TokenProblem: it may not.
            KeysNeeded: the keys have to be fetched first.
            KeysUnavailable: they could not be, just now.
        """
        if len(token) > MAX_TOKEN:
            raise TokenProblem("the token is too long")
        digest = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        known = self._known.get(digest)
        if known is not None and self._clock.monotonic() - known.verified_at < FRESH_S:
            self._check_expiry(known.expires_at)
            return known
        self.keys.refresh_soon()
        found = self._verify(token)
        if len(self._known) >= _KEPT:
            self._known.clear()
        self._known[digest] = found
        return found

    def _verify(self, token: str) -> VerifiedToken:
        try:
            signed = extract_compact(token.encode("ascii"), registry=self._registry)
        except (JoseError, ValueError):
            raise TokenProblem("the token is not a signed JWT") from None
        header = signed.headers()
        algorithm, kind = _algorithm_of(header)
        typ = header.get("typ")
        if (typ.lower() if isinstance(typ, str) else typ) not in _TYPES:
            raise TokenProblem(f"the token is of the type {str(typ)[:40]!r}, not an access token")
        self._check_signature(signed, header.get("kid"), algorithm, kind)
        return self._check_claims(object_of(Raw(signed.payload or b"")))

    def _check_signature(
        self, signed: CompactSignature, key_id: object, algorithm: str, kind: str
    ) -> None:
        if not self.keys.are_usable:
            raise KeysNeeded if self.keys.may_come else KeysUnavailable
        if key_id is not None and not isinstance(key_id, str):
            raise TokenProblem("the token names its key by something that is not a text")
        keys = self.keys.find(key_id, algorithm, kind)
        if not keys:
            if self.keys.may_come:
                raise KeysNeeded  # they may have been rotated just now
            raise TokenProblem("the token is signed with a key that the issuer does not list")
        for key in keys[:_MAX_TRIES]:
            try:
                with warnings.catch_warnings():
                    # Of EdDSA, the name that most providers still use for Ed25519.
                    warnings.simplefilter("ignore", SecurityWarning)
                    if validate_compact(signed, key, registry=self._registry):
                        return
            except JoseError:
                continue
        raise TokenProblem("the signature of the token is wrong")

    def _check_claims(self, claims: dict[str, Any]) -> VerifiedToken:
        if claims.get("iss") != self.settings.issuer:
            raise TokenProblem("the token is of another issuer")
        if any(name in claims for name in _OF_ID_TOKENS):
            raise TokenProblem("the token is an ID token, not an access token")
        if claims.get("cnf") is not None:
            raise TokenProblem("the token is bound to a key, which is not supported here")
        expires_at, now = _time(claims, "exp"), self._clock.wall()
        if expires_at is None:
            raise TokenProblem("the token does not say when it expires")
        self._check_expiry(expires_at)
        if any((_time(claims, name) or 0.0) > now + SKEW_S for name in ("nbf", "iat")):
            raise TokenProblem("the token is not valid yet")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= _MAX_SUBJECT:
            raise TokenProblem("the token does not say whose it is")
        return VerifiedToken(
            callers.of_user(self.settings.issuer, subject),
            frozenset(_audiences(claims.get("aud"))),
            frozenset(_scopes(claims)),
            expires_at,
            self._clock.monotonic(),
        )

    def _check_expiry(self, expires_at: float) -> None:
        if self._clock.wall() >= expires_at + SKEW_S:
            raise TokenProblem("the token has expired")


def _algorithm_of(header: dict[str, Any]) -> tuple[str, str]:
    algorithm = header.get("alg")
    kind = _ALGORITHMS.get(algorithm) if isinstance(algorithm, str) else None
    if kind is None:
        raise TokenProblem(f"the algorithm {str(algorithm)[:40]!r} is not accepted")
    return str(algorithm), kind


def _time(claims: dict[str, Any], name: str) -> float | None:
    """A time among the claims.

    Raises:
        TokenProblem: there is one that is not a time.
    """
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        raise TokenProblem(f"{name} of the token is not a time")
    return float(value)


def _audiences(value: object) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, str)]


def _scopes(claims: dict[str, Any]) -> list[str]:
    """The scopes of a token: `scope` (RFC 9068), or `scp` as some providers have it."""
    found: list[str] = []
    for value in (claims.get("scope"), claims.get("scp")):
        if isinstance(value, str):
            found += value.split()
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, str)]
    return found
