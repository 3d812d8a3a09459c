"""What takes long ends when nobody waits for it: the page went away, or the site is closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from mcplens.store import trace_transfer
from mcplens.store.database import Run
from mcplens.store.history import History, check
from mcplens.store.rows import Row

from .harness import PATIENCE_S, Site, site


class Endless:
    """Work without an end, and what is known of its thread."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.ended = threading.Event()

    def __repr__(self) -> str:
        return f"<Endless began={self.began.is_set()} ended={self.ended.is_set()}>"

    def go_on(self) -> Iterator[None]:
        self.began.set()
        try:
            while True:
                threading.Event().wait(0.001)
                yield
        finally:
            self.ended.set()

    def scan(self, history: History, *args: Any, **options: Any) -> Iterator[tuple[str, Row]]:
        for _ in self.go_on():
            check(history._is_stopped)
        yield from ()

    def lines(self, *args: Any) -> Iterator[Run]:
        for _ in self.go_on():
            yield Run("r", 1.0)


async def is_set(event: threading.Event) -> bool:
    return await asyncio.to_thread(event.wait, PATIENCE_S)


@pytest.mark.parametrize("path", ["history/matches", "history/events", "export"])
async def test_a_search_ends_when_its_page_goes(
    web: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web.page() as page:  # so that something is recorded
        await page.connected("demo")
    endless = Endless()
    monkeypatch.setattr(
        History, "scan", lambda history, *args, **options: endless.scan(history, *args, **options)
    )
    asking = asyncio.create_task(web.get(f"/api/{path}", run="another", text="x"))
    assert await is_set(endless.began)
    asking.cancel()
    assert await is_set(endless.ended)


async def test_an_import_ends_when_the_site_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = Endless()
    monkeypatch.setattr(trace_transfer, "read_trace", endless.lines)
    async with aiohttp.ClientSession() as http:  # it waits for longer than the site is there
        async with site(tmp_path) as web:
            headers = {"Origin": web.origin, "Cookie": web.cookie}
            url = f"{web.inside}/api/import"
            asking = asyncio.create_task(_post(http, url, headers))
            assert await is_set(endless.began)
        assert await is_set(endless.ended)
        answer = await asking
    assert answer["code"] == "CANCELLED"


async def _post(http: aiohttp.ClientSession, url: str, headers: dict[str, str]) -> Any:
    async with http.post(url, data=b"{}", headers=headers) as answer:
        return await answer.json()
