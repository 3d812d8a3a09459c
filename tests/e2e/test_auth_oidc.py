"""Signing in from the page at an authorization server that we did not write: npm's oidc-provider.

Its own login and consent pages are filled in by Chromium. Clients register themselves, tokens are
for one resource, refresh tokens rotate, and a sign-out revokes them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.auth.protected import Protected, protected_beside
from tests.auth.test_oidc_provider import jwt_header, trust
from tests.node_tools import oidc_argv

from .browser import Watched, flip, watched
from .site import configure, site


@contextmanager
def provider(server: Protected) -> Iterator[str]:
    """Run the authorization server for this resource; gives its issuer."""
    pipe = subprocess.PIPE
    argv = oidc_argv(server.url, 3600)
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["issuer"]
        finally:
            process.communicate()  # it ends with its stdin


@pytest.fixture
def server() -> Iterator[Protected]:
    """Lets in who has a token of oidc-provider for it."""
    with protected_beside() as found, provider(found) as issuer:
        trust(found, issuer)
        yield found


def log_in(page: Page) -> None:
    """Fill in the pages of the provider, in the tab that the link opens."""
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in at 127").first.click()
    there = opened.value
    there.get_by_placeholder("Enter any login").fill("ada")
    there.get_by_placeholder("and password").fill("lovelace")
    there.get_by_role("button", name="Sign-in").click()
    there.get_by_role("button", name="Continue").click()
    there.get_by_role("heading", name="Answer received").wait_for()
    there.close()


def sign_in(window: Watched) -> Page:
    page = window.enter("/s/closed/auth")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign in", exact=True).click()
    log_in(page)
    expect(page.get_by_role("region", name="Signed in")).to_contain_text("notes")
    return page


def call(window: Watched, calls: str = "") -> None:
    """Call a tool of the server on the page; it is the last of so many, if of several."""
    page = window.switch("/s/closed/tools/echo")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label("Call of echo").filter(has_text=calls)
    expect(panel).to_contain_text("Done")


def test_a_person_signs_in_at_its_pages_and_the_sign_in_lasts(
    browser: Browser, server: Protected, tmp_path: Path
) -> None:
    # An empty auth block would say nothing; with one, the screen is there before the first refusal.
    configure(tmp_path, {"closed": {"url": server.url, "auth": {"clientName": "mcplens"}}})
    with site(tmp_path) as running, watched(browser, running) as window:
        page = sign_in(window)
        call(window)
        before = server.authorizations[-1]
        page = window.switch("/s/closed/auth")
        page.get_by_role("button", name="Refresh now").click()
        steps = page.get_by_role("list", name="Steps of the sign-in")
        expect(steps).to_contain_text("Refresh the token")
        expect(steps).to_contain_text("token for")
        call(window, "2 calls")
        assert server.authorizations[-1] != before
        window.assert_clean()
    # Started anew: the sign-in is there, and nobody is asked.
    with site(tmp_path) as running, watched(browser, running) as window:
        page = window.enter("/s/closed/auth")
        expect(page.get_by_role("region", name="Signed in")).to_contain_text("notes")
        window.switch("/servers")
        card = page.get_by_role("article", name="closed")
        flip(page.get_by_role("switch", name="Connection to closed"))
        expect(card).to_contain_text("Connected")
        call(window)
        page = window.switch("/s/closed/auth")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_text("signed out, and the token is revoked")).to_be_visible()
        page.get_by_role("button", name="Sign in", exact=True).wait_for()
        window.assert_clean()


@pytest.mark.soak
def test_tokens_are_bound_to_a_key(browser: Browser, server: Protected, tmp_path: Path) -> None:
    configure(tmp_path, {"closed": {"url": server.url, "auth": {"dpop": True}}})
    with site(tmp_path) as running, watched(browser, running) as window:
        page = sign_in(window)
        expect(page.get_by_role("region", name="Signed in")).to_contain_text("DPoP")
        page.get_by_role("button", name="Refresh now").click()
        steps = page.get_by_role("list", name="Steps of the sign-in")
        expect(steps).to_contain_text("a DPoP token")  # for the same key
        call(window)
        window.assert_clean()
    assert server.authorizations[-1].startswith("DPoP ")
    proofs = [proof for proof in server.proofs if proof]
    assert len(set(proofs)) == len(proofs) > 2
    assert len({json.dumps(jwt_header(proof)["jwk"]) for proof in proofs}) == 1
