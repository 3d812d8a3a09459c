"""How a person takes part in a sign-in: agrees, is sent to a site, and comes back.

The interface, and the two ways that there are: a browser with a listener for its return, and a
function of the embedding program. Called by the runner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from mcplens.auth.clients import GivenClient
from mcplens.auth.redirect_listener import RedirectListener
from mcplens.auth.steps import AskForClient, Authorize, Review
from mcplens.background import Background

# Where a function gets the answer that nobody listens for.
DEFAULT_REDIRECT_URI: Final = "http://127.0.0.1:6276/callback"

OpenUrl = Callable[[str], object]
# Gives the URL that the browser came back to, as a person pasted it; None if there will be none.
Paste = Callable[[], Awaitable[str | None]]


class Person(Protocol):
    """Who signs in."""

    # False: nobody asked for the connection, so nothing begins on account of it.
    is_wanted: bool

    async def agrees(self, server_url: str, reason: str) -> bool:
        """Whether to sign in at all; asked before anything is sent."""

    async def listen(self, wanted: str | None, *, is_fixed: bool) -> str:
        """Listen for the browser's return, there if possible; gives the address.

        Raises:
            InspectorError: nothing can listen at a fixed address.
        """

    async def authorize(self, request: Authorize) -> str:
        """Send the person to the site; gives the URL that the browser came back to."""

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """One of several authorization servers."""

    async def identify(self, request: AskForClient) -> GivenClient | None:
        """The client that the person registered by hand; None if there is none."""

    async def close(self) -> None:
        """Stop listening; safe to call twice."""


class Pace(Protocol):
    """Lets a sign-in go on step by step, and what it sends be changed."""

    async def before(self, step: str) -> None:
        """A step is about to begin."""

    async def review(self, draft: Review) -> Review:
        """What is about to be sent; gives what is sent instead."""


class FunctionPerson:
    """A function of the program answers: given the request, it returns the redirected URL."""

    is_wanted = True

    def __init__(self, function: Callable[[Authorize], Awaitable[str]]) -> None:
        self._function = function

    def __repr__(self) -> str:
        return f"<FunctionPerson {self._function!r}>"

    async def agrees(self, server_url: str, reason: str) -> bool:
        return True

    async def listen(self, wanted: str | None, *, is_fixed: bool) -> str:
        return wanted or DEFAULT_REDIRECT_URI

    async def authorize(self, request: Authorize) -> str:
        return await self._function(request)

    async def choose(self, issuers: tuple[str, ...]) -> str:
        return issuers[0]

    async def identify(self, request: AskForClient) -> GivenClient | None:
        return None

    async def close(self) -> None:
        pass


class BrowserPerson:
    """A person at a browser on this machine; the return is listened for, or pasted."""

    is_wanted = True

    def __init__(self, open_url: OpenUrl | None, paste: Paste | None = None) -> None:
        self._open_url = open_url
        self._paste = paste
        self._listener: RedirectListener | None = None

    def __repr__(self) -> str:
        return f"<BrowserPerson {self._listener or 'not listening'}>"

    async def agrees(self, server_url: str, reason: str) -> bool:
        return True

    async def listen(self, wanted: str | None, *, is_fixed: bool) -> str:
        await self.close()
        self._listener = RedirectListener(wanted, is_fixed=is_fixed)
        return await self._listener.open()

    async def authorize(self, request: Authorize) -> str:
        assert self._listener is not None
        self.announce(request)
        if self._open_url is not None:
            self._open_url(request.url)
        ways = Background()
        waits = [ways.start(self._listener.returned(), "the browser's return")]
        if self._paste is not None:
            waits.append(ways.start(self._pasted(self._paste), "a pasted answer"))
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            await ways.end()

    def announce(self, request: Authorize) -> None:
        """Tell the person where to sign in; for subclasses that can."""

    async def choose(self, issuers: tuple[str, ...]) -> str:
        return issuers[0]

    async def identify(self, request: AskForClient) -> GivenClient | None:
        return None  # subclasses may ask

    async def close(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.close()

    async def _pasted(self, paste: Paste) -> str:
        """What is pasted; where nothing ever is, the listener alone is waited for."""
        text = await paste()
        if text is None:
            await asyncio.get_running_loop().create_future()
        assert text is not None
        return text
