"""Clients that we did not write, through the gateway in front of ten servers that work.

Seven of them are npm and PyPI packages, two are written with SDKs, and three more are broken. The
Python SDK's and fastmcp's clients and the inspector in both eras, mcporter and mcp-remote.
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
from mcplens.session.capabilities import TASKS_EXTENSION
from mcplens.session.question_handler import ServerRequest
from tests.cli.shell import Shell
from tests.gateway.harness import NEW, OLD, RunningGateway, http_demo, names, running_gateway
from tests.interaction.targets import serve_everything
from tests.node_tools import everything_argv, filesystem_argv, memory_argv
from tests.servers.run import ROOT, argv
from tests.tap.test_real_clients import HTTP, TIMEOUT_S, Client, Place, environment_of, named

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]

BIN = Path(sys.executable).parent
WORKING = {
    "demo", "everything", "streamable", "legacy", "files", "memory", "time", "git", "sdk",
    "fastmcp",
}  # fmt: skip


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def stdio(argv: list[str]) -> dict[str, Any]:
    return {"command": argv[0], "args": argv[1:]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gateway(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RunningGateway]:
    async with (
        http_demo() as url,
        serve_everything("streamableHttp") as streamable,
        serve_everything("sse") as legacy,
    ):
        servers: dict[str, dict[str, Any]] = {
            "demo": {"url": url},
            "everything": stdio(everything_argv()),
            "streamable": {"url": streamable},
            "legacy": {"url": legacy, "transport": "sse"},
            "files": stdio(filesystem_argv(tmp_path_factory.mktemp("files"))),
            "sdk": {**stdio(argv("sdk_mcp")), "cwd": str(ROOT)},
            "fastmcp": {**stdio(argv("sdk_fastmcp")), "cwd": str(ROOT)},
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
    async with asyncio.timeout(TIMEOUT_S), gateway.connect() as client:
        while not {name.partition("__")[0] for name in await names(client)} >= WORKING:
            await client.ping()


@pytest.mark.parametrize(("client", "era"), HTTP, ids=named(HTTP))
async def test_a_foreign_client_calls_a_tool(
    gateway: RunningGateway, shell: Shell, client: Client, era: str
) -> None:
    text = "Grüße, 世界 \U0001f600"
    place = Place([], gateway.url(), environment_of(shell), shell.home)
    async with asyncio.timeout(TIMEOUT_S):
        assert text in await client(place, era, text)


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_task_of_a_real_server_asks_clients_of_both_revisions(
    gateway: RunningGateway, version: str
) -> None:
    """server-everything has tasks of 2025-11-25: for the other revision they are translated."""
    asked: list[Any] = []

    def answer(request: ServerRequest) -> Any:
        asked.append(request.params)
        (field,) = request.params["requestedSchema"]["properties"].values()
        chosen = field["oneOf"][0]["const"]
        return {"action": "accept", "content": {"interpretation": chosen}}

    options: dict[str, Any] = {"protocol_version": version, "elicitation": answer}
    if version == NEW:
        options["capabilities"] = {"extensions": {TASKS_EXTENSION: {}}}
    task: dict[str, Any] = {} if version == NEW else {"task": True}
    async with asyncio.timeout(TIMEOUT_S), gateway.connect(**options) as client:
        arguments = {"topic": "python", "ambiguous": True}
        name = "everything:simulate-research-query"
        given = await client.call_tool(name, arguments, **task)
        assert "Research Report" in (given.content[0].text or "")
        assert len(asked) == 1
