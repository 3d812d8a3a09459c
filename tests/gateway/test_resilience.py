"""The gateway under servers that fail and clients that wait: everybody else goes on."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import resource
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import pytest

import mcplens
from mcplens.config.views import GatewaySettings, View
from mcplens.errors import ConfigurationError, InspectorError
from mcplens.gateway.access import GatewayAccess
from mcplens.gateway.service import ensure_files
from mcplens.inbound.limits import Limits
from mcplens.inbound.refusal import Refusal
from mcplens.known_secrets import known_secrets
from tests.auth.protected import protected
from tests.gateway.harness import (
    NEW,
    OLD,
    PATIENCE_S,
    STDIO_DEMO,
    RunningGateway,
    http_demo,
    running_gateway,
    texts,
)
from tests.ports import held_port

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]

HANGING = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}


async def failure_of(work: Any) -> str:
    """The message of the error that a call ends with; empty if it ends with a result."""
    try:
        await work
    except InspectorError as error:
        return error.message
    return ""


# -- one of twenty servers ---------------------------------------------------------------------


async def until_listed(gateway: RunningGateway, *server_ids: str) -> None:
    connections = gateway.gateway.servers.connections
    while not all(connections[name].lists["tools"].items for name in server_ids):
        await gateway.gateway.servers.fetch_all_capabilities()


async def test_fourteen_servers_work_beside_six_that_do_not() -> None:
    """They hang, crash on each call, flood, want a sign-in, answer 30 MB, or do not exist."""
    async with asyncio.timeout(100), http_demo() as url, protected() as closed:
        servers: dict[str, Any] = {f"good-{number}": {"url": url} for number in range(14)}
        servers |= dict.fromkeys(("crashes", "floods", "large"), STDIO_DEMO)
        servers |= {"hangs": HANGING, "closed": {"url": closed.url}}
        servers["missing"] = {"command": "no-such-command-anywhere"}
        settings = GatewaySettings(startup_budget_s=15.0)
        async with (
            running_gateway(servers, settings=settings, default_view=View()) as gateway,
            gateway.connect(concurrency=50) as client,
        ):
            await until_listed(gateway, "crashes", "floods", "large", "good-13")
            async with asyncio.TaskGroup() as group:
                group.create_task(failure_of(client.call_tool("floods:broken-flood")))
                crash = group.create_task(failure_of(client.call_tool("crashes:broken-crash")))
                arguments = {"kilobytes": 30_000}
                large = group.create_task(client.call_tool("large:content-large", arguments))
                for number in range(14):
                    name = f"good-{number}:echo"
                    assert texts(await client.call_tool(name, {"text": name})) == name
            assert "crashes" in crash.result()
            assert len(large.result().raw) > 20_000_000
            again = await client.call_tool("crashes:echo", {"text": "back again"})
            assert texts(again) == "back again"


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_the_error_of_a_server_says_what_to_do(version: str) -> None:
    async with protected() as closed, asyncio.timeout(PATIENCE_S):
        servers = {
            "closed": {"url": closed.url},
            "missing": {"command": "no-such-command-anywhere"},
        }
        async with running_gateway(servers) as gateway:
            for name, advice in (
                ("closed", "mcplens auth login closed"),
                ("missing", "correct `command` of missing"),
            ):
                said = await failure_of(_used(gateway, f"/servers/{name}/mcp", version))
                assert advice in said


async def _used(gateway: RunningGateway, path: str, version: str) -> None:
    async with gateway.connect(path, protocol_version=version, max_retries=0) as client:
        await client.list_tools()


# -- servers that come and go ------------------------------------------------------------------


@asynccontextmanager
async def killed_demo(port: int) -> AsyncIterator[None]:
    """The demo server as a process, which is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcplens.demo", "--http", str(port), stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        await process.stderr.readline()  # its address
        yield
    finally:
        process.kill()
        await process.wait()


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_a_server_that_restarts_fails_the_call_in_flight_and_no_later_one(
    version: str,
) -> None:
    with held_port() as port:
        entry = {"url": f"http://127.0.0.1:{port}/mcp", "protocolVersion": version}
        async with asyncio.timeout(100), AsyncExitStack() as stack:
            progressed = asyncio.Event()
            async with killed_demo(port):
                gateway = await stack.enter_async_context(running_gateway({"demo": entry}))
                await until_listed(gateway, "demo")
                connecting = gateway.connect(protocol_version=version)
                client = await stack.enter_async_context(connecting)
                steps = {"steps": 1_000, "seconds": 0.2}
                work = client.call_tool(
                    "progress-steps", steps, on_progress=lambda _: progressed.set()
                )
                call = asyncio.ensure_future(failure_of(work))
                await progressed.wait()
            async with killed_demo(port):
                assert "demo" in await call
                assert texts(await client.call_tool("echo", {"text": "back"})) == "back"


# -- clients that wait ---------------------------------------------------------------------------


async def test_a_thousand_clients_wait_at_once_and_others_are_served() -> None:
    count = 1_000
    limits = Limits(max_requests=2 * count, max_sessions=2 * count)
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": "wait",
            "arguments": {"seconds": 3600},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": NEW,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": NEW,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "wait",
    }
    async with (
        asyncio.timeout(100),
        http_demo() as url,
        running_gateway({"demo": {"url": url}}, limits=limits) as gateway,
        gateway.connect() as client,
    ):
        core = gateway.gateway
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as http:

            async def wait() -> None:
                async with http.post(gateway.url(), json=body, headers=headers) as response:
                    await response.read()

            waiting = [asyncio.ensure_future(wait()) for _ in range(count)]
            while core.running_calls < count:
                await client.ping()
            for number in range(10):
                text = f"echo {number}"
                assert texts(await client.call_tool("echo", {"text": text})) == text
            for one in waiting:
                one.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        while core.running_calls:
            await client.ping()
        assert len(core.clients) <= 2  # ours


async def test_the_older_transport_is_served_if_it_is_switched_on() -> None:
    async with http_demo() as url, asyncio.timeout(PATIENCE_S):
        servers = {"demo": {"url": url}}
        async with running_gateway(servers, has_sse=True) as gateway:
            connecting = mcplens.connect(gateway.url("/sse"), transport="sse")
            async with connecting as client:
                assert texts(await client.call_tool("echo", {"text": "old"})) == "old"
        async with running_gateway(servers) as gateway:
            off = mcplens.connect(gateway.url("/sse"), transport="sse", max_retries=0).client
            assert "404" in await failure_of(off.connect())


# -- the process and its tokens ------------------------------------------------------------------


def test_too_few_open_files_are_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 4096))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    ensure_files(20)
    assert raised == [(4096, 4096)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: (100, 100))
    with pytest.raises(ConfigurationError, match=r"allows 100 open files.*ulimit -n"):
        ensure_files(20)


def test_a_token_of_the_command_line_is_masked_wherever_it_comes_back() -> None:
    GatewayAccess("of-the-command-line")
    assert "of-the-command-line" not in known_secrets.mask_text("echo of-the-command-line")


def test_every_token_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[bytes] = []
    real = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append(other)
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    access = GatewayAccess("main-token", view_tokens={"/mcp/few": "view-token"})
    for given in ("main-token", "view-token", "x", ""):
        headers = {"host": "127.0.0.1", "authorization": f"Bearer {given}"}
        compared.clear()
        with contextlib.suppress(Refusal):
            access.admit("/mcp/few", headers)
        assert compared == [b"main-token", b"view-token"]
