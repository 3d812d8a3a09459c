"""Secrets in the bodies of a sign-in."""

import pytest

from mcplens.auth.masking import mask_body


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            b"grant_type=refresh_token&refresh_token=abc%2Fd&resource=https%3A%2F%2Fx%2Fmcp",
            "grant_type=refresh_token&refresh_token=‹masked, 5 characters›&resource=https://x/mcp",
        ),
        (
            b'{"access_token": "abcd", "scope": "a", "nested": [{"client_secret": "s"}]}',
            '{"access_token":"‹masked, 4 characters›","scope":"a",'
            '"nested":[{"client_secret":"‹masked, 1 characters›"}]}',
        ),
        (b"<html>code=1</html>", "<html>code=1</html>"),
        (b'{"issuer": "https://x"}', '{"issuer": "https://x"}'),
        (b"", ""),
    ],
)
def test_secrets_are_masked_and_all_else_stays(body: bytes, shown: str) -> None:
    assert mask_body(body).decode() == shown
