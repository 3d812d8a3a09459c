"""What the page is told of a server is what happened."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from .harness import PYTHON, Page, Refusal, Site, site, user_config, write_config

DEMO: dict[str, Any] = {"command": PYTHON, "args": ["-m", "mcplens.demo"], "inheritEnv": True}

# Says how it comes along, on a signal too, and never speaks the protocol.
SLOW = """
import os, signal, sys
signal.signal(signal.SIGUSR1, lambda *_: os.write(2, b"half of it\\n"))
os.write(2, b"downloading\\n")
sys.stdin.read()
"""


async def restarted(page: Page, server_id: str) -> None:
    await page.ask("Disconnect", server_id=server_id)
    await page.connected(server_id)


async def test_a_restart_is_not_shown_as_a_change_that_the_server_announced(web: Site) -> None:
    async with web.page() as page:
        await page.connected("demo")
        before = await page.ask("List", server_id="demo", kind="tools")
        resources = await page.ask("List", server_id="demo", kind="resources")
        uri = resources["items"][0]["value"]["uri"]
        await page.ask("Subscribe", server_id="demo", uri=uri)
        await restarted(page, "demo")
        await page.until(lambda: page.things["lists", "demo/tools"]["fetched"] > before["fetched"])
        assert page.things["lists", "demo/tools"]["is_changed"] is False
        (subscription,) = page.things["servers", "demo"]["subscriptions"]
        assert (subscription["updates"], subscription["updated"]) == (0, None)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_declared_capabilities_are_those_that_were_sent(
    tmp_path: Path, revision: str
) -> None:
    write_config(tmp_path, mine={**DEMO, "protocolVersion": revision})
    async with site(tmp_path) as web, web.page() as page:
        view = await page.connected("mine")
        method = "initialize" if revision == "2025-11-25" else "server/discover"

        def first() -> Any:
            return next((one for one in page.events if one["method"] == method), None)

        event = await page.until(first)
        whole = await web.get_json(f"/api/event/{event['run_id']}/{event['seq']}")
        params = json.loads(whole["text"])["params"]
        if revision == "2025-11-25":
            sent = params["capabilities"]
        else:
            sent = params["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert view["declared_capabilities"] == sent
        assert "extensions" in sent


async def test_a_setting_that_is_reset_is_no_longer_in_the_file(tmp_path: Path) -> None:
    path = user_config(tmp_path)
    path.parent.mkdir(parents=True)
    text = '{\n  // mine\n  "taskTtlSeconds": 7, // short\n  "mcpServers": {}\n}\n'
    path.write_text(text)
    async with site(tmp_path) as web, web.page() as page:
        back = await page.ask("SetSetting", name="taskTtlSeconds", value=None)
        assert (back["value"], back["source"]) == (60, "default")
        assert path.read_text() == '{\n  // mine\n  "mcpServers": {}\n}\n'


async def test_a_refused_setting_names_its_field(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal) as refused:
            await page.ask("SetSetting", name="taskTtlSeconds", value=0)
        assert refused.value.error["details"]["fields"] == [
            {"key": "taskTtlSeconds", "text": "must be 1 or more"}
        ]


async def test_a_cancelled_connect_does_not_show_an_earlier_error(tmp_path: Path) -> None:
    nobody = {"url": "http://127.0.0.1:9/mcp", "maxRetries": 0}
    waiting = {**nobody, "maxRetries": 3, "retryBackoff": [60_000]}
    write_config(tmp_path, mine=nobody, waiting=waiting)
    async with site(tmp_path) as web, web.page() as page:
        await page.ask("Connect", server_id="mine")
        await page.until(lambda: page.things["servers", "mine"]["error"])
        silent = {"command": PYTHON, "args": ["-c", SLOW]}
        await page.ask("ServerEdit", server_id="mine", raw=silent)
        begun = await page.ask("Connect", server_id="mine")
        assert (begun["state"], begun["error"]) == ("CONNECTING", None)
        done = await page.ask("Disconnect", server_id="mine")
        assert (done["state"], done["error"]) == ("DISCONNECTED", None)
        await page.ask("Connect", server_id="waiting")
        assert (await page.in_state("waiting", "ERROR"))["error"]
        done = await page.ask("Disconnect", server_id="waiting")
        assert (done["state"], done["error"]) == ("DISCONNECTED", None)


async def test_stderr_is_told_while_a_server_is_being_connected(tmp_path: Path) -> None:
    raw = {"command": PYTHON, "args": ["-c", SLOW], "protocolVersion": "2025-11-25"}
    write_config(tmp_path, slow=raw)
    async with site(tmp_path) as web, web.page() as page:

        def lines() -> list[str]:
            return list(page.things["servers", "slow"]["stderr_tail"])

        pid = (await page.ask("Connect", server_id="slow"))["channel"].get("pid")
        await page.until(lambda: lines() == ["downloading"])
        pid = pid or page.things["servers", "slow"]["channel"]["pid"]
        os.kill(pid, signal.SIGUSR1)
        await page.until(lambda: lines() == ["downloading", "half of it"])
        assert page.things["servers", "slow"]["state"] == "CONNECTING"
        await page.ask("Disconnect", server_id="slow")
