"""Whatever a server answers, the page can read what it is told of it, and so can the next one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .harness import Page, Site, odd, site, write_config

# As Python's json.dumps writes it.
NOT_A_NUMBER = '{"content":[{"type":"text","text":"\\u00e9"}],"structuredContent":{"x":NaN}}'


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


async def answer(page: Page, tool: str, given: str) -> dict[str, Any]:
    """What came of a call, after which the server still answers."""
    if page.things["servers", "odd"]["state"] != "CONNECTED":
        await page.connected("odd")
    call = {"server_id": "odd", "send_anyway": True}
    ended = await page.call("CallTool", name=tool, arguments={"json": given}, **call)
    fine = await page.call("CallTool", name="give", arguments={"json": '{"content":[]}'}, **call)
    assert fine["status"] == "completed"
    return ended


async def both(web: Site, tool: str, given: str) -> dict[str, Any]:
    """What a page that was open, and one that is opened later, see of a call."""
    async with web.page() as first:
        ended = await answer(first, tool, given)
    async with web.page() as second:
        later = next(c for c in second.hello["calls"] if c["call_id"] == ended["call_id"])
    assert later["status"] == ended["status"]
    assert (later["error"] is None) == (ended["error"] is None)
    return ended


async def test_a_number_that_is_no_json_is_malformed_whatever_stands_beside_it(
    tmp_path: Path,
) -> None:
    write_config(tmp_path, odd=odd())
    async with site(tmp_path) as web:
        ended = await both(web, "give", NOT_A_NUMBER)
        assert ended["status"] == "error"
        assert "NaN" in json.dumps(ended["error"])


@pytest.mark.parametrize("levels", [90, 300, 600, 900, 5_000])
async def test_an_error_with_deep_data_is_told_as_far_as_it_goes(
    tmp_path: Path, levels: int
) -> None:
    write_config(tmp_path, odd=odd())
    async with site(tmp_path) as web:
        given = f'{{"code":-1,"message":"deep","data":{nested(levels)}}}'
        ended = await both(web, "fail", given)
        assert ended["status"] == "error"
