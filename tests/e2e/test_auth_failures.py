"""Each step of a sign-in that can fail, as the Auth screen shows it: expected, and what came."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from playwright.sync_api import Browser, Locator, Page, expect

from tests.auth.protected import Protected, protected_beside
from tests.ports import held_port

from .browser import SHOTS, Watched, flip, watched
from .site import configure, site
from .test_auth import look as look_closely

Break = Callable[[Protected], None]


def resource(**values: Any) -> Break:
    def change(server: Protected) -> None:
        whole = server._resource()
        server.metadata_of_resource = lambda: whole | values

    return change


def issuer(**values: Any) -> Break:
    def change(server: Protected) -> None:
        whole = {**server._issuer(), **values}
        server.metadata_of_issuer = lambda: {k: v for k, v in whole.items() if v is not None}

    return change


def answer(status: int, text: str) -> Break:
    """The metadata of the authorization server are something else."""

    def change(server: Protected) -> None:
        server.metadata_of_issuer = lambda: web.Response(status=status, text=text)

    return change


def moved(server: Protected) -> None:
    to = {"Location": "https://evil.example/metadata"}
    server.metadata_of_issuer = lambda: web.Response(status=302, headers=to)


def huge(server: Protected) -> None:
    server.metadata_of_issuer = lambda: web.Response(body=b" " * (2 << 20))


def broken_resource(server: Protected) -> None:
    server.metadata_of_resource = lambda: web.Response(status=500, text="Traceback: out of order")


def refused_registration(server: Protected) -> None:
    problem = {"error": "invalid_redirect_uri", "error_description": "only https is allowed"}
    server.registration_answer = lambda: web.json_response(problem, status=400)


def returned(**values: str) -> Break:
    def change(server: Protected) -> None:
        server.returned = lambda found: found | values

    return change


def without_issuer(server: Protected) -> None:
    server.returned = lambda found: {k: v for k, v in found.items() if k != "iss"}


def token(status: int, value: Any) -> Break:
    def reply(form: dict[str, str]) -> web.StreamResponse:
        if isinstance(value, str):
            return web.Response(status=status, text=value, content_type="text/html")
        return web.json_response(value, status=status)

    def change(server: Protected) -> None:
        server.token_answer = reply

    return change


def mended(server: Protected) -> None:
    """As it was, and nobody is signed in."""
    new = Protected()
    server.metadata_of_resource, server.metadata_of_issuer = server._resource, server._issuer
    server.returned, server.token_answer = new.returned, new.token_answer
    server.registration_answer = new.registration_answer
    server.valid.clear()


# Before the site is opened: name, what is wrong, the step, what is said of it.
EARLY: list[tuple[str, Break, str, str]] = [
    ("another resource", resource(resource="https://other.example/mcp"),
     "Find out who protects", "https://other.example/mcp"),
    ("no authorization server", resource(authorization_servers=[]),
     "Find out who protects", "names no authorization server"),
    ("broken resource", broken_resource, "Find out who protects", "HTTP 500"),
    ("another issuer", issuer(issuer="https://evil.example"),
     "Read the authorization", "https://evil.example"),
    ("no pkce", issuer(code_challenge_methods_supported=["plain"]),
     "Read the authorization", "lists plain"),
    ("html", answer(200, "<html><h1>Welcome</h1></html>"),
     "Read the authorization", "not answered with JSON"),
    ("down", answer(503, "<h1>Maintenance</h1>"), "Read the authorization", "HTTP 503"),
    ("redirected", moved, "Read the authorization", "another origin"),
    ("too large", huge, "Read the authorization", "limit of 1048576 bytes"),
    ("a script", issuer(authorization_endpoint="javascript:alert(1)"),
     "Read the authorization", "javascript:alert(1)"),
    ("no registration", issuer(registration_endpoint=None),
     "Identify mcplens", "does not register clients itself"),
    ("refused registration", refused_registration, "Identify mcplens", "only https is allowed"),
]  # fmt: skip
# After the person was there.
LATE: list[tuple[str, Break, str, str]] = [
    ("another state", returned(state="stolen"), "Sign in at the", "another state"),
    ("mix-up", returned(iss="https://evil.example"), "Sign in at the", "https://evil.example"),
    ("no issuer", without_issuer, "Sign in at the", "promises iss"),
    ("server error", returned(error="server_error", error_description="out of order"),
     "Sign in at the", "server_error (out of order)"),
    ("token down", token(503, "<h1>down</h1>"), "Exchange the answer", "HTTP 503"),
    ("token refused", token(400, {"error": "invalid_grant", "error_description": "too late"}),
     "Exchange the answer", "invalid_grant (too late)"),
    ("no token", token(200, {"token_type": "bearer"}), "Exchange the answer", "no usable"),
]  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Protected]:
    with protected_beside() as found:
        yield found


@pytest.fixture(scope="module")
def window(
    browser: Browser, server: Protected, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    home: Path = tmp_path_factory.mktemp("home")
    pinned = {"url": server.url, "protocolVersion": "2025-11-25"}
    configure(home, {"closed": {**pinned, "auth": {"clientName": "mcplens"}}})
    with site(home) as running, watched(browser, running) as opened:
        opened.enter("/s/closed/auth")
        yield opened


def look(window: Watched, name: str) -> None:
    """Pictures, if they are wanted: the parts of the page are the same for each failure."""
    if SHOTS:
        look_closely(window, name)


def begin(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Sign in( again)?$")).click()


def visit(page: Page) -> None:
    """Open the site; this one sends the browser back at once."""
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=re.compile("Sign in at 127")).first.click()
    opened.value.get_by_role("heading").wait_for()
    opened.value.close()


def failed(page: Page, title: str, part: str) -> Locator:
    """The step that failed, which is open and says what to do next."""
    steps = page.get_by_role("list", name="Steps of the sign-in")
    step = steps.get_by_role("listitem").filter(has_text=title).first
    expect(step).to_have_attribute("data-state", "failed")
    expect(step).to_contain_text(part)
    expect(step.get_by_role("term").filter(has_text="What to do")).to_have_count(1)
    return step


@pytest.mark.parametrize(("name", "break_it", "title", "part"), EARLY, ids=[e[0] for e in EARLY])
def test_a_step_that_fails_before_the_site_is_opened(
    window: Watched, server: Protected, name: str, break_it: Break, title: str, part: str
) -> None:
    mended(server)
    break_it(server)
    page = window.page
    begin(page)
    step = failed(page, title, part)
    expect(step).to_contain_text("Expected")
    look(window, f"failed {name}")
    window.assert_clean()


@pytest.mark.parametrize(("name", "break_it", "title", "part"), LATE, ids=[e[0] for e in LATE])
def test_a_step_that_fails_after_the_site_was_opened(
    window: Watched, server: Protected, name: str, break_it: Break, title: str, part: str
) -> None:
    mended(server)
    break_it(server)
    page = window.page
    begin(page)
    visit(page)
    failed(page, title, part)
    look(window, f"failed {name}")
    window.assert_clean()


def test_a_token_endpoint_that_is_not_there_and_a_port_that_is_taken(
    window: Watched, server: Protected
) -> None:
    mended(server)
    page = window.page
    with held_port() as port:
        issuer(token_endpoint=f"http://127.0.0.1:{port}/token")(server)
        begin(page)
        visit(page)
        step = failed(page, "Exchange the answer", "refused the connection")
        expect(step.get_by_role("link", name="Show in Traffic")).to_have_count(1)
        look(window, "failed unreachable")
    mended(server)
    page.get_by_text("Change what is sent").click()
    taken = server.base  # the port of the server itself
    page.get_by_label("Redirect URI").fill(f"{taken}/callback")
    begin(page)
    failed(page, "Identify mcplens", "nothing can listen")
    look(window, "failed port taken")
    page.get_by_label("Redirect URI").fill("")
    window.assert_clean()


def test_a_choice_among_sites_and_a_refresh_token_that_is_spent(
    window: Watched, server: Protected
) -> None:
    mended(server)
    page = window.page
    with protected_beside() as other:
        resource(authorization_servers=[server.base, other.base])(server)
        other.valid = server.valid
        begin(page)
        choice = page.get_by_role("region", name="Waiting for you")
        expect(choice).to_contain_text("several sites")
        look_closely(window, "choice")
        window.switch("/servers")
        card = page.get_by_role("article", name="closed")
        expect(card).to_contain_text("Sign-in needed")
        look(window, "choice card")
        card.get_by_role("link", name="Choose where to sign in").click()
        choice.get_by_role("button", name=other.base).click()
        visit(page)
        signed_in = page.get_by_role("region", name="Signed in")
        expect(signed_in).to_contain_text(other.base)
        other.refresh_tokens.clear()
        page.get_by_role("button", name="Refresh now").click()
        failed(page, "Refresh the token", "invalid_grant")
        look(window, "failed refresh")
        page.get_by_role("button", name="Sign out").click()
        expect(signed_in).to_have_count(0)
    look(window, "signed out")


def test_a_client_id_is_entered_where_nobody_is_registered(
    window: Watched, server: Protected
) -> None:
    mended(server)
    page = window.page
    begin(page)
    visit(page)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Forget registration").click()
    expect(page.get_by_role("region", name="Registration")).to_have_count(0)
    issuer(registration_endpoint=None)(server)
    begin(page)
    failed(page, "Identify mcplens", "does not register clients itself")
    page.get_by_role("button", name="Enter client ID").click()
    expect(page.get_by_label("Client ID")).to_be_focused()
    page.get_by_label("Client ID").fill("made-by-hand")
    look(window, "client id entered")
    begin(page)
    visit(page)
    signed_in = page.get_by_role("region", name="Signed in")
    expect(signed_in).to_contain_text("made-by-hand entered by you")
    look_closely(window, "signed in by hand")
    page.get_by_role("button", name="Decode").click()
    expect(signed_in).to_contain_text("opaque")
    look(window, "decoded")
    window.switch("/servers")
    flip(page.get_by_role("switch", name="Connection to closed"))
    look(window, "card signed in")
    window.switch("/s/closed/auth")
    window.assert_clean()
