"""What docs/howto/testing.md says to paste works: its test file, and the commands for CI."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mcplens.protocol.yaml_values import parse
from tests.cli.shell import Shell
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


def test_the_test_file_of_the_page_passes_with_the_commands_of_its_ci_files(
    tmp_path: Path,
) -> None:
    file, *others = blocks()
    (tmp_path / "demo.mcp.yaml").write_text(file)
    found = [one for other in others for one in commands(parse(other).value)]
    assert len(found) == 3  # GitHub, GitLab, pre-commit
    for command in dict.fromkeys(found):
        ran = Shell(tmp_path).run(*command.split()[1:])
        assert (ran.code, "2 passed, 0 failed" in ran.err) == (0, True), ran.err
    assert "<testsuites" in (tmp_path / "junit.xml").read_text()
    assert (tmp_path / "traces" / "demo.jsonl").is_file()
