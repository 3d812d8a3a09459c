"""Who mcplens is to an authorization server: the part of a flow that finds its client.

Pure. In the order of MCP, basic/authorization: configured, a metadata document, registered earlier
or now, and else entered by a person. Called by the flows.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

import msgspec
from msgspec.structs import replace

from mcplens.auth.clients import (
    Client,
    GivenClient,
    configured_client,
    entered_client,
    read_registration,
    registration_body,
)
from mcplens.auth.discovery import fetch
from mcplens.auth.flow import SignInWish
from mcplens.auth.metadata import AuthorizationServer
from mcplens.auth.problems import SignInProblem
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import AskForClient, Fetch, Keep, Note, OpenRedirect, Pin, Recall, Step
from mcplens.auth.tokens import refusal

_JSON: Final = {"Content-Type": "application/json", "Accept": "application/json"}


def identify(
    wish: SignInWish, server: AuthorizationServer
) -> Generator[Step, object, tuple[Client, bool]]:
    """The client, and whether it is one that was registered earlier."""
    settings = wish.settings
    client = configured_client(settings, server)
    if client is not None:
        if settings.has_secret:
            yield Pin("client", server.issuer, client.client_id)
        redirect_uri = yield from _open_redirect(settings.redirect_uri, is_fixed=True)
        is_wanting = wish.is_client_entered and not _registers(settings, server)
        origin = "entered" if is_wanting else client.origin
        client = replace(client, redirect_uri=redirect_uri, origin=origin)
        yield Note("client", f"{client.client_id}, {client.origin}", {"clientId": client.client_id})
        return client, False
    kept = yield Recall("client", server.issuer)
    if isinstance(kept, Client) and (kept.expires_at is None or kept.expires_at > wish.wall()):
        wanted = settings.redirect_uri or kept.redirect_uri
        redirect_uri = yield from _open_redirect(wanted, is_fixed=settings.redirect_uri is not None)
        facts = {"clientId": kept.client_id}
        if kept.origin == "entered":
            yield Note("client", f"{kept.client_id}, entered earlier", facts)
            return replace(kept, redirect_uri=redirect_uri), True
        if redirect_uri == kept.redirect_uri:
            yield Note("client", f"{kept.client_id}, registered earlier", facts)
            return kept, True
    return (yield from register(wish, server)), False


def register(wish: SignInWish, server: AuthorizationServer) -> Generator[Step, object, Client]:
    """A new client: registered, or entered by a person where nobody is registered.

    Raises:
        SignInProblem: there is neither.
    """
    settings = wish.settings
    endpoint = server.registration_endpoint
    if endpoint is None or not _registers(settings, server):
        return (yield from _ask_for_client(settings, server))
    redirect_uri = yield from _open_redirect(
        settings.redirect_uri, is_fixed=settings.redirect_uri is not None
    )
    body = msgspec.json.encode(registration_body(settings, server, redirect_uri))
    answer = yield from fetch(Fetch("client", "POST", endpoint, _JSON, body))
    if answer.status not in (200, 201):
        raise refusal(answer.status, answer.body, "the registration", "HTTP 201 with a client_id")
    client = read_registration(answer.body, settings, server, redirect_uri)
    yield Keep("client", client)
    facts = {"clientId": client.client_id}
    yield Note("client", f"{client.client_id}, registered just now", facts)
    return client


def _registers(settings: AuthSettings, server: AuthorizationServer) -> bool:
    """Whether a client can be had without a person."""
    return server.registration_endpoint is not None and settings.allow_dynamic_registration


def _ask_for_client(
    settings: AuthSettings, server: AuthorizationServer
) -> Generator[Step, object, Client]:
    redirect_uri = yield from _open_redirect(
        settings.redirect_uri, is_fixed=settings.redirect_uri is not None
    )
    given = yield AskForClient("client", server.issuer, redirect_uri)
    if not isinstance(given, GivenClient):
        offers = server.registration_endpoint is not None
        why = "is not asked to register clients" if offers else "does not register clients itself"
        raise SignInProblem(
            f"{server.issuer} {why}, and the auth block has no clientId",
            expected="a clientId, or dynamic registration",
            hint=f"register mcplens at {server.issuer} with the redirect URI {redirect_uri}, and "
            "enter the client ID, or set clientId (and clientSecret, if there is one) in the "
            "server's auth block",
        )
    facts = {"clientId": given.client_id}
    yield Note("client", f"{given.client_id}, entered just now", facts)
    return entered_client(given, settings, server, redirect_uri)


def _open_redirect(wanted: str | None, *, is_fixed: bool) -> Generator[Step, object, str]:
    found = yield OpenRedirect("client", wanted, is_fixed and wanted is not None)
    assert isinstance(found, str)
    return found


def configured_machine(
    wish: SignInWish, server: AuthorizationServer
) -> Generator[Step, object, Client]:
    """The configured client of a flow without a person."""
    client = configured_client(wish.settings, server)
    if client is None or not wish.settings.has_secret:
        raise SignInProblem(
            "the auth block has no clientId with a clientSecret, privateKeyFile or "
            "subjectTokenFile",
            expected="the credentials of a client that is registered there",
            hint="set them in the auth block",
        )
    yield Pin("client", server.issuer, client.client_id)
    yield Note("client", f"{client.client_id}, as configured", {"clientId": client.client_id})
    return client
