"""The person at the page who signs in to a server: at once, or step by step.

The page shows the site as a link, which the person opens; the return is listened for on this
machine, or pasted into the page. Used by sign_in.py.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from mcplens.auth.addresses import check_address
from mcplens.auth.person import BrowserPerson
from mcplens.auth.problems import SignInProblem
from mcplens.auth.steps import Authorize, Review
from mcplens.errors import InspectorError

# Those that a person reviews before they begin; a refresh must not wait for anybody.
_REVIEWED: Final = ("client", "authorization")
_UNPACED: Final = ("refresh", "revocation")


def _cancelled() -> SignInProblem:
    return SignInProblem("cancelled by you", expected="a sign-in", hint="sign in again")


class PagePerson(BrowserPerson):
    """What a sign-in waits for, and the answers of the page."""

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__(None, self._paste_of_page)
        self.request: Authorize | None = None  # where the person is to go
        self.issuers: tuple[str, ...] = ()  # of which one is to be chosen
        self.is_wanted = False  # a person asked for the connection, or uses it
        self._changed = changed
        self._awaited: asyncio.Future[str] | None = None

    def __repr__(self) -> str:
        return f"<PagePerson {'waited for' if self.request else 'idle'}>"

    async def agrees(self, server_url: str, reason: str) -> bool:
        # A server that is connected by itself must not begin anything by itself.
        return self.is_wanted

    async def authorize(self, request: Authorize) -> str:
        check_address(request.url, "the address of the sign-in")
        self.request = request
        self._awaited = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            return await super().authorize(request)
        finally:
            self.request = None
            self._changed()

    async def choose(self, issuers: tuple[str, ...]) -> str:
        self.issuers = issuers
        self._awaited = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            return await self._awaited
        finally:
            self.issuers = ()
            self._changed()

    async def _paste_of_page(self) -> str | None:
        assert self._awaited is not None
        return await self._awaited

    # -- the page ------------------------------------------------------------------------------

    def paste(self, text: str) -> None:
        """The address that the browser was sent to, pasted by the person.

        Raises:
            InspectorError: it is no such address, or nothing waits for it.
        """
        if self.request is None:
            raise InspectorError("INVALID_REQUEST", "no sign-in waits for an address")
        if "code=" not in text and "error=" not in text:
            message = "this is not it: the address has code= or error= in it"
            raise InspectorError("INVALID_REQUEST", message)
        self._answer(text.strip())

    def pick(self, issuer: str) -> None:
        """The authorization server that the person chose."""
        if issuer not in self.issuers:
            raise InspectorError("INVALID_REQUEST", f"{issuer!r} is not one to choose from")
        self._answer(issuer)

    def refuse(self) -> None:
        """The person does not want to."""
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_exception(_cancelled())

    def _answer(self, text: str) -> None:
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(text)


class PagePace:
    """Step by step, if the person wants it so."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.is_stepwise = False
        self.paused: str | None = None  # the step that waits
        self.draft: Review | None = None  # what it is about to send
        self._changed = changed
        self._going: asyncio.Future[None] | None = None
        self._edited: Review | None = None

    def __repr__(self) -> str:
        return f"<PagePace {'before ' + self.paused if self.paused else 'at once'}>"

    async def before(self, step: str) -> None:
        if self.is_stepwise and step not in (*_REVIEWED, *_UNPACED):
            await self._pause(step)

    async def review(self, draft: Review) -> Review:
        if not self.is_stepwise:
            return draft
        self.draft = self._edited = draft
        await self._pause(draft.step)
        return self._edited

    def go_on(self, edited: Review | None, *, at_once: bool) -> None:
        """Let the step that waits begin, with what the person changed.

        Raises:
            InspectorError: no step waits.
        """
        if self._going is None or self._going.done():
            raise InspectorError("INVALID_REQUEST", "no step of a sign-in waits")
        if edited is not None and self.draft is not None:
            self._edited = edited
        self.is_stepwise = not at_once
        self._going.set_result(None)

    def refuse(self) -> None:
        """The person ends the sign-in here."""
        if self._going is not None and not self._going.done():
            self._going.set_exception(_cancelled())

    async def _pause(self, step: str) -> None:
        self.paused = step
        self._going = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            await self._going
        finally:
            self.paused = self.draft = None
            self._changed()
