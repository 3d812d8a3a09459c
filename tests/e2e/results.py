"""A web UI on three servers, one of them odd, and calls whose results are looked at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, retype, until, watched
from .calls import run
from .pair import connect
from .site import configure, demo_over_http, site

ODD = {"command": sys.executable, "args": [str(Path(__file__).with_name("odd_server.py"))]}

SECRET = "Bearer s3cret"
# More digits than a number of JavaScript holds.
LARGE = "12345678901234567890"


@contextmanager
def guarded() -> Iterator[dict[str, object]]:
    """The entry of the demo server over HTTP, which wants a token."""
    with demo_over_http("--token", SECRET.split()[1]) as url:
        yield {"url": url, "headers": {"Authorization": SECRET}}


@contextmanager
def three_servers(browser: Browser, home: Path) -> Iterator[Watched]:
    """A server that only the command line names, and two of the configuration."""
    allowed = ["clipboard-read", "clipboard-write"]
    with guarded() as wire:
        configure(home, {"odd": ODD, "wire": wire})
        with (
            site(home, "--", sys.executable, "-m", "mcplens.demo") as running,
            watched(browser, running, permissions=allowed) as window,
        ):
            page = window.enter("/servers")
            for name in ("odd", "wire"):
                connect(page, name)
            yield window


def name_given(window: Watched) -> str:
    """The name that the page has for the server of the command line."""
    articles = window.goto("/servers").get_by_role("article")
    expect(articles).to_have_count(4)
    names = [one.get_attribute("aria-label") or "" for one in articles.all()]
    (name,) = set(names) - {"odd", "wire", "demo"}
    return name


def called(window: Watched, server: str, tool: str, arguments: str = "") -> Locator:
    """The panel of a call made with these arguments."""
    page = window.goto(f"/s/{server}/tools/{tool}")
    if arguments:
        page.get_by_text("JSON", exact=True).first.click()
        retype(page.get_by_label("Arguments as JSON"), arguments)
    run(page)
    return page.get_by_label(f"Call of {tool}")


def gives(window: Watched, result: str) -> Locator:
    """The panel of a call that gave exactly this."""
    page = window.goto("/s/odd/tools/give")
    page.get_by_label("json", exact=True).fill(result)
    run(page)
    return page.get_by_label("Call of give")


def copied_by_keys(page: Page, keys: str) -> str:
    """What these copy; what was copied before does not count."""
    page.evaluate("navigator.clipboard.writeText('')")
    page.keyboard.press(keys)
    return str(until(page, "navigator.clipboard.readText()"))
