"""A person signs in with a browser: authorization code with PKCE, as MCP has it.

Pure. PKCE with S256, `state`, `iss` (RFC 9207), `resource` in both requests (RFC 8707). Called by
the authorizer; by the gateway in two parts, since the browser may come back to another replica.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Generator
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from msgspec.structs import replace

from mcplens.auth.client_identity import identify, register
from mcplens.auth.clients import Client
from mcplens.auth.discovery import Discovered
from mcplens.auth.flow import Flow, SignInWish, find_authorization_server, wanted_scopes
from mcplens.auth.metadata import AuthorizationServer
from mcplens.auth.problems import RefusedByServer, SignInProblem
from mcplens.auth.reviews import review_client, review_request
from mcplens.auth.steps import Authorize, Keep, Note, Step
from mcplens.auth.token_requests import ask_for_token

# The server no longer knows a client that was registered.
_CLIENT_REFUSED: Final = ("invalid_client", "unauthorized_client")


class PreparedSignIn(msgspec.Struct, frozen=True):
    """A sign-in up to the browser's departure: what is needed to go on when it comes back."""

    found: Discovered
    client: Client
    request: Authorize
    verifier: str

    def __repr__(self) -> str:  # the verifier is a secret
        return f"<PreparedSignIn at {self.request.issuer}>"


def prepare_sign_in(wish: SignInWish) -> Generator[Step, object, PreparedSignIn]:
    """The part of a sign-in before the browser; `finish_sign_in`, anywhere, is the other one.

    Raises:
        SignInProblem: a step failed.
    """
    wish, found, client, _ = yield from _find_client(wish)
    return (yield from _prepare(wish, found, client))


def finish_sign_in(wish: SignInWish, prepared: PreparedSignIn, returned: str) -> Flow:
    """The part after the browser came back to `returned`; a client that is refused is forgotten.

    Raises:
        SignInProblem: a step failed.
    """
    try:
        return (yield from _redeem(wish, prepared, returned))
    except RefusedByServer as problem:
        if problem.error in _CLIENT_REFUSED and prepared.client.origin == "registered":
            yield Keep("client", prepared.client, is_refused=True)
        raise


def _find_client(
    wish: SignInWish,
) -> Generator[Step, object, tuple[SignInWish, Discovered, Client, bool]]:
    """Who protects the server, and who we are there; whether that was recalled."""
    found = yield from find_authorization_server(wish)
    _check_pkce(found.server)
    settings = yield from review_client(wish.settings)
    wish = replace(wish, settings=settings)
    client, is_recalled = yield from identify(wish, found.server)
    return wish, found, client, is_recalled


def authorization_code(wish: SignInWish) -> Flow:
    """A person signs in with a browser.

    Raises:
        SignInProblem: a step failed.
    """
    wish, found, client, is_recalled = yield from _find_client(wish)
    try:
        return (yield from _with_client(wish, found, client, is_new=not is_recalled))
    except RefusedByServer as problem:
        if not is_recalled or problem.error not in _CLIENT_REFUSED:
            raise
    yield Keep("client", client, is_refused=True)
    yield Note("client", f"{client.client_id} is no longer accepted", is_done=False)
    client = yield from register(wish, found.server)
    return (yield from _with_client(wish, found, client, is_new=True))


def _check_pkce(server: AuthorizationServer) -> None:
    if server.authorization_endpoint is None:
        raise SignInProblem(
            "the metadata has no authorization_endpoint",
            expected="authorization_endpoint",
            hint="set grant in the auth block, if this server is for clients without a person",
        )
    if server.is_assumed or "S256" in (server.challenge_methods or ()):
        return
    listed = "nothing" if server.challenge_methods is None else ", ".join(server.challenge_methods)
    raise SignInProblem(
        f"code_challenge_methods_supported lists {listed or 'nothing'}",
        expected="S256: without PKCE a stolen code could be used",
        hint="have the authorization server list S256 in its metadata",
    )


