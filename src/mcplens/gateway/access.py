"""Who may use which endpoint: Host and Origin, the gateway's token, and the tokens of views.

The gateway's token opens every endpoint, a view's token that view alone. Tokens are compared in
constant time, and never sent to a server. Called by http_app.py for every request.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from functools import lru_cache

from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.inbound.request_validation import Headers


@lru_cache(maxsize=64)  # only of tokens that are valid here
def caller_of(token: str) -> str:
    """An id of who has a token, to which sessions are bound."""
    return hashlib.sha256(token.encode()).hexdigest()[:16]


class GatewayAccess:
    """Admits requests by their path and headers."""

    def __init__(
        self,
        token: str | None,
        *,
        view_tokens: Mapping[str, str] | None = None,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
    ) -> None:
        self._network = AccessControl(allowed_hosts=allowed_hosts, allowed_origins=allowed_origins)
        self._token = token
        self.view_tokens = dict(view_tokens or {})  # by path

    def __repr__(self) -> str:
        asks = "a token" if self._token else "no token"
        return f"<GatewayAccess with {asks}, {len(self.view_tokens)} views with their own>"

    @property
    def has_token(self) -> bool:
        return self._token is not None

    def admit(self, path: str, headers: Headers) -> str:
        """An id of the caller; "" where callers are anonymous.

        Raises:
            Refusal: 421 for an unknown Host, 403 for an unknown Origin, 401 for a wrong token.
        """
        self._network.admit(headers)
        view_token = self.view_tokens.get(path)
        accepted = [token for token in (self._token, view_token) if token is not None]
        if not accepted:
            return ""
        scheme, _, given = headers.get("authorization", "").partition(" ")
        offered = given.strip().encode("utf-8", "surrogateescape")
        caller = None
        for token in accepted:  # all of them, so that the time tells nothing
            if hmac.compare_digest(offered, token.encode()):
                caller = caller_of(token)
        if caller is None or scheme.lower() != "bearer":
            raise Refusal(
                401,
                HTTP_REFUSAL,
                "a valid bearer token is required",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return caller
