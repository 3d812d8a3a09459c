"""Writes the reference of the command line from the commands themselves.

`python -m mcplens.cli.reference` prints docs/reference/cli.md; a test proves that it is fresh.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from mcplens.cli import exit_codes
from mcplens.cli.command_options import SHARED_NAMES
from mcplens.cli.main import COMMANDS, group

# click keeps the help option that it finds first, so it must be the one of the command line.
HELP = ["-h", "--help"]

_INTRODUCTION = """\
<!-- Written by `python -m mcplens.cli.reference`; change the commands, not this page. -->
# The command line

`mcplens COMMAND [TARGET] [WORDS] [OPTIONS] [-- SERVER COMMAND]`

A target is a URL, a script, `TOOL:NAME` of another tool's configuration, a configured name \
(`demo` is built in), or a host. What follows `--` is the server's command; the target's place is \
then empty. A script is a `.py`, `.js`, `.mjs` or `.cjs` file. A file that exists is never taken \
for a host. A `.py` file runs with [the Python of its \
project](../howto/command-line.md#scripts), the others with `node`. With `--json` stdout has \
exactly the result as the server sent it; everything else is on stderr. An error is then one line \
of JSON with a stable code, the last line on stderr; `-q` leaves out the lines above it, which the \
server logged or wrote to its stderr. (In `mcplens shell` it is on stdout, in place of the result.)

What a server wrote cannot harm the terminal: control characters other than newline and tab, \
characters that reverse the reading order and invisible ones are shown as escapes such as `\\x1b` \
and `\\u202e`, in a pipe too; only `tap` passes every byte on. A pipe or a file gets exact bytes \
from `--json`, `read`, `raw`, `history show RUN SEQ` and `history export`; on a terminal these \
write such characters as JSON does (`\\u001b`), so `--json` means the same there.
"""


def pages() -> str:
    """The whole reference as Markdown."""
    parts = [_INTRODUCTION, _exit_codes(), _shared()]
    with click.Context(group, info_name="mcplens", help_option_names=HELP) as ctx:
        for name in COMMANDS:
            command = group.get_command(ctx, name)
            assert command is not None
            parts += _describe(command, f"mcplens {name}", ctx, level=2)
    return "\n".join(parts)


def _exit_codes() -> str:
    rows = "".join(f"| {code} | {meaning} |\n" for code, meaning in exit_codes.MEANINGS.items())
    return f"## Exit codes\n\n| Code | Meaning |\n|---|---|\n{rows}"


def _shared() -> str:
    """The options of a command that has them all and little else."""
    with click.Context(group, info_name="mcplens", help_option_names=HELP) as ctx:
        command = group.get_command(ctx, "info")
        assert command is not None
        rows = "".join(_option(option) for option in command.params if _is_shared(option))
    heading = "## Options of every command that connects to a server"
    return f"{heading}\n\n| Option | Meaning |\n|---|---|\n{rows}"


def _is_shared(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and parameter.name in SHARED_NAMES


def _describe(
    command: click.Command, path: str, parent: click.Context, level: int
) -> Iterator[str]:
    with click.Context(command, info_name=path.rpartition(" ")[2], parent=parent) as ctx:
        usage = " ".join(word for word in command.collect_usage_pieces(ctx) if word != "[OPTIONS]")
    shown, _, examples = inspect.cleandoc(command.help or "").partition("\b\n")
    shared = [parameter for parameter in command.params if _is_shared(parameter)]
    is_connecting = len(shared) == len(SHARED_NAMES)
    own = [
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and not (is_connecting and parameter in shared)
    ]
    text = f"{'#' * level} {path}\n\n`{f'{path} {usage}'.strip()}`\n\n{shown.strip()}\n"
    if examples:
        text += f"\n```sh\n{examples.strip()}\n```\n"
    if own:
        text += "\n| Option | Meaning |\n|---|---|\n" + "".join(map(_option, own))
    yield text
    if isinstance(command, click.Group):
        for name, sub in command.commands.items():
            yield from _describe(sub, f"{path} {name}", parent, level + 1)


def _option(option: click.Parameter) -> str:
    assert isinstance(option, click.Option)
    names = ", ".join(option.opts)
    value = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
    default = f" (default: {option.default})" if option.show_default else ""
    shown = f"{names}{value}".replace("|", "\\|")
    return f"| `{shown}` | {(option.help or '').replace('|', chr(92) + '|')}{default} |\n"


if __name__ == "__main__":
    print(pages(), end="")
