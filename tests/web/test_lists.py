"""Lists as the page gets them: page by page, stopped, gone on with, of a server that is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .harness import PYTHON, Page, Refusal, Site, site, write_config

PAGED = """
import json, sys, time
pages, size, silent_at = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "paged", "version": "1"}}
    elif method == "tools/list":
        page = int(params.get("cursor") or 0)
        if page == silent_at:
            continue
        tools = [{"name": f"tool-{page}-{n}", "inputSchema": {"type": "object"}}
                 for n in range(size)]
        result = {"tools": tools}
        if pages == 0 or page + 1 < pages:
            result["nextCursor"] = str(page + 1)
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def program(home: Path, prefix: str = "tool") -> Path:
    """The server's program; its tools are called by this prefix."""
    path = home / "paged.py"
    path.write_text(PAGED.replace("tool-", f"{prefix}-"))
    return path


def paged(home: Path, pages: int, size: int = 3, silent_at: int = -1) -> dict[str, Any]:
    """A server with so many pages of tools (0: without end); it never answers for `silent_at`."""
    args = [str(program(home)), str(pages), str(size), str(silent_at)]
    return {"command": PYTHON, "args": args, "inheritEnv": True}


def summary(page: Page) -> dict[str, Any]:
    found = page.things.get(("lists", "paged/tools"))
    return found or {"pages": 0, "asked": None, "count": 0, "fetched": 0}


async def listed(page: Page, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = await page.ask("List", server_id="paged", kind="tools", **options)
    return found


async def test_one_page_is_fetched_then_the_next_then_all_the_rest(tmp_path: Path) -> None:
    write_config(tmp_path, paged=paged(tmp_path, 4))
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("paged")
        first = await listed(page, one_page=True, after=0)
        assert len(first["items"]) == 3
        if not first["is_complete"]:
            first = await listed(page, after=3, of=first["fetched"])
        assert (first["next_cursor"], first["is_complete"]) == ("1", True)
        await page.ask("MoreOfList", server_id="paged", kind="tools", one_page=True)
        await page.until(lambda: summary(page)["pages"] == 2 and summary(page)["asked"] is None)
        more = await listed(page, after=3, of=first["fetched"])
        assert [item["value"]["name"] for item in more["items"]] == [
            "tool-1-0",
            "tool-1-1",
            "tool-1-2",
        ]
        await page.ask("MoreOfList", server_id="paged", kind="tools")
        await page.until(lambda: summary(page)["pages"] == 4 and summary(page)["asked"] is None)
        whole = await listed(page)
        assert (len(whole["items"]), whole["next_cursor"]) == (12, None)


async def test_a_page_has_the_first_items_while_the_next_page_is_waited_for(
    tmp_path: Path,
) -> None:
    write_config(tmp_path, paged=paged(tmp_path, 3, silent_at=2))
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("paged")
        first = await listed(page, after=0, most=2)
        assert (len(first["items"]), first["is_complete"]) == (2, False)
        await page.until(lambda: summary(page)["pages"] == 2)
        assert summary(page)["awaited"] == 3
        assert summary(page)["asked"] is not None
        stopped = await page.ask("StopList", server_id="paged", kind="tools")
        assert (stopped["asked"], stopped["count"], stopped["next_cursor"]) == (None, 6, "2")
        rest = await listed(page, after=2, of=first["fetched"])
        assert (rest["start"], len(rest["items"]), rest["is_complete"]) == (2, 4, True)


async def test_a_list_without_end_is_stopped_and_what_came_can_be_called(tmp_path: Path) -> None:
    write_config(tmp_path, paged=paged(tmp_path, 0))
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("paged")
        await listed(page, after=0)
        await page.until(lambda: summary(page)["pages"] > 5)
        stopped = await page.ask("StopList", server_id="paged", kind="tools")
        kept = await listed(page)
        assert len(kept["items"]) == stopped["count"] >= 18
        assert kept["next_cursor"] is not None


async def test_a_list_that_fails_is_a_failure_and_the_former_one_stays(tmp_path: Path) -> None:
    write_config(tmp_path, paged=paged(tmp_path, 2))
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("paged")
        whole = await listed(page)
        await page.ask("Disconnect", server_id="paged")
        with pytest.raises(Refusal) as refused:
            await listed(page, refresh=True)
        assert refused.value.error["code"] == "NOT_CONNECTED"
        kept = await listed(page, after=0)
        assert len(kept["items"]) == len(whole["items"]) == 6


async def test_after_a_reconnect_the_list_is_fetched_anew(tmp_path: Path) -> None:
    write_config(tmp_path, paged=paged(tmp_path, 1))
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("paged")
        before = await listed(page)
        await page.ask("Disconnect", server_id="paged")
        await page.in_state("paged", "DISCONNECTED")
        program(tmp_path, "new")
        await page.connected("paged")
        former = {"after": len(before["items"]), "of": before["fetched"]}
        after = await listed(page, **former)
        assert (after["start"], after["items"][0]["value"]["name"]) == (0, "new-0-0")


async def test_a_reloaded_page_is_told_of_the_list_of_a_server_that_is_gone(
    web: Site,
) -> None:
    async with web.page() as first:
        await first.connected("demo")
        await first.ask("List", server_id="demo", kind="prompts")
        await first.ask("Disconnect", server_id="demo")
        await first.in_state("demo", "DISCONNECTED")
    async with web.page() as second:
        (demo,) = [one for one in second.hello["servers"] if one["server_id"] == "demo"]
        assert [one["kind"] for one in demo["lists"] if one["fetched"]] == ["prompts"]
        kept = await second.ask("List", server_id="demo", kind="prompts", after=0)
        assert kept["items"]
