"""The frame around every screen: the monitor beside it, and the bar above it with two servers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import Watched, watched
from .pair import call, connect
from .site import Site


@pytest.fixture
def window(browser: Browser, two: Site) -> Iterator[Watched]:
    with watched(browser, two) as opened:
        opened.enter("/servers")
        yield opened


def show(page: Page, part: str) -> None:
    page.get_by_role("radio", name=part).locator("xpath=following-sibling::label").click()


def test_the_monitor_shows_traffic_logs_tasks_and_questions(window: Watched) -> None:
    page = window.page
    call(page, "log-levels")
    call(page, "client-task-elicit")
    page.get_by_role("button", name="Monitor").click()
    monitor = page.get_by_role("complementary", name="Monitor")
    expect(monitor.get_by_label("Traffic in the monitor")).to_contain_text("tools/call")
    show(page, "Logs")
    expect(monitor.get_by_label("Logs in the monitor")).to_contain_text("level emergency")
    show(page, "Tasks")
    tasks = monitor.get_by_label("Tasks in the monitor")
    expect(tasks).to_contain_text("input requiredclient-task-elicitrun by mcplens")
    show(page, "Questions (1)")
    questions = monitor.get_by_label("Questions in the monitor")
    expect(questions).to_contain_text("waitingelicitation/create")
    assert window.axe() == []
    window.shoot("monitor-questions")
    questions.get_by_role("link").first.click()
    # The call, whose screen is left, has the same buttons.
    expect(page.get_by_role("heading", name="A question from one")).to_be_visible()
    page.get_by_role("button", name="Decline").click()
    expect(questions).not_to_contain_text("waiting")
    show(page, "Tasks")
    tasks.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/s/one/tasks/.*role=receiver"))
    window.assert_clean()


def test_the_monitor_is_moved_resized_and_closed_and_stays_so(window: Watched) -> None:
    page = window.switch("/s/one/tools")
    page.get_by_label("Search tools").fill("log-")
    expect(page.get_by_role("option")).to_have_count(2)
    page.get_by_role("button", name="Monitor").click()
    monitor = page.get_by_role("complementary", name="Monitor")
    expect(monitor).to_be_visible()
    # The screen beside it is not begun anew.
    expect(page.get_by_label("Search tools")).to_have_value("log-")
    page.get_by_role("button", name="Move the monitor to the right").click()
    expect(page.get_by_label("Search tools")).to_have_value("log-")
    handle = page.get_by_role("separator", name="Size of the monitor")
    expect(handle).to_have_attribute("aria-orientation", "vertical")
    window.settle()
    wider = monitor.evaluate("(one) => one.offsetWidth") + 48
    handle.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(monitor).to_have_js_property("offsetWidth", wider)
    window.shoot("monitor-right")
    page.reload()
    expect(monitor).to_be_visible()
    expect(monitor).to_have_js_property("offsetWidth", wider)
    rows = page.get_by_label("Traffic in the monitor")
    rows.focus()
    page.keyboard.press("ArrowUp")
    expect(rows.get_by_role("option", selected=True)).to_be_visible()
    expect(page).to_have_url(re.compile("/s/one/tools$"))
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/s/one/traffic/\d+"))
    page.get_by_role("button", name="Move the monitor to the bottom").click()
    expect(handle).to_have_attribute("aria-orientation", "horizontal")
    page.get_by_role("button", name="Close the monitor").click()
    expect(monitor).to_be_hidden()
    page.reload()
    expect(page.get_by_role("button", name="Monitor")).to_be_visible()
    expect(monitor).to_be_hidden()
    window.assert_clean()


@pytest.mark.parametrize("width", [1440, 360])
def test_the_bar_tells_of_both_servers_and_works_by_keyboard(
    browser: Browser, two: Site, width: int
) -> None:
    with watched(browser, two, viewport={"width": width, "height": 740}) as window:
        page = window.enter("/servers")
        connect(page, "two")
        window.switch("/s/one/tools")
        switcher = page.get_by_role("button", name="Server: one, Connected")
        if width > 1000:
            page.get_by_role("button", name="Ping now").click()
            latency = page.get_by_role("button", name=re.compile("the last took .*ms"))
            expect(latency).to_be_visible()
            expect(page.get_by_role("banner")).to_contain_text("2025-11-25")
        expect(page.get_by_role("banner")).to_contain_text("Connected")
        switcher.focus()
        page.keyboard.press("Enter")
        menu = page.get_by_role("menu")
        # Both, the built-in demo, and ways to restart this one and to add another.
        expect(menu.get_by_role("menuitem")).to_have_count(5)
        expect(menu.get_by_role("menuitem", name="two")).to_contain_text("Connected")
        expect(menu.get_by_role("menuitem", name="one")).to_contain_text("2025-11-25")
        expect(menu).to_be_in_viewport(ratio=1)
        window.shoot(f"switcher-{width}")
        # The first item has the focus as soon as the menu is open.
        expect(menu.get_by_role("menuitem", name="one")).to_be_focused()
        page.keyboard.press("ArrowDown")
        expect(menu.get_by_role("menuitem", name="two")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/s/two/tools"))
        expect(page.get_by_role("button", name="Server: two, Connected")).to_be_visible()
        window.settle()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.assert_clean()


def test_the_bell_counts_what_waits_and_the_theme_goes_round(window: Watched) -> None:
    page = window.page
    call(page, "elicit-two")
    bell = page.get_by_role("button", name="2 questions are waiting for an answer")
    expect(bell).to_be_visible()
    page.goto(window.site.url + "/settings")
    bell.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("menuitem")).to_have_count(3)  # and the way to all of them
    window.shoot("bell")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/questions/"))
    page.goto(window.site.url + "/s/one/tools/elicit-two")
    page.get_by_role("button", name="Cancel tool execution").click()
    expect(page.get_by_role("button", name="0 questions are waiting for an answer")).to_be_visible()
    toggle = page.get_by_role("button", name=re.compile("^Theme: "))
    for now, scheme in (("system", "light"), ("dark", "dark"), ("light", "light")):
        expect(toggle).to_have_accessible_name(re.compile(f"^Theme: {now}"))
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", scheme)
        toggle.focus()
        page.keyboard.press("Enter")
    expect(toggle).to_have_accessible_name(re.compile("^Theme: system"))
    window.assert_clean()
