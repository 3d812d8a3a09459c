"""Clients that we did not write, through the tap: they notice nothing, and every byte is the same.

A recorder of bytes stands on either side of the tap. What one saw, the other saw.
"""

import asyncio
import contextlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import fastmcp
import mcp
import pytest
from fastmcp.client.transports import StdioTransport
from mcp.client.stdio import StdioServerParameters

from mcplens.events import ClientIntroduced, Event, FrameReceived, FrameSent
from mcplens.store.history import History
from mcplens.store.row_decoding import decode_row
from tests.cli.shell import MCPLENS, Shell
from tests.node_tools import inspector_argv, mcp_remote_argv, mcporter_argv
from tests.servers.run import ROOT, serve
from tests.tap.tcp_recorder import TcpRecorder, recorded_tcp
from tests.tap.test_http import port_of

pytestmark = pytest.mark.slow

DEMO = [sys.executable, "-m", "mcplens.demo"]
# Starting a client of Node's takes seconds on a busy machine; this only bounds one that hangs.
TIMEOUT_S = 90.0


@dataclass(frozen=True)
class Place:
    """Where a client finds its server: by a command, or at a URL."""

    command: list[str]
    url: str
    environment: dict[str, str]
    folder: Path


class Client(Protocol):
    """Calls the tool `echo` with a text, and gives what came back."""

    async def __call__(self, place: Place, era: str, text: str) -> str: ...


async def sdk(place: Place, era: str, text: str) -> str:
    mode = "legacy" if era == "2025-11-25" else "auto"
    program, *args = place.command or [""]
    server = StdioServerParameters(
        command=program, args=args, env=place.environment, cwd=str(place.folder)
    )
    async with mcp.Client(place.url or server, mode=mode) as client:
        await client.list_tools()
        result = await client.call_tool("echo", {"text": text})
    return str(result.content[0].text)  # type: ignore[union-attr]


async def fast(place: Place, era: str, text: str) -> str:
    mode = "legacy" if era == "2025-11-25" else "auto"
    program, *args = place.command or [""]
    folder = str(place.folder)
    start = StdioTransport(program, args, env=place.environment, cwd=folder, keep_alive=False)
    async with fastmcp.Client(place.url or start, mode=mode) as client:
        result = await client.call_tool("echo", {"text": text})
    return str(result.content[0].text)


async def inspector(place: Place, era: str, text: str) -> str:
    mode = "legacy" if era == "2025-11-25" else "modern"
    words = ["--cli", "--protocol-era", mode, "--method", "tools/call", "--tool-name", "echo"]
    words += ["--tool-arg", f"text={text}"]
    target = ["--server-url", place.url, "--transport", "http"] if place.url else []
    target += ["--", *place.command] if place.command else []
    said = await run(inspector_argv(*words, *target), place)
    return str(json.loads(said)["content"][0]["text"])


async def mcporter(place: Place, era: str, text: str) -> str:
    program, *args = place.command or [""]
    entry = {"url": place.url} if place.url else {"command": program, "args": args}
    config = place.folder / "mcporter.json"
    config.write_text(json.dumps({"mcpServers": {"it": entry}}))
    said = await run(
        mcporter_argv("--config", str(config), "call", "it.echo", f"text={text}"), place
    )
    return said.strip()


async def mcp_remote(place: Place, era: str, text: str) -> str:
    """A bridge that is a server on stdio and a client over HTTP; the SDK drives it."""
    command = mcp_remote_argv(place.url, "--allow-http", "--transport", "http-only")
    bridge = Place(command, "", place.environment, place.folder)
    return await sdk(bridge, era, text)


async def run(argv: list[str], place: Place) -> str:
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=place.environment,
        cwd=place.folder,
    )
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


# The SDK that mcporter and mcp-remote are built on knows the older revisions only.
BOTH: list[tuple[Client, str]] = [
    (client, era) for client in (sdk, fast, inspector) for era in ("2025-11-25", "2026-07-28")
]
STDIO = [*BOTH, (mcporter, "2025-11-25")]
HTTP = [*STDIO, (mcp_remote, "2025-11-25")]


def named(cases: list[tuple[Client, str]]) -> list[str]:
    return [f"{client.__name__}-{era}" for client, era in cases]  # type: ignore[attr-defined]


