"""The first minute: nothing is configured, and a tool can be called a moment later."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .browser import watched
from .calls import run
from .site import site

DEMO = shlex.join([sys.executable, "-m", "mcplens.demo"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    theirs = tmp_path / ".cursor" / "mcp.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(json.dumps({"mcpServers": {"github": {"command": "npx"}}}))
    return tmp_path


def test_a_command_is_pasted_connected_and_a_tool_is_called(browser: Browser, home: Path) -> None:
    with site(home) as running, watched(browser, running) as window:
        page = window.enter("")
        field = page.get_by_role("textbox", name="Command, URL or configuration")
        expect(field).to_be_focused()
        expect(page.get_by_role("button", name="Connect", exact=True)).to_be_disabled()
        expect(page.get_by_role("banner").get_by_text("mcplens", exact=True)).to_be_visible()
        assert window.axe() == []
        window.shoot("first start")
        field.fill(f"claude mcp add mine -e API_TOKEN=hidden -- {DEMO}")
        # Before anything is started, the page says what it understood.
        understood = page.get_by_text(re.compile("^Starts .*mcplens.demo, named mine"))
        expect(understood).to_have_text(re.compile("Variables: API_TOKEN$"))
        window.shoot("first start, understood")
        field.press("Enter")
        expect(page).to_have_url(re.compile("/s/mine/tools$"))
        page.get_by_role("option", name="echo").first.click()
        page.get_by_label("text *", exact=True).fill("first")
        run(page)
        expect(page.get_by_label("Call of echo")).to_contain_text("Done")
        # What was added has its card, beside the bundled server's.
        page.get_by_role("link", name="mcplens", exact=True).click()
        expect(page.get_by_role("article", name="mine")).to_contain_text("Connected")
        expect(page.get_by_role("article", name="demo")).to_be_visible()
        window.assert_clean()


def test_a_piece_of_configuration_and_other_tools_servers_are_offered(
    browser: Browser, home: Path
) -> None:
    with site(home) as running, watched(browser, running) as window:
        page = window.enter("/servers")
        page.get_by_role("button", name="Cursor 1").click()
        dialog = page.get_by_role("dialog", name="Add a server")
        expect(dialog.get_by_role("group", name="github, cursor")).to_be_visible()
        dialog.get_by_role("button", name="Close").click()
        field = page.get_by_role("textbox", name="Command, URL or configuration")
        field.fill('"files": { "command": "npx", "args": ["-y", "files"] }')
        page.get_by_role("button", name="Connect", exact=True).click()
        expect(dialog.get_by_role("group", name="files, mcplens")).to_contain_text("npx -y files")
        dialog.get_by_role("button", name="Close").click()
        field.fill("'unbalanced")
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("Not a valid command line")
        window.assert_clean()


def test_the_demo_server_is_one_click_away(browser: Browser, tmp_path: Path) -> None:
    size = {"width": 390, "height": 844}
    with site(tmp_path) as running, watched(browser, running, viewport=size) as window:
        page = window.enter("")
        assert window.axe() == []
        window.shoot("first start narrow")
        page.get_by_role("button", name="demo server").click()
        expect(page).to_have_url(re.compile("/s/demo/tools$"))
        expect(page.get_by_role("option").first).to_be_visible()
        # Whoever used it finds it among the servers.
        window.switch("/servers")
        expect(page.get_by_role("article", name="demo")).to_contain_text("Connected")
        window.assert_clean()
