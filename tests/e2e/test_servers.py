"""Servers in the browser: several at once, each of their states, added by pasting, removed."""

from __future__ import annotations

import re
import shlex
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import Watched, watched
from .site import configure, site

DEMO = [sys.executable, "-m", "mcplens.demo"]


SEEN: list[str] = []


class _Closed(BaseHTTPRequestHandler):
    """Lets nobody in, and notes a header that was sent."""

    def do_POST(self) -> None:
        SEEN.append(self.headers.get("X-Test", ""))
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def closed() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Closed) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


@pytest.fixture(scope="module")
def opened(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, closed: str
) -> Iterator[Watched]:
    home: Path = tmp_path_factory.mktemp("home")
    one = {"command": DEMO[0], "args": DEMO[1:]}
    missing = {"command": "no-such-program-anywhere", "maxRetries": 0}
    nobody = {"url": "http://127.0.0.1:9/mcp", "maxRetries": 2, "retryBackoff": [1]}
    servers = {"first": one, "second": one, "missing": missing, "nobody": nobody}
    configure(home, {**servers, "closed": {"url": closed}})
    with site(home) as running, watched(browser, running) as window:
        window.enter("/servers")
        yield window


def switch_on(page: Page, name: str) -> None:
    page.get_by_role("switch", name=f"Connection to {name}", checked=False).press("Space")


def test_two_servers_are_connected_at_once(opened: Watched) -> None:
    page = opened.switch("/servers")
    for name in ("first", "second"):
        switch_on(page, name)
        expect(page.get_by_role("alert").filter(has_text=f"Connected to {name}")).to_be_visible()
        expect(
            page.get_by_role("switch", name=f"Connection to {name}", checked=True)
        ).to_be_visible()
        expect(page.get_by_role("article", name=name)).to_contain_text("Connected")
    opened.switch("/s/first/tools")
    page.get_by_text("Gives back the text").wait_for()
    # What passed before is not told again.
    expect(page.get_by_text("Connected to first")).to_have_count(0)
    page.get_by_role("button", name="Server: first").click()
    page.get_by_role("menuitem", name="second").click()
    expect(page).to_have_url(re.compile("/s/second/tools$"))
    expect(page.get_by_role("button", name="Server: second, Connected")).to_be_visible()
    page.get_by_text("Gives back the text").wait_for()
    opened.assert_clean()


def test_a_server_that_cannot_start_says_why_in_place_and_once_in_passing(opened: Watched) -> None:
    page = opened.switch("/servers")
    switch_on(page, "missing")
    toast = page.get_by_role("alert").filter(has_text="Could not connect to missing")
    toast.hover()  # so that it stays
    expect(toast).to_have_count(1)
    link = toast.get_by_role("link", name="View documentation")
    expect(link).to_have_attribute("href", re.compile("^/docs/errors/"))
    card = page.get_by_role("article", name="missing")
    expect(card).to_contain_text("Failed")
    expect(card).to_contain_text("Connection Error")
    expect(card).to_contain_text("no-such-program-anywhere")
    expect(card.get_by_role("link", name="Troubleshooting guide")).to_be_visible()
    assert opened.axe() == []
    opened.shoot("failed")
    card.get_by_role("button", name="Why?").click()
    why = page.get_by_role("dialog", name="Why missing does not work")
    checks = why.get_by_role("list", name="Checks").get_by_role("listitem")
    expect(checks).to_have_count(3)
    expect(checks.last).to_contain_text("failed")
    expect(checks.last).to_contain_text("was not found in")
    expect(why.get_by_role("status")).to_contain_text("Install it")
    expect(why).to_contain_text("command -v no-such-program-anywhere")
    assert opened.axe() == []
    opened.shoot("why it failed")
    page.set_viewport_size({"width": 390, "height": 844})
    opened.settle()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    opened.shoot("why it failed narrow")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.keyboard.press("Escape")
    expect(why).to_have_count(0)
    card.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Program")).to_have_value("no-such-program-anywhere")
    opened.assert_clean()


def test_attempts_are_counted_also_after_the_last(opened: Watched) -> None:
    page = opened.switch("/servers")
    switch_on(page, "nobody")
    card = page.get_by_role("article", name="nobody")
    expect(card).to_contain_text("Gave up after 3 attempts")
    opened.assert_clean()


def test_a_server_that_lets_nobody_in_asks_for_a_sign_in(opened: Watched) -> None:
    page = opened.switch("/servers")
    switch_on(page, "closed")
    expect(page.get_by_role("alert").filter(has_text="Not signed in to closed")).to_be_visible()
    card = page.get_by_role("article", name="closed")
    expect(card).to_contain_text("Sign-in needed")
    expect(card).to_have_attribute("data-state", "SIGN_IN")
    assert opened.axe() == []
    opened.shoot("sign in")
    opened.assert_clean()


def test_the_headers_of_a_form_are_sent(opened: Watched, closed: str) -> None:
    page = opened.switch("/servers?add")
    page.get_by_role("tab", name="Form").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=False).first.fill("headed")
    dialog.get_by_text("URL", exact=True).click()
    dialog.get_by_role("textbox", name="URL").fill(closed)
    dialog.get_by_role("button", name="Add a header").click()
    dialog.get_by_label("Name of header 1").fill("X-Test")
    dialog.get_by_label("Value of header 1").fill("typed")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    switch_on(page, "headed")
    expect(page.get_by_role("article", name="headed")).to_contain_text("Sign-in needed")
    assert "typed" in SEEN
    opened.assert_clean()


def test_a_server_is_added_by_pasting_its_command_line_and_removed(opened: Watched) -> None:
    page = opened.switch("/servers?add")
    first, *rest = map(shlex.quote, DEMO)
    page.get_by_label("Command line, URL").fill(f"{first} \\\n  {' '.join(rest)}\n")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Arguments")).to_have_value("-m\nmcplens.demo")
    page.get_by_label("Name", exact=False).first.fill("typed")
    page.get_by_role("button", name="Add", exact=True).click()
    card = page.get_by_role("article", name="typed")
    expect(card).to_be_visible()
    card.get_by_role("button", name="Remove typed").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    expect(card).to_be_hidden()
    page.get_by_role("button", name="More for demo").click()
    expect(page.get_by_text("This server is built in.")).to_be_visible()
    expect(page.get_by_role("button", name="Remove demo")).to_be_hidden()
    opened.assert_clean()
