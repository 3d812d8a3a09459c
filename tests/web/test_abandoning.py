"""A command that waits for a silent server is called off, and the server hears of it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.servers.run import ROOT

from .harness import Refusal, site, write_config

SILENT = ROOT / "tests" / "e2e" / "silent_server.py"


async def test_a_command_is_abandoned_once(tmp_path: Path) -> None:
    write_config(tmp_path, silent={"command": sys.executable, "args": [str(SILENT)]})
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("silent")
        asked = asyncio.ensure_future(page.ask("Ping", server_id="silent"))
        await page.until(lambda: any(event["method"] == "ping" for event in page.events))
        pinged = page.last_id
        assert await page.ask("Abandon", command_id=pinged) is None
        with pytest.raises(Refusal, match="cancelled by the user") as refused:
            await asked
        assert refused.value.error["code"] == "CANCELLED"
        # It is over: there is nothing left to abandon, and nothing wrong about it.
        assert await page.ask("Abandon", command_id=pinged) is None
        await page.until(lambda: any("cancelled ping" in event["head"] for event in page.events))
