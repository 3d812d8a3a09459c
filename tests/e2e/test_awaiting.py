"""What waits for a silent server says so, and is cancelled."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from .browser import Watched
from .site import Site, configure, site

SILENT = Path(__file__).with_name("silent_server.py")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    entry = {"command": sys.executable, "args": [str(SILENT)], "pingInterval": 0}
    configure(home, {"silent": entry})
    with site(home, "silent") as running:
        yield running


def waiting_for(page: Page, what: str) -> Locator:
    return page.get_by_role("alert").filter(
        has_text=re.compile(rf"Waiting for {what} since \d\d:\d\d:\d\d")
    )


def cancel(page: Page, what: str) -> None:
    """By keyboard; nothing is left to be told of what somebody called off himself."""
    toast = waiting_for(page, what)
    toast.get_by_role("button", name="Cancel").press("Enter")
    expect(toast).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_silent_server_is_waited_for_in_sight_until_somebody_cancels(window: Watched) -> None:
    page = window.enter("/s/silent/tasks")
    page.get_by_role("button", name="Fetch").click()
    expect(waiting_for(page, "the tasks of silent")).to_be_visible()
    assert window.axe() == []
    window.shoot("awaiting")
    cancel(page, "the tasks of silent")
    page.get_by_role("button", name="Ping now").click()
    cancel(page, "an answer from silent")
    window.switch("/s/silent/resources/silent%3A%2F%2Fnews")
    subscribe = page.get_by_role("switch", name="Subscribe")
    subscribe.press("Space")
    cancel(page, "the subscription to silent://news")
    expect(subscribe).not_to_be_checked()
    window.switch("/s/silent/logs")
    page.get_by_role("combobox", name="Minimum level that the server logs").click()
    page.get_by_role("option", name="debug").click()
    cancel(page, "the level of silent to be set")
    # The server was told each time, and the log has its words.
    for method in ("tasks/list", "ping", "resources/subscribe", "logging/setLevel"):
        expect(page.get_by_text(f"cancelled {method}")).to_be_visible()
    window.assert_clean()
