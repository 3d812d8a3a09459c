"""Calls that are kept as examples, over the page's socket and over a restart."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from mcplens.errors import InspectorError
from mcplens.workspace.examples import LARGEST_RESULT, Example, Examples

from .harness import Refusal, machine, site

TOOL = {"server_id": "demo", "tool": "add"}


async def test_an_example_outlives_the_run_and_is_deleted(tmp_path: Path) -> None:
    async with site(tmp_path) as web, web.page() as page:
        await page.connected("demo")
        call = await page.call("CallTool", server_id="demo", name="add", arguments={"a": 2, "b": 3})
        (saved,) = await page.ask("SaveExample", call_id=call["call_id"], name=" five ")
        assert (saved["name"], json.loads(saved["arguments"])) == ("five", {"a": 2, "b": 3})
        assert saved["result"]["content"][0]["text"] == "5"
        with pytest.raises(Refusal):
            await page.ask("SaveExample", call_id=call["call_id"], name=" ")
        ping = await page.call("Request", server_id="demo", method="ping")
        with pytest.raises(Refusal):
            await page.ask("SaveExample", call_id=ping["call_id"], name="no tool")
    async with site(tmp_path) as web, web.page() as page:
        (kept,) = await page.ask("ListExamples", **TOOL)
        assert kept == saved
        assert await page.ask("ListExamples", server_id="demo", tool="echo") == []
        assert await page.ask("DeleteExample", **TOOL, name="five") == []


def test_no_secret_and_no_large_result_is_kept(tmp_path: Path) -> None:
    here = machine(tmp_path)
    examples = Examples(here)
    given = {"maxTokens": 9, "api_key": "s3cret", "more": [{"password": "s3cret", "n": 1}]}
    example = Example(server_id="s", tool="t", name="one", saved=1.0, arguments=given, result="ok")
    examples.save(example)
    (kept,) = examples.of_tool("s", "t")
    assert kept.arguments == {"maxTokens": 9, "more": [{"n": 1}]}
    assert kept.result == "ok"
    (path,) = tmp_path.rglob("examples.json")
    assert "s3cret" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    large = Example(
        server_id="s", tool="t", name="one", saved=2.0, arguments={}, result="x" * LARGEST_RESULT
    )
    examples.save(large)
    (kept,) = examples.of_tool("s", "t")
    assert (kept.saved, kept.result) == (2.0, None)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    example = Example(server_id="s", tool="t", name="half", saved=1.0, arguments={"a": "\ud800"})
    with pytest.raises(InspectorError, match="half a character"):
        Examples(machine(tmp_path)).save(example)
