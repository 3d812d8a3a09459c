"""The browser's return from a sign-in, and what is not one."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import ClientSession

from mcplens.auth.redirect_listener import RedirectListener

PATIENCE_S = 20


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
async def test_a_page_that_tries_all_ports_does_not_make_a_sign_in_fail(
    headers: dict[str, str],
) -> None:
    listener = RedirectListener()
    address = await listener.open()
    visit = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    async with asyncio.timeout(PATIENCE_S), ClientSession() as browser:
        async with browser.get(f"{address}?error=access_denied", headers=headers) as refused:
            assert refused.status == 403
        async with browser.get(f"{address}?code=ours&state=s", headers=visit) as answer:
            assert answer.status == 200
        assert await listener.returned() == f"{address}?code=ours&state=s"
    await listener.close()
