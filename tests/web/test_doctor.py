"""The checks of a failed server, as its card shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .harness import PYTHON, Page, Refusal, good, machine, site, write_config

FAILS = {
    "command": PYTHON,
    "args": ["-c", "import os, sys; sys.exit(f'bad key {os.environ[\"API_KEY\"]}')"],
    "env": {"API_KEY": "sk-very-secret-123456"},
}


async def examined(page: Page, server_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    diagnosis = await page.ask("Examine", server_id=server_id)
    assert diagnosis["server_id"] == server_id
    return diagnosis, diagnosis["checks"][-1]


async def test_a_page_is_told_why_a_server_fails_without_its_secrets(tmp_path: Path) -> None:
    unset = {"command": "node", "env": {"KEY": "${NO_SUCH_KEY}"}}
    write_config(tmp_path, fails=FAILS, works=good(), unset=unset)
    async with site(tmp_path) as web, web.page() as page:
        diagnosis, last = await examined(page, "fails")
        assert not diagnosis["is_healthy"]
        assert (last["name"], last["title"], last["state"]) == ("alive", "Keeps running", "failed")
        assert last["elapsed_s"] > 0
        (line,) = last["lines"]
        assert line.startswith("bad key ")
        assert "very-secret" not in json.dumps(diagnosis)
        assert diagnosis["command"].startswith(PYTHON)
        diagnosis, last = await examined(page, "unset")
        assert (last["name"], last["state"]) == ("placeholders", "failed")
        assert diagnosis["command"] == "export NO_SUCH_KEY=…"
        diagnosis, last = await examined(page, "works")
        assert diagnosis["is_healthy"]
        assert last["name"] == "exit"
        # It had a connection of its own.
        assert page.things["servers", "works"]["state"] == "DISCONNECTED"


async def test_a_server_that_must_be_confirmed_is_not_started_to_be_checked(tmp_path: Path) -> None:
    project = Path(machine(tmp_path).cwd)
    (project / "mcp.json").write_text(json.dumps({"mcpServers": {"cloned": good()}}))
    async with site(tmp_path) as web, web.page() as page:
        with pytest.raises(Refusal) as refused:
            await page.ask("Examine", server_id="cloned")
        assert refused.value.error["details"]["needs_confirmation"]
