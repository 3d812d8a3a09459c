"""DPoP: a key of the client's, and a proof of it for each request (RFC 9449).

The signing library is imported when a key is used. Called by the runner for token requests, and by
the authorizer for those to the server.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from secrets import token_urlsafe
from typing import Any, Final

ALGORITHM: Final = "ES256"


def make_proof_key() -> dict[str, str]:
    """A new private key, as a JWK."""
    from joserfc.jwk import ECKey

    made = ECKey.generate_key("P-256").as_dict(private=True)
    return {name: str(value) for name, value in made.items()}


def make_proof(
    key: dict[str, str],
    method: str,
    url: str,
    wall: float,
    *,
    token: str | None = None,
    nonce: str | None = None,
) -> str:
    """The value of the header DPoP for one request; with a token, bound to it."""
    from joserfc import jwt
    from joserfc.jwk import ECKey

    private = ECKey.import_key({**key})
    claims: dict[str, Any] = {
        "jti": token_urlsafe(16),
        "htm": method,
        "htu": url.partition("#")[0].partition("?")[0],
        "iat": int(wall),
    }
    if token is not None:
        digest = hashlib.sha256(token.encode("ascii", "replace")).digest()
        claims["ath"] = urlsafe_b64encode(digest).rstrip(b"=").decode()
    if nonce is not None:
        claims["nonce"] = nonce
    public = {name: value for name, value in key.items() if name in ("kty", "crv", "x", "y")}
    header = {"typ": "dpop+jwt", "alg": ALGORITHM, "jwk": public}
    return jwt.encode(header, claims, private, algorithms=[ALGORITHM])
