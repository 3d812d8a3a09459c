"""Signs in to one server: before connecting or when refused; sends the token along.

Before connecting: the sign-in that was kept, else a new one where one is expected and the server
has metadata of it. 401: the token that another request or process got meanwhile, else a refresh,
else a sign-in; 403 with insufficient_scope: a sign-in with more scopes. All requests share one
answer. Made once per server, for all its connections; called by the transports.
"""

from __future__ import annotations

import asyncio
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
    from mcplens.auth.flow import Flow, SignInWish
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
        is_configured: bool = False,
        is_fresh: bool = False,
        is_public_only: bool = False,
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
        self._is_configured = is_configured  # there is an auth block
        self._is_fresh = is_fresh  # an earlier sign-in is not used
        self._is_public_only = is_public_only
        self._publish: Publisher
        self._clock: Clock
        self._has_signed_in = False  # by a flow of ours, rather than a refresh
        self._headers: dict[str, str] | None = None
        self._is_kept = False
        self._nonce: str | None = None  # of the server, for DPoP
        self._work = Background()
        self._answer: asyncio.Task[bool] | None = None
        self._waiting = 0
        self._turn = asyncio.Lock()  # held by whoever signs in for a connection or a refusal
        self._has_declined = False  # the person, before connecting: not asked twice
        self._uses: int | None = None  # of the token of a sign-in before connecting

    def __repr__(self) -> str:
        return f"<ServerAuthorizer {self.server_url} {self.sign_in or 'not signed in'}>"

    def attach(self, publish: Publisher, clock: Clock) -> None:
        self._publish, self._clock = publish, clock

    async def restore(self) -> None:
        """Use the sign-in that was kept, if there is one."""
        if self._is_fresh or self.sign_in is not None or not self._store.has_any(self.server_url):
            return
        kept = await self._store.load(self.server_url)
        if kept is not None and self._is_ours(kept):
            self._use(kept)
            self._is_kept = True

    async def make_ready(self) -> None:
        async with self._turn:
            self._has_declined = False
            await self.restore()
            current = self.sign_in
            if current is not None:
                if not current.tokens.is_expired(self._clock.wall()):
                    return
                try:
                    if await self._refresh(current, "the token is expired", None):
                        return
                except (InspectorError, OSError):  # not reached, or the folder cannot be written
                    return  # the server's refusal comes soon enough
            reason = self._why_ahead()
            if reason is not None:
                await self._sign_in_ahead(reason)

    def headers(
        self, method: str, url: object, body: bytes | None = None
    ) -> Mapping[str, str] | None:
        if self._uses is not None:
            self._uses += 1
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
        wish = self._wish(self._challenge)
        if not self.was_refused:
            wish = msgspec.structs.replace(wish, needs_metadata=True)
        await self._keep(await self._run(self._flow()(wish), reason, None))

    async def take_token(self, token: str) -> None:
        """Use and keep a token that a person pasted, without any flow."""
        from mcplens.auth.problems import SignInProblem
        from mcplens.auth.token_requests import pasted_token

        try:
            sign_in = pasted_token(self.server_url, token)
        except SignInProblem as problem:
            raise ConfigurationError("CONFIGURATION_INVALID", problem.message) from None
        self._use(sign_in)
        await self._store.save(self.server_url, sign_in)

    async def refresh_now(self) -> bool:
        """Use the refresh token now; False if there is none, or it is spent.

        Raises:
            InspectorError: the authorization server cannot be reached.
        """
        current = self.sign_in
        return current is not None and await self._refresh(current, "you asked for a refresh", None)

    async def sign_out(self, *, forgets_client: bool = False) -> str:
        """Revoke the token where that is possible, and forget it; says in words what was done.

        `forgets_client` forgets, too, that we were registered with the authorization server.
        """
        from mcplens.auth.token_requests import revoke

        kept = await self._store.load(self.server_url)
        if kept is not None and forgets_client:
            await self._store.forget_client(kept.server.issuer)
        await self._store.forget(self.server_url)
        self._drop()
        if kept is None:
            return "was not signed in"
        try:
            is_revoked = await self._run(revoke(kept), "you signed out", None)
        except InspectorError as error:
            return f"signed out here; the token could not be revoked: {error.message}"
        return "signed out, and the token is revoked" if is_revoked else "signed out"

    # -- before connecting ---------------------------------------------------------------------

    def _why_ahead(self) -> str | None:
        """Why a sign-in is expected before the server is asked for anything; None if it is not."""
        person = self._person
        if self._settings.is_of_person and (person is None or not person.is_wanted):
            return None  # nobody could sign in
        if self._is_fresh:
            return "you asked for a sign-in"
        if self.sign_in is not None:
            return "the sign-in has expired"
        if self._is_configured:
            return "a sign-in is configured"
        if self._store.has_any(self.server_url) or self._store.has_client(self.server_url):
            return "you signed in before"
        return None

    async def _sign_in_ahead(self, reason: str) -> None:
        """Sign in if the server's metadata can be found; else its refusal is waited for."""
        from mcplens.auth.challenges import Challenge
        from mcplens.auth.flow import sign_in_ahead
        from mcplens.auth.problems import Declined

        challenge = self._challenge
        if self.sign_in is not None:  # what it was good for is asked for again
            challenge = Challenge("bearer", {"scope": " ".join(self.sign_in.requested)})
        agree_to = reason if self._settings.is_of_person else None
        work = sign_in_ahead(self._wish(challenge), self._flow(), agree_to=agree_to)
        try:
            signed_in = await self._run(work, reason, None)
        except Declined:
            self._has_declined = True
            return
        if signed_in is not None:
            await self._keep(signed_in)
            self._has_signed_in = True
            self._uses = 0

    # -- a refusal -----------------------------------------------------------------------------

    def _answered(self, task: asyncio.Task[bool]) -> None:
        self._answer = None
        if not task.cancelled():
            task.exception()  # those who waited have it

    def _sent_now(self) -> str | None:
        return None if self._headers is None else self._headers.get("Authorization")

    async def _resolve(self, refusal: Refusal) -> bool:
        async with self._turn:
            if refusal.sent != self._sent_now() and self._headers is not None:
                return True  # somebody signed in for a new connection meanwhile
            return await self._resolve_alone(refusal)

    async def _resolve_alone(self, refusal: Refusal) -> bool:
        from mcplens.auth.challenges import bearer_challenge, says_more

        before = self._challenge
        challenge = self._challenge = bearer_challenge(refusal.challenges)
        if challenge is None and refusal.challenges:
            return False  # it wants something else, such as a password
        if refusal.status == 403:
            return await self._step_up(refusal, challenge)
        if refusal.tries and self._has_signed_in:
            return False  # the token of a sign-in just now is not accepted
        current = self.sign_in
        if current is not None and self._uses == 1:
            # The token of the sign-in before connecting was never accepted.
            if not says_more(challenge, before, self.server_url, current.requested):
                return False
            reason = "the server wants more than its metadata say (401)"
            return await self._sign_in_anew(
                challenge, reason, refusal.exchange_id, current.requested
            )
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
        from mcplens.auth.runner import SignInFailed
        from mcplens.auth.token_requests import refresh

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
            work = refresh(self._wish(None), kept)
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
        if self._settings.is_of_person:
            if self._person is None or self._has_declined:
                return False
            if not await self._agrees(self._person, reason):
                return False
        work = self._flow()(self._wish(challenge, held_scopes))
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

    def _flow(self) -> Callable[[SignInWish], Flow]:
        from mcplens.auth.authorization_code import authorization_code
        from mcplens.auth.machine_grants import OF_MACHINES

        return OF_MACHINES.get(self._settings.grant, authorization_code)

    def _wish(self, challenge: Challenge | None, held: tuple[str, ...] = ()) -> SignInWish:
        import secrets

        from mcplens.auth.flow import SignInWish

        settings = self.edits or self._settings
        return SignInWish(
            server_url=self.server_url,
            settings=settings,
            is_client_entered=settings.client_id != self._settings.client_id,
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
            is_public_only=self._is_public_only,
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
        known_secrets.learn_issued(tokens.access_token, tokens.refresh_token)
        known_secrets.learn(sign_in.client.client_secret)
        self.sign_in = sign_in
        self._uses = None
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
