"""The pages of a user's sign-in to a server: the link, and the place that the browser returns to.

Plain HTML without scripts or styles. The link's page says who signs in where, or out, and has one
button; only that uses the link up. No bearer token is asked for: who has the link may use it, once,
and the browser that pressed the button must be the one that returns. Called by http_app.py.
"""

from __future__ import annotations

import html
import secrets
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urlsplit

from mcplens.auth.addresses import canonical
from mcplens.errors import InspectorError
from mcplens.gateway import callers
from mcplens.gateway.sign_in_links import CALLBACK_PATH, LINK_S, SIGN_IN_PATH, LinkProblem
from mcplens.inbound.asgi import AsgiExchange
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal

if TYPE_CHECKING:
    from mcplens.gateway.gateway import Gateway
    from mcplens.gateway.sign_in_links import SignInLink, SignInLinks
    from mcplens.gateway.sign_outs import SignOuts

_COOKIE: Final = "mcplens-sign-in"
_HEADERS: Final = {
    # No form-action: browsers apply it to where the form is redirected, the authorization server.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    # The Origin of the form is sent with this one; the address of the link goes to nobody else.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class SignInPages:
    """Answers browsers."""

    def __init__(self, gateway: Gateway, links: SignInLinks, sign_outs: SignOuts) -> None:
        self._gateway = gateway
        self._links = links
        self._sign_outs = sign_outs

    def __repr__(self) -> str:
        return f"<SignInPages of {self._links!r}>"

    async def handle(self, exchange: AsgiExchange) -> None:
        """Answer one request below `/sign-in/`.

        Raises:
            Refusal: the method is not offered.
        """
        is_return = exchange.path == CALLBACK_PATH
        if exchange.method not in (("GET",) if is_return else ("GET", "POST")):
            raise Refusal(405, HTTP_REFUSAL, f"{exchange.method} is not offered here")
        try:
            if is_return:
                await self._return(exchange)
            else:
                name = exchange.path.removeprefix(SIGN_IN_PATH)
                show = self._begin if exchange.method == "POST" else self._show
                await show(exchange, name)
        except LinkProblem as problem:
            self._note(exchange, str(problem))
            await _respond(exchange, 400, "Not possible", str(problem))
        except InspectorError as problem:
            self._note(exchange, problem.message)
            await _respond(exchange, 502, "The sign-in failed", problem.message)
        except OSError as problem:
            await _respond(exchange, 503, "The sign-in cannot be kept", str(problem))

    def _note(self, exchange: AsgiExchange, reason: str) -> None:
        """For the audit log, without the name of the link."""
        place = CALLBACK_PATH if exchange.path == CALLBACK_PATH else SIGN_IN_PATH
        self._gateway.refused_requests.write(exchange.method, place, reason, "")

    async def _show(self, exchange: AsgiExchange, name: str) -> None:
        link = await self._links.look(name)
        server, user = html.escape(link.server_id), html.escape(callers.name_of(link.caller))
        if link.is_sign_out:
            await _respond_html(
                exchange,
                200,
                f"Sign out of {server}",
                f"<p>This gateway then forgets the account of <b>{user}</b> at <b>{server}</b>, "
                "and has its token revoked where that is possible.</p>"
                '<form method="post"><button type="submit">Sign out</button></form>',
            )
            return
        await _respond_html(
            exchange,
            200,
            f"Sign in to {server}",
            f"<p>You are about to sign in to <b>{server}</b>, for <b>{user}</b> of this gateway: "
            "calls of that user will then be made with your account there.</p>"
            "<p>Go on only if you asked for this yourself just now.</p>"
            '<form method="post"><button type="submit">Go on to the sign-in</button></form>',
        )

    async def _begin(self, exchange: AsgiExchange, name: str) -> None:
        link = await self._links.take(name)
        if link.is_sign_out:
            await self._sign_out(exchange, link)
            return
        cookie = secrets.token_urlsafe(32)
        target = await self._links.begin(link, cookie)
        headers = {**_HEADERS, "Location": target, "Set-Cookie": self._set_cookie(cookie)}
        await exchange.respond(303, b"", "", headers)

    async def _sign_out(self, exchange: AsgiExchange, link: SignInLink) -> None:
        connection = self._gateway.server(link.server_id)
        url = "" if connection is None else canonical(connection.entry.url or "")
        done = await self._sign_outs.end(link.caller, link.server_id, url, "the user")
        await _respond(exchange, 200, "Signed out", f"{callers.name_of(link.caller)} {done.text}.")

    async def _return(self, exchange: AsgiExchange) -> None:
        values = {key: all_of[-1] for key, all_of in parse_qs(exchange.query).items()}
        cookie = _cookie_of(exchange.headers.get("cookie", ""), self._cookie_name)
        returned = f"{self._links.public_url}{CALLBACK_PATH}?{exchange.query}"
        done = await self._links.finish(values.get("state", ""), cookie, returned)
        self._gateway.ledger.note(
            "sign-in", "ok", "by the user", caller=done.caller, server_id=done.server_id
        )
        text = (
            f"You are signed in to {done.server_id}. You can close this window. To sign out "
            "again, ask your client to call the tool sign_out of this server."
        )
        await _respond(exchange, 200, "Signed in", text)

    @property
    def _is_secure(self) -> bool:
        return urlsplit(self._links.public_url).scheme == "https"

    @property
    def _cookie_name(self) -> str:
        return f"__Host-{_COOKIE}" if self._is_secure else _COOKIE

    def _set_cookie(self, value: str) -> str:
        kept = f"{self._cookie_name}={value}; Path=/; Max-Age={LINK_S:g}; HttpOnly; SameSite=Lax"
        return f"{kept}; Secure" if self._is_secure else kept


def _cookie_of(header: str, name: str) -> str:
    for part in header.split(";"):
        key, _, value = part.strip().partition("=")
        if key == name:
            return value
    return ""


async def _respond(exchange: AsgiExchange, status: int, title: str, text: str) -> None:
    await _respond_html(exchange, status, title, f"<p>{html.escape(text)}</p>")


async def _respond_html(exchange: AsgiExchange, status: int, title: str, body: str) -> None:
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        f"<title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>\n"
    )
    await exchange.respond(status, page.encode(), "text/html; charset=utf-8", _HEADERS)
