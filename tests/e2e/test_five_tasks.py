"""What somebody does who opens the page for the first time, by keyboard alone."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from . import wheel
from .browser import watched
from .site import site

DEMO = [sys.executable, "-m", "mcplens.demo"]
# More than any screen has; a test that passes presses Tab a few times.
_MOST_STOPS = 80


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until this has the focus."""
    for _ in range(_MOST_STOPS):
        if target.evaluate("(one) => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {target}")


def find(page: Page, words: str, result: str) -> None:
    """Open the palette, type, and take what stands first."""
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog")
    expect(palette.get_by_role("combobox")).to_be_focused()
    page.keyboard.type(words)
    first = palette.get_by_role("option").first
    expect(first).to_contain_text(result)
    page.keyboard.press("Enter")


def test_five_tasks_are_done_by_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    # The session of yesterday.
    call = [str(wheel.COMMAND), "call", "echo", "text=of yesterday", "--", *DEMO]
    subprocess.run(call, cwd=tmp_path, env=wheel.surroundings(tmp_path), check=True, timeout=60)
    with site(tmp_path) as running, watched(browser, running) as window:
        page = window.enter("/servers")
        connect(page)
        call_a_tool(page)
        find_why_a_call_failed(page)
        send_a_raw_message(page)
        see_the_earlier_session(page)
        window.assert_clean()


def connect(page: Page) -> None:
    expect(page.get_by_role("textbox", name="Command, URL or configuration")).to_be_focused()
    page.keyboard.type(f"claude mcp add mine -- {shlex.join(DEMO)}")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/s/mine/tools"))
    expect(page.get_by_role("option", name="echo").first).to_be_visible()


def call_a_tool(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("adds two")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("a *"))
    page.keyboard.type("2")
    page.keyboard.press("Tab")
    page.keyboard.type("3")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label("Call of add")).to_contain_text("Done")


def find_why_a_call_failed(page: Page) -> None:
    find(page, "fail-error", "fail-error")
    expect(page.get_by_role("heading", name="fail-error").first).to_be_visible()
    page.keyboard.press("Control+Enter")
    call = page.get_by_label("Call of fail-error")
    expect(call).to_contain_text("-32")
    tab_to(page, call.get_by_role("radio", name="Error"))
    page.keyboard.press("ArrowLeft")  # the last one
    expect(call.get_by_label("Message as it came")).to_contain_text('"error"')


def send_a_raw_message(page: Page) -> None:
    find(page, "raw", "aw")
    editor = page.get_by_role("textbox", name="Message to send")
    expect(editor).to_be_visible()
    tab_to(page, editor)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_label(re.compile("^Call of"))).to_contain_text("jsonrpc")


def see_the_earlier_session(page: Page) -> None:
    find(page, "session of", "Session of")
    expect(page.get_by_text("of yesterday").first).to_be_visible()
