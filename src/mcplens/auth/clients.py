"""Who we are to an authorization server: a client id, and how it is proved.

Pure: builds registration requests (RFC 7591) and adds the client's proof to token requests.
"""

from __future__ import annotations

import base64
from typing import Any, Final
from urllib.parse import quote

import msgspec

from mcplens.auth.metadata import AuthorizationServer, read_object
from mcplens.auth.problems import SignInProblem
from mcplens.auth.settings import AuthSettings

JWT_ASSERTION: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_SECRET_METHODS: Final = ("client_secret_basic", "client_secret_post")


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """A client as one issuer knows it."""

    issuer: str
    client_id: str
    client_secret: str | None = None
    auth_method: str = "none"
    redirect_uri: str | None = None
    # configured, metadata document, registered, entered: where the id comes from.
    origin: str = "configured"
    expires_at: float | None = None  # of the secret

    def __repr__(self) -> str:
        return f"<Client {self.client_id} of {self.issuer}, {self.origin}>"


def configured_client(settings: AuthSettings, server: AuthorizationServer) -> Client | None:
    """The client that the `auth` block names, registered beforehand or by its document."""
    client_id, origin = settings.client_id, "configured"
    if client_id is None and server.takes_metadata_url:
        client_id, origin = settings.client_id_metadata_url, "metadata document"
    if client_id is None:
        return None
    return Client(
        issuer=server.issuer,
        client_id=client_id,
        client_secret=settings.client_secret,
        auth_method=settings.token_endpoint_auth_method
        or _chosen_method(settings, server, has_secret=settings.client_secret is not None),
        origin=origin,
    )


class GivenClient(msgspec.Struct, frozen=True):
    """A client that a person registered by hand and typed in."""

    client_id: str
    client_secret: str | None = None

    def __repr__(self) -> str:
        return f"<GivenClient {self.client_id}>"


def entered_client(
    given: GivenClient, settings: AuthSettings, server: AuthorizationServer, redirect_uri: str
) -> Client:
    """The client that a person typed in, for want of a configured or registered one."""
    return Client(
        issuer=server.issuer,
        client_id=given.client_id,
        client_secret=given.client_secret,
        auth_method=settings.token_endpoint_auth_method
        or _chosen_method(settings, server, has_secret=given.client_secret is not None),
        redirect_uri=redirect_uri,
        origin="entered",
    )


def registration_body(
    settings: AuthSettings, server: AuthorizationServer, redirect_uri: str
) -> dict[str, Any]:
    """What we ask to be registered as: a native application (MCP, basic/authorization)."""
    methods = server.auth_methods
    method = settings.token_endpoint_auth_method
    if method is None:
        is_public = not methods or "none" in methods
        # In the body rather than in a header: the official SDK's servers revoke nothing otherwise.
        ways = reversed(_SECRET_METHODS)
        method = "none" if is_public else next((m for m in ways if m in methods), "none")
    return {
        "client_name": settings.client_name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native",
    }


def read_registration(
    body: bytes, settings: AuthSettings, server: AuthorizationServer, redirect_uri: str
) -> Client:
    """Raises SignInProblem if the answer names no client id."""
    found = read_object(body, "the answer to the registration")
    client_id, secret = found.get("client_id"), found.get("client_secret")
    if not isinstance(client_id, str) or not client_id:
        hint = "enter a client ID that is registered there"
        raise SignInProblem("the answer has no client_id", expected="client_id", hint=hint)
    secret = secret if isinstance(secret, str) and secret else None
    method = found.get("token_endpoint_auth_method")
    if not isinstance(method, str):
        method = _chosen_method(settings, server, has_secret=secret is not None)
    expires = found.get("client_secret_expires_at")
    return Client(
        issuer=server.issuer,
        client_id=client_id,
        client_secret=secret,
        auth_method=method,
        redirect_uri=redirect_uri,
        origin="registered",
        expires_at=float(expires) if isinstance(expires, int | float) and expires else None,
    )


def _chosen_method(settings: AuthSettings, server: AuthorizationServer, *, has_secret: bool) -> str:
    if settings.private_key_file is not None:
        return "private_key_jwt"
    if not has_secret:
        return "none"
    offered = server.auth_methods or _SECRET_METHODS
    return next((method for method in (*_SECRET_METHODS, "none") if method in offered), "none")


def prove_client(
    client: Client, form: dict[str, str], headers: dict[str, str], assertion: str | None
) -> None:
    """Add what proves the client to a token request, the way that it was registered with.

    Raises:
        SignInProblem: that way is not supported, or its secret is missing.
    """
    # Beside Basic it is redundant, but the official SDK's servers want it.
    form["client_id"] = client.client_id
    match client.auth_method:
        case "client_secret_basic" if client.client_secret is not None:
            pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        case "client_secret_post" if client.client_secret is not None:
            form["client_secret"] = client.client_secret
        case "private_key_jwt" if assertion is not None:
            form |= {"client_assertion_type": JWT_ASSERTION, "client_assertion": assertion}
        case "none":
            pass
        case _:
            raise SignInProblem(
                f"the client {client.client_id} has nothing to prove itself with by "
                f"{client.auth_method}",
                expected="clientSecret or privateKeyFile in the auth block",
                hint="set one of them, or forget the registration and sign in again",
            )
