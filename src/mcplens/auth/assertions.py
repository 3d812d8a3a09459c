"""Signs the JWT by which a client proves itself (private_key_jwt, RFC 7523); reads one of others.

The signing library is imported when a key is used. Called by the runner.
"""

from __future__ import annotations

import os
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

from mcplens.auth.problems import SignInProblem
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import SignAssertion
from mcplens.known_secrets import known_secrets

if TYPE_CHECKING:
    from joserfc.jwk import ECKey, OKPKey, RSAKey

# How long a proof is good; it is used at once.
_LIFETIME_S: Final = 300
_MAX_FILE_BYTES: Final = 64 * 1024
_OF_CURVE: Final = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}
_EXPECTED: Final = "a private key in PEM format: RSA, EC or Ed25519"


def sign_assertion(settings: AuthSettings, step: SignAssertion, wall: float) -> str:
    """A JWT for the token endpoint; its audience is the issuer.

    Raises:
        SignInProblem: the key cannot be used.
    """
    from joserfc import jwt
    from joserfc.errors import JoseError

    key = _read_key(settings.private_key_file)
    algorithm = settings.signing_algorithm or _algorithm(key)
    claims = {
        "iss": step.client_id,
        "sub": step.client_id,
        "aud": step.audience,
        "jti": token_urlsafe(16),
        "iat": int(wall),
        "exp": int(wall) + _LIFETIME_S,
    }
    try:
        return jwt.encode({"alg": algorithm}, claims, key, algorithms=[algorithm])
    except (JoseError, ValueError) as problem:
        raise SignInProblem(
            f"{settings.private_key_file} cannot sign with {algorithm}: {problem}",
            expected="a signingAlgorithm that suits the key",
            hint="leave signingAlgorithm out, or set one that suits the key",
        ) from None


def read_subject_token(path: str | None) -> str:
    """The token in the `subjectTokenFile`, read anew each time: platforms renew it.

    Raises:
        SignInProblem: it cannot be read.
    """
    token = _read_file(path, "subjectTokenFile", "a file with a JWT").decode("utf-8", "replace")
    known_secrets.learn_issued(token.strip())
    return token.strip()


def _read_file(path: str | None, key: str, expected: str) -> bytes:
    if path is None:
        message, hint = f"the auth block has no {key}", f"set {key} to the path of the file"
        raise SignInProblem(message, expected=expected, hint=hint)
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError("it is not a file")  # to open a pipe would hold up everything
        with open(os.path.expanduser(path), "rb") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError as problem:
        text = f"{path} cannot be read: {problem.strerror or problem}"
        hint = f"check {key} in the auth block, and who may read the file"
        raise SignInProblem(text, expected=expected, hint=hint) from None


def _read_key(path: str | None) -> RSAKey | ECKey | OKPKey:
    from joserfc.errors import JoseError
    from joserfc.jwk import ECKey, OKPKey, RSAKey

    pem = _read_file(path, "privateKeyFile", _EXPECTED)
    for kind in (ECKey, RSAKey, OKPKey):
        try:
            key = kind.import_key(pem)
        except (JoseError, ValueError, TypeError, AttributeError):
            continue
        if key.is_private:
            return key
    hint = "set privateKeyFile to a private key in PEM or JWK"
    raise SignInProblem(f"{path} is not a key to sign with", expected=_EXPECTED, hint=hint)


def _algorithm(key: RSAKey | ECKey | OKPKey) -> str:
    if key.key_type == "RSA":
        return "RS256"
    if key.key_type == "OKP":
        return "Ed25519"
    return _OF_CURVE.get(str(key.as_dict(private=False).get("crv")), "ES256")
