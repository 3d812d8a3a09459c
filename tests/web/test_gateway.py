"""The gateway of the web UI: switched on and off from the page, and what the page is shown."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import mcplens
from mcplens.errors import InspectorError

from .harness import Page, Refusal, good, site, user_config

FEW = {"allow": {"tools": ["calm:echo"]}, "separator": "none", "token": "the-views-own-token"}


def configure(home: Path, **top: Any) -> None:
    path = user_config(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    given = {"calm": good(), "idle": {**good(), "enabled": False}}
    path.write_text(json.dumps({"mcpServers": given, **top}))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def gateway(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.things["gateway", ""]
    return found


async def until_listed(page: Page) -> None:
    await page.until(lambda: [one for one in gateway(page)["servers"] if one["tools"]])


def called(page: Page, name: str) -> dict[str, Any] | None:
    """A client of this name, once two of its calls are counted."""
    clients: list[dict[str, Any]] = gateway(page)["clients"]
    return next((one for one in clients if one["name"] == name and one["calls"] >= 2), None)


async def test_it_is_switched_on_and_off_from_the_page(tmp_path: Path) -> None:
    configure(tmp_path)
    async with site(tmp_path) as web, web.page() as page:
        assert page.hello["gateway"]["is_on"] is False
        view = await page.ask("TurnGatewayOn")
        assert view["is_on"]
        assert not view["is_permanent"]
        await page.in_state("calm", "CONNECTED")
        await until_listed(page)
        # What is switched off in the configuration, and our own demo server, are not published.
        assert [one["server_id"] for one in gateway(page)["servers"]] == ["calm"]
        token = await page.ask("GatewayToken")
        assert token not in json.dumps([page.hello, page.changes])
        async with mcplens.connect(view["url"], headers=bearer(token)) as client:
            result = await client.call_tool("calm__echo", {"text": "hi"})
            assert result.content[0].text == "hi"
            with pytest.raises(InspectorError, match="Unknown tool"):
                await client.call_tool("demo:echo", {"text": "hi"})
            with pytest.raises(InspectorError, match="Unknown tool"):
                await client.call_tool("idle:echo", {"text": "hi"})
        for server in ("demo", "idle"):
            async with aiohttp.ClientSession() as http:
                where = view["url"].replace("/mcp", f"/servers/{server}/mcp")
                async with http.post(where, headers=bearer(token)) as answer:
                    assert answer.status == 404
        with pytest.raises(Refusal, match="on already"):
            await page.ask("TurnGatewayOn")
        assert (await page.ask("TurnGatewayOff"))["is_on"] is False
        assert page.things["servers", "calm"]["state"] == "CONNECTED"
        with pytest.raises(InspectorError):
            async with mcplens.connect(view["url"], headers=bearer(token)):
                pass
        assert (await page.ask("TurnGatewayOn"))["is_on"]
        assert await page.ask("GatewayToken") == token


async def test_the_page_sees_who_is_connected_and_how_much_they_call(tmp_path: Path) -> None:
    configure(tmp_path, gateway={"limits": {"callsPerServer": 7}})
    async with site(tmp_path) as web, web.page() as page:
        url = (await page.ask("TurnGatewayOn"))["url"]
        token = await page.ask("GatewayToken")
        for version in ("2025-11-25", "2026-07-28"):
            info = {"name": f"tester {version}", "version": "1.2"}
            async with mcplens.connect(
                url, headers=bearer(token), protocol_version=version, client_info=info
            ) as client:
                await client.call_tool("calm__echo", {"text": "hi"})
                await client.list_tools()

                found = await page.until(partial(called, page, info["name"]))
                assert (found["version"], found["protocol_version"]) == ("1.2", version)
                assert (found["path"], found["in_flight"], found["errors"]) == ("/mcp", 0, 0)
        await page.until(lambda: gateway(page)["servers"][0]["calls"])
        limits = {one["name"]: one for one in gateway(page)["limits"]}
        assert limits["callsPerServer"]["most"] == 7
        assert limits["callsPerServer"]["is_set"]
        assert limits["callsPerSecond"]["most"] is None
        audit = await page.ask("GatewayAudit", count=50)
        assert "echo" in {(line["name"] or "").removeprefix("calm__") for line in audit["lines"]}
        assert audit["path"].endswith("gateway-audit.jsonl")


async def test_the_page_names_the_callers_and_says_why_requests_were_refused(
    tmp_path: Path,
) -> None:
    ci = "the-token-of-the-ci-0123"
    configure(tmp_path, gateway={"tokens": [{"name": "ci", "token": ci}]})
    async with site(tmp_path) as web, web.page() as page:
        url = (await page.ask("TurnGatewayOn"))["url"]
        for version in ("2025-11-25", "2026-07-28"):
            info = {"name": f"tester {version}", "version": "1.2"}
            async with mcplens.connect(
                url, headers=bearer(ci), protocol_version=version, client_info=info
            ) as client:
                for _ in range(2):
                    await client.call_tool("calm:echo", {"text": "hi"})
                await page.until(partial(called, page, info["name"]))
                found = called(page, info["name"])
                assert found is not None
                assert found["caller"] == "ci"
        async with (
            aiohttp.ClientSession() as http,
            http.post(url, headers=bearer("a-token-of-nobody-0123")) as answer,
        ):
            assert answer.status == 401
        refused, *calls = (await page.ask("GatewayAudit"))["lines"]
        assert (refused["method"], refused["path"], refused["seq"]) == ("POST", "/mcp", 0)
        assert refused["reason"] == "a valid bearer token is required"
        assert {line["caller"] for line in calls} == {"ci"}
        assert ci not in json.dumps([page.hello, page.changes])


async def test_views_say_what_they_hide_and_why(tmp_path: Path) -> None:
    configure(tmp_path, views={"few": FEW})
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("TurnGatewayOn")
        await until_listed(page)
        views = {one["path"]: one for one in await page.ask("PublishedViews")}
        assert views["/mcp"]["hidden_count"] == 0
        few = views["/mcp/few"]
        assert (few["tools"], few["has_own_token"]) == (1, True)
        reasons = {one["name"]: one["reason"] for one in few["hidden"] if one["kind"] == "tools"}
        assert "echo" not in reasons
        assert set(reasons.values()) == {"allow.tools does not name it"}
        assert await page.ask("GatewayToken", path="/mcp/few") == "the-views-own-token"


async def test_entries_for_clients_have_the_token_only_when_asked(tmp_path: Path) -> None:
    configure(tmp_path)
    async with site(tmp_path) as web, web.page() as page:
        url = (await page.ask("TurnGatewayOn"))["url"]
        token = await page.ask("GatewayToken")
        masked = {one["client"]: one for one in await page.ask("GatewayEntries")}
        shown = {one["client"]: one for one in await page.ask("GatewayEntries", is_revealed=True)}
        assert json.loads(shown["cursor"]["text"]) == {
            "mcpServers": {"mcplens": {"url": url, "headers": bearer(token)}}
        }
        assert all(token not in one["text"] for one in masked.values())
        assert '"--stdio"' in shown["claude-desktop"]["text"]
        assert shown["claude-desktop"]["command"] == "mcplens gateway install claude-desktop"
        assert shown["codex"]["text"].startswith("[mcp_servers.mcplens]")
        assert shown["cursor"]["command"] is None  # the port is another one the next time


async def test_a_view_that_is_missing_changes_nothing_and_the_page_says_why(
    tmp_path: Path,
) -> None:
    configure(tmp_path, views={"few": FEW}, defaultPresetId="few")
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("TurnGatewayOn")
        configure(tmp_path, defaultPresetId="few")
        web.workspace.reload()  # as a page that opens does
        problem = (await page.until(lambda: gateway(page)["problem"]))["message"]
        assert "there is no view 'few'" in problem
        paths = [one["path"] for one in await page.ask("PublishedViews")]
        assert sorted(paths) == ["/mcp", "/mcp/few"]
        configure(tmp_path, views={"few": FEW}, defaultPresetId="few")
        web.workspace.reload()
        await page.until(lambda: gateway(page)["problem"] is None)
