"""The browser's return from a sign-in, and what is not one."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import ClientConnectorError, ClientSession

from mcplens.auth.redirect_listener import RedirectListener
from mcplens.errors import InspectorError

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


async def test_a_port_that_is_taken_is_named_or_another_is_used() -> None:
    first = RedirectListener()
    address = await first.open()
    with pytest.raises(InspectorError) as caught:
        await RedirectListener(address, is_fixed=True).open()
    assert caught.value.message == (
        f"nothing can listen at {address} for the return of the browser: address already in use"
    )
    assert caught.value.details["hint"] == "free the port, or change redirectUri"
    second = RedirectListener(address)
    assert await second.open() != address
    await second.close()
    await first.close()


async def test_only_the_first_answer_counts_and_nothing_listens_afterwards() -> None:
    listener = RedirectListener()
    address = await listener.open()
    async with asyncio.timeout(PATIENCE_S), ClientSession() as browser:
        for code in ("first", "second"):
            async with browser.get(f"{address}?code={code}&state=s") as answer:
                page = await answer.text()
                assert "You can close this page" in page
        assert await listener.returned() == f"{address}?code=first&state=s"
        await listener.close()
        with pytest.raises(ClientConnectorError):
            await browser.get(f"{address}?code=third")
