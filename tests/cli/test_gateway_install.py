"""`mcplens gateway install` and `remove`, with clients that do what their configuration says."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import mcplens
from mcplens.cli import exit_codes
from tests.cli.shell import Shell
from tests.cli.test_gateway import configure, started
from tests.ports import held_port


def write_file(shell: Shell, place: str) -> Path:
    file = shell.home / place
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "mcpServers": {\n    "other": {"command": "cat"}\n  }\n}\n')
    return file


async def test_a_client_reaches_the_gateway_at_the_address_and_with_the_token_of_its_file(
    shell: Shell,
) -> None:
    file = write_file(shell, ".cursor/mcp.json")
    before = file.read_text()
    view = {"allow": {"tools": ["demo:echo"]}, "separator": "none", "token": "the-views-own-token"}
    with held_port() as port:
        configure(shell, views={"few": view}, gateway={"listen": f"127.0.0.1:{port}"})
        dry = shell.run("gateway", "install", "cursor", "--dry-run")
        assert (dry.code, file.read_text()) == (exit_codes.DONE, before)
        assert f"+ http://127.0.0.1:{port}/mcp\n" in dry.text
        assert not list(shell.home.rglob("gateway-token"))
        done = shell.run("gateway", "install", "cursor")
        assert done.code == exit_codes.DONE, done.err
        token = next(shell.home.rglob("gateway-token")).read_text()
        assert "holds the gateway's token now" in done.text
        assert token not in done.text + done.err
        assert "other users of this machine can read it" in done.err
        few = shell.run("gateway", "install", "cursor", "--view", "few", "--name", "few")
        assert few.code == exit_codes.DONE
        again = shell.run("gateway", "install", "cursor")
        assert "is the gateway already" in again.text
    entries = json.loads(file.read_text())["mcpServers"]
    assert list(entries) == ["other", "mcplens", "few"]
    assert entries["few"]["headers"] == {"Authorization": "Bearer the-views-own-token"}
    async with started(shell):
        for name, tool in (("mcplens", "demo__echo"), ("few", "echo")):
            entry = entries[name]
            async with mcplens.connect(entry["url"], headers=entry["headers"]) as client:
                result = await client.call_tool(tool, {"text": "hi"})
                assert result.content[0].text == "hi"
    for name in ("few", "mcplens"):
        assert shell.run("gateway", "remove", "cursor", "--name", name).code == exit_codes.DONE
    assert file.read_text() == before
    assert "there is no 'mcplens'" in shell.run("gateway", "remove", "cursor").text


async def test_a_client_that_starts_commands_starts_the_gateway(shell: Shell) -> None:
    file = write_file(shell, "config/Claude/claude_desktop_config.json")
    before = file.read_text()
    file.chmod(0o600)
    configure(shell, views={"few": {"allow": {"tools": ["demo:echo"]}}})
    done = shell.run("gateway", "install", "claude-desktop", "--view", "few")
    assert done.code == exit_codes.DONE, done.err
    assert "restart Claude Desktop" in done.text
    assert not list(shell.home.rglob("gateway-token"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    entry = json.loads(file.read_text())["mcpServers"]["mcplens"]
    argv = [entry["command"], *entry["args"]]
    async with mcplens.connect(argv, env=shell.environment) as client:
        assert [tool.name for tool in await client.list_tools()] == ["demo__echo"]
    shell.run("gateway", "remove", "claude-desktop")
    assert file.read_text() == before


def test_what_cannot_be_done_is_one_clear_sentence_and_nothing_is_written(shell: Shell) -> None:
    file = write_file(shell, ".cursor/mcp.json")
    before = file.read_text()
    configure(shell)
    for words, told in (
        (("cursor",), "a client needs an address that stays the same: set gateway.listen"),
        (("cursor", "--listen", "here"), "'here' is not HOST:PORT"),
        (("cursor", "--listen", "127.0.0.1:9", "--name", "other"), "is another server"),
        (("cursor", "--listen", "127.0.0.1:9", "--view", "nope"), "there is no view 'nope'"),
        (("claude-desktop", "--listen", "127.0.0.1:9"), "leave --listen out"),
        (("claude-desktop",), "name its file with --file"),
        (("mcplens", "--listen", "127.0.0.1:9"), "'mcplens' is not a known client"),
    ):
        refused = shell.run("gateway", "install", *words)
        assert refused.code == exit_codes.USAGE
        assert told in " ".join(refused.err.split())
    assert file.read_text() == before
