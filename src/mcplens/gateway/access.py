"""Who may use which endpoint: Host and Origin, static tokens, and tokens of an identity provider.

The gateway's token opens every endpoint, a view's token that view alone, a named token the views
that the configuration says, a token of the identity provider what its scopes open
(resource_server.py). Static tokens are compared in constant time; none is ever sent to a server.
Called by http_app.py for every request.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Final
from urllib.parse import urlsplit

from mcplens.clock import Clock
from mcplens.config.access_keys import ALL_VIEWS, NamedToken
from mcplens.config.views import GatewaySettings
from mcplens.gateway import callers
from mcplens.gateway.resource_server import AccessRefusal, Admitted, KeysNeeded, ResourceServer
from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.refusal import Refusal
from mcplens.inbound.request_validation import Headers
from mcplens.known_secrets import known_secrets

SERVERS_PATH: Final = "/servers/"


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
        self._hosts = tuple(allowed_hosts)
        self._token = token
        known_secrets.learn(token)
        self._named: tuple[NamedToken, ...] = ()
        self.view_tokens = dict(view_tokens or {})  # by path
        self.view_names: dict[str, str] = {}  # by path; "" is the view that shows everything
        self.resource_server: ResourceServer | None = None
        self.on_changed: Callable[[], None] = _nothing  # called when what was admitted may not be

    def __repr__(self) -> str:
        asks = "a token" if self.has_token else "no token"
        return f"<GatewayAccess with {asks}, {len(self.view_tokens)} views with their own>"

    @property
    def has_token(self) -> bool:
        return self._token is not None

    def use(self, settings: GatewaySettings, address: str, clock: Clock) -> None:
        """Go by these settings from now on; `address` is where the gateway listens."""
        public = settings.public_url
        hosts = [*self._hosts, *settings.allowed_hosts]
        # Prometheus reads a replica where the others reach it, past the load balancer.
        known = (one for one in (public, settings.replica.address) if one is not None)
        hosts += [urlsplit(one).hostname or "" for one in known]
        self._network = AccessControl(allowed_hosts=hosts, allowed_origins=settings.allowed_origins)
        self._named = settings.tokens
        known_secrets.learn(*(one.token for one in settings.tokens))
        former, wanted = self.resource_server, settings.oauth
        url = public or address
        if former is not None and former.settings == wanted and former.public_url == url:
            return
        self.resource_server = None
        if wanted is not None:
            self.resource_server = ResourceServer(wanted, url, clock, self._changed)
        self._changed()

    def _changed(self) -> None:
        self.on_changed()

    async def close(self) -> None:
        if self.resource_server is not None:
            await self.resource_server.close()

    def admit(self, path: str, headers: Headers) -> Admitted:
        """Who the caller is; anonymous where no token is asked for.

        Raises:
            Refusal: 421 for an unknown Host, 403 for an unknown Origin or a path that the token
                does not open, 401 for a wrong token.
            KeysNeeded: the keys of the issuer have to be fetched first; `admit_later` does.
        """
        self._network.admit(headers)
        view_token, server = self.view_tokens.get(path), self.resource_server
        if self._token is None and view_token is None and not self._named and server is None:
            return Admitted(callers.ANONYMOUS)
        scheme, _, given = headers.get("authorization", "").partition(" ")
        offered = given.strip()
        found, named = self._static(offered, view_token)
        if scheme.lower() != "bearer" or not offered:
            raise self._unauthorized(path, "a valid bearer token is required")
        if named is not None:
            self._check_views(named, path)
        if found is not None:
            return Admitted(found)
        if server is None or offered.count(".") != 2:
            raise self._unauthorized(path, "a valid bearer token is required", is_wrong=True)
        view = self.view_names.get(path)
        if view is None and not path.startswith(SERVERS_PATH):
            raise AccessRefusal(403, "this page is for a token of the gateway, not for users")
        return server.admit(path, view, offered)

    def expires_at(self, path: str, headers: Headers) -> float:
        """When the token of a request that was admitted expires (monotonic); inf: never."""
        if self.resource_server is None:
            return inf
        try:
            return self.admit(path, headers).expires_at
        except (Refusal, KeysNeeded):
            return 0.0

    def check_network(self, headers: Headers) -> None:
        """Raises Refusal for an unknown Host or Origin; no token is asked for."""
        self._network.admit(headers)

    async def admit_later(self, path: str, headers: Headers) -> Admitted:
        """As `admit`, after the keys of the issuer were fetched if that is needed."""
        server = self.resource_server
        try:
            return self.admit(path, headers)
        except KeysNeeded:
            assert server is not None
            await server.fetch_keys()
        try:
            return self.admit(path, headers)
        except KeysNeeded:
            raise server.unavailable() from None

    def metadata(self, place: str) -> bytes | None:
        """The OAuth metadata of the resource at a path, "" for the whole gateway; None: not one."""
        server = self.resource_server
        assert server is not None
        path = place.removeprefix(urlsplit(server.public_url).path)
        if path in ("", "/"):
            return server.metadata("", server.all_scopes())
        if not path.startswith(("/mcp", SERVERS_PATH, "/sse")):
            return None
        return server.metadata(path, server.scopes_of(self.view_names.get(path)))

    def _static(self, offered: str, view_token: str | None) -> tuple[str | None, NamedToken | None]:
        """Whose static token it is; all are compared, so that the time tells nothing."""
        given = offered.encode("utf-8", "surrogateescape")
        found: str | None = None
        named: NamedToken | None = None
        if self._token is not None and hmac.compare_digest(given, self._token.encode()):
            found = callers.of_gateway_token(self._token)
        if view_token is not None and hmac.compare_digest(given, view_token.encode()):
            found = callers.of_view_token(view_token)
        for one in self._named:
            if hmac.compare_digest(given, one.token.encode()):
                found, named = callers.of_named_token(one.name), one
        return found, named

    def _check_views(self, named: NamedToken, path: str) -> None:
        if named.views is None or ALL_VIEWS in named.views:
            return
        view = self.view_names.get(path)
        if not view or view not in named.views:
            text = f"the token {named.name} opens {' '.join(named.views) or 'no view'} alone"
            raise AccessRefusal(403, text, caller=callers.of_named_token(named.name))

    def _unauthorized(self, path: str, text: str, *, is_wrong: bool = False) -> AccessRefusal:
        server = self.resource_server
        if server is None:
            return AccessRefusal(401, text, "Bearer")
        view = self.view_names.get(path)
        return server.invalid(path, view, text) if is_wrong else server.unauthorized(path, view)


def _nothing() -> None:
    """Nobody asked to be called."""
