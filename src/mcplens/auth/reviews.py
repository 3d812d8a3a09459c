"""What is about to be sent in a sign-in, shown to whoever wants to change it first.

Pure: parts of the flow. To test an authorization server, a person sends it what a client would
not; without such a person each review is answered with itself.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

import msgspec

from mcplens.auth.clients import Client
from mcplens.auth.discovery import Discovered
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import Review, Step

T = TypeVar("T", bound=msgspec.Struct)


def review_client(settings: AuthSettings) -> Generator[Step, object, AuthSettings]:
    """Who we say we are, and where the browser is to return to."""
    shown = Review("client", settings.client_id, settings.redirect_uri)
    answer = yield shown
    assert isinstance(answer, Review)
    return _changed(settings, client_id=answer.client_id, redirect_uri=answer.redirect_uri)


def review_request(
    found: Discovered, client: Client, scopes: tuple[str, ...]
) -> Generator[Step, object, tuple[Discovered, Client, tuple[str, ...]]]:
    """The authorization request; what is changed is in the token request too."""
    shown = Review("authorization", client.client_id, client.redirect_uri, scopes, found.resource)
    answer = yield shown
    assert isinstance(answer, Review)
    client = _changed(
        client,
        client_id=answer.client_id or client.client_id,
        redirect_uri=answer.redirect_uri or client.redirect_uri,
    )
    return _changed(found, resource=answer.resource or found.resource), client, answer.scopes


def _changed(value: T, **fields: object) -> T:
    """The same value where nothing is changed."""
    if all(getattr(value, name) == field for name, field in fields.items()):
        return value
    return msgspec.structs.replace(value, **fields)
