"""Who may use the gateway, as the `gateway` block says it: named tokens, OAuth, hosts and origins.

Reads and validates; gateway/access.py decides by it. Called by views.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from mcplens.auth.addresses import check_address
from mcplens.auth.problems import SignInProblem
from mcplens.config.keys import InvalidValue, array, closed_members, filled, mapping, names

# Opens everything, in a list of views.
ALL_VIEWS: Final = "*"
# As long as the gateway's own token has to be.
LEAST_TOKEN: Final = 16
# 128 random bits as hexadecimal digits.
LEAST_KEY: Final = 32
# Appears in audit lines and on screens.
_TOKEN_NAME: Final = re.compile(r"[^\s\x00-\x1f\x7f]{1,64}")
# One scope as RFC 6749, 3.3 has it: it is quoted in a header.
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")


class NamedToken(msgspec.Struct, frozen=True, kw_only=True):
    """A static bearer token; without `views` it opens everything."""

    name: str
    token: str
    views: tuple[str, ...] | None = None

    def __repr__(self) -> str:  # the token is a secret
        return f"<NamedToken {self.name!r}>"


class OAuthSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The gateway as an OAuth resource server; `audience` empty: the addresses of its endpoints."""

    issuer: str
    audience: tuple[str, ...] = ()
    jwks_uri: str | None = None
    required_scopes: tuple[str, ...] = ()
    scope_views: dict[str, tuple[str, ...]] = {}
    ca_file: str | None = None


Reader = Callable[[Any, str], Any]


def named_tokens(value: Any, key: str) -> tuple[NamedToken, ...]:
    """The static tokens; two of them must share neither name nor token."""
    found: list[NamedToken] = []
    for at, item in enumerate(array(value, key)):
        where = f"{key}[{at}]"
        given = closed_members(item, where, TOKEN_KEYS)
        for name in ("name", "token"):
            if name not in given:
                raise InvalidValue(where, f"must have a {name}")
        one = NamedToken(**given)
        if any(other.name == one.name for other in found):
            raise InvalidValue(f"{where}.name", f"{one.name} is the name of another token")
        if any(other.token == one.token for other in found):
            raise InvalidValue(f"{where}.token", "is another token's too")
        found.append(one)
    return tuple(found)


def _token_name(value: Any, key: str) -> str:
    found = filled(value, key)
    if not _TOKEN_NAME.fullmatch(found):
        raise InvalidValue(key, "must be 1 to 64 characters without spaces")
    return found


def _token(value: Any, key: str) -> str:
    found = filled(value, key)
    if len(found) < LEAST_TOKEN or not found.isascii() or any(each <= " " for each in found):
        text = f"must be at least {LEAST_TOKEN} characters of ASCII without spaces"
        raise InvalidValue(key, text)
    return found


def oauth(value: Any, key: str) -> OAuthSettings:
    given = closed_members(value, key, OAUTH_KEYS)
    if "issuer" not in given:
        raise InvalidValue(key, "must have an issuer")
    return OAuthSettings(**{OAUTH_FIELDS[name]: member for name, member in given.items()})


def secure_url(value: Any, key: str) -> str:
    """An address by https, or by http on this machine."""
    found = filled(value, key)
    try:
        return check_address(found, key)
    except SignInProblem:
        text = "must be an https:// address (http:// only on this machine), without a fragment"
        raise InvalidValue(key, text) from None


def public_url(value: Any, key: str) -> str:
    """Where clients reach the gateway: an origin, perhaps with a path before ours."""
    found = filled(value, key)
    try:
        parts = urlsplit(found)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise InvalidValue(key, "must be an address such as https://mcp.example.com")
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidValue(key, "must have neither a user name nor a query")
    return found.rstrip("/")


def audiences(value: Any, key: str) -> tuple[str, ...]:
    """One audience, or an array of them."""
    return (filled(value, key),) if isinstance(value, str) else names(value, key)


def scope_names(value: Any, key: str) -> tuple[str, ...]:
    found = tuple(value.split()) if isinstance(value, str) else names(value, key)
    for scope in found:
        if not _SCOPE.fullmatch(scope):
            raise InvalidValue(key, f"{scope!r} is not a scope")
    return found


def scope_views(value: Any, key: str) -> dict[str, tuple[str, ...]]:
    """The views that each scope opens."""
    found = {}
    for scope, member in mapping(value, key).items():
        scope_names([scope], key)
        found[scope] = names(member, f"{key}.{scope}")
    return found


def origin(value: Any, key: str) -> str:
    found = filled(value, key)
    if not re.fullmatch(r"https?://[^/?#@\s]+/?", found):
        raise InvalidValue(key, "must be an origin such as https://example.com")
    return found


def origins(value: Any, key: str) -> tuple[str, ...]:
    return tuple(origin(item, f"{key}[{at}]") for at, item in enumerate(array(value, key)))


def encryption_keys(value: Any, key: str) -> tuple[str, ...]:
    """Keys by which tokens of users are encrypted; the first encrypts, all decrypt."""
    found = names(value, key)
    for at, one in enumerate(found):
        if len(one) < LEAST_KEY:
            text = f"must be at least {LEAST_KEY} random characters (openssl rand -hex 32)"
            raise InvalidValue(f"{key}[{at}]", text)
    return found


TOKEN_KEYS: Final[Mapping[str, Reader]] = {"name": _token_name, "token": _token, "views": names}

OAUTH_KEYS: Final[Mapping[str, Reader]] = {
    "issuer": secure_url,
    "audience": audiences,
    "jwksUri": secure_url,
    "requiredScopes": scope_names,
    "scopeViews": scope_views,
    "caFile": filled,
}
OAUTH_FIELDS: Final = {
    "issuer": "issuer",
    "audience": "audience",
    "jwksUri": "jwks_uri",
    "requiredScopes": "required_scopes",
    "scopeViews": "scope_views",
    "caFile": "ca_file",
}
