"""The `mcplens` command. Commands are loaded when they are used, so that `--help` is quick."""

from __future__ import annotations

from importlib import import_module

import click

# name -> (module, one line for the list of commands)
_COMMANDS = {
    "demo": ("mcplens.cli.demo", "List and call the tools of the bundled demo server."),
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = import_module(_COMMANDS[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mcplens", prog_name="mcplens")
def main() -> None:
    """See, drive and serve MCP servers."""
