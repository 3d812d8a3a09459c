"""Servers that we did not write are locked, stay as they are locked, and are linted."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mcplens.cli import exit_codes
from tests.cli.real_servers import SQLITE
from tests.cli.shell import Shell
from tests.node_tools import everything_argv, filesystem_argv, memory_argv
from tests.servers.run import argv

pytestmark = pytest.mark.slow

SERVERS: dict[str, Callable[[Path], list[str]]] = {
    "everything": lambda folder: everything_argv(),
    "filesystem": lambda folder: filesystem_argv(folder),
    "memory": lambda folder: memory_argv(),
    "sqlite": lambda folder: [str(SQLITE), "--db-path", str(folder / "a.db")],
    "fastmcp": lambda folder: argv("sdk_fastmcp"),
}


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_keeps_to_its_lock_and_has_no_errors(
    name: str, shell: Shell, tmp_path: Path
) -> None:
    command = SERVERS[name](tmp_path)
    locked = shell.run("lock", "--as", name, "--", *command)
    assert locked.code == exit_codes.DONE, locked.err
    checked = shell.run("lock", "--check", "--", *command)
    assert (checked.code, checked.text) == (exit_codes.DONE, f"{name}: no changes\n"), checked.err
    linted = shell.run("lint", "mcp.lock", "--json")
    assert linted.code == exit_codes.DONE, linted.text
    found = json.loads(linted.text)
    assert found["cost"]["tokens"] > 100
    assert {one["severity"] for one in found["findings"]} <= {"warning", "note"}
