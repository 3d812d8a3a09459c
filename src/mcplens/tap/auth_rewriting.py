"""Addresses in a sign-in that passes through the tap, rewritten: `mcplens tap URL --rewrite-auth`.

A client compares the resource that a server names with the address that it knows, which is the
tap's. So what the server says of its own origin names the tap, and what the client then sends of
the tap's names the server. Authorization servers elsewhere are not touched. Used by http.py.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import h11
import msgspec

from mcplens.tap.http_peer import HttpPeer

Header = tuple[bytes, bytes]

# RFC 9728, RFC 8414 and OpenID Connect Discovery; each may have the path of its resource around it.
_METADATA: Final = re.compile(
    r"/\.well-known/(oauth-protected-resource|oauth-authorization-server|openid-configuration)"
)
FORM: Final = "application/x-www-form-urlencoded"
# More than any metadata or form of a sign-in; longer ones pass as they are.
MAX_BODY_BYTES: Final = 1024 * 1024


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


# -- whole messages ------------------------------------------------------------------------------


async def rewritten_request(
    request: h11.Request, client: HttpPeer, rewriting: AuthRewriting
) -> h11.Request:
    """A request as the server gets it; its body, if it is a form, is changed too."""
    headers = request.headers.raw_items()
    if rewriting.is_metadata:  # what is compressed cannot be changed
        headers = [(name, value) for name, value in headers if name.lower() != b"accept-encoding"]
    if _has(headers, b"content-type", FORM) and (body := await _whole_body(client)) is not None:
        headers = _with_body(client, headers, rewriting.form(body))
    target = rewriting.request_target(bytes(request.target))
    return h11.Request(method=request.method, target=target, headers=headers)


async def rewritten_response(
    response: h11.Response, server: HttpPeer, rewriting: AuthRewriting
) -> h11.Response:
    """A response as the client gets it; its body, if it is metadata, is changed too."""
    headers = rewriting.response_headers(response.headers.raw_items())
    is_plain = not _has(headers, b"content-encoding", "")
    if rewriting.is_metadata and is_plain and (body := await _whole_body(server)) is not None:
        headers = _with_body(server, headers, rewriting.metadata(body))
    return h11.Response(status_code=response.status_code, reason=response.reason, headers=headers)


async def _whole_body(peer: HttpPeer) -> bytes | None:
    """The rest of a message; None if it is too long or cut short, and then it is given back."""
    events: list[object] = []
    size = 0
    while size <= MAX_BODY_BYTES:
        event = await peer.next_event()
        events.append(event)
        if isinstance(event, h11.EndOfMessage):
            return b"".join(bytes(one.data) for one in events if isinstance(one, h11.Data))
        if not isinstance(event, h11.Data):
            break
        size += len(event.data)
    peer.give_back(events)
    return None


def _with_body(peer: HttpPeer, headers: list[Header], body: bytes) -> list[Header]:
    """Have the peer give this body next; the headers with its length."""
    data = [h11.Data(body)] if body else []
    peer.give_back([*data, h11.EndOfMessage()])
    framing = (b"content-length", b"transfer-encoding")
    kept = [(name, value) for name, value in headers if name.lower() not in framing]
    return [*kept, (b"Content-Length", str(len(body)).encode())]


def _has(headers: list[Header], name: bytes, start: str) -> bool:
    values = (value for each, value in headers if each.lower() == name)
    return any(value.decode("latin-1").strip().lower().startswith(start) for value in values)
