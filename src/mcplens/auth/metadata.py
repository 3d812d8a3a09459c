"""Metadata of protected resources (RFC 9728) and authorization servers (RFC 8414), checked.

Pure: bytes in, values out. Called by the flow.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mcplens.auth.addresses import check_address, covers, origin
from mcplens.auth.problems import SignInProblem

_QUOTED_CHARACTERS: Final = 120
# More than any real server names.
_MAX_SERVERS: Final = 20


class ProtectedResource(msgspec.Struct, frozen=True):
    """What a server says about itself as a resource; `resource` exactly as it is published."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...] = ()


class AuthorizationServer(msgspec.Struct, frozen=True, kw_only=True):
    """What the flow needs of an authorization server's metadata."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    revocation_endpoint: str | None = None
    scopes_supported: tuple[str, ...] = ()
    challenge_methods: tuple[str, ...] | None = None
    auth_methods: tuple[str, ...] = ()
    grant_types: tuple[str, ...] = ()
    dpop_algorithms: tuple[str, ...] = ()
    takes_metadata_url: bool = False
    sends_issuer: bool = False
    is_assumed: bool = False  # made of the addresses that 2025-03-26 defines

    @property
    def summary(self) -> str:
        """What matters most of it, in a few words."""
        has_pkce = "S256" in (self.challenge_methods or ())
        registers = self.registration_endpoint is not None
        return f"S256: {_yes(has_pkce)} · registration: {_yes(registers)}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def read_object(body: bytes, what: str) -> dict[str, Any]:
    """The JSON object of a body.

    Raises:
        SignInProblem: it is something else, such as an HTML page.
    """
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    start = " ".join(body[:1000].decode("utf-8", "replace").split())[:_QUOTED_CHARACTERS]
    came = f"{what} is not a JSON object: {start}" if start else f"{what} is empty"
    hint = "check that the address is right; a proxy or a login page may have answered"
    raise SignInProblem(came, expected="a JSON object", hint=hint)


def read_protected_resource(body: bytes, server_url: str) -> ProtectedResource:
    """Raises SignInProblem if it is for another server, or names no authorization server."""
    found = read_object(body, "the protected resource metadata")
    resource = found.get("resource")
    if not isinstance(resource, str) or not covers(resource, server_url):
        raise SignInProblem(
            f"the metadata is for the resource {str(resource)[:_QUOTED_CHARACTERS]!r}, and this "
            f"server is {server_url}",
            expected="metadata whose resource is the server's address, or one above it",
            hint="if you meant that server, use its address; else have this one correct resource",
        )
    servers = texts(found.get("authorization_servers"))[:_MAX_SERVERS]
    if not servers:
        raise SignInProblem(
            "the metadata names no authorization server",
            expected="at least one address in authorization_servers",
            hint="have the server list its authorization server there",
        )
    return ProtectedResource(resource, servers, texts(found.get("scopes_supported")))


def read_authorization_server(body: bytes, issuer: str) -> AuthorizationServer:
    """Raises SignInProblem if it is another issuer's, or if an address in it is not safe."""
    found = read_object(body, "the authorization server metadata")
    named = found.get("issuer")
    if named != issuer:
        raise SignInProblem(
            f"the metadata is that of the issuer {str(named)[:_QUOTED_CHARACTERS]!r}",
            expected=f"the issuer {issuer!r}, exactly",
            hint="have the server and its authorization server use one spelling of the issuer; "
            "if you do not know the other name, do not sign in",
        )
    methods = found.get("code_challenge_methods_supported")
    return AuthorizationServer(
        issuer=issuer,
        token_endpoint=check_address(
            found.get("token_endpoint"), "token_endpoint", named_by=issuer
        ),
        authorization_endpoint=_optional(found, "authorization_endpoint", issuer),
        registration_endpoint=_optional(found, "registration_endpoint", issuer),
        revocation_endpoint=_optional(found, "revocation_endpoint", issuer),
        scopes_supported=texts(found.get("scopes_supported")),
        challenge_methods=None if methods is None else texts(methods),
        auth_methods=texts(found.get("token_endpoint_auth_methods_supported")),
        grant_types=texts(found.get("grant_types_supported")),
        dpop_algorithms=texts(found.get("dpop_signing_alg_values_supported")),
        takes_metadata_url=found.get("client_id_metadata_document_supported") is True,
        sends_issuer=found.get("authorization_response_iss_parameter_supported") is True,
    )


def assumed_authorization_server(server_url: str) -> AuthorizationServer:
    """The addresses that 2025-03-26 defines for a server without any metadata."""
    base = origin(server_url)
    return AuthorizationServer(
        issuer=base,
        token_endpoint=check_address(f"{base}/token", "token_endpoint"),
        authorization_endpoint=f"{base}/authorize",
        registration_endpoint=f"{base}/register",
        is_assumed=True,
    )


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list; nothing of anything else."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _optional(found: dict[str, Any], name: str, issuer: str) -> str | None:
    return None if found.get(name) is None else check_address(found[name], name, named_by=issuer)
