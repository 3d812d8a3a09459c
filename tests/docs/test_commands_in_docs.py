"""Every command in the docs is run, word for word, and prints what stands below it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.docs.markdown import DOCS, ROOT, Block, blocks

pytestmark = pytest.mark.slow

PAGES = (
    ROOT / "README.md",
    *(
        DOCS / "howto" / name
        for name in ("apps.md", "command-line.md", "contract.md", "mock.md", "skills.md")
    ),
)
# An example takes a few seconds at most; this only bounds one that hangs.
RUN_TIMEOUT_S = 60


def examples() -> list[tuple[str, Block, str]]:
    """(name, commands, what they print)."""
    found = []
    for page in PAGES:
        shown = blocks(page)
        for number, block in enumerate(shown):
            if block.language == "sh":
                name = f"{page.name}:{block.line}"
                assert shown[number + 1].language == "text", f"{name}: no output stands below it"
                found.append((name, block, shown[number + 1].text))
    return found


@pytest.mark.parametrize(
    ("block", "printed"),
    [pytest.param(block, printed, id=name) for name, block, printed in examples()],
)
def test_a_command_prints_what_the_page_says(block: Block, printed: str, tmp_path: Path) -> None:
    environment = Shell(tmp_path).environment
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-c", block.text],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
        env=environment,
        timeout=RUN_TIMEOUT_S,
    )
    assert done.stdout == printed


def test_the_readme_has_five_examples_for_the_terminal() -> None:
    assert sum(block.language == "sh" for block in blocks(ROOT / "README.md")) == 5
