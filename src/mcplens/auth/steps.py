"""The steps of a sign-in as values: what the flow asks for, and what it is answered.

Pure. The flow yields these one by one; the runner carries each out and sends its answer back, so
that every step can be shown, and run alone.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.auth.clients import Client
from mcplens.auth.metadata import AuthorizationServer
from mcplens.auth.tokens import Tokens

# The names of the steps, in the order of a whole sign-in, and what each is for.
STEPS = {
    "protected_resource": "Find out who protects the server",
    "authorization_server": "Read the authorization server's metadata",
    "client": "Identify mcplens to the authorization server",
    "authorization": "Sign in at the authorization server",
    "identity_provider": "Let the identity provider vouch for us",
    "token": "Exchange the answer for a token",
    "refresh": "Refresh the token",
    "revocation": "Revoke the token",
}


class Fetch(msgspec.Struct, frozen=True):
    """Send an HTTP request; answered with a Fetched."""

    step: str
    method: str
    url: str
    headers: dict[str, str] = {}
    body: bytes | None = None
    proof_key: dict[str, str] | None = None  # the request proves that we have it (DPoP)
    # Nothing depends on it: it has little time, and if it fails, the answer has the status 0.
    is_optional: bool = False


class Fetched(msgspec.Struct, frozen=True):
    """The answer to a Fetch."""

    status: int
    body: bytes
    headers: dict[str, str] = {}  # names in lower case


class Agree(msgspec.Struct, frozen=True):
    """Ask the person whether to sign in at all; answered with a bool."""

    step: str
    reason: str


class Choose(msgspec.Struct, frozen=True):
    """Choose one of several authorization servers; answered with its issuer."""

    step: str
    issuers: tuple[str, ...]


class AskForClient(msgspec.Struct, frozen=True):
    """Ask a person for the client that they registered by hand; a GivenClient or None."""

    step: str
    issuer: str
    redirect_uri: str


class Recall(msgspec.Struct, frozen=True):
    """Recall the client that was kept for an issuer; answered with a Client or None."""

    step: str
    issuer: str


class Keep(msgspec.Struct, frozen=True):
    """Keep a client that was registered or entered just now; with `is_refused`, forget it."""

    step: str
    client: Client
    is_refused: bool = False


class Pin(msgspec.Struct, frozen=True):
    """Make sure that this issuer may see the secret of a configured client; answered with True."""

    step: str
    issuer: str
    client_id: str


class OpenRedirect(msgspec.Struct, frozen=True):
    """Listen for the browser's return, there if possible; answered with the address."""

    step: str
    wanted: str | None
    is_fixed: bool = False  # only there


class Authorize(msgspec.Struct, frozen=True):
    """Send a person to this address; answered with the URL that the browser came back to."""

    step: str
    url: str
    redirect_uri: str
    state: str
    issuer: str
    client_id: str
    scopes: tuple[str, ...]
    resource: str


class Review(msgspec.Struct, frozen=True):
    """What is about to be sent, for whoever wants to change it; answered with a Review.

    None and nothing mean: as the servers say.
    """

    step: str
    client_id: str | None = None
    redirect_uri: str | None = None
    scopes: tuple[str, ...] = ()
    resource: str | None = None


class SignAssertion(msgspec.Struct, frozen=True):
    """Sign a JWT that proves the client (RFC 7523); answered with the JWT."""

    step: str
    client_id: str
    audience: str


class MakeProofKey(msgspec.Struct, frozen=True):
    """Make a key that tokens are bound to (DPoP); answered with it, as a JWK."""

    step: str


class ReadSubjectToken(msgspec.Struct, frozen=True):
    """Read the token that says who we are elsewhere; answered with its text."""

    step: str


class Note(msgspec.Struct, frozen=True):
    """A step is done; or, with `is_done` False, goes on after something worth knowing."""

    step: str
    text: str
    facts: dict[str, Any] = {}
    is_done: bool = True


Step = (
    Fetch
    | Agree
    | Choose
    | AskForClient
    | Recall
    | Keep
    | Pin
    | OpenRedirect
    | Review
    | Authorize
    | SignAssertion
    | MakeProofKey
    | ReadSubjectToken
    | Note
)


class SignIn(msgspec.Struct, frozen=True, kw_only=True):
    """What a finished sign-in is: the tokens, and all that is needed to refresh or revoke them."""

    server: AuthorizationServer
    client: Client
    resource: str
    requested: tuple[str, ...]
    tokens: Tokens
    proof_key: dict[str, str] | None = None

    def __repr__(self) -> str:
        return f"<SignIn to {self.resource} by {self.server.issuer}>"
