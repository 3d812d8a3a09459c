"""What an earlier run left in the recording: raw messages, log lines, requests with secrets."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import Watched, inside, retype, watched
from .pair import LOUD
from .site import Site, configure, site
from .traffic import rows

SAID = "this is a message at level"
RAW = json.dumps(
    {
        "jsonrpc": "2.0", "id": "mine", "method": "tools/call",
        "params": {"name": "echo", "arguments": {"text": "a secret"}},
    }
)  # fmt: skip


def work(window: Watched) -> Page:
    """One run: log lines, and a raw request that holds a secret."""
    page = window.enter("/servers")
    page.get_by_role("switch", name="Connection to mine", checked=False).press("Space")
    expect(page.get_by_role("article", name="mine")).to_contain_text("Connected")
    window.switch("/s/mine/tools/log-levels")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("8 messages were written")).to_be_visible()
    window.switch("/s/mine/raw")
    retype(page.get_by_role("textbox", name="Message to send"), RAW)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_label("Call of tools/call")).to_contain_text("a secret")
    # It is on the disk within a quarter of a second.
    folder = inside(page)
    while '"mine"' not in page.request.get(f"{folder}/api/export").text():
        page.wait_for_timeout(50)
    return page


@pytest.fixture(scope="module")
def after(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """mcplens, started anew after a run in which something happened."""
    home: Path = tmp_path_factory.mktemp("home")
    demo = {
        "command": sys.executable, "args": ["-c", LOUD], "inheritEnv": True,
        "protocolVersion": "2025-11-25", "secretKeys": ["text"],
    }  # fmt: skip
    configure(home, {"mine": demo})
    with ExitStack() as first:
        window = first.enter_context(watched(browser, first.enter_context(site(home))))
        work(window)
    with site(home) as running:
        yield running


def choose_run(page: Page) -> None:
    page.get_by_role("button", name="Session: This session").click()
    page.get_by_role("menuitem", name=re.compile("mine.*messages")).click()


def test_log_lines_are_shown_filtered_split_and_exported(
    browser: Browser, after: Site, tmp_path: Path
) -> None:
    with watched(browser, after) as window:
        page = window.enter("/s/mine/logs")
        expect(page.get_by_text("No log lines")).to_be_visible()
        choose_run(page)
        expect(page).to_have_url(re.compile(r"/s/mine/logs\?run="))
        lines = page.get_by_role("listbox", name="Log lines")
        expect(lines).to_contain_text("starting up")
        expect(page.get_by_role("option", name=SAID)).to_have_count(8)
        assert window.axe() == []
        window.shoot("earlier-logs")
        page.get_by_label("Filter logs").fill("level alert")
        expect(page.get_by_role("option")).to_have_count(1)
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name="As JSON Lines").click()
        download.value.save_as(tmp_path / "lines")
        (line,) = (tmp_path / "lines").read_text().splitlines()
        assert json.loads(line)["data"] == f"{SAID} alert"
        page.get_by_role("option").click()
        detail = page.get_by_role("region", name="Log line")
        expect(detail.get_by_label("What the line says")).to_have_text(f"{SAID} alert")
        detail.get_by_role("link", name="Only this request").click()
        expect(page.get_by_text("Only what belongs to tools/call with id")).to_be_visible()
        page.get_by_label("Filter logs").fill("")
        expect(page.get_by_role("option", name=SAID)).to_have_count(8)
        expect(lines).not_to_contain_text("starting up")
        page.get_by_role("button", name="Show all").click()
        page.get_by_text("Split", exact=True).click()
        stderr = page.get_by_role("listbox", name="stderr")
        expect(stderr).to_contain_text("starting up")
        page.reload()
        expect(stderr).to_contain_text("starting up")
        page.get_by_text("One stream", exact=True).click()
        page.set_viewport_size({"width": 390, "height": 844})
        expect(lines).to_be_visible()
        window.settle()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.shoot("earlier-logs-390")
        page.get_by_role("button", name=re.compile(r"^Session: \d")).click()
        page.get_by_role("menuitem", name="This session").click()
        expect(page.get_by_text("No log lines")).to_be_visible()
        window.assert_clean()


def test_a_raw_message_is_loaded_and_says_what_is_masked(browser: Browser, after: Site) -> None:
    with watched(browser, after, color_scheme="dark") as window:
        page = window.enter("/s/mine/raw")
        page.get_by_role("button", name="Load from history").click()
        page.get_by_role("menuitem", name="tools/call").first.wait_for()
        assert window.axe() == []
        window.shoot("earlier-raw-menu")
        page.get_by_role("menuitem", name="tools/call echo").first.click()
        editor = page.get_by_role("textbox", name="Message to send")
        expect(editor).to_have_text(RAW.replace("a secret", "*" * len("a secret")))
        masked = page.get_by_text("mcplens masked the value of text")
        expect(masked).to_be_visible()
        window.shoot("earlier-raw")
        retype(editor, RAW)
        expect(masked).to_be_hidden()
        window.assert_clean()


def test_a_masked_request_is_not_sent_again_as_it_is(browser: Browser, after: Site) -> None:
    with watched(browser, after) as window:
        page = window.enter("/s/mine/traffic")
        expect(page.get_by_role("link", name="Raw message")).to_be_visible()
        choose_run(page)
        expect(page.get_by_role("link", name="Raw message")).to_have_count(0)
        page.get_by_label("Filter traffic").fill('"mine"')
        expect(rows(page, "tools/call")).to_have_count(1)
        rows(page, "tools/call").click()
        expect(page.get_by_text("mcplens masked the value of text")).to_be_visible()
        window.shoot("earlier-masked")
        wide = page.viewport_size
        assert wide is not None
        page.set_viewport_size({"width": 390, "height": 844})
        page.get_by_role("button", name="All of Traffic").click()
        rows(page, "tools/call").click()
        page.set_viewport_size(wide)
        page.get_by_role("button", name="Connect and send again").click()
        expect(page.get_by_text("the recording has no value of text")).to_be_visible()
        assert window.axe() == []
        page.get_by_role("button", name="Edit and send").click()
        text = page.get_by_role("textbox", name=re.compile("^text"))
        expect(text).to_have_value("*" * len("a secret"))
        text.fill("typed anew")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_label("Call of echo")).to_contain_text("typed anew")
        window.assert_clean()
