"""The official conformance suite in server mode, against the demo with the suite's fixtures.

A scenario passes with at least one SUCCESS and no FAILURE in its checks.json; the suite's own ticks
are not trusted.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.node_tools import conformance_argv
from tests.servers.run import ROOT, START_TIMEOUT_S

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]

# How many scenarios the suite has for a revision; a new one must not go unnoticed.
SCENARIOS = {"2025-11-25": 33, "2026-07-28": 40}
TASKS = (
    "tasks-lifecycle", "tasks-capability-negotiation", "tasks-wire-fields",
    "tasks-request-state-removal", "tasks-mrtr-input", "tasks-request-headers",
    "tasks-dispatch-and-envelope", "tasks-required-task-error", "tasks-mrtr-composition",
)  # fmt: skip
SKILLS = ("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory")
SUITE_TIMEOUT_S = 100


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def url() -> AsyncIterator[str]:
    async with serve_fixtures() as address:
        yield address


@asynccontextmanager
async def serve_fixtures() -> AsyncIterator[str]:
    """The demo with the suite's fixtures, as a process; its URL."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.demo.conformance_server",
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_TIMEOUT_S):
            line = await process.stdout.readline()
        yield line.decode().strip()
    finally:
        process.kill()
        await process.communicate()


async def judge(url: str, folder: Path, *arguments: str) -> dict[str, Counter[str]]:
    """Run the suite; what it found, by scenario."""
    process = await asyncio.create_subprocess_exec(
        *conformance_argv("server", "--url", url, *arguments, "-o", str(folder)),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(SUITE_TIMEOUT_S):
            await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return read_checks(folder)


def read_checks(folder: Path) -> dict[str, Counter[str]]:
    return {
        path.parent.name: Counter(check["status"] for check in json.loads(path.read_text()))
        for path in folder.rglob("checks.json")
    }


def failures(found: dict[str, Counter[str]]) -> dict[str, Counter[str]]:
    return {
        name: counts for name, counts in found.items() if counts["FAILURE"] or not counts["SUCCESS"]
    }


@pytest.mark.parametrize("version", SCENARIOS)
async def test_every_scenario_of_a_revision_passes(url: str, version: str, tmp_path: Path) -> None:
    found = await judge(url, tmp_path, "--suite", "all", "--spec-version", version)
    assert failures(found) == {}
    assert len(found) == SCENARIOS[version]


@pytest.mark.parametrize(("extension", "names"), [("tasks", TASKS), ("skills", SKILLS)])
async def test_every_scenario_of_an_extension_passes(
    url: str, extension: str, names: tuple[str, ...], tmp_path: Path
) -> None:
    async def one(name: str) -> dict[str, Counter[str]]:
        options = ("--scenario", name, "--spec-version", "2026-07-28", "--force")
        return await judge(url, tmp_path / name, *options)

    results = await asyncio.gather(*(one(name) for name in names))
    assert [failures(found) for found in results] == [{}] * len(names)
    assert [len(found) for found in results] == [1] * len(names)
    if extension == "skills":
        statuses = Counter[str]()
        for found in results:
            statuses += sum(found.values(), Counter())
        assert statuses.keys() == {"SUCCESS"}  # nothing skipped, and no warning
