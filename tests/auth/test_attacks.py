"""Attacks on a sign-in, as RFC 9700 has them: none gets a token, a code or a secret."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from mcplens.auth.steps import Authorize
from tests.auth.protected import (
    Protected,
    changed,
    connect,
    consent,
    consent_at,
    failure,
    protected,
)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        pytest.param(lambda v: v.update(state="other"), "another state", id="injected code"),
        pytest.param(lambda v: v.pop("state"), "another state", id="no state"),
        pytest.param(lambda v: v.update(iss="https://evil.example"), "evil.example", id="mix-up"),
        pytest.param(lambda v: v.pop("iss"), "metadata promises iss", id="no issuer"),
        pytest.param(lambda v: v.pop("code"), "no code", id="no code"),
        pytest.param(lambda v: v.update(error="access_denied"), "was denied", id="denied"),
    ],
)
async def test_an_answer_that_is_not_for_this_sign_in_gets_no_token(
    server: Protected, change: Callable[[dict[str, str]], None], part: str
) -> None:
    error = await failure(server, sign_in=changed(change))
    assert error.details["sign_in_step"] == "authorization"
    assert part in error.message
    assert server.forms == []


async def test_a_configured_secret_is_not_sent_to_another_issuer(server: Protected) -> None:
    auth = {"clientId": "mine", "clientSecret": "a-secret-of-mine"}
    async with connect(server, sign_in=consent, auth=auth):
        pass
    server.valid.clear()
    server.refresh_tokens.clear()
    other = server.base.replace("127.0.0.1", "localhost")
    server.resource_says(authorization_servers=[other])
    server.issuer_says(issuer=other)
    count = len(server.forms)
    error = await failure(server, auth=auth)
    assert "was used with" in error.message
    assert all("refresh_token" in form for form in server.forms[count:])


async def test_a_code_of_another_sign_in_is_of_no_use(server: Protected) -> None:
    """Code injection (4.5): an attacker's code with our state; PKCE makes the server refuse it."""

    async def inject(request: Authorize) -> str:
        query = {k: v[0] for k, v in parse_qs(urlsplit(request.url).query).items()}
        theirs = urlencode({**query, "state": "theirs", "code_challenge": "another"})
        stolen = await consent_at(f"{server.base}/authorize?{theirs}")
        code = parse_qs(urlsplit(stolen).query)["code"][0]
        ours = {"code": code, "state": request.state, "iss": server.base}
        return f"{request.redirect_uri}?{urlencode(ours)}"

    error = await failure(server, sign_in=inject)
    assert error.details["sign_in_step"] == "token"
    assert "invalid_grant" in error.message
    assert server.valid == set()


async def test_a_code_of_one_server_is_not_sent_to_another(server: Protected) -> None:
    """Mix-up (4.4): an attacker's server sends the person to an honest one, to get its code.

    The honest one says who it is (RFC 9207), so the code is not sent to the attacker.
    """
    async with protected() as honest:
        server.issuer_says(authorization_endpoint=f"{honest.base}/authorize")
        error = await failure(server)
        assert len(honest.codes) == 1  # it was given, to us
    assert honest.base in error.message
    assert error.details["sign_in_step"] == "authorization"
    assert server.forms == []


async def test_a_token_is_sent_to_its_own_server_alone(server: Protected) -> None:
    async with connect(server, sign_in=consent):
        pass
    async with protected() as other:
        other.challenge = server.challenge.format(base=server.base)  # it points at our server
        error = await failure(other)
        assert error.details["sign_in_step"] == "protected_resource"
        assert set(other.authorizations) == {""}


async def test_metadata_cannot_pass_for_those_of_another_resource(server: Protected) -> None:
    """A server that names another as its resource would get a token for that one."""
    async with protected() as victim:
        server.resource_says(resource=victim.url, authorization_servers=[victim.base])
        error = await failure(server)
        assert victim.asked == []
    assert victim.url in error.message
