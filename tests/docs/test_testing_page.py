"""What docs/howto/testing.md says to paste works: its test file, and the commands for CI."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from mcplens.protocol.yaml_values import parse
from tests.cli.shell import MCPLENS, Shell
from tests.docs.markdown import DOCS

PAGE = DOCS / "howto" / "testing.md"


def blocks() -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


def commands(value: Any) -> list[str]:
    """The `mcplens` commands in a file of a CI."""
    if isinstance(value, dict):
        return [one for item in value.values() for one in commands(item)]
    if isinstance(value, list):
        return [one for item in value for one in commands(item)]
    return [value] if isinstance(value, str) and value.startswith("mcplens ") else []


def run(command: str, shell: Shell) -> subprocess.CompletedProcess[str]:
    """As a CI runs it: by a shell, with the variables of GitHub."""
    path = f"{Path(MCPLENS).parent}{os.pathsep}{os.environ['PATH']}"
    summary = str(shell.home / "summary.md")
    environment = shell.environment | {"PATH": path, "GITHUB_STEP_SUMMARY": summary}
    return subprocess.run(
        ["sh", "-c", command],
        cwd=shell.home, env=environment, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def test_the_test_file_of_the_page_passes_with_the_commands_of_its_ci_files(
    tmp_path: Path,
) -> None:
    file, *others = blocks()
    shell = Shell(tmp_path)
    (tmp_path / "demo.mcp.yaml").write_text(file)
    assert run("mcplens lock demo", shell).returncode == 0
    found = [one for other in others for one in commands(parse(other).value)]
    kinds = [command.split()[1] for command in found]
    assert kinds == ["test", "lock", "lint"] * 3  # GitHub, GitLab, pre-commit
    for command in dict.fromkeys(found):
        ran = run(command, shell)
        assert ran.returncode == 0, (command, ran.stderr)
        if command.startswith("mcplens test"):
            assert "2 passed, 0 failed" in ran.stderr
    assert "<testsuites" in (tmp_path / "junit.xml").read_text()
    assert "no changes" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "traces" / "demo.jsonl").is_file()
