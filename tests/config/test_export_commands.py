"""Servers as commands: run in a shell, they write the entry that they were made of."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mcplens.cli.command_options import CommandOptions
from mcplens.cli.main import group
from mcplens.config.configuration import load_configuration
from mcplens.config.export import export_commands
from tests.config.machine import Machine

SERVERS: dict[str, Any] = {
    "local": {
        "command": "npx", "args": ["-y", "a b", "--", "$HOME"],
        "env": {"TOKEN": "${TOKEN}", "EMPTY": ""}, "cwd": "/srv",
    },
    "remote": {"url": "https://h/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "events": {"url": "https://h/sse", "transport": "sse"},
}  # fmt: skip


def made_of(machine: Machine, servers: dict[str, Any]) -> tuple[list[str], tuple[str, ...]]:
    machine.environ |= {"TOKEN": "s3cret"}
    machine.write_project({"mcpServers": servers})
    export = export_commands(load_configuration(here=machine.here()).servers)
    assert "s3cret" not in export.text
    return export.text.splitlines(), tuple(map(str, export.remarks))


@pytest.mark.parametrize("name", SERVERS)
def test_a_command_adds_the_server_that_it_was_made_of(
    machine: Machine, name: str, tmp_path: Path
) -> None:
    (line,), remarks = made_of(machine, {name: SERVERS[name]})
    program, *words = shlex.split(line)
    command = None
    if "--" in words:
        at = words.index("--")
        words, command = words[:at], words[at + 1 :]
    path = tmp_path / "out.json"
    done = CliRunner().invoke(group, [*words, "--config", str(path)], obj=CommandOptions(command))
    assert done.exit_code == 0, done.output
    assert json.loads(path.read_text())["mcpServers"] == {name: SERVERS[name]}
    assert (program, remarks) == ("mcplens", ())


def test_what_no_command_can_say_is_told(machine: Machine) -> None:
    servers = {
        "slow": {"command": "x", "requestTimeout": 5},
        "-odd": {"command": "x"},
        "broken": {"args": []},
    }
    lines, remarks = made_of(machine, servers)
    assert lines == ["mcplens servers add slow -- x"]
    assert remarks == (
        "slow: servers add has no option for requestTimeout",
        "-odd: left out: `servers add` cannot add it",
        "broken: left out: `servers add` cannot add it",
    )
