"""What a revision of MCP or a server does not have is not promised: it is greyed, or left out, with
the reason."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, retype, watched
from .pair import connect
from .site import Site, configure, demo_over_http, site

BARE = Path(__file__).with_name("bare_server.py")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The newest revision by stdio and by HTTP, the oldest, and a server that offers nothing."""
    home = tmp_path_factory.mktemp("home")
    entry = {"command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True}
    with demo_over_http() as url:
        servers = {
            "newest": {**entry, "protocolVersion": "2026-07-28"},
            "far": {"url": url, "protocolVersion": "2026-07-28"},
            "oldest": {**entry, "protocolVersion": "2024-11-05"},
            "bare": {"command": sys.executable, "args": [str(BARE)]},
        }
        configure(home, servers)
        with site(home, "newest") as running:
            yield running


def open_info(window: Watched, name: str, part: str = "") -> Page:
    page = window.enter("/servers")
    connect(page, name)
    return window.switch(f"/servers/{name}{part}")


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("switch", name=name, exact=True)


def test_what_we_declare_says_what_the_revision_does_not_have(window: Watched) -> None:
    page = open_info(window, "newest")
    dropped = switch(page, "Roots and is notified of changes")
    expect(dropped).to_be_disabled()
    expect(dropped).to_have_accessible_description("Not in 2026-07-28, so it is not sent")
    expect(switch(page, "Tasks")).to_be_disabled()
    expect(switch(page, "Sampling with tools")).to_be_enabled()
    expect(page.get_by_role("heading", name="Extensions", exact=True)).to_be_visible()
    assert window.axe() == []
    window.shoot("revisions-newest")
    open_info(window, "oldest")
    newer = switch(page, "Elicitation")
    # A server should bear what it does not know.
    note = "Not in 2024-11-05, but sent all the same"
    expect(newer).to_have_accessible_description(f"It may ask a person. {note}")
    expect(newer).to_be_enabled()
    expect(page.get_by_role("heading", name=f"Extensions. {note}")).to_be_visible()
    window.assert_clean()


def test_roots_say_what_the_server_learns_of_them(window: Watched) -> None:
    page = open_info(window, "newest", "/roots")
    expect(page.get_by_text("2026-07-28 has no notification of changes")).to_be_visible()
    page = open_info(window, "oldest", "/roots")
    expect(page.get_by_text("It is notified when they change.")).to_be_visible()
    window.switch("/servers/oldest")
    switch(page, "Roots").press("Space")
    page.get_by_role("button", name="Connect again").click()
    expect(page.get_by_role("button", name="Connect again")).to_have_count(0)
    window.switch("/servers/oldest/roots")
    expect(page.get_by_text("It cannot ask for them")).to_be_visible()
    expect(page.get_by_text("No roots.", exact=True)).to_be_visible()
    window.assert_clean()


@pytest.mark.parametrize("name", ["newest", "far"])
def test_the_raw_tester_begins_with_what_a_stateless_server_answers(
    window: Watched, name: str
) -> None:
    page = open_info(window, name, "/experimental")
    editor = page.get_by_role("textbox", name="Message to send")
    expect(editor).to_contain_text("server/discover")
    expect(editor).to_contain_text('"io.modelcontextprotocol/protocolVersion": "2026-07-28"')
    editor.press("Control+Enter")
    answer = page.get_by_label("Call of server/discover")
    expect(answer).to_contain_text("supportedVersions")
    page.get_by_role("button", name="Test mcplens/shout").click()
    expect(editor).to_contain_text("mcplens/shout")
    # Nobody had typed anything.
    expect(page.get_by_role("button", name="Restore it")).to_have_count(0)
    editor.press("Control+Enter")
    # Its own complaint: it took the request for one of a client that it knows.
    expect(page.get_by_label("Call of mcplens/shout")).to_contain_text("text is missing")
    # Without the envelope it would take the request for one of an older client.
    retype(editor, '{"jsonrpc": "2.0", "id": 77, "method": "tools/list"}')
    note = page.get_by_role("note").filter(has_text="does not name its revision")
    expect(note).to_be_visible()
    assert window.axe() == []
    window.shoot(f"raw-envelope-{name}")
    page.get_by_role("button", name="Add the revision").click()
    expect(note).to_be_hidden()
    editor.press("Control+Enter")
    expect(page.get_by_label("Call of tools/list")).to_contain_text("inputSchema")
    window.assert_clean()


def test_a_server_that_offers_nothing_says_so_on_every_screen(browser: Browser, demo: Site) -> None:
    with watched(browser, demo) as window:
        page = window.enter("/servers")
        connect(page, "bare")
        for kind in ("tools", "resources", "prompts"):
            window.switch(f"/s/bare/{kind}")
            expect(page.get_by_text(f"It did not declare the {kind} capability.")).to_be_visible()
        page.get_by_role("link", name="What it offers").click()
        expect(page.get_by_role("heading", name="What the server can do")).to_be_visible()
        window.switch("/s/bare/logs")
        expect(
            page.get_by_text("The server did not declare the logging capability.")
        ).to_be_visible()
        expect(
            page.get_by_role("combobox", name="Minimum level that the server logs")
        ).to_be_disabled()
        window.switch("/s/bare/tasks")
        expect(page.get_by_text("This server does not declare tasks.")).to_be_visible()
        expect(page.get_by_role("link", name="Go to the tools")).to_have_count(0)
        fetch = page.get_by_role("button", name="Fetch")
        expect(fetch).to_be_disabled()
        # Who comes by keyboard learns why.
        page.keyboard.press("Tab")
        fetch.focus()
        expect(fetch).to_have_accessible_description("This server does not declare tasks.list")
        assert window.axe() == []
        window.assert_clean()
