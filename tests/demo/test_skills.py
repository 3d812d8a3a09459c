"""The demo's skills: one is right, and the other is broken in three ways that are explained."""

from __future__ import annotations

import sys

import pytest

import mcplens
from mcplens.protocol.skills import compare_directory, compare_entries

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
