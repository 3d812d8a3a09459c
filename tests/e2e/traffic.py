"""The demo on stdio and another one by HTTP, calls of theirs, and the rows of Traffic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from .browser import Watched
from .calls import run
from .site import Site, configure, demo_over_http, site


@contextmanager
def near_and_far(home: Path) -> Iterator[Site]:
    """The demo on stdio, and another one by HTTP that is not connected yet."""
    with demo_over_http() as url:
        secret = {"Authorization": "Bearer do-not-show-this"}
        far = {"url": url, "headers": secret, "protocolVersion": "2025-11-25"}
        configure(home, {"far": far})
        with site(home, "demo") as running:
            yield running


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^text", re.I))


def echo(window: Watched, text: str) -> None:
    """Call a tool, and see its answer."""
    page = window.switch("/s/demo/tools/echo")
    field(page).fill(text)
    run(page)
    expect(page.get_by_label("Call of echo")).to_contain_text(text[-20:])


def all_rows(page: Page) -> Locator:
    """The rows of the table, without its heads."""
    return page.locator("[aria-label=Traffic] [role=row][aria-rowindex]")


def rows(page: Page, text: str) -> Locator:
    return all_rows(page).filter(has_text=text)


def in_wire_order(page: Page) -> None:
    """Show one row for each message."""
    switch = page.get_by_role("switch", name="Wire order")
    if not switch.is_checked():
        switch.press("Space")
    expect(page.get_by_role("grid", name="Traffic")).to_be_visible()


def show_ours(page: Page) -> None:
    """Show what mcplens sends on its own, too."""
    box = page.get_by_role("switch", name="mcplens's own")
    if not box.is_checked():
        box.press("Space")
    expect(box).to_be_checked()


def find(window: Watched, text: str, count: int) -> Page:
    """The traffic in wire order, once so many rows are all that is left of it."""
    page = window.switch("/s/demo/traffic")
    in_wire_order(page)
    page.get_by_label("Filter traffic").fill(text)
    expect(all_rows(page)).to_have_count(count)
    return page
