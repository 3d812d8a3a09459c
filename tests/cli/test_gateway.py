"""`mcplens gateway`: started as a process, used by a client, stopped."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import stat
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import mcplens
from mcplens.cli import exit_codes
from mcplens.errors import InspectorError
from tests.auth.protected import protected
from tests.cli.shell import Shell
from tests.cli.terminal import terminal
from tests.ports import held_port

pytestmark = pytest.mark.slow

START_S = 60
DEMO = {"command": sys.executable, "args": ["-m", "mcplens.demo"]}
TOKEN = "a-token-of-our-own-1234"


def configure(shell: Shell, **top: object) -> None:
    shell.config.parent.mkdir(parents=True, exist_ok=True)
    shell.config.write_text(json.dumps({"mcpServers": {"demo": DEMO}, **top}))


class Started:
    """A gateway process."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self.process = process
        self.url = url

    async def stop(self) -> str:
        """Stop it as a service manager does; what it wrote to stderr."""
        self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(START_S):
            _, err = await self.process.communicate()
        return err.decode()


@asynccontextmanager
async def started(shell: Shell, *arguments: str) -> AsyncIterator[Started]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcplens", "gateway", *arguments,
        env=shell.environment, cwd=shell.home,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(START_S):
            line = await process.stdout.readline()
        yield Started(process, line.decode().strip())
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_client_calls_a_tool_with_the_kept_token_which_survives_a_restart(
    shell: Shell,
) -> None:
    configure(shell)
    tokens = []
    for _ in range(2):
        async with started(shell) as gateway:
            path = next(shell.home.rglob("gateway-token"))
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            tokens.append(path.read_text())
            async with mcplens.connect(gateway.url, headers=bearer(tokens[-1])) as client:
                result = await client.call_tool("demo__echo", {"text": "hi"})
                assert result.content[0].text == "hi"
            err = await gateway.stop()
            assert gateway.process.returncode == exit_codes.DONE
            assert tokens[-1] not in err
            lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
            calls = [line for line in lines if line.get("method") == "tools/call"]
            assert [(call["server"], call["outcome"]) for call in calls] == [("demo", "ok")]
    assert tokens[0] == tokens[1]


async def test_without_the_token_nothing_is_served_and_a_views_token_opens_that_view_alone(
    shell: Shell,
) -> None:
    view = {"allow": {"tools": ["demo:echo"]}, "separator": "none", "token": "the-views-own-token"}
    configure(shell, views={"few": view})
    async with started(shell, "--token", TOKEN) as gateway:
        for path, token in (
            ("", "wrong"),
            ("", "the-views-own-token"),
            ("/few", "wrong"),
        ):
            with pytest.raises(InspectorError):
                async with mcplens.connect(gateway.url + path, headers=bearer(token)):
                    pass
        server = gateway.url.replace("/mcp", "/servers/demo/mcp")
        with pytest.raises(InspectorError):
            async with mcplens.connect(server, headers=bearer("the-views-own-token")):
                pass
        few = gateway.url + "/few"
        async with mcplens.connect(few, headers=bearer("the-views-own-token")) as client:
            assert [tool.name for tool in await client.list_tools()] == ["echo"]
            with pytest.raises(InspectorError, match="Unknown tool"):
                await client.call_tool("demo:add", {"a": 1, "b": 2})
        async with mcplens.connect(server, headers=bearer(TOKEN)) as client:
            assert "add" in [tool.name for tool in await client.list_tools()]


async def test_a_program_can_start_it_and_speak_over_pipes(shell: Shell) -> None:
    configure(shell)
    argv = [sys.executable, "-m", "mcplens", "gateway", "--stdio"]
    for version in ("2025-11-25", "2026-07-28"):
        async with mcplens.connect(argv, env=shell.environment, protocol_version=version) as client:
            result = await client.call_tool("demo__echo", {"text": "hi"})
            assert result.content[0].text == "hi"


async def test_answers_are_written_after_the_program_has_closed_the_pipe(shell: Shell) -> None:
    configure(shell)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "mcplens", "gateway", "--stdio", "--no-web", "--no-record",
        env=shell.environment, stdin=PIPE, stdout=PIPE, stderr=PIPE,
    )  # fmt: skip
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x"}}
    slow = {"name": "demo__progress-steps", "arguments": {"steps": 2, "seconds": 1.5}}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": slow},
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages[:1]))
    async with asyncio.timeout(START_S):
        assert json.loads(await process.stdout.readline())["id"] == 1
        rest = b"".join(json.dumps(one).encode() + b"\n" for one in messages[1:])
        out, _ = await process.communicate(rest)
    answers = [json.loads(line) for line in out.splitlines()]
    (answer,) = [one for one in answers if one.get("id") == 2]
    assert not answer["result"].get("isError")
    assert process.returncode == exit_codes.DONE


