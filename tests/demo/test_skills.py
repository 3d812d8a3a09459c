"""The demo's skills: one is right, and the other is broken in three ways that are explained."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

import mcplens
from mcplens.protocol.skills import compare_directory, compare_entries
from tests.node_tools import inspector_argv

DEMO = [sys.executable, "-m", "mcplens.demo"]


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_one_skill_is_right_and_one_is_broken_in_three_ways(version: str) -> None:
    async with mcplens.connect(DEMO, protocol_version=version) as client:
        right, broken = await client.list_skills()
        for file in right.files:
            assert (await client.read_skill_file(right, file.uri)).is_verified
        causes = {}
        for file in broken.files:
            problem = (await client.check_skill_file(broken, file.uri)).problem
            causes[broken.path_of(file.uri)] = problem and (problem.check, problem.cause)
        assert causes == {
            "SKILL.md": ("frontmatter", "yaml-1.1"),
            "references/TEMPLATE.md": ("size", "line-ends"),
            "references/GLOSSARY.md": ("size", "truncated"),
        }
        assert broken.requests() == ('allowed-tools: "Bash Read"',)


async def test_its_folders_and_its_entries_can_be_compared() -> None:
    async with mcplens.connect(DEMO) as client:
        right, broken = await client.list_skills()
        assert compare_entries(right, await client.get_skill(right.uri)) == ()
        folder = await client.read_directory(right.directory, recursive=True)
        assert compare_directory(right, folder.entries) == ()
        folder = await client.read_directory(broken.directory, recursive=True)
        (unlisted,) = compare_directory(broken, folder.entries)
        assert unlisted.text == "drafts.txt is in the folder and not in the manifest"
        with pytest.raises(mcplens.ServerError) as missing:
            await client.get_skill("skill://mcplens-demo/none/SKILL.md")
        assert missing.value.rpc_code == -32602


async def inspected(folder: Path, *options: str) -> tuple[int | None, str]:
    """What the official Inspector says of the demo, and its exit code."""
    words = inspector_argv("--cli", *DEMO, "--protocol-era", "modern", *options)
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(90):
        out, problem = await process.communicate()
    return process.returncode, out.decode() or problem.decode()


@pytest.mark.slow
async def test_the_official_inspector_finds_the_same(tmp_path: Path) -> None:
    verify = inspected(tmp_path, "--method", "skills/list", "--verify")
    folder = "skill://mcplens-demo/release-notes"
    listing = inspected(tmp_path, "--method", "resources/directory/read", "--uri", folder)
    (code, verdicts), (listed, children) = await asyncio.gather(verify, listing)
    right, broken = map(json.loads, verdicts.splitlines())
    assert (right["name"], right["ok"], right["frontmatter"]) == ("release-notes", True, [])
    assert {file["status"] for file in right["files"]} == {"verified"}
    assert (broken["name"], broken["ok"], code) == ("meeting-minutes", False, 7)
    assert "beta" in broken["frontmatter"][0]["message"]
    assert [file["status"] == "verified" for file in broken["files"]] == [True, False, False]
    assert (listed, len(json.loads(children)["resources"])) == (0, 4)
