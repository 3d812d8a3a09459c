"""One browser for all files of a worker, one web UI for a file, one page for a test.

Playwright runs a loop of its own while a browser is open, so nothing here is async, and neither the
browser nor that loop outlives this package: the tests of other packages run loops themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from .browser import Watched, launch, watched
from .pair import pair
from .site import Site, site


class Shared:
    """The browser that the files of a worker use one after the other."""

    def __init__(self, playwright: Playwright, home: Path) -> None:
        self._playwright = playwright
        self._home = home
        self._browser: Browser | None = None

    def __repr__(self) -> str:
        return f"<Shared {self._browser or 'not started'}>"

    def get(self) -> Browser:
        """A browser that runs: if it crashed or was killed, the next file has a new one."""
        if self._browser is None or not self._browser.is_connected():
            self._browser = launch(self._playwright, self._home)
        return self._browser

    def close(self) -> None:
        if self._browser is not None:
            self._browser.close()


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="package")
def shared(playwright: Playwright, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    browsers = Shared(playwright, tmp_path_factory.mktemp("browser"))
    yield browsers
    browsers.close()


@pytest.fixture(scope="module")
def browser(shared: Shared) -> Browser:
    return shared.get()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("home")
    with site(home, "demo") as running:
        yield running


@pytest.fixture
def window(browser: Browser, demo: Site) -> Iterator[Watched]:
    with watched(browser, demo) as opened:
        yield opened


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pair(tmp_path_factory.mktemp("home")) as running:
        yield running