def _with_client(wish: SignInWish, found: Discovered, client: Client, *, is_new: bool) -> Flow:
    prepared = yield from _prepare(wish, found, client)
    returned = yield prepared.request
    assert isinstance(returned, str)
    signed_in = yield from _redeem(wish, prepared, returned)
    if is_new and client.origin == "entered":
        yield Keep("token", prepared.client)  # only now: a mistyped one would fail each time
    return signed_in


def _prepare(
    wish: SignInWish, found: Discovered, client: Client
) -> Generator[Step, object, PreparedSignIn]:
    scopes = wanted_scopes(wish, found, is_offline=True)
    found, client, scopes = yield from review_request(found, client, scopes)
    verifier, state = wish.random_text(), wish.random_text()
    request = _authorization_request(found, client, scopes, verifier, state)
    return PreparedSignIn(found, client, request, verifier)


def _redeem(wish: SignInWish, prepared: PreparedSignIn, returned: str) -> Flow:
    found, request = prepared.found, prepared.request
    code = _read_return(returned, request, found.server)
    yield Note("authorization", f"{found.server.issuer} sent a code")
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": request.redirect_uri,
        "code_verifier": prepared.verifier,
    }
    return (
        yield from ask_for_token(
            wish, found, prepared.client, form, request.scopes, has_scope=False
        )
    )


def _authorization_request(
    found: Discovered, client: Client, scopes: tuple[str, ...], verifier: str, state: str
) -> Authorize:
    digest = hashlib.sha256(verifier.encode()).digest()
    assert client.redirect_uri is not None
    assert found.server.authorization_endpoint is not None
    query = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": client.redirect_uri,
        "state": state,
        "code_challenge": urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "resource": found.resource,
    }
    if scopes:
        query["scope"] = " ".join(scopes)
    if "offline_access" in scopes:
        query["prompt"] = "consent"  # OpenID Connect, 11: without it, no refresh token
    endpoint = found.server.authorization_endpoint
    mark = "&" if urlsplit(endpoint).query else "?"
    return Authorize(
        "authorization",
        f"{endpoint}{mark}{urlencode(query)}",
        client.redirect_uri,
        state,
        found.server.issuer,
        client.client_id,
        scopes,
        found.resource,
    )


def _read_return(returned: str, request: Authorize, server: AuthorizationServer) -> str:
    """The code in the URL that the browser came back to.

    The checks come in this order so that nothing of an answer is believed that another server, or
    another sign-in, may have made (RFC 9700, 4.4 and 4.7; RFC 9207).
    """
    query = urlsplit(returned).query if "://" in returned else returned.lstrip("?")
    values = {name: all_of[-1] for name, all_of in parse_qs(query).items()}
    if not hmac.compare_digest(values.get("state", "").encode(), request.state.encode()):
        raise SignInProblem(
            "the answer carries another state, so it is not an answer to this sign-in",
            expected="the state that was sent along",
            hint="sign in again; the answer may be that of an older tab",
        )
    issuer = values.get("iss")
    if issuer is None and server.sends_issuer:
        raise SignInProblem(
            "the answer does not say who made it, though the metadata promises iss",
            expected=f"iss={server.issuer}",
            hint="have the authorization server send iss, or no longer promise it "
            "(authorization_response_iss_parameter_supported)",
        )
    if issuer is not None and issuer != server.issuer:
        raise SignInProblem(
            f"the answer comes from {issuer[:200]!r}",
            expected=f"an answer from {server.issuer!r}, exactly",
            hint="sign in again only if you trust both: one server may be posing as the other",
        )
    if error := values.get("error"):
        description = values.get("error_description", "")[:300]
        if error == "access_denied":
            text = f"the sign-in was denied{f': {description}' if description else ''}"
            hint = "sign in again, and allow access there"
            raise SignInProblem(text, expected="the person's consent", hint=hint)
        detail = f" ({description})" if description else ""
        raise RefusedByServer(f"{server.issuer} answered: {error[:100]}{detail}", error, "a code")
    code = values.get("code")
    if not code:
        hint = "sign in again; if you pasted an address, paste all of it"
        raise SignInProblem("the answer has no code", expected="a code", hint=hint)
    return code
