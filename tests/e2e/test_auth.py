"""Signing in from the page, at a login page in another tab; every step of it looked at."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.servers.run import ROOT, argv

from .browser import Watched, flip, watched
from .site import Site, configure, site

SIZES: Final = {1440: 900, 390: 844}


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A web UI with `closed`, a server of the official SDK with a login page."""
    home: Path = tmp_path_factory.mktemp("home")
    command = argv("sdk_oauth", "--transport", "http", "--login")
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        configure(home, {"closed": {"url": url}})
        with site(home) as running:
            yield running


def look(window: Watched, name: str) -> None:
    """What a person sees in both themes and on a phone; nothing that axe calls serious."""
    for width, height in SIZES.items():
        window.page.set_viewport_size({"width": width, "height": height})
        if width > 1000:
            assert window.axe_in_each_theme(f"auth-{name}") == []
        else:
            window.shoot(f"auth-{name}-{width}")
    window.page.set_viewport_size({"width": 1440, "height": 900})


def log_in(page: Page, button: str = "Sign in") -> None:
    """Follow the link of the page to the site, and fill in its form there."""
    with page.context.expect_page() as opened:
        page.get_by_role("link", name=re.compile("Sign in at 127")).first.click()
    there = opened.value
    assert there.evaluate("window.opener") is None
    there.get_by_label("Name").fill("alice")
    there.get_by_role("button", name=button).click()
    there.get_by_role("heading", name=re.compile("Answer received|Not signed in")).wait_for()
    there.close()


def test_a_person_signs_in_from_the_card_and_sees_each_step(
    browser: Browser, protected: Site
) -> None:
    with watched(browser, protected) as window:
        page = window.enter("/servers")
        tabs = page.get_by_role("navigation", name="Screens")
        expect(tabs.get_by_role("link", name="Auth")).to_have_count(0)
        card = page.get_by_role("article", name="closed")
        flip(page.get_by_role("switch", name="Connection to closed"))
        expect(card).to_contain_text("Sign-in needed")
        expect(card.get_by_role("button", name="Cancel")).to_be_visible()
        look(window, "card")
        card.get_by_role("link", name="Show the steps").click()
        steps = page.get_by_role("list", name="Steps of the sign-in")
        expect(steps).to_contain_text("waits for you")
        look(window, "waiting")
        log_in(page, "Deny")
        expect(steps).to_contain_text("the sign-in was denied")
        expect(steps).to_contain_text("the person's consent")
        look(window, "failed")
        page.get_by_role("button", name="Sign in", exact=True).click()
        log_in(page)
        signed_in = page.get_by_role("region", name="Signed in")
        expect(signed_in).to_contain_text("notes")
        expect(page.get_by_text("Connected", exact=True).first).to_be_visible()
        steps.get_by_role("button", name=re.compile("Exchange the answer")).click()
        expect(steps).to_contain_text("grant_type=authorization_code")
        look(window, "signed in")
        steps.get_by_role("link", name="Show in Traffic").click()
        expect(page).to_have_url(re.compile(r"/traffic/\d+"))
        window.assert_clean()


def test_a_sign_in_goes_step_by_step_and_ends_with_a_sign_out(
    browser: Browser, protected: Site
) -> None:
    with watched(browser, protected) as window:
        page = window.enter("/s/closed/auth")
        page.get_by_role("button", name="Step by step").click()
        waiting = page.get_by_role("region", name="Waiting for you")
        for _ in range(3):
            waiting.get_by_role("button", name="Continue").click()
        expect(waiting.get_by_label("Scope")).to_have_value("notes")
        look(window, "step by step")
        waiting.get_by_role("button", name="Run the rest at once").click()
        log_in(page)
        page.get_by_role("button", name="Refresh now").click()
        steps = page.get_by_role("list", name="Steps of the sign-in")
        expect(steps).to_contain_text("Refresh the token")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("region", name="Signed in")).to_have_count(0)
        page.get_by_role("button", name="Forget registration").click()
        expect(page.get_by_role("region", name="Registration")).to_have_count(0)
        window.assert_clean()
