"""Tasks of both roles: seen as they run, looked at, cancelled, kept when the server dies."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, watched
from .calls import run
from .pair import call, connect
from .site import Site, configure, site
from .traffic import rows


@pytest.fixture
def window(browser: Browser, two: Site) -> Iterator[Watched]:
    with watched(browser, two) as opened:
        opened.enter("/servers")
        yield opened


def newest(page: Page) -> Locator:
    return page.get_by_role("table", name="Tasks").get_by_role("row").nth(1)


def opened(page: Page) -> Locator:
    """The details of the newest task."""
    newest(page).locator("[data-task]").click()
    return page.get_by_role("region", name="Task", exact=True)


def test_without_tasks_the_screen_says_what_to_do(window: Watched) -> None:
    page = window.switch("/s/one/tasks")
    expect(page.get_by_text("Run as a task")).to_be_visible()
    expect(page.get_by_role("button", name="Fetch")).to_be_enabled()
    page.get_by_role("link", name="Go to the tools").click()
    expect(page).to_have_url(re.compile("/s/one/tools$"))
    window.assert_clean()


def test_the_result_of_a_call_as_a_task_is_viewed(window: Watched) -> None:
    page = window.page
    call(page, "task-report", steps="20", seconds="0.01")
    expect(page.get_by_role("region", name="Call of task-report")).to_contain_text("Done")
    became = page.get_by_role("link", name="Task", exact=True)
    expect(became).to_be_visible()
    window.shoot("call that became a task")
    became.click()
    task = page.get_by_role("region", name="Task", exact=True)
    expect(task.get_by_role("link", name="task-report")).to_be_visible()
    expect(became).to_have_count(0)
    page.get_by_role("navigation", name="Screens").get_by_role("link", name="Tasks").click()
    expect(task).to_have_count(0)
    row = newest(page)
    expect(row.get_by_role("link", name="task-report")).to_have_attribute(
        "href", re.compile(r"/s/one/tools/task-report\?call=c\d+")
    )
    expect(row).to_contain_text("completed")
    opened(page)
    expect(task).to_contain_text("TTL left")
    task.get_by_role("button", name="Result", exact=True).click()
    expect(task.get_by_text("the report has 20 pages")).to_be_visible()
    assert window.axe() == []
    window.shoot("tasks-result")
    page.reload()
    expect(task).to_be_visible()
    page.keyboard.press("Escape")
    expect(task).to_be_hidden()
    row.get_by_role("link", name="Messages", exact=True).click()
    expect(page).to_have_url(re.compile(r"/s/one/traffic\?request=\d+"))
    # Progress and polls belong to it as well.
    page.get_by_label("Filter traffic").fill("tools/call")
    expect(rows(page, "tools/call").first).to_contain_text("ok")
    window.assert_clean()


def test_a_task_is_seen_live_and_cancelled_and_its_details_are_closed(window: Watched) -> None:
    page = window.page
    call(page, "task-report", steps="100", seconds="1")
    page.get_by_role("navigation", name="Screens").get_by_role("link", name="Tasks").click()
    row = newest(page)
    expect(row).to_contain_text("working")
    expect(row).to_contain_text("the server")
    expect(row).to_contain_text("200 ms")
    expect(row.get_by_role("progressbar")).to_be_visible()
    expect(row).to_contain_text(re.compile(r"step \d+ of 100"))
    window.shoot("tasks-working")
    elapsed = newest(page).get_by_role("cell").nth(6)
    first = elapsed.inner_text()
    expect(elapsed).not_to_have_text(first)  # it counts
    task = opened(page)
    task.get_by_role("button", name="Cancel the task").click()
    expect(newest(page)).to_contain_text("cancelled")
    expect(task.get_by_role("button", name="Cancel the task")).to_be_disabled()
    task.get_by_role("button", name="Close the task").click()
    expect(task).to_be_hidden()
    expect(newest(page).locator("[data-task]")).to_be_focused()
    window.assert_clean()


def test_a_task_that_we_hold_is_told_apart(window: Watched) -> None:
    call(window.page, "client-task-elicit")
    page = window.switch("/s/one/tasks")
    row = newest(page)
    expect(row).to_contain_text("mcplens")
    expect(row).to_contain_text("input required")
    expect(row).to_contain_text("during client-task-elicit")
    task = opened(page)
    expect(page).to_have_url(re.compile(r"\?role=receiver$"))
    expect(task.get_by_role("link", name="Answer its question")).to_be_visible()
    assert window.axe() == []
    window.shoot("tasks-held")
    task.get_by_role("button", name="Cancel the task").click()
    expect(row).to_contain_text("cancelled")
    expect(task.get_by_role("link", name="Answer its question")).to_be_hidden()
    window.assert_clean()


@pytest.mark.soak
def test_the_tasks_fit_a_phone(browser: Browser, two: Site) -> None:
    size = {"width": 360, "height": 740}
    with watched(browser, two, viewport=size) as window:
        window.enter("/servers")
        call(window.page, "task-report", steps="2", seconds="0.01")
        page = window.switch("/s/one/tasks")
        expect(newest(page)).to_contain_text("completed")
        window.settle()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        table = page.get_by_role("table", name="Tasks")
        assert table.evaluate("(one) => one.scrollWidth - one.parentElement.clientWidth") <= 0
        window.shoot("tasks-360")
        task = opened(page)
        expect(task).to_be_visible()
        window.settle()
        assert window.axe_in_each_theme("task-360") == []
        task.get_by_role("button", name="Close the task").click()
        expect(newest(page)).to_be_visible()
        window.assert_clean()


def test_the_tasks_stay_when_the_server_dies(window: Watched) -> None:
    page = window.page
    connect(page, "two")
    page.goto(f"{window.site.url}/s/two/tools/task-only")
    run(page)
    expect(page.get_by_text("3 steps in the background")).to_be_visible()
    page.goto(f"{window.site.url}/s/two/tools/broken-crash")
    run(page)
    expect(page.get_by_text("The call failed")).to_be_visible()
    window.switch("/s/two/tasks")
    expect(newest(page)).to_contain_text("task-only")
    expect(page.get_by_text("ended with exit code 3")).to_be_visible()
    expect(page.get_by_role("button", name="Fetch")).to_be_disabled()
    window.shoot("tasks-lost")
    window.assert_clean()


def test_tasks_that_the_server_had_already_are_fetched_however_many(
    browser: Browser, tmp_path: Path
) -> None:
    program = str(Path(__file__).with_name("many_tasks.py"))
    entry = {
        "command": sys.executable, "args": [program, "1000"], "inheritEnv": True,
        "protocolVersion": "2025-11-25",
    }  # fmt: skip
    configure(tmp_path, {"many": entry})
    with site(tmp_path, "many") as running, watched(browser, running) as window:
        page = window.enter("/s/many/tasks")
        page.get_by_role("button", name="Fetch").click()
        table = page.get_by_role("table", name="Tasks")
        expect(table).to_have_attribute("aria-rowcount", "1001", timeout=30_000)
        page.locator("[data-task]").first.wait_for()
        # Only what is on the screen is drawn; the last one is there once it is scrolled to.
        assert page.locator("[data-task]").count() < 100
        table.locator("xpath=..").evaluate("(one) => one.scrollTo(0, one.scrollHeight)")
        last = page.get_by_role("button", name="task-999", exact=True)
        last.scroll_into_view_if_needed()
        last.click()
        task = page.get_by_role("region", name="Task", exact=True)
        expect(task).to_contain_text("part 999")
        assert window.axe() == []
        window.shoot("tasks-many")
        page.keyboard.press("Escape")
        expect(task).to_be_hidden()
        expect(last).to_be_focused()
        window.assert_clean()
