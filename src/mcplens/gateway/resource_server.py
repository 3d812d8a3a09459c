"""The gateway as an OAuth resource server: which tokens open which endpoint, and what it says.

Owns the metadata of protected resources (RFC 9728), the challenges in WWW-Authenticate (RFC 6750,
MCP basic/authorization) and scopes; token_verifier.py verifies the tokens. Owned by access.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from mcplens.auth.addresses import covers
from mcplens.clock import Clock
from mcplens.config.access_keys import ALL_VIEWS, OAuthSettings
from mcplens.gateway.issuer_keys import FRESH_S
from mcplens.gateway.issuer_keys import KeysNeeded as KeysNeeded
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal

if TYPE_CHECKING:
    from mcplens.gateway.token_verifier import VerifiedToken

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
# Of a path that metadata are asked for, so much is repeated.
_MAX_PATH: Final = 300


class Admitted(NamedTuple):
    """Who sent a request, and until when that need not be looked at again (monotonic).

    `expires_at` is when the token's life ends, by the same clock.
    """

    caller: str
    until: float = math.inf
    expires_at: float = math.inf


class AccessRefusal(Refusal):
    """A request that is not let in; `caller` is who sent it, as far as that is known."""

    def __init__(
        self, status: int, message: str, challenge: str | None = None, *, caller: str = ""
    ) -> None:
        headers = None if challenge is None else {"WWW-Authenticate": challenge}
        super().__init__(status, HTTP_REFUSAL, message, headers=headers)
        self.caller = caller


class ResourceServer:
    """Admits the tokens of one issuer; `public_url` is where clients reach the gateway."""

    def __init__(
        self,
        settings: OAuthSettings,
        public_url: str,
        clock: Clock,
        on_changed: Callable[[], None],
    ) -> None:
        from mcplens.gateway.token_verifier import TokenVerifier

        self.settings = settings
        self.public_url = public_url.rstrip("/")
        self._clock = clock
        self.verifier = TokenVerifier(settings, clock, on_changed)

    def __repr__(self) -> str:
        return f"<ResourceServer {self.public_url} of {self.settings.issuer}>"

    # -- tokens ------------------------------------------------------------------------------------

    def admit(self, path: str, view: str | None, token: str) -> Admitted:
        """Who has a token, if it opens a path; `view` is the view there, None for a whole server.

        Raises:
            AccessRefusal: it does not: 401, or 403 for want of scopes.
            KeysNeeded: the keys of the issuer have to be fetched first.
        """
        from mcplens.gateway.token_verifier import SKEW_S, KeysUnavailable, TokenProblem

        try:
            found = self.verifier.verify(token)
        except TokenProblem as problem:
            raise self.invalid(path, view, str(problem)) from None
        except KeysUnavailable:
            raise self.unavailable() from None
        if found.audiences.isdisjoint(self._audiences(path)):
            raise self.invalid(path, view, "the token is for another audience")
        self._check_scopes(path, view, found)
        left_s = found.expires_at + SKEW_S - self._clock.wall()
        expires_at = self._clock.monotonic() + left_s
        return Admitted(found.caller, min(expires_at, found.verified_at + FRESH_S), expires_at)

    async def fetch_keys(self) -> None:
        """Fetch the keys of the issuer, at most every few seconds."""
        await self.verifier.keys.refresh()

    async def close(self) -> None:
        await self.verifier.close()

    def _audiences(self, path: str) -> tuple[str, ...]:
        """The audiences of which a token must have one: the configured, or our own addresses."""
        if self.settings.audience:
            return self.settings.audience
        return (self.public_url, f"{self.public_url}/", f"{self.public_url}{path}")

    def _check_scopes(self, path: str, view: str | None, found: VerifiedToken) -> None:
        opening = self._opening(view)
        has_required = found.scopes.issuperset(self.settings.required_scopes)
        if has_required and (opening is None or not found.scopes.isdisjoint(opening)):
            return
        wanted = self.wanted_scopes(view)
        text = f"the token lacks a scope: {' '.join(wanted)} is needed here"
        if not wanted:
            text = "no scope opens this endpoint: see scopeViews in the gateway's configuration"
        challenge = self._challenge(path, wanted, "insufficient_scope", text)
        raise AccessRefusal(403, text, challenge, caller=found.caller)

    def _opening(self, view: str | None) -> list[str] | None:
        """The scopes of which one opens a view; None: it needs none."""
        if not self.settings.scope_views:
            return None
        return [
            scope
            for scope, views in self.settings.scope_views.items()
            if ALL_VIEWS in views or (view and view in views)
        ]

    def wanted_scopes(self, view: str | None) -> tuple[str, ...]:
        """The scopes that a client is told to ask for: the least that opens a view."""
        opening = self._opening(view)
        return tuple(dict.fromkeys((*self.settings.required_scopes, *(opening or ())[:1])))

    # -- what clients are told ---------------------------------------------------------------------

    def unauthorized(self, path: str, view: str | None) -> AccessRefusal:
        """The refusal of a request without a token (RFC 6750, 3: without an error)."""
        challenge = self._challenge(path, self.wanted_scopes(view))
        return AccessRefusal(401, "a bearer token is required", challenge)

    def invalid(self, path: str, view: str | None, why: str) -> AccessRefusal:
        """The refusal of a token that is not accepted."""
        challenge = self._challenge(path, self.wanted_scopes(view), "invalid_token", why)
        return AccessRefusal(401, why, challenge)

    def unavailable(self) -> AccessRefusal:
        """The refusal while the keys of the issuer cannot be fetched."""
        text = "tokens cannot be verified now: the identity provider cannot be reached"
        refusal = AccessRefusal(503, text)
        refusal.headers["Retry-After"] = "10"
        return refusal

    def _challenge(
        self, path: str, scopes: Iterable[str], error: str = "", description: str = ""
    ) -> str:
        found = {"error": error, "error_description": description, "scope": " ".join(scopes)}
        found["resource_metadata"] = self._metadata_url(path)
        parts = [f'{name}="{_quotable(value)}"' for name, value in found.items() if value]
        return "Bearer " + ", ".join(parts)

    def _metadata_url(self, path: str) -> str:
        """The well-known place of a path's metadata: before the path of the public address."""
        parts = urlsplit(self.public_url)
        return f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}{parts.path}{path}"

    def metadata(self, path: str, scopes: Iterable[str]) -> bytes:
        """The metadata of the resource at a path, "" for all of the gateway (RFC 9728)."""
        found = {
            "resource": self._resource(path[:_MAX_PATH]),
            "authorization_servers": [self.settings.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "mcplens gateway",
        }
        listed = list(scopes)
        return msgspec.json.encode({**found, "scopes_supported": listed} if listed else found)

    def _resource(self, path: str) -> str:
        """A configured audience that is an address above this path, else the path's own."""
        own = f"{self.public_url}{path}"
        named = (one for one in self.settings.audience if "://" in one and covers(one, own))
        return next(named, own)

    def scopes_of(self, view: str | None) -> tuple[str, ...]:
        """All scopes that matter for a view."""
        opening = self._opening(view) or ()
        return tuple(dict.fromkeys((*self.settings.required_scopes, *opening)))

    def all_scopes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.settings.required_scopes, *self.settings.scope_views)))


def _quotable(text: str) -> str:
    """As the value of a quoted string in a header (RFC 6750, 3)."""
    plain = text.encode("ascii", "replace").decode()
    return "".join(each for each in plain if " " <= each <= "~" and each not in '"\\')
