"""The frame keeps its head: tabs that remember, keys that wait, screens that fail alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, watched
from .pair import call
from .site import Site, site


@pytest.fixture
def window(browser: Browser, two: Site) -> Iterator[Watched]:
    with watched(browser, two) as opened:
        opened.enter("/servers")
        yield opened


def tab(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Screens").get_by_role("link", name=name)


def test_a_tab_leads_to_what_was_chosen_there(window: Watched) -> None:
    page = window.switch("/s/one/tools")
    page.get_by_label("Search tools").fill("echo")
    page.get_by_role("option").filter(has_text="Gives back the text").first.click()
    expect(page).to_have_url(re.compile("/s/one/tools/echo$"))
    tab(page, "Prompts").click()
    page.get_by_role("listbox", name="Prompts").get_by_role("option").first.click()
    expect(page).to_have_url(re.compile("/s/one/prompts/.+"))
    prompt = page.url
    tab(page, "Resources").click()
    page.get_by_label("Search resources").fill("greeting")
    templates = page.get_by_role("listbox", name="Templates")
    templates.get_by_role("option").filter(has_text="greeting").first.click()
    expect(page).to_have_url(re.compile(r"\?template="))
    template = page.url
    page.keyboard.press("2")
    page.get_by_role("heading", name="echo").wait_for()
    expect(page.get_by_label("Search tools")).to_have_value("echo")
    expect(tab(page, "Tools")).to_have_attribute("aria-current", "page")
    tab(page, "Prompts").click()
    expect(page).to_have_url(prompt)
    tab(page, "Resources").click()
    expect(page).to_have_url(template)
    expect(page.get_by_label("Search resources")).to_have_value("greeting")
    # As the back button has it.
    page.go_back()
    expect(page).to_have_url(prompt)
    page.go_back()
    expect(page).to_have_url(re.compile("/s/one/tools/echo$"))
    page.reload()
    tab(page, "Traffic").click()
    expect(tab(page, "Traffic")).to_have_attribute("aria-current", "page")
    tab(page, "Tools").click()
    expect(tab(page, "Tools")).to_have_attribute("aria-current", "page")
    expect(page).to_have_url(re.compile("/s/one/tools/echo$"))
    # The tab of the screen that is shown leads to where nothing is chosen.
    tab(page, "Tools").click()
    expect(page.get_by_text("Choose a tool")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(re.compile("/s/one/tools/echo$"))
    window.assert_clean()


def test_the_bar_names_the_server_of_the_address_and_no_other(window: Watched) -> None:
    page = window.goto("/s/two/tools")
    two = page.get_by_role("button", name="Server: two, ")
    expect(two).to_be_visible()
    for path in ("/settings", "/questions"):
        window.goto(path)
        expect(two).to_be_visible()
    for name in ("Traffic", "Logs"):
        window.goto(f"/{name.lower()}")
        expect(tab(page, name)).to_have_attribute("aria-current", "page")
    window.goto("/servers/one/roots")
    page.get_by_role("button", name="Server: one, ").click()
    page.get_by_role("menuitem", name="two").click()
    expect(page).to_have_url(re.compile("/servers/two/roots$"))
    expect(two).to_be_visible()
    window.goto("/s/gone/tools")
    expect(page.get_by_text("There is no such server")).to_be_visible()
    expect(page.get_by_role("button", name="No server")).to_be_visible()
    window.goto("/settings")
    expect(two).to_be_visible()
    window.assert_clean()


def test_the_title_tells_what_is_shown_and_what_waits(window: Watched) -> None:
    page = window.page
    expect(page).to_have_title("Servers · mcplens")
    call(page, "elicit-two")
    expect(page).to_have_title("(2) elicit-two · Tools · one · mcplens")
    window.switch("/servers/one/roots")
    expect(page).to_have_title("(2) Roots · one · mcplens")
    window.switch("/s/one/tools/elicit-two")
    page.get_by_role("button", name="Cancel tool execution").click()
    expect(page).to_have_title("elicit-two · Tools · one · mcplens")
    window.assert_clean()


def test_single_keys_wait_behind_a_dialog_and_can_be_switched_off(window: Watched) -> None:
    page = window.switch("/servers?add")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("tab", name="Form").focus()
    page.keyboard.press("9")
    page.keyboard.press("m")
    expect(dialog).to_be_visible()
    expect(page).to_have_url(re.compile(r"/servers\?add"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("complementary", name="Monitor")).to_be_hidden()
    page.keyboard.press("?")
    switch = page.get_by_role("switch", name="Single-key shortcuts")
    expect(switch).to_be_checked()
    switch.uncheck()
    assert window.axe() == []
    window.shoot("shortcuts")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.reload()
    page.get_by_role("article", name="one").wait_for()
    page.keyboard.press("9")
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Find a server, tool").fill("Keyboard shortcuts")
    expect(page).to_have_url(re.compile("/servers$"))
    page.keyboard.press("Enter")
    switch.check()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("9")
    expect(page).to_have_url(re.compile("/settings$"))
    window.assert_clean()


def test_a_screen_whose_code_does_not_come_fails_alone(browser: Browser, two: Site) -> None:
    with watched(browser, two) as window:
        page = window.page
        # Code that is fetched ahead would mend what the test breaks.
        page.add_init_script("window.requestIdleCallback = () => 0")
        parts = ("Settings", "SchemaForm", "ServerDialog")
        chunks = {name: re.compile(rf"/assets/{name}-[^/]*\.js") for name in parts}
        for chunk in chunks.values():
            page.route(chunk, lambda route: route.abort())

        def heal(name: str) -> None:
            assert window.axe() == []
            window.shoot(f"failed-{name}")
            page.unroute(chunks[name])
            page.get_by_role("button", name="Try again").click()

        window.enter("/servers")
        tab(page, "Settings").click()
        expect(page.get_by_text("This screen failed")).to_be_visible()
        expect(page.get_by_role("button", name="Server: one, ")).to_be_visible()
        tab(page, "Tools").click()
        page.get_by_role("option").filter(has_text="echo").first.click()
        expect(page.get_by_text("Loading the form failed")).to_be_visible()
        heal("SchemaForm")
        expect(page.get_by_label("text *", exact=True)).to_be_visible()
        tab(page, "Settings").click()
        expect(page.get_by_text("This screen failed")).to_be_visible()
        heal("Settings")
        expect(page.get_by_text("Default").first).to_be_visible()
        tab(page, "Servers").click()
        page.get_by_role("button", name="Add a server").click()
        expect(page.get_by_role("dialog")).to_contain_text("Loading the dialog failed")
        heal("ServerDialog")
        expect(page.get_by_role("tab", name="From other tools")).to_be_visible()


_LOADED = """() => performance.getEntriesByType("resource")
  .filter((one) => one.responseEnd && one.name.includes("/assets/")).map((one) => one.name)"""
_LAZY = (
    "Settings",
    "Questions",
    "Tools",
    "Resources",
    "Prompts",
    "Tasks",
    "Logs",
    "Traffic",
    "SchemaForm",
    "codeMirror",
)


def test_every_screen_opens_after_mcplens_ended(browser: Browser, tmp_path: Path) -> None:
    with (
        site(tmp_path, "demo") as own,
        watched(browser, own, saves_data=False) as window,
    ):
        page = window.enter("/servers")
        while any(not re.search(f"/{one}-", " ".join(page.evaluate(_LOADED))) for one in _LAZY):
            page.wait_for_timeout(50)
        page.get_by_role("article", name="demo").wait_for()
        own.process.kill()
        own.process.wait(15)
        waits = page.get_by_role("status").filter(has_text="mcplens is not responding")
        expect(waits).to_be_visible()
        # What changes each second is not read out.
        expect(waits.locator("[aria-hidden=true]").filter(has_text="Trying again")).to_be_visible()
        for name in ("Tools", "Resources", "Prompts", "Tasks", "Logs", "Traffic", "Settings"):
            tab(page, name).click()
            expect(page.get_by_role("heading", level=1, name=name).first).to_be_attached()
        expect(page.get_by_text("This screen failed")).to_be_hidden()