def environment_of(shell: Shell) -> dict[str, str]:
    own = {"MCP_CATALOG_PATH": str(shell.home / "inspector.json"), "MCP_REMOTE_CONFIG_DIR": ""}
    own["MCP_REMOTE_CONFIG_DIR"] = str(shell.home / "mcp-remote")
    return {**shell.environment, **own, "CI": "1"}


def recorder(name: Path, command: list[str]) -> list[str]:
    # By its path: a client may start it in any folder.
    script = ROOT / "tests" / "tap" / "byte_recorder.py"
    return [sys.executable, str(script), str(name), *command]


def assert_recorded(shell: Shell, era: str) -> None:
    """The tap has seen the call with its answer, and knows the client's name and revision."""
    with History(shell.state / "recording.sqlite3") as history:
        events: list[Event] = [decode_row(run_id, row).event for run_id, row in history.scan()]
    sent = {event.seq: event for event in events if isinstance(event, FrameSent)}
    replies = [
        event
        for event in events
        if isinstance(event, FrameReceived) and event.method == "tools/call"
    ]
    assert replies
    assert all(sent[one.request_seq or 0].method == "tools/call" for one in replies)
    introduced = [event for event in events if isinstance(event, ClientIntroduced)]
    assert introduced
    assert all(one.client_info.get("name") for one in introduced)
    assert introduced[-1].protocol_version == era


@pytest.mark.parametrize(("client", "era"), STDIO, ids=named(STDIO))
async def test_over_stdio_every_byte_is_the_same(shell: Shell, client: Client, era: str) -> None:
    text = "Grüße, 世界 \U0001f600"
    environment = environment_of(shell)
    async with asyncio.timeout(TIMEOUT_S):
        direct = Place(DEMO, "", environment, shell.home)
        inner = [MCPLENS, "tap", "--", *recorder(shell.home / "inner", DEMO)]
        # Some clients give the server an environment of their own.
        with_environment = ["env", *(f"{key}={value}" for key, value in environment.items())]
        command = recorder(shell.home / "outer", [*with_environment, *inner])
        tapped = Place(command, "", environment, shell.home)
        alone, through = await asyncio.gather(client(direct, era, text), client(tapped, era, text))
    assert text in alone
    assert through == alone
    for stream in ("in", "out"):
        outer, inner_bytes = (
            (shell.home / f"{side}.{stream}").read_bytes() for side in ("outer", "inner")
        )
        assert b"tools/call" in outer or stream == "out"
        assert len(outer) > 200
        assert outer == inner_bytes
    assert_recorded(shell, era)


@dataclass
class Tapped:
    """The tap's process between two recorders."""

    url: str
    outer: TcpRecorder
    inner: TcpRecorder


@contextlib.asynccontextmanager
async def tapped_url(shell: Shell, url: str) -> AsyncIterator[Tapped]:
    async with recorded_tcp(port_of(url)) as inner:
        process = await asyncio.create_subprocess_exec(
            *(MCPLENS, "tap", f"http://127.0.0.1:{inner.port}/mcp"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=shell.environment,
            cwd=shell.home,
        )
        try:
            assert process.stdout is not None
            address = (await process.stdout.readline()).decode().strip()
            async with recorded_tcp(port_of(address)) as outer:
                yield Tapped(f"http://127.0.0.1:{outer.port}/mcp", outer, inner)
        finally:
            process.terminate()
            await process.wait()


@pytest.mark.parametrize(("client", "era"), HTTP, ids=named(HTTP))
async def test_over_http_every_byte_is_the_same(shell: Shell, client: Client, era: str) -> None:
    text = "Grüße, 世界 \U0001f600"
    environment = environment_of(shell)
    async with (
        asyncio.timeout(TIMEOUT_S),
        serve("good", "--transport", "http", "--era", "both") as server,
    ):
        async with tapped_url(shell, server.url) as tap:
            direct = Place([], server.url, environment, shell.home)
            alone = await client(direct, era, text)
            through = await client(Place([], tap.url, environment, shell.home), era, text)
        outer, inner = tap.outer.exchanges(), tap.inner.exchanges()
    assert text in alone
    assert through == alone
    assert any(b"tools/call" in body for _, body, *_ in outer)  # type: ignore[operator]
    # Not `==`, whose message would be longer than one can read.
    assert (outer - inner, inner - outer) == (Counter(), Counter())
    assert_recorded(shell, era)
