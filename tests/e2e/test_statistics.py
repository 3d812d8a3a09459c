"""Latency and errors at a glance: a server's card and Info fill while one looks."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from .browser import flip, watched
from .site import configure, site
from .test_auth import look

SUM = re.compile(r"\d+ requests · 2 errors · .*B · median .* · p95 .*")


def test_a_card_and_info_show_requests_errors_and_durations_as_they_come(
    browser: Browser, tmp_path: Path
) -> None:
    configure(tmp_path, {"other": {"command": "true"}})  # without one, the page begins elsewhere
    with site(tmp_path) as running, watched(browser, running) as window:
        page = window.enter("/servers")
        flip(page.get_by_role("switch", name="Connection to demo"))
        card = page.get_by_role("article", name="demo")
        plot = card.get_by_role("img", name=re.compile("Durations of the last"))
        expect(card).to_contain_text("Connected")
        expect(plot).to_have_count(0)  # nothing is announced to be empty
        window.switch("/s/demo/tools/echo")
        page.get_by_label("text", exact=False).first.fill("hello")
        for _ in range(5):
            page.get_by_role("button", name="Run", exact=True).click()
            expect(page.get_by_label("Call of echo")).to_contain_text("Done")
        window.switch("/s/demo/tools/fail-error")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_label("Call of fail-error")).to_contain_text("Error reply")
        window.switch("/s/demo/tools/fail-result")  # a tool that fails is an error, too
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_label("Call of fail-result")).to_contain_text("Tool error")
        window.switch("/servers")
        expect(card).to_contain_text(SUM)
        assert plot.locator("rect").count() > 5
        look(window, "statistics card")
        window.switch("/servers/demo")
        counted = page.get_by_role("region", name="Requests since mcplens started")
        expect(counted).to_contain_text("tools/call at")
        counted.get_by_role("link", name="Show in Traffic").wait_for()
        look(window, "statistics info")
        window.assert_clean()
