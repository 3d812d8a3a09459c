"""What can be wrong in a sign-in, without any I/O; the runner turns it into our error tree."""

from __future__ import annotations


class SignInProblem(Exception):
    """A sign-in cannot go on: what was expected and what came, in words for a person."""

    def __init__(self, message: str, *, expected: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.hint = hint


class NoMetadata(SignInProblem):
    """An authorization server has no metadata at all."""


class Declined(SignInProblem):
    """The person does not want to sign in."""


class RefusedByServer(SignInProblem):
    """The authorization server answered with an OAuth error (RFC 6749, 5.2)."""

    def __init__(self, message: str, error: str, expected: str) -> None:
        super().__init__(message, expected=expected)
        self.error = error
