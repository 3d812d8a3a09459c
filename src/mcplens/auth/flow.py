"""The flows of a sign-in, step by step, as generators without I/O.

Each yields what is to be done (steps.py) and is sent the answer; it returns the SignIn or raises a
SignInProblem. authorization_code() is MCP's (basic/authorization): PKCE with S256, state, iss
(RFC 9207), resource (RFC 8707) in both requests. Run by runner.py.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable, Generator
from typing import Final
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec
from msgspec.structs import replace

from mcplens.auth.addresses import check_address
from mcplens.auth.challenges import Challenge
from mcplens.auth.clients import (
    Client,
    configured_client,
    prove_client,
    read_registration,
    registration_body,
)
from mcplens.auth.discovery import Discovered, discover, fetch, find_issuer
from mcplens.auth.metadata import AuthorizationServer
from mcplens.auth.problems import RefusedByServer, SignInProblem
from mcplens.auth.reviews import review_client, review_request
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import (
    Authorize,
    Fetch,
    Fetched,
    Keep,
    MakeProofKey,
    Note,
    OpenRedirect,
    Pin,
    ReadSubjectToken,
    Recall,
    SignAssertion,
    SignIn,
    Step,
)
from mcplens.auth.tokens import Tokens, read_exchanged, read_tokens, refusal

_FORM: Final = {
    "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"
}  # fmt: skip
_JSON: Final = {"Content-Type": "application/json", "Accept": "application/json"}
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_TOKEN_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"
# The server no longer knows a client that was registered.
_CLIENT_REFUSED: Final = ("invalid_client", "unauthorized_client")

Flow = Generator[Step, object, SignIn]


class SignInWish(msgspec.Struct, frozen=True, kw_only=True):
    """What a flow starts from; `wall` and `random_text` are the only world that it sees."""

    server_url: str
    settings: AuthSettings
    wall: Callable[[], float]
    random_text: Callable[[], str]
    challenge: Challenge | None = None
    # Scopes that were asked for before: a step-up asks for them again.
    held_scopes: tuple[str, ...] = ()
    # The server let us in unasked: without metadata there is nowhere to sign in.
    needs_metadata: bool = False
    # In place of the resource that was found.
    resource: str | None = None


def authorization_code(wish: SignInWish) -> Flow:
    """A person signs in with a browser.

    Raises:
        SignInProblem: a step failed.
    """
    found = yield from _discover(wish)
    _check_pkce(found.server)
    settings = yield from review_client(wish.settings)
    wish = replace(wish, settings=settings)
    client, is_recalled = yield from _identify(wish, found.server)
    try:
        return (yield from _with_client(wish, found, client))
    except RefusedByServer as problem:
        if not is_recalled or problem.error not in _CLIENT_REFUSED:
            raise
    yield Keep("client", client, is_refused=True)
    yield Note("client", "the registration is no longer accepted; made anew", is_done=False)
    client = yield from _register(wish, found.server)
    return (yield from _with_client(wish, found, client))


def client_credentials(wish: SignInWish) -> Flow:
    """A machine signs in with its own secret or key.

    Raises:
        SignInProblem: a step failed.
    """
    found = yield from _discover(wish)
    client = yield from _configured(wish, found.server)
    form = {"grant_type": "client_credentials"}
    return (yield from _finish(wish, found, client, form, _scopes(wish, found, is_offline=False)))


def workload_identity(wish: SignInWish) -> Flow:
    """A workload signs in with the JWT that its platform gave it (RFC 7523).

    Raises:
        SignInProblem: a step failed.
    """
    found = yield from _discover(wish)
    client = yield from _configured(wish, found.server)
    assertion = yield from _subject_token("token")
    form = {"grant_type": JWT_BEARER, "assertion": assertion}
    return (yield from _finish(wish, found, client, form, _scopes(wish, found, is_offline=False)))


def enterprise(wish: SignInWish) -> Flow:
    """The company's identity provider vouches for its person (RFC 8693, then RFC 7523).

    Raises:
        SignInProblem: a step failed.
    """
    idp = wish.settings.idp
    if idp is None:
        raise SignInProblem("the auth block has no idp", expected="idp with issuer and clientId")
    found = yield from _discover(wish)
    client = yield from _configured(wish, found.server)
    step = "identity_provider"
    scopes = _scopes(wish, found, is_offline=False)
    provider = yield from find_issuer(check_address(idp.issuer, "idp.issuer"), step)
    form = {
        "grant_type": _TOKEN_EXCHANGE,
        "subject_token": (yield from _subject_token(step)),
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
        "requested_token_type": _ID_JAG,
        "audience": found.server.issuer,
        "resource": found.resource,
    }
    if scopes:
        form["scope"] = " ".join(scopes)
    way = "none" if idp.client_secret is None else "client_secret_basic"
    ours = Client(
        issuer=idp.issuer,
        client_id=idp.client_id,
        client_secret=idp.client_secret,
        auth_method=way,
    )
    answer = yield from _ask_for_token(step, provider, ours, form)
    grant = read_exchanged(answer.status, answer.body, _ID_JAG)
    yield Note(step, f"{idp.issuer} vouched for us")
    form = {"grant_type": JWT_BEARER, "assertion": grant}
    return (yield from _finish(wish, found, client, form, scopes))


# Flows without a person, by the `grant` of the auth block.
OF_MACHINES: Final[dict[str, Callable[[SignInWish], Flow]]] = {
    "client_credentials": client_credentials,
    "workload_identity": workload_identity,
    "enterprise": enterprise,
}


def refresh(wish: SignInWish, old: SignIn) -> Flow:
    """A new access token for the refresh token of an earlier sign-in."""
    assert old.tokens.refresh_token is not None
    form = {
        "grant_type": "refresh_token",
        "refresh_token": old.tokens.refresh_token,
        "resource": old.resource,
    }
    answer = yield from _ask_for_token("refresh", old.server, old.client, form, old.proof_key)
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
        raise refusal(answer.status, answer.body)
    yield Note("revocation", "revoked")
    return True


def _discover(wish: SignInWish) -> Generator[Step, object, Discovered]:
    found = yield from discover(wish.server_url, wish.challenge, wish.settings)
    if wish.needs_metadata and found.server.is_assumed:
        raise SignInProblem(
            "the server asks for no sign-in, and names nobody to sign in with",
            expected="metadata of a protected resource",
        )
    return found if wish.resource is None else replace(found, resource=wish.resource)


# -- who we are --------------------------------------------------------------------------------


def _check_pkce(server: AuthorizationServer) -> None:
    if server.authorization_endpoint is None:
        raise SignInProblem(
            "the metadata has no authorization_endpoint", expected="authorization_endpoint"
        )
    if server.is_assumed or "S256" in (server.challenge_methods or ()):
        return
    listed = "nothing" if server.challenge_methods is None else ", ".join(server.challenge_methods)
    raise SignInProblem(
        f"code_challenge_methods_supported lists {listed or 'nothing'}",
        expected="S256: without PKCE a stolen code could be used",
        hint="have the authorization server list S256 in its metadata",
    )


def _identify(
    wish: SignInWish, server: AuthorizationServer
) -> Generator[Step, object, tuple[Client, bool]]:
    """The client, and whether it is one that was registered earlier."""
    settings = wish.settings
    client = configured_client(settings, server)
    if client is not None:
        if settings.has_secret:
            yield Pin("client", server.issuer, client.client_id)
        redirect_uri = yield from _open_redirect(settings.redirect_uri, is_fixed=True)
        client = replace(client, redirect_uri=redirect_uri)
        yield Note("client", f"{client.client_id}, {client.origin}", {"clientId": client.client_id})
        return client, False
    kept = yield Recall("client", server.issuer)
    if isinstance(kept, Client) and (kept.expires_at is None or kept.expires_at > wish.wall()):
        wanted = settings.redirect_uri or kept.redirect_uri
        redirect_uri = yield from _open_redirect(wanted, is_fixed=settings.redirect_uri is not None)
        if redirect_uri == kept.redirect_uri:
            facts = {"clientId": kept.client_id}
            yield Note("client", f"{kept.client_id}, registered earlier", facts)
            return kept, True
    return (yield from _register(wish, server)), False


def _register(wish: SignInWish, server: AuthorizationServer) -> Generator[Step, object, Client]:
    settings = wish.settings
    endpoint = server.registration_endpoint
    if endpoint is None or not settings.allow_dynamic_registration:
        why = "does not register clients by itself" if endpoint is None else "is not asked to"
        raise SignInProblem(
            f"{server.issuer} {why}, and the auth block has no clientId",
            expected="a clientId, or dynamic registration",
            hint="register mcplens there by hand and put its clientId into the auth block",
        )
    redirect_uri = yield from _open_redirect(
        settings.redirect_uri, is_fixed=settings.redirect_uri is not None
    )
    body = msgspec.json.encode(registration_body(settings, server, redirect_uri))
    answer = yield from fetch(Fetch("client", "POST", endpoint, _JSON, body))
    if answer.status not in (200, 201):
        raise refusal(answer.status, answer.body)
    client = read_registration(answer.body, settings, server, redirect_uri)
    yield Keep("client", client)
    facts = {"clientId": client.client_id}
    yield Note("client", f"{client.client_id}, registered just now", facts)
    return client


def _open_redirect(wanted: str | None, *, is_fixed: bool) -> Generator[Step, object, str]:
    found = yield OpenRedirect("client", wanted, is_fixed and wanted is not None)
    assert isinstance(found, str)
    return found


# -- the code and the token --------------------------------------------------------------------


def _with_client(wish: SignInWish, found: Discovered, client: Client) -> Flow:
    scopes = _scopes(wish, found, is_offline=True)
    found, client, scopes = yield from review_request(found, client, scopes)
    verifier, state = wish.random_text(), wish.random_text()
    request = _authorization_request(found, client, scopes, verifier, state)
    returned = yield request
    assert isinstance(returned, str)
    code = _read_return(returned, request, found.server)
    yield Note("authorization", f"{found.server.issuer} sent a code")
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": request.redirect_uri,
        "code_verifier": verifier,
    }
    return (yield from _finish(wish, found, client, form, scopes, has_scope=False))


def _finish(
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
    answer = yield from _ask_for_token("token", found.server, client, form, key)
    tokens = _read(wish, answer, scopes)
    if key is not None and tokens.token_type.lower() != "dpop":
        raise SignInProblem(
            f"the token is of the type {tokens.token_type}, not bound to our key",
            expected="token_type DPoP",
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
            f"dpop_signing_alg_values_supported lists {listed}", expected="ES256, for DPoP"
        )
    key = yield MakeProofKey("token")
    assert isinstance(key, dict)
    return key


def _configured(wish: SignInWish, server: AuthorizationServer) -> Generator[Step, object, Client]:
    """The configured client of a flow without a person."""
    client = configured_client(wish.settings, server)
    if client is None or not wish.settings.has_secret:
        raise SignInProblem(
            "the auth block has no clientId with a clientSecret, privateKeyFile or "
            "subjectTokenFile",
            expected="the credentials of a client that is registered there",
        )
    yield Pin("client", server.issuer, client.client_id)
    yield Note("client", f"{client.client_id}, as configured", {"clientId": client.client_id})
    return client


def _subject_token(step: str) -> Generator[Step, object, str]:
    found = yield ReadSubjectToken(step)
    assert isinstance(found, str)
    return found


def _scopes(wish: SignInWish, found: Discovered, *, is_offline: bool) -> tuple[str, ...]:
    """Configured, else challenged, else all that the resource lists; and those held before."""
    challenged = wish.challenge.scopes if wish.challenge is not None else ()
    scopes = [*wish.held_scopes, *(wish.settings.scopes or challenged or found.scopes)]
    if wish.held_scopes:
        scopes += challenged
    if is_offline and scopes and not wish.settings.scopes:
        scopes += [s for s in found.server.scopes_supported if s == "offline_access"]
    return tuple(dict.fromkeys(scopes))


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
        )
    issuer = values.get("iss")
    if issuer is None and server.sends_issuer:
        raise SignInProblem(
            "the answer does not say who made it, though the metadata promises iss",
            expected=f"iss={server.issuer}",
        )
    if issuer is not None and issuer != server.issuer:
        raise SignInProblem(
            f"the answer comes from {issuer[:200]!r}", expected=f"{server.issuer!r}, exactly"
        )
    if error := values.get("error"):
        description = values.get("error_description", "")[:300]
        if error == "access_denied":
            text = f"the sign-in was denied{f': {description}' if description else ''}"
            raise SignInProblem(text, expected="the person's consent")
        detail = f" ({description})" if description else ""
        raise RefusedByServer(f"{server.issuer} answered: {error[:100]}{detail}", error)
    code = values.get("code")
    if not code:
        raise SignInProblem("the answer has no code", expected="a code")
    return code


def _ask_for_token(
    step: str,
    server: AuthorizationServer,
    client: Client,
    form: dict[str, str],
    proof_key: dict[str, str] | None = None,
) -> Generator[Step, object, Fetched]:
    request = yield from _proved(step, server.token_endpoint, server, client, form)
    return (yield from fetch(msgspec.structs.replace(request, proof_key=proof_key)))


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
    return Note(step, f"a {tokens.token_type} token came{scopes}", facts)
