"""The person at the terminal, for a server that wants a sign-in.

Asks first, says which site will open, and takes the answer that the browser could not bring: the
address that it was sent to, pasted. The parts of auth/ are loaded when they are needed.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from mcplens.cli import output
from mcplens.known_secrets import known_secrets

if TYPE_CHECKING:
    from mcplens.auth.clients import GivenClient
    from mcplens.auth.person import BrowserPerson
    from mcplens.auth.steps import AskForClient, Authorize
    from mcplens.cli.line_editor import TerminalReader

_PASTE = "or paste the address that the browser was sent to: "


def sign_in_options(target: Any) -> dict[str, Any]:
    """The options of `connect` by which a command offers to sign in; none without a terminal."""
    is_remote = isinstance(target, str) and "://" in target.split(" ", 1)[0]
    if not is_remote or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return {}
    return {"sign_in": TerminalPerson(asks=True)}


class TerminalPerson:
    """Signs in with a browser, or by pasting."""

    is_wanted = True

    def __init__(self, *, asks: bool, opens: bool = True) -> None:
        self._asks = asks
        self._opens = opens and _has_browser()
        self._browser: BrowserPerson | None = None

    def __repr__(self) -> str:
        return f"<TerminalPerson {'opens a browser' if self._opens else 'pastes'}>"

    async def agrees(self, server_url: str, reason: str) -> bool:
        if not self._asks:
            return True
        keyboard = self._reader()
        with keyboard.opened():
            output.note(f"{server_url}: {reason}.")
            answer = await keyboard.read_line("Sign in now? [Y/n] ")
        return answer is not None and answer.lower() in ("", "y", "yes")

    async def listen(self, wanted: str | None, *, is_fixed: bool) -> str:
        from mcplens.auth.browser import open_browser
        from mcplens.auth.person import BrowserPerson

        if self._browser is None:
            opener = open_browser if self._opens else None
            self._browser = BrowserPerson(opener, self._paste)
        return await self._browser.listen(wanted, is_fixed=is_fixed)

    async def authorize(self, request: Authorize) -> str:
        assert self._browser is not None
        from mcplens.auth.addresses import host_of

        # The site that opens, which an issuer may have elsewhere.
        site = host_of(request.url)
        of = "" if site == host_of(request.issuer) else f", the site of {request.issuer}"
        scopes = f" with the scope {' '.join(request.scopes)}" if request.scopes else ""
        if self._opens:
            output.note(f"Your browser opens {site}{of}, to sign in{scopes}. If not, open:")
        else:
            output.note(f"Open this address to sign in at {site}{of}{scopes}:")
        output.note(f"  {request.url}")
        return await self._browser.authorize(request)

    async def choose(self, issuers: tuple[str, ...]) -> str:
        if not sys.stdin.isatty():
            return issuers[0]
        output.note("The server accepts sign-ins of several sites:")
        for number, issuer in enumerate(issuers, 1):
            output.note(f"  {number}  {output.visible(issuer)}")
        keyboard = self._reader()
        with keyboard.opened():
            while True:
                answer = await keyboard.read_line("Where to sign in? [1] ") or "1"
                if answer.isdecimal() and 0 < int(answer) <= len(issuers):
                    return issuers[int(answer) - 1]
                output.note(f"a number from 1 to {len(issuers)}")

    async def identify(self, request: AskForClient) -> GivenClient | None:
        from mcplens.auth.clients import GivenClient

        if not sys.stdin.isatty():
            return None
        output.note(
            f"{request.issuer} does not register mcplens by itself. Register it there by hand, "
            "with this redirect URI, and type what you get (nothing: give up)."
        )
        output.note(f"  {request.redirect_uri}")
        keyboard = self._reader()
        with keyboard.opened():
            client_id = await keyboard.read_line("Client ID: ")
            if not client_id:
                return None
            secret = await keyboard.read_line("Client secret, if there is one: ", is_hidden=True)
        known_secrets.learn(secret)
        return GivenClient(client_id, secret or None)

    async def close(self) -> None:
        if self._browser is not None:
            await self._browser.close()

    async def _paste(self) -> str | None:
        keyboard = self._reader()
        with keyboard.opened():
            while True:
                text = await keyboard.read_line(_PASTE)
                if text is None or "code=" in text or "error=" in text:
                    return text
                if text:
                    output.note("that is not it: the address has code= or error= in it")

    def _reader(self) -> TerminalReader:
        from mcplens.cli.line_editor import terminal_reader

        return terminal_reader()


def _has_browser() -> bool:
    """Whether opening one makes sense: one of the terminal would take it over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
