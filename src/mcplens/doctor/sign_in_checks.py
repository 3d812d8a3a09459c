"""Whether a server wants a sign-in, and what its metadata say of it.

Uses a sign-in that is kept, and never makes, refreshes or registers anything: that would change
something at the authorization server. Called by examination.py.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from mcplens.auth.authorizer import ServerAuthorizer
from mcplens.auth.challenges import Challenge, bearer_challenge
from mcplens.auth.discovery import discover
from mcplens.auth.runner import FlowRunner
from mcplens.auth.settings import AuthSettings, read_settings
from mcplens.auth.steps import Choose, Step
from mcplens.auth.storage import SignInStore
from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.doctor.checks import Check, OnCheck
from mcplens.errors import InspectorError
from mcplens.events import Event, HttpRequestSent, SignInStepChanged
from mcplens.transports.authorization import Refusal
from mcplens.transports.network import NetworkOptions


class ReadOnlyAuthorizer:
    """Sends the token of a kept sign-in along, and remembers a refusal."""

    def __init__(self, url: str, options: Mapping[str, Any], network: NetworkOptions) -> None:
        self.on_person: Callable[[bool], None] | None = None
        self.refusal: Refusal | None = None
        self._settings = read_settings(options.get("auth"))
        self._store = SignInStore()
        self._network = network
        self._is_public_only = options.get("sign_in_networks") == "public"
        self._kept = ServerAuthorizer(url, self._settings, self._store, network=network)
        self._publish: Publisher
        self._clock: Clock

    def __repr__(self) -> str:
        return f"<ReadOnlyAuthorizer {self._kept.server_url} refused: {self.refusal is not None}>"

    @property
    def has_token(self) -> bool:
        return self._kept.sign_in is not None

    def attach(self, publish: Publisher, clock: Clock) -> None:
        self._publish, self._clock = publish, clock
        self._kept.attach(publish, clock)

    async def make_ready(self) -> None:
        await self._kept.restore()

    def headers(
        self, method: str, url: object, body: bytes | None = None
    ) -> Mapping[str, str] | None:
        return self._kept.headers(method, url)

    async def refused(self, refusal: Refusal) -> bool:
        self.refusal = refusal
        return False

    async def look_up(self) -> None:
        """Read the metadata that a sign-in would start from.

        Raises:
            InspectorError: they are missing or wrong.
        """
        assert self.refusal is not None
        challenge = bearer_challenge(self.refusal.challenges)
        runner = FlowRunner(
            publish=self._publish,
            clock=self._clock,
            network=self._network,
            store=self._store,
            settings=self._settings,
            server_url=self._kept.server_url,
            person=None,
            timeout_s=None,
            on_person=lambda _: None,
            is_public_only=self._is_public_only,
        )
        flow = _lookup(self._kept.server_url, challenge, self._settings)
        await runner.run(flow, reason="mcplens doctor", exchange_id=self.refusal.exchange_id)


def _lookup(
    url: str, challenge: Challenge | None, settings: AuthSettings
) -> Generator[Step, object, None]:
    """The discovery alone: nobody signs in, and of several sites the first one is looked at."""
    flow = discover(url, challenge, settings)
    answer: object = None
    while True:
        try:
            step = flow.send(answer)
        except StopIteration:
            return
        answer = step.issuers[0] if isinstance(step, Choose) else (yield step)


async def check_sign_in(
    authorizer: ReadOnlyAuthorizer, events: Callable[[], list[Event]], on_check: OnCheck
) -> InspectorError | None:
    """The chain of metadata after a refusal; the error if it is broken."""
    problem = None
    try:
        await authorizer.look_up()
    except InspectorError as error:
        problem = error
    for check in _checks_of(events()):
        on_check(check)
    if problem is None:
        token = "the stored token is refused" if authorizer.has_token else "there is none"
        on_check(Check("sign_in", "failed", "using a stored sign-in", token))
    return problem


def _checks_of(events: list[Event]) -> list[Check]:
    """One check for each step of the discovery, with the addresses that were asked."""
    urls = {e.exchange_id: e.url for e in events if isinstance(e, HttpRequestSent)}
    found: dict[str, Check] = {}
    began: dict[str, float] = {}
    tried: dict[str, list[str]] = {}
    for event in events:
        if not isinstance(event, SignInStepChanged):
            continue
        name = event.step
        began.setdefault(name, event.mono)
        if event.exchange_id in urls and urls[event.exchange_id] not in tried.setdefault(name, []):
            tried[name].append(urls[event.exchange_id])
        if event.state not in ("done", "failed"):
            continue
        state = "ok" if event.state == "done" else "failed"
        came = event.text + (f"; expected {event.expected}" if event.expected else "")
        asked = f"GET {', '.join(tried.get(name, []))}"
        found[name] = Check(name, state, asked, came, event.mono - began[name])  # type: ignore[arg-type]
    return [check for check in found.values() if check.name in _KNOWN]


_KNOWN = ("protected_resource", "authorization_server")
