"""Signs the JWT by which a client proves itself (private_key_jwt, RFC 7523).

The signing library is imported when a key is used. Called by the runner.
"""

from __future__ import annotations

from mcplens.auth.problems import SignInProblem
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import SignAssertion


def sign_assertion(settings: AuthSettings, step: SignAssertion, wall: float) -> str:
    """Raises SignInProblem if the key cannot be used."""
    raise SignInProblem("private_key_jwt is not supported yet", expected="a clientSecret")
