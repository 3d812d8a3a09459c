"""One browser and one web UI on the demo server for all tests of a file, a new page for each.

Playwright's own loop runs while a browser is open, so nothing here is async and nothing outlives
its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from .browser import Watched, chromium, watched
from .pair import pair
from .site import Site, site


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


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
