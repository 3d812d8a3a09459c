"""Addresses in a sign-in: which are safe, where metadata is, and when two name the same resource.

Pure. Called by the flow for each address that a server names (MCP, basic/authorization).
"""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from mcplens.auth.problems import SignInProblem

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
# Schemes of a WebSocket, and those that its metadata is fetched with.
_HTTP_SCHEMES: Final = {"ws": "http", "wss": "https"}
_SHOWN_CHARACTERS: Final = 200

_PROTECTED_RESOURCE: Final = "/.well-known/oauth-protected-resource"
_OAUTH_SERVER: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"


def is_loopback(host: str) -> bool:
    """Whether a name means this machine alone."""
    from ipaddress import ip_address

    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(url: object, what: str, *, named_by: str | None = None) -> str:
    """The address if a secret may be sent there: https, or http on this machine.

    A server elsewhere (`named_by`) must not name one of this machine: it would have us send
    requests to programs that only we can reach.

    Raises:
        SignInProblem: it is neither, or no address at all.
    """
    expected = "an address that begins with https:// (http:// only on this machine)"
    hint = f"have whoever publishes {what} correct it; nothing was sent there"
    if not isinstance(url, str) or not url:
        raise SignInProblem(f"{what} is missing", expected=expected, hint=hint)
    shown = url[:_SHOWN_CHARACTERS]
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as problem:
        message = f"{what} is {shown!r}: {problem}"
        raise SignInProblem(message, expected=expected, hint=hint) from None
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
    if not is_safe or not host:
        message = f"{what} is {shown!r}, which is not safe to use"
        raise SignInProblem(message, expected=expected, hint=hint)
    if named_by is not None and is_loopback(host) and not is_loopback(host_of(named_by)):
        raise SignInProblem(
            f"{host_of(named_by)} names {shown!r} as {what}, an address of this machine",
            expected="an address that is not of this machine, as the server is not either",
            hint=hint,
        )
    if parts.username is not None or parts.fragment or any(ord(each) < 33 for each in url):
        message = f"{what} is {shown!r}, with a user name, a fragment or spaces in it"
        raise SignInProblem(message, expected=expected, hint=hint)
    return url


def canonical(url: str) -> str:
    """A server's address as a resource: no user, query or fragment, nor a slash at its end."""
    parts = urlsplit(url)
    return urlunsplit((_scheme(parts), _netloc(parts), parts.path.rstrip("/"), "", ""))


def origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{_scheme(parts)}://{_netloc(parts)}"


def host_of(url: str) -> str:
    return urlsplit(url).hostname or url


def covers(resource: str, server_url: str) -> bool:
    """Whether a resource identifier means this server: the same address, or one above it."""
    try:
        ours, theirs = canonical(server_url), canonical(resource)
    except ValueError:
        return False
    return ours == theirs or ours.startswith(f"{theirs}/")


def protected_resource_places(server_url: str) -> list[str]:
    """Where the metadata of a server may be when it does not say (RFC 9728, 3.1)."""
    base, path = origin(server_url), urlsplit(server_url).path.rstrip("/")
    places = [f"{base}{_PROTECTED_RESOURCE}{path}", f"{base}{_PROTECTED_RESOURCE}"]
    return list(dict.fromkeys(places))


def authorization_server_places(issuer: str) -> list[str]:
    """Where the metadata of an authorization server may be, in the specified order."""
    base, path = origin(issuer), urlsplit(issuer).path.rstrip("/")
    if not path:
        return [f"{base}{_OAUTH_SERVER}", f"{base}{_OPENID}"]
    return [f"{base}{_OAUTH_SERVER}{path}", f"{base}{_OPENID}{path}", f"{base}{path}{_OPENID}"]


def _scheme(parts: SplitResult) -> str:
    return _HTTP_SCHEMES.get(parts.scheme.lower(), parts.scheme.lower())


def _netloc(parts: SplitResult) -> str:
    host = (parts.hostname or "").lower()
    host = f"[{host}]" if ":" in host else host
    port = parts.port
    return host if port in (None, _DEFAULT_PORTS.get(_scheme(parts))) else f"{host}:{port}"
