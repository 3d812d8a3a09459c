"""Servers in the browser: several at once, added by pasting, removed, failing in place."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .browser import Watched, watched
from .site import configure, site

DEMO = [sys.executable, "-m", "mcplens.demo"]


@pytest.fixture
def window(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    one = {"command": DEMO[0], "args": DEMO[1:]}
    missing = {"command": "no-such-program-anywhere", "maxRetries": 0}
    configure(tmp_path, {"first": one, "second": one, "missing": missing})
    with site(tmp_path) as running, watched(browser, running) as opened:
        yield opened


def test_two_servers_are_connected_at_once(window: Watched) -> None:
    page = window.enter("/servers")
    for name in ("first", "second"):
        page.get_by_role("switch", name=f"Connect {name}").click(force=True)
        expect(page.get_by_role("switch", name=f"Disconnect {name}")).to_be_visible()
        expect(page.get_by_role("article", name=name)).to_contain_text("Connected")
    window.goto("/s/first/tools")
    page.get_by_text("Gives back the text").wait_for()
    page.get_by_role("button", name="Server: first").click()
    page.get_by_role("menuitem", name="second").click()
    page.get_by_text("Gives back the text").wait_for()
    assert page.url.endswith("/s/second/tools")
    window.assert_clean()


def test_a_server_that_cannot_start_says_why_in_place(window: Watched) -> None:
    page = window.enter("/servers")
    page.get_by_role("switch", name="Connect missing").click(force=True)
    card = page.get_by_role("article", name="missing")
    expect(card).to_contain_text("Failed")
    expect(card).to_contain_text("no-such-program-anywhere")
    expect(card.get_by_role("link", name="Troubleshooting guide")).to_be_visible()
    assert window.axe() == []
    window.shoot("failed")
    window.assert_clean()


def test_a_server_is_added_by_pasting_its_command_line_and_removed(window: Watched) -> None:
    page = window.enter("/servers?add")
    page.get_by_label("Command line, URL").fill(shlex.join(DEMO))
    page.get_by_role("button", name="Read it").click()
    page.get_by_label("Name", exact=False).first.fill("pasted")
    page.get_by_role("button", name="Add", exact=True).click()
    card = page.get_by_role("article", name="pasted")
    expect(card).to_be_visible()
    page.get_by_role("button", name="More for pasted").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(card).to_be_hidden()
    window.assert_clean()
