"""The sign-in of one server, as the page drives it.

Owns the authorizer that all connections to the server share, the person at the page, and what the
page shows: the latest runs, and what is kept. Made by server.py; called by the commands of the
page.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from mcplens.auth.authorizer import ServerAuthorizer
from mcplens.auth.clients import Client
from mcplens.auth.creation import create_authorizer
from mcplens.auth.settings import AuthSettings, read_settings
from mcplens.auth.steps import Review, SignIn
from mcplens.auth.storage import SignInStore
from mcplens.background import Background
from mcplens.bus import Bus, Publisher
from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.events import Event, SignInEnded, SignInStarted, SignInStepChanged
from mcplens.targets import SIGN_IN_OPTIONS
from mcplens.transports.network import NetworkOptions
from mcplens.workspace.page_person import PagePace, PagePerson
from mcplens.workspace.sign_in_runs import SignInRuns

SIGN_IN_EVENTS: Final = frozenset({SignInStarted, SignInStepChanged, SignInEnded})
_NETWORK_NAMES: Final = ("headers", "ca_file", "insecure")


class SignInEdits(msgspec.Struct, frozen=True, kw_only=True):
    """What a person changed for a sign-in; None: as configured or found."""

    scopes: str | None = None
    client_id: str | None = None
    client_secret: str | None = None
    redirect_uri: str | None = None
    resource: str | None = None


class ServerSignIn:
    """Who signs in to a server, and how that stands."""

    def __init__(
        self, server_id: str, *, bus: Bus, clock: Clock, changed: Callable[[], None]
    ) -> None:
        self.runs = SignInRuns()
        self.person = PagePerson(changed)
        self.pace = PagePace(changed)
        self.kept: SignIn | None = None
        self.registration: Client | None = None
        self.settings = AuthSettings()
        self.authorizer: ServerAuthorizer | None = None
        self.is_known = False  # the server wants a sign-in, or has one
        self._server_id = server_id
        self._bus = bus
        self._clock = clock
        self._changed = changed
        self._store = SignInStore()
        self._made_of: object = None
        self._work = Background()
        self._looks = Background()
        # What was read before a change must not replace what is read after it.
        self._reading = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<ServerSignIn of {self._server_id}, {self.runs!r}>"

    @property
    def is_under_way(self) -> bool:
        """A sign-in that the page started on its own, without connecting."""
        return bool(self._work)

    # -- for the server ------------------------------------------------------------------------

    def follow(self, target: object, options: Mapping[str, Any]) -> ServerAuthorizer | None:
        """The authorizer for what is configured now; None where there is nothing to sign in to.

        Raises:
            ConfigurationError: the `auth` block cannot be used.
        """
        if not isinstance(target, str) or "://" not in target.split(" ", 1)[0]:
            self.authorizer, self._made_of = None, None
            return None
        names = (*SIGN_IN_OPTIONS, *_NETWORK_NAMES)
        made_of = (target, {name: options.get(name) for name in names})
        if made_of == self._made_of:
            return self.authorizer
        network = {name: options[name] for name in _NETWORK_NAMES if name in options}
        self.authorizer = create_authorizer(
            target,
            options.get("auth"),
            self.person,
            network=NetworkOptions(**network),
            timeout_s=options.get("sign_in_timeout_s"),
            store=self._store,
            networks=options.get("sign_in_networks", "any"),
        )
        self._made_of = made_of
        self.settings = read_settings(options.get("auth"))
        if self.authorizer is not None:
            self.authorizer.attach(Publisher(self._bus, self._server_id), self._clock)
            self.authorizer.pace = self.pace
            self.is_known = bool(options.get("auth")) or self._store.has_any(target)
        return self.authorizer

    def handle_event(self, event: Event) -> None:
        self.is_known = True
        self.runs.handle_event(event)
        if isinstance(event, SignInEnded):
            self.pace.is_stepwise = False
            if self.authorizer is not None:
                self.kept = self.authorizer.sign_in
                self._looks.start(self._look_again(), f"look at the sign-in to {self._server_id}")

    def moved(self, state: str, *, is_by_itself: bool = False) -> None:
        """The connection changed: who uses it may be asked to sign in, nobody once it is gone.

        A server that a gateway connected by itself asks nobody, unless a person connected it too.
        """
        if state in ("DISCONNECTED", "ERROR"):
            self.person.is_wanted = False
        elif state == "CONNECTED" and not is_by_itself:
            self.person.is_wanted = True

    # -- for the page --------------------------------------------------------------------------

    def ready(self) -> ServerAuthorizer:
        """The authorizer.

        Raises:
            InspectorError: the server has no sign-in.
        """
        if self.authorizer is None:
            text = f"{self._server_id} has no sign-in: it is started by a command, or sends an"
            text += " Authorization header of its own"
            raise InspectorError("INVALID_REQUEST", text)
        return self.authorizer

    async def _look_again(self) -> None:
        """A sign-in may have registered a client, or used that of another issuer."""
        async with self._reading:
            await self._find_registration()
        self._changed()

    async def _find_registration(self) -> None:
        issuer = self.issuer
        self.registration = None if issuer is None else await self._store.client_of(issuer)

    async def look(self) -> None:
        """Read what is kept."""
        if self.authorizer is None:
            return
        async with self._reading:
            self.kept = await self._store.load(self.authorizer.server_url)
            await self._find_registration()
        self.is_known = self.is_known or self.kept is not None

    @property
    def issuer(self) -> str | None:
        """The authorization server, as far as it is known."""
        if self.kept is not None and self.kept.server.issuer:
            return self.kept.server.issuer
        for run in self.runs.newest_first:
            for step in run.steps:
                if isinstance(issuer := step.facts.get("issuer"), str):
                    return issuer
        return None

    def prepare(self, edits: SignInEdits, *, is_stepwise: bool) -> None:
        """How the next sign-in goes: step by step or at once, and what is changed in it."""
        authorizer = self.ready()
        self.pace.is_stepwise = is_stepwise
        self.person.is_wanted = True
        changes: dict[str, Any] = {
            name: value
            for name in ("client_id", "client_secret", "redirect_uri")
            if (value := getattr(edits, name))
        }
        if edits.scopes is not None:
            changes["scopes"] = tuple(edits.scopes.split())
        authorizer.edits = msgspec.structs.replace(self.settings, **changes) if changes else None
        authorizer.resource = edits.resource or None

    def start(self, then: Callable[[], None]) -> None:
        """Sign in without connecting; `then` is called once it is done."""
        authorizer = self.ready()

        async def work() -> None:
            with contextlib.suppress(InspectorError):  # its run has the error
                await authorizer.authorize("you asked for a sign-in")
                await self.look()
                then()
            self._changed()

        self._work.start(work(), f"sign in to {self._server_id}")

    def go_on(self, edits: SignInEdits, *, at_once: bool) -> None:
        """Let the step that waits begin."""
        draft = self.pace.draft
        edited = None
        if draft is not None:
            edited = Review(
                draft.step,
                draft.client_id if edits.client_id is None else edits.client_id or None,
                draft.redirect_uri if edits.redirect_uri is None else edits.redirect_uri or None,
                draft.scopes if edits.scopes is None else tuple(edits.scopes.split()),
                draft.resource if edits.resource is None else edits.resource or None,
            )
        self.pace.go_on(edited, at_once=at_once)

    async def cancel(self) -> None:
        """End the sign-in that goes on."""
        self.person.refuse()
        self.pace.refuse()
        if self._work:
            await self._work.end()

    async def refresh(self) -> None:
        """Use the refresh token now.

        Raises:
            InspectorError: there is none, or it is not accepted.
        """
        authorizer = self.ready()
        await authorizer.restore()
        if not await authorizer.refresh_now():
            text = "the authorization server no longer accepts the refresh token: sign in again"
            raise InspectorError("SIGN_IN_FAILED", text)
        await self.look()

    async def sign_out(self) -> str:
        """Revoke and forget; says in words what was done."""
        outcome = await self.ready().sign_out()
        await self.look()
        return outcome

    async def take_token(self, token: str) -> None:
        """Use and keep a token that was pasted."""
        if not token.strip() or any(ord(each) < 33 for each in token.strip()):
            text = "not a valid token: it is empty, or has spaces in it"
            raise InspectorError("INVALID_REQUEST", text)
        await self.ready().take_token(token.strip())
        await self.look()

    async def forget_registration(self) -> None:
        """Forget the client that was registered; the next sign-in registers anew."""
        issuer = self.issuer
        if issuer is not None:
            await self._store.forget_client(issuer)
        await self.look()

    async def end(self) -> None:
        await self._work.end()
        await self._looks.end()