async def test_the_command_line_accepts_the_names_that_the_gateway_accepts(shell: Shell) -> None:
    configure(shell)
    async with started(shell, "--no-auth") as gateway:

        def run(*words: str) -> Any:
            return asyncio.to_thread(shell.run, *words)

        called = await run("call", gateway.url, "demo:echo", "text=hi")
        assert (called.code, called.text.strip()) == (exit_codes.DONE, "hi")
        shown = await run("tools", gateway.url, "demo:echo")
        assert "demo__echo" in shown.text
        unknown = await run("call", gateway.url, "demo__ecko", "text=hi", "--force")
        assert "Did you mean demo__echo" in unknown.err
        nowhere = await run("tools", gateway.url.replace("/mcp", "/servers/demos/mcp"))
        assert "try /mcp, /servers/demo/mcp" in nowhere.err


async def test_a_call_that_is_under_way_is_finished_before_it_stops(shell: Shell) -> None:
    configure(shell)
    async with started(shell, "--no-auth") as gateway:
        progressed = asyncio.Event()
        async with mcplens.connect(gateway.url) as client, asyncio.TaskGroup() as group:
            call = group.create_task(
                client.call_tool(
                    "demo__progress-steps",
                    {"steps": 2, "seconds": 2},
                    on_progress=lambda _: progressed.set(),
                )
            )
            await progressed.wait()
            gateway.process.send_signal(signal.SIGTERM)
            assert not (await call).is_error


def test_mistakes_are_one_clear_sentence(shell: Shell) -> None:
    nothing = shell.run("gateway")
    assert nothing.code == exit_codes.USAGE
    assert "mcplens servers add" in nothing.err
    configure(shell)
    assert "there is no view 'nope'" in shell.run("gateway", "--view", "nope").err
    assert "'here' is not HOST:PORT" in shell.run("gateway", "--listen", "here").err
    refused = shell.run("gateway", "--no-auth", "--listen", "0.0.0.0:0")
    assert "--no-auth is for this machine only" in refused.err
    with held_port() as port:
        me = {"me": {"url": f"http://localhost:{port}/mcp"}}
        shell.config.write_text(json.dumps({"mcpServers": me}))
        looped = shell.run("gateway", "--listen", f"127.0.0.1:{port}")
    assert "me is this very gateway" in looped.err
    assert looped.code == exit_codes.USAGE
    with socket.create_server(("127.0.0.1", 0)) as taken:
        configure(shell)
        busy = shell.run("gateway", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert "is already in use; choose another with --listen" in busy.err


async def test_for_other_machines_a_sign_in_stays_out_of_private_networks(shell: Shell) -> None:
    async with protected() as server, protected() as other:
        server.resource_says(authorization_servers=[other.base])
        server.valid = other.valid
        auth = {"grant": "client_credentials", "clientId": "robot", "clientSecret": "robots-secret"}
        configure(shell, mcpServers={"closed": {"url": server.url, "auth": auth}})
        everywhere = ("--listen", "0.0.0.0:0")
        async with started(shell, *everywhere) as gateway:
            assert gateway.process.stderr is not None
            async with asyncio.timeout(START_S):
                async for line in gateway.process.stderr:
                    if b"an address of a private network" in line:
                        break
        assert other.asked == []
        async with started(shell, *everywhere, "--allow-private-networks"):
            async with asyncio.timeout(START_S):
                await server.until_accepted("tools/list", 1)


def test_a_no_to_one_server_of_a_project_leaves_the_others(shell: Shell) -> None:
    configure(shell)
    (shell.home / "mcp.json").write_text(json.dumps({"mcpServers": {"cloned": DEMO}}))
    with terminal(shell, "gateway", "--no-record", "--no-auth", columns=200) as screen:
        screen.read_while(lambda: "Start it? [y/N]: " not in screen.drawn, "the question")
        screen.type("n\n")
        screen.read_while(lambda: "cloned is not started" not in screen.drawn, "what follows")
        screen.read_while(lambda: "/mcp" not in screen.drawn.partition("not started")[2], "address")
        screen.press_ctrl_c()
        assert screen.end() == exit_codes.DONE
