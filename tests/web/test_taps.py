"""The tap in another tool's file, put in and taken out from the page."""

import json
from pathlib import Path

import pytest

from .harness import Refusal, machine, site


async def test_an_entry_of_another_tool_gets_the_tap_and_loses_it(tmp_path: Path) -> None:
    here = machine(tmp_path)
    cursor = Path(here.home) / ".cursor" / "mcp.json"
    cursor.parent.mkdir(parents=True)
    servers = {
        "files": {"command": "npx", "args": ["server", "--token", "hunter2"]},
        "far": {"url": "https://far.example/mcp"},
    }
    before = json.dumps({"mcpServers": servers}, indent=1)
    cursor.write_text(before)
    async with site(tmp_path) as web, web.page() as page:
        found = {one["name"]: one for one in await page.ask("FoundServers")}
        assert (found["files"]["tap"], found["far"]["tap"]) == ("offered", "by_url")
        asked = {**found["files"]["source"], "name": "files", "is_install": True}
        shown = await page.ask("ChangeTap", **asked)
        assert (shown["client"], shown["keys"]) == ("Cursor", ["mcpServers", "files"])
        assert shown["command"][:2] == ["npx", "server"]
        assert "hunter2" not in json.dumps(shown)
        assert cursor.read_text() == before
        written = await page.ask("ChangeTap", **asked, is_written=True)
        assert written["backup"] == f"{cursor}.mcplens.bak"
        found = {one["name"]: one for one in await page.ask("FoundServers")}
        assert found["files"]["tap"] == "installed"
        await page.ask("ChangeTap", **{**asked, "is_install": False, "is_written": True})
        assert cursor.read_text() == before
        with pytest.raises(Refusal, match=r"run `mcplens tap https://far\.example/mcp`"):
            await page.ask("ChangeTap", **{**asked, "name": "far"})
        with pytest.raises(Refusal, match="has no server"):
            await page.ask("ChangeTap", **{**asked, "path": str(tmp_path / "mine.json")})
