"""`mcplens help`: the page of an error, or the help of a command."""

import pytest

from mcplens.cli import exit_codes
from mcplens.cli.main import COMMANDS
from mcplens.errors import CODES, help_slug
from tests.cli.shell import Shell
from tests.docs.markdown import DOCS


@pytest.mark.parametrize("topic", ["COMMAND_NOT_FOUND", "command-not-found"])
def test_an_error_is_explained_by_its_page(shell: Shell, topic: str) -> None:
    ran = shell.run("help", topic)
    page = (DOCS / "errors" / "command-not-found.md").read_text()
    assert (ran.code, ran.text, ran.err) == (exit_codes.DONE, page, "")


def test_every_code_leads_to_a_page_and_every_command_to_its_help(shell: Shell) -> None:
    from mcplens import help_pages

    assert all(help_pages.text_of(help_slug(code)) for code in CODES)
    assert shell.run("help", "call").text == shell.run("call", "-h").text
    overview = shell.run("help").text
    assert overview == shell.run("-h").text
    assert all(name in overview for name in COMMANDS)


@pytest.mark.parametrize("topic", ["../reference/cli", "conection-refused", ""])
def test_what_has_no_page_is_refused_with_the_nearest_name(shell: Shell, topic: str) -> None:
    ran = shell.run("help", topic)
    assert ran.code == exit_codes.USAGE
    assert "There is no command or error called" in ran.err
    assert ("connection-refused" in ran.err) == topic.startswith("conection")


def test_what_a_failure_prints_can_be_typed(shell: Shell) -> None:
    failed = shell.run("tools", "--", "no-such-program")
    words = failed.err.split()[-3:]
    assert words == ["mcplens", "help", "command-not-found"]
    assert shell.run(*words[1:]).text.startswith("# ")
