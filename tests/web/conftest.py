"""A web UI for each test, with a home of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from .harness import Page, Site, site


@pytest_asyncio.fixture
async def web(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as running:
        yield running


@pytest_asyncio.fixture
async def page(web: Site) -> AsyncIterator[Page]:
    async with web.page() as opened:
        yield opened
