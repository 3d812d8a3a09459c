"""The reference of the command line is what the commands say today."""

from mcplens.cli import exit_codes
from mcplens.cli.main import COMMANDS
from mcplens.cli.reference import pages
from tests.docs.markdown import DOCS

PAGE = (DOCS / "reference" / "cli.md").read_text()


def test_the_page_is_fresh() -> None:
    assert pages() == PAGE, "run: python -m mcplens.cli.reference > docs/reference/cli.md"


def test_the_page_names_its_generator_first() -> None:
    assert "python -m mcplens.cli.reference" in PAGE.splitlines()[0]


def test_every_command_and_exit_code_is_on_the_page() -> None:
    assert all(f"\n## mcplens {name}\n" in PAGE for name in COMMANDS)
    assert all(f"| {code} | {text} |" in PAGE for code, text in exit_codes.MEANINGS.items())
