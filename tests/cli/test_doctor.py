"""`mcplens doctor`: the checks as text and as JSON, exit codes, and the command that would help."""

import json
import re
import sys

from mcplens.cli import exit_codes
from tests.cli.shell import Shell


def test_a_server_that_works_is_told_so_line_by_line(shell: Shell, url: str) -> None:
    ran = shell.run("doctor", url)
    assert ran.code == exit_codes.DONE
    *checks, blank, conclusion, command = ran.text.splitlines()
    assert (blank, command) == ("", f"  mcplens {url}")
    assert conclusion == f"It works: {len(checks)} checks, nothing to fix."
    assert all(line.startswith("✓ ") for line in checks)
    assert any(re.search(r"^✓ Handshake .* \d+(\.\d)? m?s$", line) for line in checks)
    assert ran.err == ""


def test_a_server_that_fails_ends_with_one_sentence_and_one_command(shell: Shell) -> None:
    (shell.home / "fails.py").write_text("import sys; sys.exit('no key is set \\x1b[2J')")
    ran = shell.run("doctor", "fails.py")
    assert ran.code == exit_codes.FAILED
    lines = ran.text.splitlines()
    assert lines[-5].startswith("✗ Keeps running")
    assert "exit code 1" in lines[-5]
    assert lines[-4] == r"    | no key is set \x1b[2J"
    assert lines[-2] == "Run the command by hand and read its output."
    assert lines[-1] == f"  {sys.executable} fails.py"


def test_json_is_one_object_for_programs(shell: Shell) -> None:
    ran = shell.run("doctor", "--json", "--", "no-such-command")
    assert ran.code == exit_codes.FAILED
    told = json.loads(ran.out)
    assert (told["healthy"], told["error"]["code"]) == (False, "COMMAND_NOT_FOUND")
    assert [check["name"] for check in told["checks"]] == ["configuration", "command"]
    assert told["checks"][1]["state"] == "failed"
    assert told["command"] == "command -v no-such-command"


def test_a_placeholder_without_a_value_is_the_finding(shell: Shell) -> None:
    shell.config.parent.mkdir(parents=True)
    entry = {"command": "node", "args": ["db.js"], "env": {"KEY": "${NO_SUCH_KEY}"}}
    shell.config.write_text(json.dumps({"mcpServers": {"db": entry}}))
    ran = shell.run("doctor", "db")
    assert ran.code == exit_codes.FAILED
    assert "✗ Placeholders" in ran.text
    assert ran.text.splitlines()[-1] == "  export NO_SUCH_KEY=…"
    unknown = shell.run("doctor", "weather")
    assert unknown.code == exit_codes.USAGE
