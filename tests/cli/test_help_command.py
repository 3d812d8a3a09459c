"""`mcplens help`: the page of an error, or the help of a command."""

import re
from collections.abc import Iterator

import click
import pytest

from mcplens import help_pages
from mcplens.cli import exit_codes
from mcplens.cli.main import COMMANDS, group
from mcplens.errors import CODES, help_slug
from tests.cli.shell import Shell
from tests.docs.markdown import DOCS


def options_of(parent: click.Group, name: str) -> Iterator[str]:
    """All options of a command, of its own commands, and of mcplens itself."""
    command = parent.get_command(click.Context(parent), name)
    assert command is not None
    for parameter in (*command.params, *group.params):
        yield from parameter.opts
    if isinstance(command, click.Group):
        for one in command.list_commands(click.Context(command)):
            yield from options_of(command, one)


@pytest.mark.parametrize("topic", ["COMMAND_NOT_FOUND", "command-not-found"])
def test_an_error_is_explained_by_its_page(shell: Shell, topic: str) -> None:
    ran = shell.run("help", topic)
    assert (ran.code, ran.err) == (exit_codes.DONE, "")
    page = (DOCS / "errors" / "command-not-found.md").read_text()
    assert ran.text.startswith(page.partition("## What to do")[0])
    assert "mcplens tools -- python3 /path/to/server.py" in ran.text


@pytest.mark.parametrize("code", CODES)
def test_at_the_terminal_a_page_speaks_of_the_command_line(code: str) -> None:
    text = help_pages.command_line_text(help_slug(code))
    assert text is not None
    headings = re.findall(r"^## (.+)$", text, re.M)
    assert headings == ["What happened", "Why", "What to do"]
    advice = text.partition("## What to do")[2]
    assert not re.search(r"```|await |connect\(|client\.|error\.[a-z]|\.md\)", advice)


@pytest.mark.parametrize("code", CODES)
def test_the_commands_and_options_of_a_page_exist(code: str) -> None:
    advice = (help_pages.command_line_text(help_slug(code)) or "").partition("## What to do")[2]
    known = {option for name in COMMANDS for option in options_of(group, name)}
    spans = [span for span in re.findall(r"`([^`]+)`", advice) if "curl" not in span]
    used = {word for span in spans for word in re.findall(r"(?<!\S)--?[a-z][a-z-]*", span)}
    assert used - known == set()
    commands = re.findall(r"`(?:\w+=\S+ )?mcplens ([a-z]+)", advice)
    assert set(commands) <= set(COMMANDS)


def test_every_code_leads_to_a_page_and_every_command_to_its_help(shell: Shell) -> None:
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
