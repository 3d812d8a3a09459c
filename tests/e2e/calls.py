"""Calls that a page makes: begun for certain, and recorded for certain."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from .browser import inside


def run(page: Page) -> None:
    """Press Run, and wait for the call that it began: an earlier one may stand in its place."""
    before = page.evaluate("location.href")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page).not_to_have_url(before)
    expect(page).to_have_url(re.compile(r"[?&]call="))


def recorded(page: Page, text: str) -> str:
    """All that is recorded, once an answer with this text is: it takes a moment."""
    while True:
        export = page.request.get(f"{inside(page)}/api/export?format=jsonl").text()
        if any(text in line and '"FrameReceived"' in line for line in export.splitlines()):
            return export
        page.wait_for_timeout(50)
