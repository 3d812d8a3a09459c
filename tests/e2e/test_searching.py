"""Searching a server's lists, and what servers call things: long, without blanks, turned round."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, watched
from .pair import connect
from .site import Site, configure, site
from .traffic import all_rows

NAMED = """
import json, sys
LINES = chr(10).join(f"line {n} of what it does" for n in range(40))
TOOLS = [{"name": name, "description": about, "inputSchema": {"type": "object"}}
         for name, about in [("plain", "short"), ("long", LINES), ("safe\\u202egnp", "\\u05d0 b")]]
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    result = {}
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
                  "serverInfo": {"name": "named", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "resources/list":
        result = {"resources": [{"uri": "a:b", "name": "wide", "description": "x" * 3000}]}
    elif method == "resources/read":
        result = {"contents": [{"uri": "a:b", "text": "read"}]}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("named")
    program = home / "named.py"
    program.write_text(NAMED)
    servers: dict[str, object] = {
        "named": {"command": sys.executable, "args": [str(program)]},
        "gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
        # So many that they are searched.
        **{f"spare-{n}": {"command": sys.executable} for n in range(6)},
    }
    configure(home, servers)
    with site(home, "named") as running:
        yield running


def rows(page: Page, label: str) -> Locator:
    return page.get_by_role("listbox", name=label).get_by_role("option")


def test_the_keyboard_goes_from_the_search_to_what_it_finds(window: Watched) -> None:
    page = window.enter("/s/demo/tools")
    expect(rows(page, "Tools").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Search tools")).to_be_focused()
    page.keyboard.type("form-")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/tools/form-"))
    opened = page.url
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listbox", name="Tools")).to_be_focused()
    expect(rows(page, "Tools").first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(page).not_to_have_url(opened)
    expect(rows(page, "Tools").nth(1)).to_have_attribute("aria-selected", "true")
    window.switch("/s/demo/resources")
    expect(rows(page, "Templates").first).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Search resources")).to_be_focused()
    page.keyboard.type("greeting/{")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("listbox", name="Templates")).to_be_focused()
    expect(page.get_by_role("heading", name="A greeting")).to_be_visible()
    window.switch("/s/demo/traffic")
    page.get_by_label("Filter traffic").press("ArrowDown")
    expect(page.get_by_role("treegrid", name="Traffic")).to_be_focused()
    window.assert_clean()


def test_a_search_hides_nothing_that_is_opened_and_is_cleared_by_a_click(window: Watched) -> None:
    page = window.enter("/s/demo/tools")
    search = page.get_by_label("Search tools")
    search.fill("crash")
    rows(page, "Tools").filter(has_text="crash").first.click()
    expect(search).to_have_value("crash")
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Find a server, tool").fill("form-nested")
    expect(page.get_by_label("Found").get_by_role("option").first).to_contain_text("form-nested")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/tools/form-nested"))
    expect(search).to_have_value("")
    expect(rows(page, "Tools").filter(has_text="form-nested")).to_be_in_viewport()
    search.fill("no such thing")
    expect(page.get_by_text("Nothing matches “no such thing”")).to_be_visible()
    window.shoot("no hits")
    assert window.axe() == []
    page.get_by_role("button", name="Show all").click()
    expect(rows(page, "Tools").first).to_be_visible()
    search.fill("crash")
    page.get_by_role("button", name="Clear this field").click()
    expect(search).to_have_value("")
    expect(search).to_be_focused()
    window.assert_clean()


def test_names_and_descriptions_keep_to_their_place(browser: Browser, named: Site) -> None:
    with watched(browser, named) as window:
        page = window.enter("/s/named/tools")
        expect(rows(page, "Tools").filter(has_text="safe⟦U+202E⟧gnp")).to_be_visible()
        rows(page, "Tools").filter(has_text="long").click()
        more = page.get_by_role("button", name="More", exact=True)
        expect(more).to_have_attribute("aria-expanded", "false")
        form = page.get_by_role("tab", name="Call")
        window.settle()
        closed = form.bounding_box()
        assert closed is not None
        assert closed["y"] < 350
        window.shoot("long description")
        assert window.axe() == []
        more.click()
        expect(form).not_to_be_in_viewport()
        page.get_by_role("button", name="Less", exact=True).click()
        expect(more).to_be_visible()
        rows(page, "Tools").filter(has_text="plain").click()
        expect(page.get_by_role("heading", name="plain")).to_be_visible()
        expect(more).to_have_count(0)
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 844})
            window.switch("/s/named/resources/a%3Ab")
            expect(page.get_by_role("heading", name="wide")).to_be_visible()
            window.settle()
            box = page.get_by_text(re.compile("^x{3000}$")).first.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width
            window.shoot(f"wide description {width}")
        window.assert_clean()


