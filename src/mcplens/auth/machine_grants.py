"""Sign-ins without a person at a browser: client credentials, workload identity, enterprise.

Pure. Each is chosen by the `grant` of the auth block. Called by the authorizer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

from mcplens.auth.addresses import check_address
from mcplens.auth.client_identity import configured_machine
from mcplens.auth.clients import Client
from mcplens.auth.discovery import find_issuer
from mcplens.auth.flow import Flow, SignInWish, find_authorization_server, wanted_scopes
from mcplens.auth.problems import SignInProblem
from mcplens.auth.steps import Note, ReadSubjectToken, Step
from mcplens.auth.token_requests import ask_for_token, send_token_request
from mcplens.auth.tokens import read_exchanged

_JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_TOKEN_EXCHANGE: Final = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_JAG: Final = "urn:ietf:params:oauth:token-type:id-jag"


def client_credentials(wish: SignInWish) -> Flow:
    """A machine signs in with its own secret or key.

    Raises:
        SignInProblem: a step failed.
    """
    found = yield from find_authorization_server(wish)
    client = yield from configured_machine(wish, found.server)
    form = {"grant_type": "client_credentials"}
    return (
        yield from ask_for_token(
            wish, found, client, form, wanted_scopes(wish, found, is_offline=False)
        )
    )


def workload_identity(wish: SignInWish) -> Flow:
    """A workload signs in with the JWT that its platform gave it (RFC 7523).

    Raises:
        SignInProblem: a step failed.
    """
    found = yield from find_authorization_server(wish)
    client = yield from configured_machine(wish, found.server)
    assertion = yield from _subject_token("token")
    form = {"grant_type": _JWT_BEARER, "assertion": assertion}
    return (
        yield from ask_for_token(
            wish, found, client, form, wanted_scopes(wish, found, is_offline=False)
        )
    )


def enterprise(wish: SignInWish) -> Flow:
    """The company's identity provider vouches for its person (RFC 8693, then RFC 7523).

    Raises:
        SignInProblem: a step failed.
    """
    idp = wish.settings.idp
    if idp is None:
        expected = "idp with issuer and clientId"
        raise SignInProblem("the auth block has no idp", expected=expected, hint="set idp there")
    found = yield from find_authorization_server(wish)
    client = yield from configured_machine(wish, found.server)
    step = "identity_provider"
    scopes = wanted_scopes(wish, found, is_offline=False)
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
    answer = yield from send_token_request(step, provider, ours, form)
    grant = read_exchanged(answer.status, answer.body, _ID_JAG)
    yield Note(step, f"{idp.issuer} vouched for us")
    form = {"grant_type": _JWT_BEARER, "assertion": grant}
    return (yield from ask_for_token(wish, found, client, form, scopes))


def _subject_token(step: str) -> Generator[Step, object, str]:
    found = yield ReadSubjectToken(step)
    assert isinstance(found, str)
    return found


# Flows without a person, by the `grant` of the auth block.
OF_MACHINES: Final[dict[str, Callable[[SignInWish], Flow]]] = {
    "client_credentials": client_credentials,
    "workload_identity": workload_identity,
    "enterprise": enterprise,
}
