"""`mcplens help`: what an error means and what to do about it, or how a command is used."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from mcplens import help_pages
from mcplens.cli import output
from mcplens.errors import CODES, help_slug


def _complete(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    return [CompletionItem(name) for name in help_pages.names() if name.startswith(incomplete)]


@click.command("help")
@click.argument("topic", required=False, shell_complete=_complete)
@click.pass_context
def command(ctx: click.Context, topic: str | None) -> None:
    """Explain an error and what to do about it, or show the help of a command.

    \b
    mcplens help connection-refused
    mcplens help CONNECTION_REFUSED
    mcplens help call
    """
    assert ctx.parent is not None
    group = ctx.parent.command
    assert isinstance(group, click.Group)
    if topic is None:
        output.say(ctx.parent.get_help())
    elif topic in group.list_commands(ctx.parent):
        found = group.get_command(ctx.parent, topic)
        assert found is not None
        output.say(found.make_context(topic, [], ctx.parent, resilient_parsing=True).get_help())
    else:
        _say_page(ctx, topic)


def _say_page(ctx: click.Context, topic: str) -> None:
    page = help_pages.command_line_text(help_slug(topic) if topic in CODES else topic)
    if page is None:
        from mcplens.cli.near_names import near_names

        close = near_names(topic.replace("_", "-"), help_pages.names(), most=1)
        hint = f" Did you mean {close[0]}?" if close else ""
        raise click.UsageError(f"There is no command or error called {topic!r}.{hint}", ctx)
    output.say(page.rstrip("\n"))