def test_the_tabs_of_a_server_stay_where_they_are_whatever_it_does(
    browser: Browser, named: Site
) -> None:
    with watched(browser, named) as window:
        page = window.enter("/s/named/tools")
        status = page.get_by_role("banner").get_by_role("status")
        for width in (1440, 1024, 390):
            page.set_viewport_size({"width": width, "height": 844})
            window.switch("/servers")
            window.switch("/s/named/tools")
            expect(status).to_have_text("Connected")
            before = places(window)
            window.shoot(f"bar {width}")
            for button, state in (("Disconnect", "Disconnected"), ("Connect", "Connected")):
                window.switch("/servers/named")
                page.get_by_role("button", name=button, exact=True).click()
                window.switch("/s/named/tools")
                expect(status).to_have_text(state)
                assert places(window) == before
            # A server that could not be reached has no tabs for what nobody knows of it.
            window.switch("/s/gone/tools")
            if width == 1440:
                page.get_by_role("button", name="Connect", exact=True).click()
            expect(status).to_have_text(re.compile("Failed"))
            window.shoot(f"bar failed {width}")
            expect(page.get_by_role("link", name="Prompts")).to_have_count(0)
            window.switch("/s/gone/prompts")
            expect(page.get_by_role("link", name="Prompts")).to_have_attribute(
                "aria-current", "page"
            )
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        window.assert_clean()


def test_what_a_server_does_not_offer_has_no_tab(browser: Browser, tmp_path: Path) -> None:
    bare = {"command": sys.executable, "args": [str(Path(__file__).with_name("bare_server.py"))]}
    configure(tmp_path, {"bare": bare})
    with site(tmp_path, "bare") as running, watched(browser, running) as window:
        page = window.enter("/servers/bare")
        tabs = page.get_by_role("navigation", name="Screens")
        offered = page.get_by_text("so the bar has no tab for them")
        expect(offered).to_be_visible()
        for name in re.findall(r"tools|resources|prompts|tasks", offered.inner_text()):
            expect(tabs.get_by_role("link", name=name.capitalize())).to_have_count(0)
        window.assert_clean()


def test_tabs_that_do_not_fit_are_in_a_menu(browser: Browser, named: Site) -> None:
    with watched(browser, named, viewport={"width": 390, "height": 844}) as window:
        page = window.enter("/s/named/tools")
        page.get_by_role("button", name="All screens").click()
        assert window.axe() == []
        window.shoot("all screens")
        page.get_by_role("menuitem", name="Settings").click()
        expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
        window.assert_clean()


def places(window: Watched) -> object:
    """Where each tab begins, from the first."""
    window.settle()
    return window.page.get_by_role("navigation", name="Screens").evaluate(
        "nav => [...nav.children].map(tab => Math.round(tab.offsetLeft))"
    )


def test_a_filter_that_leaves_nothing_says_what_it_is_and_is_cleared_by_a_click(
    browser: Browser, named: Site
) -> None:
    with watched(browser, named) as window:
        page = window.enter("/servers")
        show_all = page.get_by_role("button", name="Show all", exact=True)
        for path, label, shown in (
            ("/servers", "Filter servers", page.get_by_role("article", name="spare-5")),
            ("/settings", "Filter settings", page.get_by_role("row", name="requestTimeout").first),
        ):
            window.switch(path)
            page.get_by_label(label).fill("no such thing ")
            expect(page.get_by_text("Nothing matches “no such thing”")).to_be_visible()
            window.shoot(f"nothing {label}")
            show_all.click()
            expect(page.get_by_label(label)).to_have_value("")
            expect(shown).to_be_visible()
        page.keyboard.press("Control+k")
        find = page.get_by_placeholder("Find a server, tool")
        find.fill("no such thing")
        expect(page.get_by_text("Nothing matches “no such thing”")).to_be_visible()
        window.shoot("nothing palette")
        assert window.axe() == []
        show_all.click()
        expect(find).to_be_focused()
        expect(page.get_by_role("option", name="Settings")).to_be_visible()
        page.keyboard.press("Escape")
        window.switch("/servers")
        connect(page, "named")
        window.switch("/s/named/traffic")
        page.get_by_text("Connection", exact=True).click()
        page.get_by_label("Filter traffic").fill("nowhere")
        expect(page.get_by_text("No row matches this filter")).to_be_visible()
        expect(page.get_by_text("“nowhere” · Connection")).to_be_visible()
        window.shoot("nothing traffic")
        assert window.axe() == []
        show_all.click()
        expect(all_rows(page).first).to_be_visible()
        expect(page.get_by_label("Filter traffic")).to_have_value("")
        window.switch("/s/spare-1/traffic")
        expect(page.get_by_text("No messages of spare-1 yet")).to_be_visible()
        page.get_by_role("button", name="Show all servers").click()
        expect(all_rows(page).first).to_be_visible()
        window.switch("/s/named/logs")
        page.get_by_label("Filter logs").fill("nowhere")
        expect(page.get_by_text("No line matches this filter")).to_be_visible()
        expect(page.get_by_text("“nowhere”", exact=True)).to_be_visible()
        show_all.click()
        expect(page.get_by_label("Filter logs")).to_have_value("")
        expect(page.get_by_text("No log lines")).to_be_visible()
        window.assert_clean()
