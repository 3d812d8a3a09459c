"""The official conformance suite in server mode, through the gateway.

In front of the SDK's everything-server, which `make test` fetches. Both kinds of endpoints: one
server untouched, and a view with this one server and its names unprefixed.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.demo.test_conformance import SCENARIOS, TASKS, failures, judge, serve_fixtures
from tests.gateway.harness import RunningGateway, running_gateway
from tests.ports import held_port
from tests.servers.run import ROOT, START_TIMEOUT_S

pytestmark = [
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="module"),
    # Two suites of up to 30 s each, on a machine that is busy with other tests.
    pytest.mark.timeout(300),
]

FOLDER = ROOT / ".venv" / "sdk-examples" / "examples" / "servers" / "everything-server"
PATHS = ("/mcp", "/servers/one/mcp")
# What a server that is pinned to the other era cannot be asked for. Its tools ask questions either
# in sessions (2025-11-25) or by input_required (2026-07-28), and refuse to in the other era.
NOT_CARRIED = {
    ("2025-11-25", "2026-07-28"): {
        "tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults",
        "elicitation-sep1330-enums",
    },
    ("2026-07-28", "2025-11-25"): {
        "input-required-result-basic-elicitation", "input-required-result-basic-list-roots",
        "input-required-result-basic-sampling", "input-required-result-capability-check",
        "input-required-result-multi-round", "input-required-result-multiple-input-requests",
        "input-required-result-non-tool-request", "input-required-result-request-state",
        "input-required-result-result-type", "input-required-result-tampered-state",
        # -32021: the gateway declares more to the server than this client can answer.
        "server-stateless",
    },
}  # fmt: skip


@asynccontextmanager
async def everything_server() -> AsyncIterator[str]:
    """The SDK's everything-server; its URL."""
    assert FOLDER.exists(), f"{FOLDER} is missing: `make test` fetches it"
    with held_port() as port:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "mcp_everything_server", "--port", str(port),
            cwd=FOLDER, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            assert process.stderr is not None
            async with asyncio.timeout(START_TIMEOUT_S):
                while b"running on" not in await process.stderr.readline():
                    pass
            draining = asyncio.get_running_loop().create_task(process.stderr.read())
            yield f"http://127.0.0.1:{port}/mcp"
            draining.cancel()
        finally:
            process.kill()
            await process.wait()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend() -> AsyncIterator[str]:
    async with everything_server() as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(backend: str) -> AsyncIterator[RunningGateway]:
    async with running_gateway({"one": {"url": backend}}) as running:
        yield running


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("version", SCENARIOS)
async def test_every_scenario_passes_through_the_gateway(
    gateway: RunningGateway, version: str, path: str, tmp_path: Path
) -> None:
    found = await judge(gateway.url(path), tmp_path, "--suite", "all", "--spec-version", version)
    assert failures(found) == {}
    assert len(found) == SCENARIOS[version]


@pytest.mark.parametrize("pair", NOT_CARRIED, ids=lambda pair: f"{pair[0]} to {pair[1]}")
async def test_a_server_of_the_other_era_passes_all_but_what_it_does_not_ask(
    backend: str, pair: tuple[str, str], tmp_path: Path
) -> None:
    client, server = pair
    async with running_gateway({"one": {"url": backend, "protocolVersion": server}}) as running:
        found = await judge(
            running.url("/mcp"), tmp_path, "--suite", "all", "--spec-version", client
        )
    assert len(found) == SCENARIOS[client]
    assert {_bare(name) for name in failures(found)} == NOT_CARRIED[pair]


# In front of a server of the same revision the gateway has less to do.
@pytest.mark.parametrize(
    "server", ["2025-11-25", pytest.param("2026-07-28", marks=pytest.mark.soak)]
)
async def test_the_scenarios_of_tasks_pass_in_front_of_servers_of_both_revisions(
    server: str, tmp_path: Path
) -> None:
    """Those of the extension; a 2025-11-25 server asks its questions one after the other."""

    async def one(running: RunningGateway, name: str) -> dict[str, Counter[str]]:
        options = ("--scenario", name, "--spec-version", "2026-07-28", "--force")
        return await judge(running.url("/mcp"), tmp_path / name, *options)

    async with (
        serve_fixtures() as url,
        running_gateway({"one": {"url": url, "protocolVersion": server}}) as running,
    ):
        await running.gateway.servers.fetch_all_capabilities()
        found = {name: failures(await one(running, name)) for name in TASKS}
    not_carried = {"tasks-mrtr-input"} if server == "2025-11-25" else set()
    assert {name for name, failed in found.items() if failed} == not_carried


def _bare(name: str) -> str:
    """The name of a scenario, without `server-` before it and the time after it."""
    return name.removeprefix("server-").split("-20")[0]
