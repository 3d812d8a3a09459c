"""Tokens: the answer of a token endpoint, their expiry, and what a JWT says.

Pure. Called by the flow, the authorizer and the surfaces.
"""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec

from mcplens.auth.metadata import read_object
from mcplens.auth.problems import RefusedByServer, SignInProblem

# A token that ends within this time is taken for expired: it has a way to travel.
EXPIRY_LEEWAY_S: Final = 30.0
_QUOTED_CHARACTERS: Final = 300
_TYPES: Final = ("bearer", "dpop")


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """What a token endpoint gave us; times are wall-clock seconds."""

    access_token: str
    token_type: str = "Bearer"
    refresh_token: str | None = None
    scopes: tuple[str, ...] = ()
    expires_at: float | None = None

    def __repr__(self) -> str:
        return f"<Tokens {self.token_type} {' '.join(self.scopes)}>"

    @property
    def header(self) -> str:
        """The value of the Authorization header."""
        scheme = "DPoP" if self.token_type.lower() == "dpop" else "Bearer"
        return f"{scheme} {self.access_token}"

    def is_expired(self, wall: float) -> bool:
        return self.expires_at is not None and wall >= self.expires_at - EXPIRY_LEEWAY_S


def read_tokens(
    status: int, body: bytes, *, wall: float, requested: tuple[str, ...], previous: str | None
) -> Tokens:
    """The tokens of an answer; `previous` is the refresh token that stays unless replaced.

    Raises:
        SignInProblem: the server refused, or the answer is no token.
    """
    if status != 200:
        raise refusal(status, body)
    found = read_object(body, "the answer of the token endpoint")
    token, kind = found.get("access_token"), found.get("token_type", "Bearer")
    if not isinstance(token, str) or not token or any(ord(each) < 33 for each in token):
        raise SignInProblem(
            "the answer has no usable access_token",
            expected="access_token",
            hint="have the token endpoint send one (RFC 6749, 5.1)",
        )
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise SignInProblem(
            f"the token is of the type {str(kind)[:40]!r}, which we cannot send",
            expected="token_type Bearer",
            hint="have the authorization server issue Bearer or DPoP tokens for this client",
        )
    refresh = found.get("refresh_token")
    scope = found.get("scope")
    return Tokens(
        access_token=token,
        token_type=kind,
        refresh_token=refresh if isinstance(refresh, str) and refresh else previous,
        scopes=tuple(scope.split()) if isinstance(scope, str) else requested,
        expires_at=_expiry(found.get("expires_in"), wall),
    )


def read_exchanged(status: int, body: bytes, kind: str) -> str:
    """The token of an exchange (RFC 8693), which must be of this kind."""
    if status != 200:
        raise refusal(status, body)
    found = read_object(body, "the answer to the token exchange")
    token = found.get("access_token")
    if not isinstance(token, str) or found.get("issued_token_type") != kind:
        came = str(found.get("issued_token_type"))[:_QUOTED_CHARACTERS]
        raise SignInProblem(
            f"the issued token is of the type {came!r}",
            expected=kind,
            hint="check that the identity provider supports this grant for this client",
        )
    return token


def refusal(
    status: int, body: bytes, what: str = "the token request", expected: str = "a token"
) -> SignInProblem:
    """What an error answer of an authorization server means (RFC 6749, 5.2)."""
    try:
        found = read_object(body, "the answer")
    except SignInProblem as problem:
        came = f"{what} was answered with HTTP {status}: {problem.message}"
        is_theirs = status >= 500
        hint = (
            "try again later: the authorization server has a fault" if is_theirs else problem.hint
        )
        return SignInProblem(came, expected="HTTP 200 with JSON", hint=hint)
    error = _quoted(found.get("error", ""))
    description = _quoted(found.get("error_description", ""))
    text = f"{what} was answered with HTTP {status}"
    text += f": {error}" if error else ""
    text += f" ({description})" if description else ""
    return RefusedByServer(text, error, expected)


def _quoted(value: object) -> str:
    """A member of an answer as it came, and not too much of it."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:_QUOTED_CHARACTERS]


def _expiry(value: object, wall: float) -> float | None:
    if isinstance(value, str) and value.isdecimal():
        value = int(value)  # seen in the wild
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e10:
        return None
    return wall + value


def jwt_claims(token: str) -> dict[str, Any] | None:
    """What a JWT says, unverified, for a person to look at; None for an opaque token."""
    return jwt_part(token, 1)


def jwt_part(token: str, place: int) -> dict[str, Any] | None:
    """The header (0) or the claims (1) of a JWT, unverified; None for an opaque token."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        padded = parts[place] + "=" * (-len(parts[place]) % 4)
        value = msgspec.json.decode(base64.urlsafe_b64decode(padded))
    except (ValueError, msgspec.DecodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
