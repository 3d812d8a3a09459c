"""Access control: Host and Origin against DNS rebinding, and an optional bearer token.

Pure; called by asgi_app.py for every HTTP request and WebSocket handshake.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.inbound.request_validation import Headers
from mcplens.transports.network import is_loopback

ANY_HOST: Final = "*"
_is_loopback = lru_cache(maxsize=64)(is_loopback)


class AccessControl:
    """Accepts requests from and to this machine, with the token if one is set."""

    def __init__(
        self,
        *,
        token: str | None = None,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
    ) -> None:
        self._token = token.encode() if token else None
        self._caller = hashlib.sha256(self._token).hexdigest()[:16] if self._token else ""
        self._hosts = {host.lower() for host in allowed_hosts}
        self._origins = {origin.lower().rstrip("/") for origin in allowed_origins}

    def __repr__(self) -> str:
        asks = "a token" if self._token else "no token"
        return f"<AccessControl with {asks}, allows loopback and {sorted(self._hosts)}>"

    @property
    def has_token(self) -> bool:
        return self._token is not None

    def admit(self, headers: Headers) -> str:
        """An id of the caller, to which sessions are bound; "" where callers are anonymous.

        Raises:
            Refusal: 421 for an unknown Host, 403 for an unknown Origin, 401 for a wrong token.
        """
        host = headers.get("host", "")
        if not self._is_ours(_host_name(host)):
            raise Refusal(421, HTTP_REFUSAL, f"the Host header {host!r} is not allowed")
        origin = headers.get("origin")
        if origin is not None and not self._is_known_origin(origin):
            raise Refusal(403, HTTP_REFUSAL, f"the Origin {origin} is not allowed")
        if self._token is None:
            return ""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        is_right = hmac.compare_digest(given.strip().encode(), self._token)
        if scheme.lower() != "bearer" or not is_right:
            raise Refusal(
                401,
                HTTP_REFUSAL,
                "a valid bearer token is required",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return self._caller

    def _is_ours(self, host: str) -> bool:
        return ANY_HOST in self._hosts or host in self._hosts or _is_loopback(host)

    def _is_known_origin(self, origin: str) -> bool:
        if origin.lower().rstrip("/") in self._origins:
            return True
        try:
            parts = urlsplit(origin)
            name = (parts.hostname or "").lower()
        except ValueError:
            return False
        return parts.scheme in ("http", "https") and (is_loopback(name) or name in self._hosts)


@lru_cache(maxsize=64)  # clients send one and the same header with each request
def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
