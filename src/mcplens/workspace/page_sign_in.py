"""The sign-in of one server as a page takes part in it: steps, what waits for a person, answers.

A page asks for it (`begin`), shows where to go, and may bring the answer that the browser could
not (`answer`). Owned by server.py; called by the authorizer of the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from mcplens.errors import InspectorError
from mcplens.events import Event, SignInEnded, SignInStarted, SignInStepChanged

if TYPE_CHECKING:
    from mcplens.auth.person import BrowserPerson
    from mcplens.auth.steps import Authorize


class SignInStep(msgspec.Struct, frozen=True):
    """A step of the last sign-in, as it stands."""

    step: str
    state: str
    text: str
    expected: str
    facts: dict[str, Any]
    exchange_id: int | None
    seq: int


class PageSignIn:
    """A person before a page, for one server."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.waiting: Authorize | None = None  # what the person is asked to do
        self.steps: dict[str, SignInStep] = {}
        self.reason = ""
        self._is_wanted = False
        self._changed = changed
        self._browser: BrowserPerson | None = None
        self._pasted: asyncio.Future[str | None] | None = None

    def __repr__(self) -> str:
        return f"<PageSignIn {'waiting' if self.waiting else 'idle'}, {len(self.steps)} steps>"

    def begin(self) -> None:
        """The next refusal of the server leads to a sign-in."""
        self._is_wanted = True

    def answer(self, url: str) -> None:
        """The address that the browser was sent to, pasted by a person.

        Raises:
            InspectorError: nothing waits for it, or it is not such an address.
        """
        if self._pasted is None or self._pasted.done():
            raise InspectorError("QUESTION_GONE", "no sign-in waits for an answer")
        if "code=" not in url and "error=" not in url:
            text = "that is not it: the address has code= or error= in it"
            raise InspectorError("INVALID_ANSWER", text)
        self._pasted.set_result(url.strip())

    def handle_event(self, event: Event) -> None:
        """Follow the steps."""
        match event:
            case SignInStarted():
                self.steps, self.reason = {}, event.reason
            case SignInStepChanged():
                old = self.steps.get(event.step)
                text = event.text or (old.text if old is not None else "")
                self.steps[event.step] = SignInStep(
                    event.step,
                    event.state,
                    text,
                    event.expected,
                    event.facts or (old.facts if old is not None else {}),
                    event.exchange_id,
                    event.seq,
                )
            case SignInEnded():
                self.waiting = None

    # -- a person, for the authorizer ----------------------------------------------------------

    async def agrees(self, server_url: str, reason: str) -> bool:
        # A server that is connected by itself must not open anything by itself.
        is_wanted, self._is_wanted = self._is_wanted, False
        return is_wanted

    async def listen(self, wanted: str | None, *, is_fixed: bool) -> str:
        from mcplens.auth.person import BrowserPerson

        if self._browser is None:
            self._browser = BrowserPerson(None, self._paste)
        return await self._browser.listen(wanted, is_fixed=is_fixed)

    async def authorize(self, request: Authorize) -> str:
        assert self._browser is not None
        self._pasted = asyncio.get_running_loop().create_future()
        self.waiting = request
        self._changed()
        try:
            return await self._browser.authorize(request)
        finally:
            self.waiting = self._pasted = None
            self._changed()

    async def choose(self, issuers: tuple[str, ...]) -> str:
        return issuers[0]

    async def close(self) -> None:
        if self._browser is not None:
            await self._browser.close()

    async def _paste(self) -> str | None:
        assert self._pasted is not None
        return await self._pasted
