"""Runs a flow: carries out its steps, and publishes each as it happens.

The steps of a sign-in are in the same stream of events as everything else: their HTTP exchanges
like any other, with secrets masked, and around them what the step is for and how it went. Called by
the authorizer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from os import urandom
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, urlsplit

from mcplens.auth.addresses import origin
from mcplens.auth.assertions import read_subject_token, sign_assertion
from mcplens.auth.masking import mask_body
from mcplens.auth.person import Pace, Person
from mcplens.auth.problems import Declined, SignInProblem
from mcplens.auth.proofs import make_proof, make_proof_key
from mcplens.auth.settings import AuthSettings
from mcplens.auth.steps import (
    Agree,
    AskForClient,
    Authorize,
    Choose,
    Fetch,
    Fetched,
    Keep,
    MakeProofKey,
    Note,
    OpenRedirect,
    Pin,
    ReadSubjectToken,
    Recall,
    Review,
    SignAssertion,
    SignIn,
    Step,
)
from mcplens.auth.storage import SignInStore
from mcplens.bus import Publisher
from mcplens.clock import Clock, within
from mcplens.errors import InspectorError
from mcplens.events import SignInEnded, SignInStarted, SignInStepChanged
from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import mask_url
from mcplens.transports.http_client import HttpClient
from mcplens.transports.network import NetworkOptions
from mcplens.transports.private_networks import PublicNetworkGuard

# Metadata and tokens are a few kilobytes.
MAX_BODY_BYTES: Final = 1024 * 1024
EXCHANGE_TIMEOUT_S: Final = 30.0
# For what can be done without: the attempt to connect, which has 30 s, goes on without it.
OPTIONAL_TIMEOUT_S: Final = 5.0
# What was expected where an exchange failed and what to do, by the code of its error.
_EXPECTED: Final = {
    "REDIRECT_REFUSED": (
        "an answer, or a redirect within the same origin",
        "have this address answer itself, or have the metadata name the new one",
    ),
    "MESSAGE_TOO_LARGE": (
        f"an answer of at most {MAX_BODY_BYTES} bytes",
        "check what answers there: metadata and tokens are a few kilobytes",
    ),
    "INVALID_RESPONSE": ("an answer over HTTP", "check the address and its port"),
}
_ANY_ANSWER: Final = (
    "an answer to the request",
    "check that the authorization server is running, and that the address is right",
)
_NOT_SENT: Final = ("", "check the auth block of this server")

T = TypeVar("T")


class SignInFailed(InspectorError):
    """A sign-in did not succeed: at which step, what was expected and what came."""

    def __init__(self, message: str, *, step: str, expected: str = "", **details: Any) -> None:
        shown: dict[str, Any] = {"sign_in_step": step, "expected": expected, **details}
        super().__init__("SIGN_IN_FAILED", message, details=shown)


def _private(url: str, guard: PublicNetworkGuard) -> SignInProblem:
    """A server names an address that people on other machines must not reach through us."""
    return SignInProblem(
        f"{mask_url(url)} is at {guard.refused}, an address of a private network",
        expected="an address of the public internet, since mcplens serves other machines",
        hint="if you trust this server, start mcplens with --allow-private-networks",
    )


class _NotInTime(Exception):
    """A server or a person took too long."""

    def __init__(self, message: str, expected: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.hint = hint


def _came(error: InspectorError) -> str:
    """What came; advice for who connects to a server does not fit an authorization server."""
    if "redirected_to" not in error.details:
        return error.message
    return f"redirected to {error.details['redirected_to']}, another origin, which is not followed"


def _doing(step: str) -> str:
    return "signing out of" if step == "revocation" else "signing in to"


class FlowRunner:
    """Carries out the steps of one sign-in."""

    def __init__(
        self,
        *,
        publish: Publisher,
        clock: Clock,
        network: NetworkOptions,
        store: SignInStore,
        settings: AuthSettings,
        server_url: str,
        person: Person | None,
        timeout_s: float | None,
        on_person: Callable[[bool], None],
        pace: Pace | None = None,
        is_public_only: bool = False,
    ) -> None:
        self._publish = publish
        self._clock = clock
        self._of_server = network
        self._is_public_only = is_public_only
        self._store = store
        self._settings = settings
        self._server_url = server_url
        self._person = person
        self._timeout_s = timeout_s
        self._on_person = on_person
        self._pace = pace
        self._id = urandom(6).hex()
        self._step = ""
        self._exchange_id: int | None = None

    def __repr__(self) -> str:
        return f"<FlowRunner {self._id} at {self._step or 'its start'}>"

    async def run(
        self, flow: Generator[Step, object, T], *, reason: str, exchange_id: int | None
    ) -> T:
        """Run a flow to its end.

        Raises:
            SignInFailed: a step failed.
            Declined: the person does not want to sign in.
        """
        self._publish(
            SignInStarted(
                sign_in_id=self._id,
                resource=self._server_url,
                reason=reason,
                exchange_id=exchange_id,
            )
        )
        try:
            result = await self._drive(flow)
        except Declined:
            self._end("cancelled")
            raise
        except SignInProblem as problem:
            raise self._failed(problem.message, problem.expected, problem.hint) from None
        except _NotInTime as late:
            cause = "REQUEST_TIMEOUT"
            raise self._failed(late.message, late.expected, late.hint, cause=cause) from None
        except InspectorError as error:
            is_sent = self._exchange_id is not None  # else we could not listen, say
            expected, hint = _EXPECTED.get(error.code, _ANY_ANSWER) if is_sent else _NOT_SENT
            expected = str(error.details.get("expected", expected))
            hint = str(error.details.get("hint", hint))
            raise self._failed(_came(error), expected, hint, cause=error.code) from error
        except BaseException:
            self._end("cancelled")
            raise
        finally:
            flow.close()
            if self._person is not None:
                await self._person.close()
        self._end("skipped" if result is None else "signed_in", result=result)
        return result

    async def _drive(self, flow: Generator[Step, object, T]) -> T:
        answer: object = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as done:
                result: T = done.value
                return result
            answer = await self._carry_out(step)

    async def _carry_out(self, step: Step) -> object:
        if step.step != self._step:
            self._step, self._exchange_id = step.step, None
            if self._pace is not None:
                await self._unhurried(self._pace.before(step.step))
            self._tell("started")
        match step:
            case Fetch(is_optional=True):
                return await self._try_to_fetch(step)
            case Fetch():
                return await self._fetch(step)
            case Note():
                self._tell("done" if step.is_done else "noted", step.text, facts=step.facts)
            case Recall():
                return await self._store.client_of(step.issuer)
            case Keep(is_refused=True):
                await self._store.forget_client(step.client.issuer)
            case Keep():
                await self._store.keep_client(step.client, self._server_url)
            case Pin():
                self._pin(step)
            case SignAssertion():
                return sign_assertion(self._settings, step, self._clock.wall())
            case MakeProofKey():
                return make_proof_key()
            case ReadSubjectToken():
                return read_subject_token(self._settings.subject_token_file)
            case OpenRedirect():
                return await self._of_person().listen(step.wanted, is_fixed=step.is_fixed)
            case AskForClient():
                return await self._wait_for_person(self._of_person().identify(step))
            case Agree():
                agrees = self._of_person().agrees(self._server_url, step.reason)
                return await self._unhurried(agrees)
            case Choose():
                return await self._choose(step)
            case Review():
                if self._pace is None:
                    return step
                return await self._unhurried(self._pace.review(step))
            case Authorize():
                return await self._authorize(step)
        return None

    # -- the world -----------------------------------------------------------------------------

    def _network(self, url: str) -> NetworkOptions:
        """How to reach an address; headers that are meant for the server are not for others."""
        is_guarded = self._is_public_only and not self._is_chosen(url)
        return NetworkOptions(
            ca_file=self._of_server.ca_file,
            insecure=self._of_server.insecure,
            connect_timeout_s=EXCHANGE_TIMEOUT_S,
            guard=PublicNetworkGuard() if is_guarded else None,
        )

    def _is_chosen(self, url: str) -> bool:
        """Whether an address is of a site that the user configured, not one that a server named."""
        settings = self._settings
        configured = [self._server_url]
        configured += [] if settings.idp is None else [settings.idp.issuer]
        configured += filter(None, [settings.authorization_server])
        with suppress(ValueError):
            return origin(url) in map(origin, configured)
        return False

    async def _try_to_fetch(self, step: Fetch) -> Fetched:
        try:
            return await self._fetch(step)
        except (InspectorError, SignInProblem, _NotInTime) as problem:
            self._tell("noted", problem.message)
            return Fetched(0, b"")

    async def _fetch(self, step: Fetch) -> Fetched:
        network = self._network(step.url)
        guard = network.guard
        if guard is not None and not guard.admits(urlsplit(step.url).hostname or ""):
            raise _private(step.url, guard)
        try:
            return await self._fetch_over(step, network)
        except InspectorError:
            if guard is not None and guard.refused is not None:
                raise _private(step.url, guard) from None
            raise

    async def _fetch_over(self, step: Fetch, network: NetworkOptions) -> Fetched:
        client = HttpClient(step.url, network, MAX_BODY_BYTES, mask_body=mask_body)
        client.open(self._publish, self._clock)
        found: list[Fetched] = []

        async def exchange(nonce: str | None = None) -> None:
            headers = client.headers(step.headers | self._proof(step, nonce))
            sent = client.exchange(step.method, headers, step.body, on_resent=self._link)
            self._link(sent.id)  # before it is sent: it may get no answer
            async with sent:
                body = await sent.read()
            wanted = sent.header("DPoP-Nonce")
            if nonce is None and wanted is not None and sent.status == 400 and step.proof_key:
                await exchange(wanted)  # the server wants its nonce in the proof (RFC 9449, 8)
            else:
                found.append(Fetched(sent.status, body))

        limit_s = OPTIONAL_TIMEOUT_S if step.is_optional else EXCHANGE_TIMEOUT_S
        try:
            await within(self._clock, limit_s, exchange())
        except TimeoutError:
            text = f"there was no answer within {limit_s:g} s"
            hint = "try again later, or check that the address is right"
            raise _NotInTime(text, "an answer in time", hint) from None
        finally:
            await client.close()
        self._tell("answered", f"{step.method} {mask_url(step.url)}: HTTP {found[0].status}")
        return found[0]

    def _proof(self, step: Fetch, nonce: str | None) -> dict[str, str]:
        if step.proof_key is None:
            return {}
        wall = self._clock.wall()
        return {"DPoP": make_proof(step.proof_key, step.method, step.url, wall, nonce=nonce)}

    async def _authorize(self, step: Authorize) -> str:
        facts = {
            "issuer": step.issuer,
            "clientId": step.client_id,
            "redirectUri": step.redirect_uri,
            "scopes": list(step.scopes),
            "resource": step.resource,
        }
        self._tell("waiting", f"waiting for a sign-in at {step.issuer}", facts=facts)
        returned = await self._wait_for_person(self._of_person().authorize(step))
        known_secrets.learn_issued(*parse_qs(urlsplit(returned).query).get("code", ()))
        return returned

    async def _choose(self, step: Choose) -> str:
        self._tell("waiting", f"waiting for a choice among {', '.join(step.issuers)}")
        chosen = await self._wait_for_person(self._of_person().choose(step.issuers))
        self._tell("done", f"{chosen} was chosen", facts={"issuer": chosen})
        return chosen

    async def _wait_for_person(self, work: Awaitable[T]) -> T:
        """A person has their own time: the clocks of requests stand still meanwhile."""
        found: list[T] = []

        async def wait() -> None:
            found.append(await work)

        self._on_person(True)
        try:
            await within(self._clock, self._timeout_s, wait())
        except TimeoutError:
            text = f"nobody signed in within {self._timeout_s:g} s"
            hint = "sign in again; authorizationTimeoutSeconds in the auth block allows more time"
            raise _NotInTime(text, "a sign-in in time", hint) from None
        finally:
            self._on_person(False)
        return found[0]

    async def _unhurried(self, work: Awaitable[T]) -> T:
        """Wait for a person who looks at a step for as long as it takes."""
        self._on_person(True)
        try:
            return await work
        finally:
            self._on_person(False)

    def _of_person(self) -> Person:
        if self._person is None:
            text = "a person has to sign in, and nobody is there"
            hint = "sign in beforehand with mcplens auth login, on a terminal or in the page"
            raise SignInProblem(text, expected="a person", hint=hint)
        return self._person

    def _pin(self, step: Pin) -> None:
        """A secret that was configured for one issuer must not be sent to another."""
        if self._settings.authorization_server is not None:
            return  # discovery made sure of it
        pinned = self._store.pinned_issuer(self._server_url, step.client_id)
        if pinned is None:
            self._store.pin(self._server_url, step.client_id, step.issuer)
        elif pinned != step.issuer:
            raise SignInProblem(
                f"the server now names {step.issuer}, and the secret of {step.client_id} was used "
                f"with {pinned}",
                expected=pinned,
                hint="if this is right, set authorizationServer in the auth block",
            )

    # -- what is published ---------------------------------------------------------------------

    def _link(self, exchange_id: int) -> None:
        """What is told next belongs to this exchange."""
        self._exchange_id = exchange_id

    def _tell(
        self, state: str, text: str = "", expected: str = "", facts: dict[str, Any] | None = None
    ) -> None:
        self._publish(
            SignInStepChanged(
                sign_in_id=self._id,
                step=self._step,
                state=state,
                text=text,
                expected=expected,
                facts=facts or {},
                exchange_id=self._exchange_id,
            )
        )

    def _failed(self, message: str, expected: str, hint: str, **details: Any) -> SignInFailed:
        self._tell("failed", message, expected)
        error = SignInFailed(
            f"{_doing(self._step)} {self._server_url} failed: {message}",
            step=self._step,
            expected=expected,
            hint=hint,
            **details,
        )
        self._end("failed", error=error)
        return error

    def _end(
        self, outcome: str, *, result: object = None, error: InspectorError | None = None
    ) -> None:
        sign_in = result if isinstance(result, SignIn) else None
        self._publish(
            SignInEnded(
                sign_in_id=self._id,
                outcome=outcome,
                issuer=None if sign_in is None else sign_in.server.issuer,
                scopes=[] if sign_in is None else list(sign_in.tokens.scopes),
                expires_at=None if sign_in is None else sign_in.tokens.expires_at,
                error=None if error is None else error.to_dict(),
            )
        )
