"""What the commands share that write an entry of ours into a client's configuration.

`tap install|remove` and `gateway install|remove`: the client's name, the file, the change as it is
shown and written.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from mcplens.cli import output
from mcplens.cli.configured_servers import tell_written

if TYPE_CHECKING:
    from mcplens.config.tool_entries import EntryChange


class InstallableCommand(click.Group):
    """A command with `install` and `remove`; any other first word is its own argument."""

    allow_interspersed_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in self.commands and not ctx.resilient_parsing:
            ctx.args = list(args)
            return ctx.args
        return click.Command.parse_args(self, ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        if not ctx.args:
            return click.Command.invoke(self, ctx)
        name, *rest = ctx.args
        inner = self.commands[name]
        with inner.make_context(name, rest, parent=ctx) as own:
            return inner.invoke(own)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return click.Command.collect_usage_pieces(self, ctx)


def client_argument(known: Callable[[], Sequence[str]]) -> Callable[[Any], Any]:
    """The argument CLIENT, one of those that are known."""

    def check(ctx: click.Context, parameter: click.Parameter, client: str) -> str:
        if client not in known():
            raise click.BadParameter(f"{client!r} is not a known client: use {', '.join(known())}")
        return client

    def complete(
        ctx: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(client) for client in known() if client.startswith(incomplete)]

    return click.argument("client", callback=check, shell_complete=complete)


file_option = click.option("--file", metavar="FILE", help="The client's file, if it is elsewhere.")
dry_run_option = click.option("--dry-run", is_flag=True, help="Show the change, and write nothing.")


def write_change(change: EntryChange, *, is_dry: bool) -> None:
    """Show a change, and carry it out unless it is only to be shown."""
    from mcplens.config.tool_entries import apply_change
    from mcplens.store.recorded_secrets import mask_argv

    place = change.place
    output.say(f"{place.file}: {'.'.join(place.path)}")
    for sign, words in (("-", change.command), ("+", change.changed_command)):
        if words:
            output.say(f"{sign} {shlex.join(mask_argv(list(words)))}")
    if is_dry:
        output.note("mcplens: nothing was written")
        return
    written = apply_change(change)
    tell_written(f"written: {written.path}", written)
