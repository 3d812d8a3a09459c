"""`mcplens tap install` and `remove`, with a client that starts what its configuration says."""

import json
import sys
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters

from mcplens.cli import exit_codes
from mcplens.store.history import History
from tests.cli.shell import Shell

FILE = """\
{
  // what I use
  "mcpServers": {
    "the demo": {
      "command": "%s",
      "args": ["-m", "mcplens.demo"]
    },
    "far": {"url": "https://far.example/mcp"}
  }
}
"""


def write_file(shell: Shell) -> Path:
    file = shell.home / "config" / "Claude" / "claude_desktop_config.json"
    file.parent.mkdir(parents=True)
    file.write_text(FILE % sys.executable)
    return file


async def test_a_client_whose_server_got_the_tap_is_recorded_under_its_name(shell: Shell) -> None:
    file = write_file(shell)
    before = file.read_text()
    dry = shell.run("tap", "install", "claude-desktop", "the demo", "--dry-run")
    assert dry.code == exit_codes.DONE
    assert f"- {sys.executable} -m mcplens.demo" in dry.text
    assert "tap --name 'the demo' -- " in dry.text
    assert file.read_text() == before
    done = shell.run("tap", "install", "claude-desktop", "the demo")
    assert done.code == exit_codes.DONE
    assert "restart Claude Desktop" in done.text
    assert file.with_name(f"{file.name}.mcplens.bak").read_text() == before
    wrapped = file.read_text()
    again = shell.run("tap", "install", "claude-desktop", "the demo")
    assert (again.code, "has the tap already" in again.text) == (exit_codes.DONE, True)
    assert file.read_text() == wrapped

    plain = wrapped.replace("  // what I use\n", "")
    entry = json.loads(plain)["mcpServers"]["the demo"]
    server = StdioServerParameters(**entry, env=shell.environment, cwd=str(shell.home))
    async with Client(server) as client:
        result = await client.call_tool("add", {"a": 2, "b": 3})
        assert result.content[0].text == "5"  # type: ignore[union-attr]
    with History(shell.state / "recording.sqlite3") as history:
        assert {row.server_id for _, row in history.scan()} == {"the demo"}

    file.write_text(wrapped.replace("what I use", "what I used"))
    assert shell.run("tap", "remove", "claude-desktop", "the demo").code == exit_codes.DONE
    assert file.read_text() == before.replace("what I use", "what I used")


def test_what_cannot_be_done_is_said_and_nothing_is_written(shell: Shell) -> None:
    file = write_file(shell)
    before = file.read_text()
    for words, told in (
        (("claude-desktop", "far"), "run `mcplens tap https://far.example/mcp`"),
        (("claude-desktop", "near"), "its servers: the demo, far"),
        (("emacs", "far"), "'emacs' is not a known client: use claude-desktop, "),
        (("cursor", "far"), "it has no servers on this machine"),
    ):
        refused = shell.run("tap", "install", *words)
        assert refused.code == exit_codes.USAGE
        assert told in " ".join(refused.err.split())
    assert file.read_text() == before
