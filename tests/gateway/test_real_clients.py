"""Clients that we did not write, through the gateway in front of ten servers.

The Python SDK's and fastmcp's clients and the inspector in both eras, mcporter and mcp-remote.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mcplens.config.views import View
from tests.cli.shell import Shell
from tests.gateway.harness import STDIO_DEMO, RunningGateway, http_demo, names, running_gateway
from tests.node_tools import everything_argv, memory_argv
from tests.tap.test_real_clients import HTTP, TIMEOUT_S, Client, Place, environment_of, named

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

BIN = Path(sys.executable).parent


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def stdio(argv: list[str]) -> dict[str, Any]:
    return {"command": argv[0], "args": argv[1:]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway() -> AsyncIterator[RunningGateway]:
    async with http_demo() as url:
        servers: dict[str, dict[str, Any]] = {
            "demo": {"url": url},
            "old": {"url": url, "protocolVersion": "2025-11-25"},
            "pipes": STDIO_DEMO,
            "everything": stdio(everything_argv()),
            "memory": stdio(memory_argv()),
            "time": stdio([str(BIN / "mcp-server-time")]),
            "git": stdio([str(BIN / "mcp-server-git")]),
            "away": {"url": "http://127.0.0.1:9/mcp"},
            "missing": {"command": "no-such-command-anywhere"},
            "hangs": {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]},
        }
        view = View(rename={"demo:echo": "echo"})
        async with running_gateway(servers, default_view=view) as running:
            await running.gateway.settled()
            yield running


async def test_the_tools_of_all_servers_that_work_are_listed(gateway: RunningGateway) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            async with gateway.connect() as client:
                servers = {name.partition("__")[0] for name in await names(client)}
                if {"old", "pipes", "everything", "memory", "time", "git"} <= servers:
                    return
            await gateway.gateway.servers.settled(TIMEOUT_S)
            await gateway.gateway.servers.fetch_all_capabilities()


@pytest.mark.parametrize(("client", "era"), HTTP, ids=named(HTTP))
async def test_a_foreign_client_calls_a_tool(
    gateway: RunningGateway, shell: Shell, client: Client, era: str
) -> None:
    text = "Grüße, 世界 \U0001f600"
    place = Place([], gateway.url(), environment_of(shell), shell.home)
    async with asyncio.timeout(TIMEOUT_S):
        assert text in await client(place, era, text)
