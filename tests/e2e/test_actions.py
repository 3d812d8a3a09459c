"""What the palette does besides opening things, by keyboard alone."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from .browser import watched
from .site import Site


def found(page: Page, words: str) -> Locator:
    """What the palette, opened by its key, finds first."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find a server").fill(words)
    return page.get_by_label("Found").get_by_role("option").first


def do(page: Page, words: str) -> None:
    expect(found(page, words)).to_contain_text(words)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Command palette")).to_have_count(0)


def test_servers_calls_theme_and_monitor_are_steered_by_the_palette(
    browser: Browser, two: Site
) -> None:
    with watched(browser, two) as window:
        page = window.enter("/s/one/tools/wait")
        page.get_by_label("seconds", exact=True).fill("60")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Running", exact=True)).to_be_visible()
        do(page, "Cancel wait")
        expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()

        expect(found(page, "monitor").locator("kbd")).to_have_text("m")
        page.get_by_role("combobox", name="Find a server").fill("")
        window.shoot("actions light")
        assert window.axe() == []
        page.keyboard.press("Escape")
        do(page, "Use the dark theme")
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
        expect(found(page, "dark theme")).to_have_count(0)
        page.get_by_role("combobox", name="Find a server").fill("o")
        window.shoot("actions dark")
        page.keyboard.press("Escape")
        do(page, "Use the system theme")
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "light")

        do(page, "Open the monitor")
        expect(page.get_by_role("complementary", name="Monitor")).to_be_visible()
        do(page, "Close the monitor")
        expect(page.get_by_role("complementary", name="Monitor")).to_have_count(0)

        state = page.get_by_role("banner").get_by_role("status")
        do(page, "Disconnect one")
        expect(state).to_have_text("Disconnected")
        do(page, "Connect one")
        expect(state).to_have_text("Connected")
        do(page, "Show info about two")
        expect(page.get_by_role("heading", name="two", level=1)).to_be_focused()
        window.assert_clean()


def test_logs_are_cleared_where_they_are_shown_and_dialogs_get_the_focus(
    browser: Browser, two: Site
) -> None:
    with watched(browser, two) as window:
        page = window.enter("/s/one/logs")
        lines = page.get_by_role("listbox", name="Log").get_by_role("option")
        expect(lines.filter(has_text="starting up").first).to_be_visible()
        do(page, "Clear the logs")
        expect(page.get_by_text("Earlier lines are cleared from view")).to_be_visible()
        expect(lines.filter(has_text="starting up")).to_have_count(0)

        with page.expect_download() as saving:
            do(page, "Export the trace of one")
        assert re.fullmatch(r"one-traffic-.*\.jsonl", saving.value.suggested_filename)
        assert '"initialize"' in saving.value.path().read_text()

        do(page, "Add a server")
        adding = page.get_by_role("dialog", name="Add a server")
        expect(adding.locator(":focus")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(adding).to_have_count(0)
        do(page, "Edit two")
        edited = page.get_by_role("dialog")
        expect(edited.get_by_label("Name", exact=False).first).to_have_value("two")
        expect(edited.locator(":focus")).to_have_count(1)
        page.keyboard.press("Escape")
        expect(edited).to_have_count(0)
        do(page, "Show the keyboard shortcuts")
        keys = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(keys.locator(":focus")).to_have_count(1)
        window.assert_clean()
