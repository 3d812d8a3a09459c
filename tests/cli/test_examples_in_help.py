"""Every example in the help that uses the bundled server works when it is pasted."""

import inspect
import subprocess
import sys
from pathlib import Path

import click
import pytest

from mcplens.cli import exit_codes
from mcplens.cli.main import COMMANDS, group
from tests.cli.shell import TIMEOUT_S, Shell

pytestmark = pytest.mark.slow

# These go on until they are stopped.
ENDLESS = ("mcplens subscribe", "mcplens watch")
# Asks a person, who is not there.
SILENT = ("mcplens shell demo",)
SERVING = ("mcplens web", "mcplens demo")


def examples() -> list[str]:
    found = []
    with click.Context(group, help_option_names=["-h", "--help"]) as ctx:
        for name in COMMANDS:
            command = group.get_command(ctx, name)
            assert command is not None
            _, _, text = inspect.cleandoc(command.help or "").partition("\b\n")
            found += text.replace("\\\n", "").splitlines()
    return [line for line in found if " demo" in line and "history" not in line]


def test_every_command_for_a_server_has_one() -> None:
    shown = {line.split()[1] for line in examples()}
    assert set(COMMANDS) - shown <= {
        "auth", "collections", "gateway", "help", "history", "mock", "servers", "tasks",
        "test",
    }  # fmt: skip


@pytest.mark.parametrize("line", examples())
def test_it_works_when_it_is_pasted(line: str, shell: Shell) -> None:
    (shell.home / "message.json").write_text('{"jsonrpc":"2.0","id":7,"method":"ping"}')
    if "--check" in line or "mcp.lock" in line:
        assert shell.run("lock", "demo").code == exit_codes.DONE
    if "run.jsonl" in line:
        trace = ("--trace", str(shell.home / "run.jsonl"))
        assert shell.run("call", "demo", "echo", "text=hi", *trace).code == exit_codes.DONE
    if line.startswith(ENDLESS):
        line += " --for 0.1"
    if line.startswith(SERVING) and "--list" not in line:
        line = f"timeout --preserve-status 5 {line} --no-open"
    environment = shell.environment
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        cwd=shell.home,
        env=environment,
        timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )
    expected = exit_codes.REFUSED if "no JSON" in line else exit_codes.DONE
    assert done.returncode == expected, done.stderr
    assert done.stdout or ">" in line or line in SILENT
