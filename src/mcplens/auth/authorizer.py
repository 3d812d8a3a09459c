"""Signs in to one server: sends the token along, and answers its refusals.

401: the token that another request or process got meanwhile, else a refresh, else a sign-in; 403
with insufficient_scope: a sign-in with more scopes. All requests share one answer. Made once per
server, for all its connections; called by the transports.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from mcplens.auth.addresses import canonical
from mcplens.background import Background
from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.known_secrets import known_secrets
from mcplens.transports.authorization import Refusal
from mcplens.transports.network import NetworkOptions

if TYPE_CHECKING:
    from mcplens.auth.challenges import Challenge
    from mcplens.auth.flow import SignInWish
    from mcplens.auth.person import Pace, Person
    from mcplens.auth.settings import AuthSettings
    from mcplens.auth.steps import SignIn, Step
    from mcplens.auth.storage import SignInStore

# How long a person has, unless the configuration says otherwise.
DEFAULT_TIMEOUT_S: Final = 120.0

T = TypeVar("T")


class ServerAuthorizer:
    """The sign-in of one server."""

    def __init__(
        self,
        server_url: str,
        settings: AuthSettings,
        store: SignInStore,
        *,
        network: NetworkOptions,
        person: Person | None = None,
        timeout_s: float | None = DEFAULT_TIMEOUT_S,
        is_fresh: bool = False,
    ) -> None:
        self.server_url = canonical(server_url)  # what else is in it may be secret
        self.on_person: Callable[[bool], None] | None = None
        self.sign_in: SignIn | None = None
        self.was_refused = False  # the server asked for a sign-in at least once
        self.pace: Pace | None = None  # of the next sign-ins
        self.edits: AuthSettings | None = None  # in place of what is configured
        self.resource: str | None = None  # in place of the one that is found
        self._challenge: Challenge | None = None  # the last one
        self._settings = settings
        known_secrets.learn(settings.client_secret)
        self._store = store
        self._network = network
        self._person = person
        self._timeout_s = timeout_s
        self._is_fresh = is_fresh  # an earlier sign-in is not used
        self._publish: Publisher
        self._clock: Clock
        self._has_signed_in = False  # by a flow of ours, rather than a refresh
        self._headers: dict[str, str] | None = None
        self._is_kept = False
        self._nonce: str | None = None  # of the server, for DPoP
        self._work = Background()
        self._answer: asyncio.Task[bool] | None = None
        self._waiting = 0

    def __repr__(self) -> str:
        return f"<ServerAuthorizer {self.server_url} {self.sign_in or 'not signed in'}>"

    def attach(self, publish: Publisher, clock: Clock) -> None:
        self._publish, self._clock = publish, clock

    async def make_ready(self) -> None:
        if self._is_fresh or self.sign_in is not None or not self._store.has_any(self.server_url):
            return
        kept = await self._store.load(self.server_url)
        if kept is None or not self._is_ours(kept):
            return
        self._use(kept)
        self._is_kept = True
        if kept.tokens.is_expired(self._clock.wall()) and kept.tokens.refresh_token is not None:
            with contextlib.suppress(InspectorError):  # the server's refusal comes soon enough
                await self._refresh(kept, "the token is expired", None)

    def headers(self, method: str, url: object) -> Mapping[str, str] | None:
        current = self.sign_in
        if current is None or current.proof_key is None or self._headers is None:
            return self._headers
        from mcplens.auth.proofs import make_proof

        token, wall = current.tokens.access_token, self._clock.wall()
        proof = make_proof(
            current.proof_key, method, str(url), wall, token=token, nonce=self._nonce
        )
        return {**self._headers, "DPoP": proof}

    async def refused(self, refusal: Refusal) -> bool:
        self.was_refused = True
        if refusal.nonce not in (None, self._nonce) and refusal.sent is not None:
            self._nonce = refusal.nonce  # the server wants it in the proof (RFC 9449, 9)
            return True
        if refusal.sent != self._sent_now() and self._headers is not None:
            return True  # it was sent before the token that we have by now
        if self._answer is None:
            self._answer = self._work.start(self._resolve(refusal), "sign-in")
            self._answer.add_done_callback(self._answered)
        answer = self._answer
        self._waiting += 1
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if self._waiting == 1:
                answer.cancel()  # nobody wants it any more
                await asyncio.gather(answer, return_exceptions=True)
            raise
        finally:
            self._waiting -= 1

    async def authorize(self, reason: str) -> None:
        """Sign in now, without a refusal.

        Raises:
            InspectorError: it failed.
        """
        from mcplens.auth import flow

        wish = self._wish(self._challenge)
        if not self.was_refused:
            wish = msgspec.structs.replace(wish, needs_metadata=True)
        begin = flow.OF_MACHINES.get(self._settings.grant, flow.authorization_code)
        work = begin(wish)
        await self._keep(await self._run(work, reason, None))

    async def take_token(self, token: str) -> None:
        """Use and keep a token that a person pasted, without any flow."""
        from mcplens.auth.addresses import check_address
        from mcplens.auth.clients import Client
        from mcplens.auth.metadata import AuthorizationServer
        from mcplens.auth.problems import SignInProblem
        from mcplens.auth.steps import SignIn
        from mcplens.auth.tokens import Tokens

        try:
            check_address(self.server_url, "the server's address")
        except SignInProblem as problem:
            raise ConfigurationError("CONFIGURATION_INVALID", problem.message) from None
        sign_in = SignIn(
            server=AuthorizationServer(issuer="", token_endpoint=""),
            client=Client(issuer="", client_id=""),
            resource=self.server_url,
            requested=(),
            tokens=Tokens(access_token=token),
        )
        self._use(sign_in)
        await self._store.save(self.server_url, sign_in)

    async def refresh_now(self) -> bool:
        """Use the refresh token now; False if there is none, or it is spent.

        Raises:
            InspectorError: the authorization server cannot be reached.
        """
        current = self.sign_in
        return current is not None and await self._refresh(current, "asked for", None)

    async def sign_out(self, *, forgets_client: bool = False) -> str:
        """Revoke the token where that is possible, and forget it; says in words what was done.

        `forgets_client` forgets, too, that we were registered with the authorization server.
        """
        from mcplens.auth import flow

        kept = await self._store.load(self.server_url)
        if kept is not None and forgets_client:
            await self._store.forget_client(kept.server.issuer)
        await self._store.forget(self.server_url)
        self._drop()
        if kept is None:
            return "was not signed in"
        try:
            is_revoked = await self._run(flow.revoke(kept), "sign-out", None)
        except InspectorError as error:
            return f"signed out here; the token could not be revoked: {error.message}"
        return "signed out, and the token is revoked" if is_revoked else "signed out"

    # -- a refusal -----------------------------------------------------------------------------

    def _answered(self, task: asyncio.Task[bool]) -> None:
        self._answer = None
        if not task.cancelled():
            task.exception()  # those who waited have it

    def _sent_now(self) -> str | None:
        return None if self._headers is None else self._headers.get("Authorization")

    async def _resolve(self, refusal: Refusal) -> bool:
        from mcplens.auth.challenges import bearer_challenge

        challenge = self._challenge = bearer_challenge(refusal.challenges)
        if challenge is None and refusal.challenges:
            return False  # it wants something else, such as a password
        if refusal.status == 403:
            return await self._step_up(refusal, challenge)
        if refusal.tries and self._has_signed_in:
            return False  # the token of a sign-in just now is not accepted
        current = self.sign_in
        if current is not None and not refusal.tries:
            reason = "the token was refused (401)"
            if await self._refresh(current, reason, refusal.exchange_id):
                self._has_signed_in = False
                return True
        return await self._sign_in_anew(
            challenge, "the server wants a sign-in (401)", refusal.exchange_id
        )

    async def _step_up(self, refusal: Refusal, challenge: Challenge | None) -> bool:
        """More scopes, if there are any that were not asked for yet."""
        if challenge is None or challenge.error != "insufficient_scope":
            return False
        held = () if self.sign_in is None else self.sign_in.requested
        if self.sign_in is not None and set(challenge.scopes) <= set(held):
            return False
        scopes = " ".join(challenge.scopes) or "more scopes"
        reason = f"the server wants {scopes} (403)"
        return await self._sign_in_anew(challenge, reason, refusal.exchange_id, held)

    async def _refresh(self, old: SignIn, reason: str, exchange_id: int | None) -> bool:
        """A new token for the refresh token; False if there is none, or it is spent."""
        from mcplens.auth import flow
        from mcplens.auth.runner import SignInFailed

        async with self._store.lock(self.server_url, self._clock):
            kept = await self._store.load(self.server_url)
            if kept is None and self._is_kept:
                self._drop()  # signed out elsewhere
                return False
            kept = kept or old
            if kept.tokens.access_token != old.tokens.access_token and self._is_ours(kept):
                self._use(kept)  # another process was quicker
                return True
            if kept.tokens.refresh_token is None:
                return False
            work = flow.refresh(self._wish(None), kept)
            try:
                fresh = await self._run(work, reason, exchange_id)
            except SignInFailed as error:
                if error.details.get("cause") is not None:
                    raise  # the server was not reached: the refresh token may still be good
                return False
            await self._keep(fresh)
        return True

    async def _sign_in_anew(
        self,
        challenge: Challenge | None,
        reason: str,
        exchange_id: int | None,
        held_scopes: tuple[str, ...] = (),
    ) -> bool:
        from mcplens.auth import flow

        wish = self._wish(challenge, held_scopes)
        grant = self._settings.grant
        if grant in flow.OF_MACHINES:
            work = flow.OF_MACHINES[grant](wish)
        elif self._person is None:
            return False
        else:
            if not await self._agrees(self._person, reason):
                return False
            work = flow.authorization_code(wish)
        await self._keep(await self._run(work, reason, exchange_id))
        self._has_signed_in = True
        return True

    async def _agrees(self, person: Person, reason: str) -> bool:
        self._tell_person(True)
        try:
            return await person.agrees(self.server_url, reason)
        finally:
            self._tell_person(False)

    # -- parts ---------------------------------------------------------------------------------

    def _wish(self, challenge: Challenge | None, held: tuple[str, ...] = ()) -> SignInWish:
        import secrets

        from mcplens.auth.flow import SignInWish

        return SignInWish(
            server_url=self.server_url,
            settings=self.edits or self._settings,
            resource=self.resource,
            wall=self._clock.wall,
            random_text=lambda: secrets.token_urlsafe(48),
            challenge=challenge,
            held_scopes=held,
        )

    async def _run(
        self, work: Generator[Step, object, T], reason: str, exchange_id: int | None
    ) -> T:
        from mcplens.auth.runner import FlowRunner

        runner = FlowRunner(
            publish=self._publish,
            clock=self._clock,
            network=self._network,
            store=self._store,
            settings=self.edits or self._settings,
            server_url=self.server_url,
            pace=self.pace,
            person=self._person,
            timeout_s=self._timeout_s,
            on_person=self._tell_person,
        )
        return await runner.run(work, reason=reason, exchange_id=exchange_id)

    def _tell_person(self, is_waiting: bool) -> None:
        if self.on_person is not None:
            self.on_person(is_waiting)

    def _is_ours(self, kept: SignIn) -> bool:
        """Whether a kept sign-in is one of the client and server that are configured now."""
        settings = self._settings
        wanted = settings.client_id
        issuer = settings.authorization_server
        is_client = wanted is None or kept.client.client_id == wanted
        return is_client and issuer in (None, kept.server.issuer)

    def _use(self, sign_in: SignIn) -> None:
        tokens = sign_in.tokens
        known_secrets.learn(tokens.access_token, tokens.refresh_token, sign_in.client.client_secret)
        self.sign_in = sign_in
        self._headers = {"Authorization": sign_in.tokens.header}

    def _drop(self) -> None:
        self.sign_in = self._headers = None

    async def _keep(self, sign_in: SignIn) -> None:
        self._use(sign_in)
        try:
            await self._store.save(self.server_url, sign_in)
            self._is_kept = True
        except OSError as problem:
            from mcplens.events import Remark

            text = f"the sign-in cannot be kept for later: {problem.strerror or problem}"
            self._publish(Remark(message=text))
