"""Sign-ins for a person: what is kept of one, and the steps of one as a checklist.

Used by auth.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcplens.cli import output
from mcplens.clock import SystemClock
from mcplens.events import (
    Event,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    SignInEnded,
    SignInStarted,
    SignInStepChanged,
)

if TYPE_CHECKING:
    from mcplens.auth.steps import SignIn

_LABEL_WIDTH: Final = 12
_SHOWN_BYTES: Final = 2_000
_MARKS: Final = {"done": ("✓", "green"), "failed": ("✗", "red"), "waiting": ("…", "yellow")}


def describe(url: str, sign_in: SignIn, *, show_token: bool = False) -> dict[str, Any]:
    """A kept sign-in as JSON; its token only if it was asked for."""
    from mcplens.auth.tokens import jwt_claims

    tokens = sign_in.tokens
    shown: dict[str, Any] = {
        "server": url,
        "issuer": sign_in.server.issuer or None,
        "resource": sign_in.resource,
        "clientId": sign_in.client.client_id or None,
        "requestedScopes": list(sign_in.requested),
        "grantedScopes": list(tokens.scopes),
        "tokenType": tokens.token_type,
        "expiresAt": tokens.expires_at,
        "isExpired": tokens.is_expired(SystemClock.wall()),
        "hasRefreshToken": tokens.refresh_token is not None,
    }
    if show_token:
        shown |= {"accessToken": tokens.access_token, "claims": jwt_claims(tokens.access_token)}
    return shown


def print_sign_in(url: str, sign_in: SignIn, *, show_token: bool = False) -> None:
    """A kept sign-in as lines."""
    shown = describe(url, sign_in, show_token=show_token)
    output.say(url, bold=True)
    rows = [
        ("issuer", shown["issuer"] or "a token that you gave"),
        ("client", shown["clientId"]),
        ("scopes", " ".join(shown["grantedScopes"])),
        ("expires", _expiry(sign_in)),
    ]
    if show_token:
        rows.append(("token", shown["accessToken"]))
        claims = shown["claims"]
        rows.append(("says", "nothing: it is opaque" if claims is None else output.pretty(claims)))
    for label, text in rows:
        if text:
            output.say(output.style(f"  {label:<{_LABEL_WIDTH}}", dim=True) + output.visible(text))


def _expiry(sign_in: SignIn) -> str:
    tokens = sign_in.tokens
    renews = "renewed by itself" if tokens.refresh_token is not None else "then sign in again"
    if tokens.expires_at is None:
        return "not told" if tokens.refresh_token is None else f"not told; {renews}"
    left_s = int(tokens.expires_at - SystemClock.wall())
    if left_s <= 0:
        return f"expired; {renews}"
    hours, minutes = divmod(left_s // 60, 60)
    when = f"{hours} h {minutes} min" if hours else f"{minutes} min" if minutes else f"{left_s} s"
    return f"in {when}; {renews}"


class Checklist:
    """Prints the steps of sign-ins while they happen, with the requests that carried them."""

    def __init__(self) -> None:
        self.cause: str | None = None  # the code of what failed, if it was not the answer itself
        self._is_running = False
        self._requests: dict[int, HttpRequestSent] = {}

    def __repr__(self) -> str:
        return f"<Checklist {'running' if self._is_running else 'idle'}>"

    def show(self, event: Event) -> None:
        """Print an event if it belongs to a sign-in."""
        match event:
            case SignInStarted():
                self._is_running = True
                output.note(f"{event.resource}: {event.reason}", bold=True)
            case SignInStepChanged():
                self._show_step(event)
            case SignInEnded():
                self._is_running = False
                details = (event.error or {}).get("details") or {}
                self.cause = details.get("cause")
            case HttpRequestSent() if self._is_running:
                self._show_body(f"  -> {event.method} {event.url}", event.body)
            case HttpResponseReceived() if self._is_running:
                output.note(output.style(f"  <- {event.status} {event.reason}", dim=True))
            case HttpExchangeEnded() if self._is_running and event.body:
                self._show_body("", event.body)

    def _show_step(self, event: SignInStepChanged) -> None:
        if event.state == "started":
            from mcplens.auth.steps import STEPS

            output.note(f"{STEPS.get(event.step, event.step)}")
            return
        if event.state == "answered":
            return  # the exchange is shown itself
        mark, colour = _MARKS.get(event.state, ("-", "white"))
        output.note(output.style(f"  {mark} ", fg=colour) + output.visible(event.text))
        if event.expected:
            output.note(f"    expected: {output.visible(event.expected)}")

    def _show_body(self, head: str, body: bytes) -> None:
        if head:
            output.note(output.style(head, dim=True))
        if body:
            text = body[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
            output.note(output.style(f"     {output.visible(text)}", dim=True))
