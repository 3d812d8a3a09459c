"""Addresses in a sign-in that passes through the tap, rewritten: `mcplens tap URL --rewrite-auth`.

A client compares the resource that a server names with the address that it knows, which is the
tap's. So what the server says of its own origin names the tap, and what the client then sends of
the tap's names the server. Authorization servers elsewhere are not touched. Pure. Used by
message_rewriting.py.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import msgspec

Header = tuple[bytes, bytes]

# RFC 9728, RFC 8414 and OpenID Connect Discovery; each may have the path of its resource around it.
_METADATA: Final = re.compile(
    r"/\.well-known/(oauth-protected-resource|oauth-authorization-server|openid-configuration)"
)


class AuthRewriting:
    """For one request: the origin of the server, and the one by which the client knows the tap."""

    def __init__(self, server_origin: str, own_origin: str, target: str) -> None:
        self._server = server_origin
        self._own = own_origin
        self.is_metadata = _METADATA.search(target.partition("?")[0]) is not None

    def __repr__(self) -> str:
        return f"<AuthRewriting {self._server} as {self._own}>"

    # -- to the server -----------------------------------------------------------------------------

    def request_target(self, target: bytes) -> bytes:
        """`resource` in the query of an authorization request (RFC 8707)."""
        path, mark, query = target.decode("latin-1").partition("?")
        return (path + mark + self._pairs(query)).encode("latin-1") if mark else target

    def form(self, body: bytes) -> bytes:
        """`resource` in the form of a token request."""
        try:
            return self._pairs(body.decode()).encode()
        except UnicodeDecodeError:
            return body

    def _pairs(self, text: str) -> str:
        pairs = text.split("&")
        for at, pair in enumerate(pairs):
            name, mark, _ = pair.partition("=")
            if name == "resource" and mark:
                ((_, value),) = parse_qsl(pair, keep_blank_values=True) or [("", "")]
                pairs[at] = f"resource={quote(_moved(value, self._own, self._server), safe='')}"
        return "&".join(pairs)

    # -- to the client -----------------------------------------------------------------------------

    def response_headers(self, headers: list[Header]) -> list[Header]:
        """Links in `WWW-Authenticate`, and the issuer in a redirect (RFC 9207)."""
        return [(name, self._header(name.lower(), value)) for name, value in headers]

    def _header(self, name: bytes, value: bytes) -> bytes:
        text = value.decode("latin-1")
        if name == b"www-authenticate":
            links = re.compile(r'(resource_metadata=")([^"]*)')
            text = links.sub(lambda found: found[1] + self._shown(found[2]), text)
        elif name == b"location" and "iss=" in text:
            text = self._with_issuer(text)
        return text.encode("latin-1")

    def _with_issuer(self, location: str) -> str:
        parts = urlsplit(location)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        if not any(name == "iss" and self._shown(value) != value for name, value in pairs):
            return location
        moved = [(name, self._shown(value) if name == "iss" else value) for name, value in pairs]
        return parts._replace(query=urlencode(moved)).geturl()

    def metadata(self, body: bytes) -> bytes:
        """Metadata with every address of the server's origin moved to ours."""
        try:
            document = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return body
        return msgspec.json.encode(self._values(document))

    def _values(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._values(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self._values(one) for one in value]
        return self._shown(value) if isinstance(value, str) else value

    def _shown(self, url: str) -> str:
        return _moved(url, self._server, self._own)


def _moved(url: str, origin: str, to: str) -> str:
    rest = url.removeprefix(origin)
    is_of_origin = rest != url and (not rest or rest[0] in "/?#")
    return to + rest if is_of_origin else url
