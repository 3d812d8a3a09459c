"""Log messages and stderr: levels, filters, one stream or two, what can be taken away."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import THEMES, TIME, Watched, copy_by, watched
from .pair import call
from .site import Site, configure, site

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
SAID = "this is a message at level"
_LOOKS = """() => [...document.querySelectorAll("[data-level]")].map((one) => {
  const { color, backgroundColor, borderColor } = getComputedStyle(one);
  return [one.textContent, `${color} ${backgroundColor} ${borderColor}`];
})"""
# Where a list comes to rest that was scrolled.
_AT_REST = """async (list) => {
  for (let last = -1; last !== list.scrollTop; ) {
    last = list.scrollTop;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return list.scrollTop;
}"""
_FROM_END = """(list) => list.scrollHeight - list.scrollTop - list.clientHeight"""


@pytest.fixture
def window(browser: Browser, two: Site) -> Iterator[Watched]:
    with watched(browser, two, permissions=["clipboard-read", "clipboard-write"]) as opened:
        yield opened


def logs(window: Watched) -> Page:
    """The log lines of a call that logs at each level."""
    window.enter("/servers")
    call(window.page, "log-levels")
    expect(window.page.get_by_text("8 messages were written")).to_be_visible()
    page = window.switch("/s/one/logs")
    # The last of them; what was before comes in one go.
    expect(page.get_by_role("option", name=f"{SAID} emergency").last).to_be_visible()
    return page


def cleared(window: Watched) -> Page:
    """The logs without a line of former calls."""
    page = window.enter("/s/one/logs")
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_role("option")).to_have_count(0)
    return page


def test_each_level_has_a_look_of_its_own(browser: Browser, two: Site) -> None:
    with watched(browser, two) as window:
        page = logs(window)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            looks = dict(page.evaluate(_LOOKS))
            assert set(LEVELS) < set(looks)
            assert len({looks[level] for level in LEVELS}) == len(LEVELS)
        assert window.axe_in_each_theme("logs-levels") == []
        page.set_viewport_size({"width": 360, "height": 740})
        expect(page.get_by_role("option", name=SAID).last).to_be_visible()
        window.settle()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.shoot("logs-levels-360")
        window.assert_clean()


def test_the_server_is_told_a_level_and_keeps_to_it(window: Watched) -> None:
    page = cleared(window)
    level = page.get_by_role("combobox", name="Minimum level that the server logs")
    window.shoot("logs-none")
    page.get_by_role("button", name="Ask for everything, from debug up").click()
    expect(level).to_have_value("debug")
    level.click()
    page.get_by_role("option", name="critical").click()
    expect(level).to_have_value("critical")
    call(page, "log-levels")
    window.switch("/s/one/logs")
    expect(page.get_by_role("option", name="emergency")).to_be_visible()
    expect(page.get_by_role("option", name=SAID)).to_have_count(3)
    level.click()
    page.get_by_role("option", name="debug", exact=True).click()
    expect(level).to_have_value("debug")
    window.assert_clean()


def test_lines_are_filtered_by_text_level_and_request(window: Watched) -> None:
    page = cleared(window)
    for _ in range(2):
        call(page, "log-levels")
        expect(page.get_by_text("8 messages were written")).to_be_visible()
    window.switch("/s/one/logs")
    expect(page.get_by_role("option", name=SAID)).to_have_count(16)
    page.get_by_label("Filter logs").fill("level warning")
    expect(page.get_by_role("option", name=SAID)).to_have_count(2)
    page.get_by_role("option", name=SAID).last.click()
    line = page.get_by_role("region", name="Log line")
    expect(line.get_by_label("What the line says")).to_have_text(f"{SAID} warning")
    line.get_by_role("link", name="Only this request").click()
    expect(page).to_have_url(re.compile(r"/s/one/logs\?request=\d+"))
    expect(page.get_by_text("Only what belongs to tools/call with id")).to_be_visible()
    expect(page.get_by_role("option", name=SAID)).to_have_count(1)
    page.get_by_label("Filter logs").press("Escape")
    expect(page.get_by_role("option", name=SAID)).to_have_count(8)
    page.reload()
    expect(page.get_by_role("option", name=SAID)).to_have_count(8)
    page.get_by_role("button", name="9 of 9 levels").or_(
        page.get_by_role("button", name="All levels")
    ).click()
    page.get_by_role("checkbox", name="debug").uncheck()
    expect(page.get_by_role("option", name=SAID)).to_have_count(7)
    page.get_by_role("checkbox", name="debug").check()
    for box in page.get_by_role("checkbox").all():
        box.uncheck()
    expect(page.get_by_text("All levels are hidden")).to_be_visible()
    for box in page.get_by_role("checkbox").all():
        box.check()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("option", name=SAID)).to_have_count(16)
    window.assert_clean()


def test_a_line_is_opened_and_closed_by_keyboard(window: Watched) -> None:
    page = logs(window)
    page.get_by_role("listbox", name="Log lines").focus()
    page.keyboard.press("ArrowUp")
    line = page.get_by_role("region", name="Log line")
    expect(line).to_be_visible()
    page.reload()
    expect(line).to_be_visible()
    assert window.axe() == []
    window.shoot("logs-line")
    copy = line.get_by_role("button", name="Copy the line")
    assert copy_by(page, copy).endswith(f"{SAID} emergency")
    page.get_by_role("listbox", name="Log lines").focus()
    page.keyboard.press("Escape")
    expect(line).to_be_hidden()
    expect(page.get_by_role("listbox", name="Log lines")).to_be_focused()
    window.assert_clean()


def test_messages_and_stderr_are_one_stream_or_two(window: Watched) -> None:
    page = logs(window)
    stream = page.get_by_role("listbox", name="Log lines")
    # More lines came since than are drawn: the oldest are at the top.
    stream.focus()
    page.keyboard.press("Home")
    expect(stream).to_contain_text("starting up")
    page.get_by_text("Split", exact=True).click()
    messages = page.get_by_role("listbox", name="Log messages")
    stderr = page.get_by_role("listbox", name="stderr")
    expect(messages).to_contain_text(SAID)
    expect(messages).not_to_contain_text("starting up")
    expect(stderr).to_contain_text("starting up")
    expect(stderr).not_to_contain_text(SAID)
    # Its indentation is drawn, its colour is not; the copy is as it came.
    said = stderr.get_by_title("starting up").first
    assert said.text_content() == "  starting up"
    expect(said).to_have_css("white-space", "pre")
    said.click()
    line = page.get_by_role("region", name="Log line")
    assert line.get_by_label("What the line says").text_content() == "  starting up"
    copy = line.get_by_role("button", name="Copy the line")
    assert "\x1b[31mstarting" in copy_by(page, copy)
    line.get_by_role("button", name="Close the line").click()
    assert window.axe() == []
    window.shoot("logs-split")
    page.set_viewport_size({"width": 390, "height": 844})
    expect(stderr).to_be_visible()
    window.shoot("logs-split-390")
    page.reload()
    expect(stderr).to_contain_text("starting up")
    page.get_by_text("One stream", exact=True).click()
    expect(stream).to_be_visible()
    window.assert_clean()


def test_what_is_shown_is_copied_exported_and_cleared(window: Watched, tmp_path: Path) -> None:
    page = logs(window)
    page.get_by_label("Filter logs").fill("level alert")
    expect(page.get_by_role("option", name=f"{SAID} emergency")).to_have_count(0)
    count = page.get_by_role("option", name=SAID).count()
    copied = copy_by(page, page.get_by_role("button", name="Copy", exact=True)).splitlines()
    assert len(copied) == count
    assert copied[0].endswith(f"one alert demo {SAID} alert")
    saved = []
    for name, ending in (("As text", "log"), ("As JSON Lines", "jsonl")):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=name).click()
        path = tmp_path / download.value.suggested_filename
        assert re.fullmatch(rf"one-logs-{TIME}\.{ending}", path.name)
        download.value.save_as(path)
        saved.append(path.read_text().splitlines())
    assert saved[0] == copied
    first = json.loads(saved[1][0])
    assert (first["level"], first["data"], first["server"]) == ("alert", f"{SAID} alert", "one")
    assert isinstance(first["request"], int)
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page.get_by_text("the recording has them")).to_be_visible()
    expect(page.get_by_role("option")).to_have_count(0)
    page.get_by_role("button", name="Show them again").click()
    expect(page.get_by_role("option", name=SAID)).to_have_count(count)
    window.assert_clean()


def test_the_newest_line_is_followed_until_somebody_scrolls_up(browser: Browser, two: Site) -> None:
    with watched(browser, two, viewport={"width": 1440, "height": 320}) as window:
        page = logs(window)
        count = page.get_by_text(re.compile(r"^\d+ lines$"))
        before = int(count.inner_text().split()[0]) + 8
        caller = page.context.new_page()
        caller.goto(f"{two.url}/s/one/tools")
        caller.get_by_role("navigation", name="Screens").wait_for()
        call(caller, "log-levels")
        listbox = page.get_by_role("listbox", name="Log lines")
        follow = page.get_by_role("button", name="Follow the newest")
        expect(count).to_have_text(f"{before} lines")
        expect(follow).to_be_hidden()
        window.settle()
        assert listbox.evaluate(_FROM_END) < 24
        listbox.hover()
        page.mouse.wheel(0, -120)
        expect(follow).to_be_visible()
        place = listbox.evaluate(_AT_REST)
        caller.get_by_role("button", name="Run", exact=True).click()
        expect(count).to_have_text(f"{before + 8} lines")
        assert listbox.evaluate("(list) => list.scrollTop") == place
        follow.click()
        expect(follow).to_be_hidden()
        expect(page.get_by_role("option", name="emergency").last).to_be_in_viewport()
        caller.get_by_role("button", name="Run", exact=True).click()
        expect(count).to_have_text(f"{before + 16} lines")
        expect(page.get_by_role("option", name="emergency").last).to_be_in_viewport()
        expect(follow).to_be_hidden()
        window.assert_clean()


_WORDY = (
    "import runpy, sys; print('begins', 'x' * 900, 'ends', file=sys.stderr, flush=True); "
    "print('very', 'x' * 40_000, 'long', file=sys.stderr, flush=True); "
    "runpy.run_module('mcplens.demo', run_name='__main__', alter_sys=True)"
)


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that writes long lines, and stays down when it dies."""
    home = tmp_path_factory.mktemp("home")
    server = {
        "command": sys.executable, "args": ["-c", _WORDY], "inheritEnv": True, "maxRetries": 0,
        "protocolVersion": "2025-11-25",
    }  # fmt: skip
    configure(home, {"one": server})
    with site(home, "one") as running:
        yield running


def test_long_lines_are_found_and_copied_to_their_end(browser: Browser, wordy: Site) -> None:
    with watched(browser, wordy, permissions=["clipboard-read", "clipboard-write"]) as window:
        page = window.enter("/s/one/logs")
        page.get_by_label("Filter logs").fill("x ends")
        line = page.get_by_role("option", name="begins")
        expect(line).to_have_count(1)
        expect(page.get_by_text("1 line", exact=True)).to_be_visible()
        page.get_by_label("Filter logs").fill("xxx")
        expect(page.get_by_text("2 lines", exact=True)).to_be_visible()
        copied = copy_by(page, page.get_by_role("button", name="Copy", exact=True)).splitlines()
        assert copied[0].endswith("xxx ends")
        assert copied[1].endswith("xxx long")
        assert len(copied[1]) > 40_000
        window.shoot("logs-long")
        window.assert_clean()


def test_a_reload_brings_back_older_lines_and_the_one_that_is_named(
    browser: Browser, wordy: Site
) -> None:
    with watched(browser, wordy) as window:
        page = window.enter("/s/one/logs")
        page.get_by_role("option", name="begins").click()
        expect(page).to_have_url(re.compile(r"\?line="))
        address = page.url
        call(page, "broken-flood", messages="3000")
        expect(page.get_by_label("Call of broken-flood")).to_contain_text("3000 messages were sent")
        page.goto(address)
        said = page.get_by_role("region", name="Log line").get_by_label("What the line says")
        expect(said).to_contain_text("begins")
        expect(page.get_by_text(re.compile(r"^3,00\d lines$"))).to_be_visible()
        page.goto(f"{wordy.url}/s/one/tools")
        page.get_by_role("button", name="Monitor").click()
        page.get_by_role("radio", name="Logs").locator("xpath=following-sibling::label").click()
        listbox = page.get_by_label("Logs in the monitor")
        listbox.focus()
        while "begins" not in listbox.inner_text():  # older lines come in above the first
            page.keyboard.press("Home")
            page.wait_for_timeout(100)
        page.get_by_role("button", name="Close the monitor").click()
        window.assert_clean()


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1440), pytest.param("dark", 390, marks=pytest.mark.soak)]
)
def test_logs_and_traffic_of_a_server_that_died_say_so(
    browser: Browser, wordy: Site, theme: str, width: int
) -> None:
    size = {"width": width, "height": 800}
    with watched(browser, wordy, viewport=size, color_scheme=theme) as window:
        page = window.enter("/s/one/tools/broken-crash")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text("The page shows the last known state")).to_be_visible()
        for screen in ("traffic", "logs"):
            window.goto(f"/s/one/{screen}")
            expect(
                page.get_by_text(re.compile(r"ended with exit code 3 at [\d:]+\. The page"))
            ).to_be_visible()
            expect(page.get_by_text("Last lines of stderr")).to_have_count(0)
            assert window.axe() == []
            window.shoot(f"lost-{screen}-{theme}-{width}")
        page.get_by_role("button", name="Connect again").click()
        expect(page.get_by_text("The page shows the last known state")).to_be_hidden()
        window.assert_clean()
