"""Sign-ins of users to servers behind the gateway: the links that are offered, and the two halves.

A link holds for one user, one server, ten minutes and one use. What a sign-in needs while the
browser is away is in the shared store, encrypted, so that the browser may come back to any replica;
it must be the browser that left. Pages are sign_in_pages.py's; called by user_sessions.py.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from mcplens.auth.addresses import canonical
from mcplens.auth.authorization_code import PreparedSignIn, finish_sign_in, prepare_sign_in
from mcplens.auth.clients import GivenClient
from mcplens.auth.flow import SignInWish
from mcplens.auth.runner import FlowRunner
from mcplens.auth.settings import read_settings
from mcplens.auth.steps import AskForClient, Authorize, Step
from mcplens.bus import Publisher
from mcplens.config.model import ServerEntry
from mcplens.gateway.sealed_store import SealedStore
from mcplens.gateway.user_tokens import UserTokens
from mcplens.transports.network import NetworkOptions

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway

SIGN_IN_PATH: Final = "/sign-in/"
CALLBACK_PATH: Final = "/sign-in/callback"
# How long a link, and then the browser's absence, may last.
LINK_S: Final = 600.0

T = TypeVar("T")


class LinkProblem(Exception):
    """A link or a return that cannot be used; the text is for the person at the browser."""


class SignInLink(msgspec.Struct, frozen=True):
    """What a link stands for."""

    caller: str
    server_id: str
    is_sign_out: bool = False


class _Away(msgspec.Struct, frozen=True):
    """A sign-in whose browser is at the authorization server."""

    caller: str
    server_id: str
    server_url: str
    browser: str  # a digest of its cookie
    prepared: PreparedSignIn


class _AtGateway:
    """The person of a sign-in, who is at a browser somewhere; it comes back to the gateway."""

    is_wanted = True

    def __init__(self, redirect_uri: str) -> None:
        self._redirect_uri = redirect_uri

    async def agrees(self, server_url: str, reason: str) -> bool:
        return True  # by the button of our page

    async def listen(self, wanted: str | None, *, is_fixed: bool) -> str:
        return self._redirect_uri

    async def authorize(self, request: Authorize) -> str:
        raise NotImplementedError("the browser is sent by our page")

    async def choose(self, issuers: tuple[str, ...]) -> str:
        return issuers[0]

    async def identify(self, request: AskForClient) -> GivenClient | None:
        return None

    async def close(self) -> None:
        """Nothing is open."""


class SignInLinks:
    """Offers links, and carries sign-ins out."""

    path = SIGN_IN_PATH

    def __init__(
        self, gateway: Gateway, sealed: SealedStore, on_done: Callable[[str, str], None]
    ) -> None:
        self.public_url = ""  # of the gateway; set when it is served
        self._gateway = gateway
        self._sealed = sealed
        self._on_done = on_done

    def __repr__(self) -> str:
        return f"<SignInLinks at {self.public_url}>"

    async def offer(self, caller: str, server_id: str, *, is_sign_out: bool = False) -> str:
        """A link by which this user signs in to this server, or out; raises StoreUnavailable."""
        name = secrets.token_urlsafe(32)
        link = SignInLink(caller, server_id, is_sign_out)
        await self._sealed.put(f"link\n{name}", link, LINK_S)
        return f"{self.public_url}{SIGN_IN_PATH}{name}"

    async def look(self, name: str) -> SignInLink:
        """What a link stands for; it can still be used.

        Raises:
            LinkProblem: it is not valid, or was used.
        """
        found = await self._sealed.get(f"link\n{name}", SignInLink)
        if found is None:
            raise _used("link")
        return found

    async def take(self, name: str) -> SignInLink:
        """Use a link up.

        Raises:
            LinkProblem: it is not valid, or was used.
        """
        link = await self._sealed.take(f"link\n{name}", SignInLink)
        if link is None:
            raise _used("link")
        return link

    async def begin(self, link: SignInLink, cookie: str) -> str:
        """Prepare the sign-in of a link; where the browser goes now.

        Raises:
            LinkProblem: the server is not there any more.
            InspectorError: the sign-in cannot begin.
        """
        entry = self._entry(link.server_id)
        server_url = canonical(entry.url or "")
        wish = self._wish(entry, server_url)
        prepared = await self.run(link.caller, entry, server_url, prepare_sign_in(wish))
        away = _Away(link.caller, link.server_id, server_url, _digest(cookie), prepared)
        await self._sealed.put(_away_name(prepared.request.state), away, LINK_S)
        return prepared.request.url

    async def finish(self, state: str, cookie: str, returned: str) -> SignInLink:
        """The browser is back: get the token and keep it for the user who asked.

        Raises:
            LinkProblem: it is no return of a sign-in that began here, in this browser.
            InspectorError: the sign-in failed.
        """
        away = await self._sealed.take(_away_name(state), _Away)
        if away is None:
            raise _used("sign-in")
        if not hmac.compare_digest(away.browser, _digest(cookie)):
            raise LinkProblem("This sign-in began in another browser. Ask for a new link.")
        entry = self._entry(away.server_id)
        if canonical(entry.url or "") != away.server_url:
            raise LinkProblem("The server's address has changed meanwhile. Ask for a new link.")
        wish = self._wish(entry, away.server_url)
        work = finish_sign_in(wish, away.prepared, returned)
        signed_in = await self.run(away.caller, entry, away.server_url, work)
        wall = self._gateway.clock.wall
        tokens = UserTokens(self._sealed, away.caller, away.server_id, wall)
        await tokens.save(away.server_url, signed_in)
        self._on_done(away.caller, away.server_id)
        return SignInLink(away.caller, away.server_id)

    def _entry(self, server_id: str) -> ServerEntry:
        connection = self._gateway.server(server_id)
        if connection is None or not connection.entry.is_per_user:
            raise LinkProblem("The server is no longer configured for sign-ins of users.")
        return connection.entry

    def _wish(self, entry: ServerEntry, server_url: str) -> SignInWish:
        return SignInWish(
            server_url=server_url,
            settings=read_settings(entry.auth),
            wall=self._gateway.clock.wall,
            random_text=lambda: secrets.token_urlsafe(48),
        )

    async def run(
        self,
        caller: str,
        entry: ServerEntry,
        server_url: str,
        work: Generator[Step, object, T],
        reason: str = "a user of the gateway signs in",
    ) -> T:
        """Carry out a flow for one user; raises InspectorError."""
        gateway = self._gateway
        networks = gateway.servers.options.sign_in_networks
        runner = FlowRunner(
            publish=Publisher(gateway.bus, entry.name),
            clock=gateway.clock,
            network=NetworkOptions(ca_file=entry.ca_file, insecure=entry.insecure),
            store=UserTokens(self._sealed, caller, entry.name, gateway.clock.wall),
            settings=read_settings(entry.auth),
            server_url=server_url,
            person=_AtGateway(f"{self.public_url}{CALLBACK_PATH}"),
            timeout_s=None,
            on_person=lambda _: None,
            is_public_only=networks == "public",
        )
        return await runner.run(work, reason=reason, exchange_id=None)


def _used(what: str) -> LinkProblem:
    return LinkProblem(f"This {what} is not valid, or was used already. Ask for a new link.")


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).hexdigest()


def _away_name(state: str) -> str:
    return f"away\n{state}"
