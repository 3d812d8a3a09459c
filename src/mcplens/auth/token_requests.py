"""Requests to the token endpoint, which end every flow; refreshing and revoking what they gave.

Pure. Owns the client's proof in a request, `resource`, and the key that a token is bound to (DPoP).
Called by the flows and the authorizer.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final
from urllib.parse import urlencode

from msgspec.structs import replace

from mcplens.auth.addresses import check_address
from mcplens.auth.clients import Client, prove_client
from mcplens.auth.discovery import Discovered, fetch
from mcplens.auth.flow import Flow, SignInWish
from mcplens.auth.metadata import AuthorizationServer
from mcplens.auth.problems import SignInProblem
from mcplens.auth.steps import Fetch, Fetched, MakeProofKey, Note, SignAssertion, SignIn, Step
from mcplens.auth.tokens import Tokens, read_tokens, refusal

_FORM: Final = {
    "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"
}  # fmt: skip


def ask_for_token(
    wish: SignInWish,
    found: Discovered,
    client: Client,
    form: dict[str, str],
    scopes: tuple[str, ...],
    *,
    has_scope: bool = True,
) -> Flow:
    """The token request, which ends every flow; `resource` is in each (RFC 8707)."""
    form["resource"] = found.resource
    if scopes and has_scope:
        form["scope"] = " ".join(scopes)
    key = yield from _proof_key(wish, found.server)
    answer = yield from send_token_request("token", found.server, client, form, key)
    tokens = _read(wish, answer, scopes)
    if key is not None and tokens.token_type.lower() != "dpop":
        raise SignInProblem(
            f"the token is of the type {tokens.token_type}, not bound to our key",
            expected="token_type DPoP",
            hint="have the authorization server bind tokens to keys, or set dpop to false",
        )
    yield _granted("token", tokens)
    return SignIn(
        server=found.server,
        client=client,
        resource=found.resource,
        requested=scopes,
        tokens=tokens,
        proof_key=key,
    )


def pasted_token(server_url: str, token: str) -> SignIn:
    """A token that a person had already, as a sign-in that nobody can refresh or revoke.

    Raises:
        SignInProblem: the server's address is not safe to send it to.
    """
    check_address(server_url, "the server's address")
    return SignIn(
        server=AuthorizationServer(issuer="", token_endpoint=""),
        client=Client(issuer="", client_id=""),
        resource=server_url,
        requested=(),
        tokens=Tokens(access_token=token),
    )


def refresh(wish: SignInWish, old: SignIn) -> Flow:
    """A new access token for the refresh token of an earlier sign-in."""
    assert old.tokens.refresh_token is not None
    form = {
        "grant_type": "refresh_token",
        "refresh_token": old.tokens.refresh_token,
        "resource": old.resource,
    }
    answer = yield from send_token_request("refresh", old.server, old.client, form, old.proof_key)
    tokens = _read(wish, answer, old.tokens.scopes, old.tokens.refresh_token)
    yield _granted("refresh", tokens)
    return replace(old, tokens=tokens)


def revoke(old: SignIn) -> Generator[Step, object, bool]:
    """Tell the server that the tokens are no longer needed; False where it offers no way."""
    endpoint = old.server.revocation_endpoint
    if endpoint is None:
        return False
    refresh_token = old.tokens.refresh_token
    form = {
        "token": refresh_token or old.tokens.access_token,
        "token_type_hint": "access_token" if refresh_token is None else "refresh_token",
    }
    request = yield from _proved("revocation", endpoint, old.server, old.client, form)
    answer = yield from fetch(request)
    if answer.status != 200:
        raise refusal(answer.status, answer.body, "the revocation", "HTTP 200")
    yield Note("revocation", "revoked")
    return True


def send_token_request(
    step: str,
    server: AuthorizationServer,
    client: Client,
    form: dict[str, str],
    proof_key: dict[str, str] | None = None,
) -> Generator[Step, object, Fetched]:
    """Send a token request with the client's proof in it, and give its answer."""
    request = yield from _proved(step, server.token_endpoint, server, client, form)
    return (yield from fetch(replace(request, proof_key=proof_key)))


def _proved(
    step: str, url: str, server: AuthorizationServer, client: Client, form: dict[str, str]
) -> Generator[Step, object, Fetch]:
    """A request with the client's proof in it."""
    assertion = None
    if client.auth_method == "private_key_jwt":
        signed = yield SignAssertion(step, client.client_id, server.issuer)
        assertion = signed if isinstance(signed, str) else None
    headers = dict(_FORM)
    prove_client(client, form, headers, assertion)
    return Fetch(step, "POST", url, headers, urlencode(form).encode())


def _proof_key(
    wish: SignInWish, server: AuthorizationServer
) -> Generator[Step, object, dict[str, str] | None]:
    """A key for DPoP, if it is configured or the server asks for it."""
    is_asked = wish.challenge is not None and wish.challenge.scheme == "dpop"
    if not (wish.settings.dpop or is_asked):
        return None
    if "ES256" not in server.dpop_algorithms:
        listed = ", ".join(server.dpop_algorithms) or "nothing"
        raise SignInProblem(
            f"dpop_signing_alg_values_supported lists {listed}",
            expected="ES256, for DPoP",
            hint="have the authorization server list ES256, or set dpop to false",
        )
    key = yield MakeProofKey("token")
    assert isinstance(key, dict)
    return key


def _read(
    wish: SignInWish, answer: Fetched, scopes: tuple[str, ...], previous: str | None = None
) -> Tokens:
    return read_tokens(
        answer.status, answer.body, wall=wish.wall(), requested=scopes, previous=previous
    )


def _granted(step: str, tokens: Tokens) -> Note:
    facts = {
        "scopes": list(tokens.scopes),
        "expiresAt": tokens.expires_at,
        "hasRefreshToken": tokens.refresh_token is not None,
    }
    scopes = f" for {' '.join(tokens.scopes)}" if tokens.scopes else ""
    return Note(step, f"a {tokens.token_type} token{scopes}", facts)
