"""The `auth` block of a server as a value, with its defaults.

Pure. Made of the names in the configuration file, by whoever makes a transport.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Grant = Literal["authorization_code", "client_credentials", "enterprise", "workload_identity"]


class IdpSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The identity provider of a company, which vouches for its people."""

    issuer: str
    client_id: str
    client_secret: str | None = None

    def __repr__(self) -> str:
        return f"<IdpSettings {self.issuer}>"


class AuthSettings(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How to sign in to one server. None and empty mean: as the servers say."""

    client_id: str | None = None
    client_secret: str | None = None
    client_id_metadata_url: str | None = None
    redirect_uri: str | None = None
    client_name: str = "mcplens"
    token_endpoint_auth_method: str | None = None
    authorization_server: str | None = None
    scopes: tuple[str, ...] = ()
    allow_dynamic_registration: bool = True
    grant: Grant = "authorization_code"
    private_key_file: str | None = None
    signing_algorithm: str | None = None
    dpop: bool = False
    idp: IdpSettings | None = None
    subject_token_file: str | None = None
    per_user: bool = False  # behind a gateway, each of its users signs in

    def __repr__(self) -> str:  # the secret stays out of logs
        return f"<AuthSettings {self.grant} {self.client_id or 'any client'}>"

    @property
    def is_of_person(self) -> bool:
        """Whether a person signs in, rather than a machine."""
        return self.grant == "authorization_code"

    @property
    def has_secret(self) -> bool:
        """Whether signing in reveals something that only the right server may learn."""
        revealing = (self.client_secret, self.private_key_file, self.subject_token_file)
        return any(value is not None for value in revealing)


def read_settings(block: Mapping[str, Any] | None) -> AuthSettings:
    """The settings of an `auth` block; keys that we do not know are left alone.

    Raises:
        ValueError: a value has the wrong type.
    """
    known = {name: value for name, value in (block or {}).items() if value not in (None, "")}
    if isinstance(scopes := known.get("scopes"), str):
        known["scopes"] = scopes.split()
    return msgspec.convert(known, AuthSettings)
