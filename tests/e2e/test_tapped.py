"""The session of another client in the page: found, followed as it goes on, and kept at its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .browser import Watched, watched
from .site import configure, site
from .tapped import tapped_client


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    configure(folder, {})
    return folder


@pytest.fixture(scope="module")
def opened(browser: Browser, home: Path) -> Iterator[Watched]:
    with site(home) as running, watched(browser, running) as window:
        window.enter("/traffic")
        yield window


def test_a_tapped_session_is_followed_as_it_goes_on_and_kept_when_it_is_killed(
    opened: Watched, home: Path
) -> None:
    page = opened.switch("/traffic")
    with tapped_client(home, "files") as client:
        client.introduce("claude-ai")
        notice = page.get_by_role("status").filter(has_text="claude-ai 1.4.2 is connected to files")
        expect(notice).to_be_visible()
        page.get_by_role("button", name="Follow it").click()
        session = page.get_by_role("status").filter(has_text="claude-ai 1.4.2 →")
        expect(session).to_contain_text("2025-11-25")
        expect(page.get_by_text("Live", exact=True)).to_be_visible()
        expect(page.get_by_text("initialize").first).to_be_visible()
        # What comes later is shown without a reload.
        client.ask("tools/call", name="add", arguments={"a": 2, "b": 3})
        expect(page.get_by_text("tools/call").first).to_be_visible()
        client.start("tools/call", name="wait", arguments={"seconds": 600})
        expect(page.get_by_text("1 without an answer")).to_be_visible()
        client.write(b"this is not JSON\n")
        expect(page.get_by_role("button", name=re.compile(r"\d+ protocol problem"))).to_be_visible()
        assert opened.axe() == []
        opened.shoot("tapped live")
        page.get_by_role("button", name="Session details").click()
        dialog = page.get_by_role("dialog", name="Session details")
        expect(dialog).to_contain_text("elicitation")
        expect(dialog).to_contain_text("Requests still without an answer")
        expect(dialog.get_by_role("link", name="tools/call")).to_be_visible()
        assert opened.axe() == []
        opened.shoot("tapped about")
        dialog.get_by_role("link", name="tools/call").click()
        expect(page).to_have_url(re.compile(r"/traffic/\d+\?run="))
        page.keyboard.press("Escape")
        page.get_by_role("button", name=re.compile("^Session:")).click()
        session = page.get_by_role("menuitem", name=re.compile("files"))
        expect(session).to_contain_text("from claude-ai")
        expect(session).to_contain_text("Live")
        expect(session).to_contain_text(re.compile(r"\d+ messages"))
        opened.shoot("tapped chosen")
        page.keyboard.press("Escape")
        client.process.kill()
        client.process.wait()
        expect(page.get_by_text("Ended unexpectedly")).to_be_visible()
        expect(page.get_by_text("1 without an answer")).to_be_visible()
    opened.assert_clean()
