"""What can be wrong in a sign-in, without any I/O; the runner turns it into our error tree."""

from __future__ import annotations

from typing import Final

# What to do about an error code of OAuth (RFC 6749, 4.1.2.1 and 5.2; RFC 7591; RFC 8707).
_HINTS: Final = {
    "invalid_client": "check clientId and clientSecret in the auth block, or forget the "
    "registration and sign in again",
    "invalid_client_metadata": "enter a client ID that is registered there",
    "invalid_dpop_proof": "check that the clocks of both machines agree, and sign in again",
    "invalid_grant": "sign in again: codes and refresh tokens expire, and most work only once",
    "invalid_redirect_uri": "enter a client ID that is registered there, or set a redirectUri "
    "that the authorization server allows",
    "invalid_scope": "ask for other scopes: change the scope, or scopes in the auth block",
    "invalid_target": "check that the authorization server knows this resource, or change it",
    "unauthorized_client": "have the authorization server allow this client the grant, or enter "
    "another client ID",
    "unsupported_grant_type": "check the grant of the auth block: the authorization server does "
    "not offer it",
}
_ANY_ERROR: Final = (
    "try again; if it fails again, ask whoever runs the authorization server what this error means"
)


class SignInProblem(Exception):
    """A sign-in cannot go on: what was expected, what came, and what to do, for a person."""

    def __init__(self, message: str, *, expected: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.hint = hint


class NoMetadata(SignInProblem):
    """An authorization server has no metadata at all."""


class Declined(Exception):
    """The person does not want to sign in."""


class RefusedByServer(SignInProblem):
    """The authorization server answered with an OAuth error (RFC 6749, 5.2)."""

    def __init__(self, message: str, error: str, expected: str) -> None:
        super().__init__(message, expected=expected, hint=_HINTS.get(error, _ANY_ERROR))
        self.error = error
