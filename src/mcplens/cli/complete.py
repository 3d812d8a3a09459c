"""`mcplens complete`: the server's suggestions for an argument."""

from __future__ import annotations

import click

from mcplens.cli import output
from mcplens.cli.arguments import collect, read_words
from mcplens.cli.command_options import CommandOptions, name_option, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_words
from mcplens.cli.target_resolution import split_tool
from mcplens.session.client import Client


@click.command("complete")
@click.argument(
    "words",
    nargs=-1,
    metavar="[TARGET] PROMPT|TEMPLATE ARGUMENT=START",
    shell_complete=complete_words,
)
@name_option
@shared_options
def command(flags: CommandOptions, words: tuple[str, ...]) -> None:
    """Get suggestions for the last argument; the ones before it are sent as context.

    \b
    mcplens complete demo translate \\
      language=g
    mcplens complete demo \\
      'demo://greeting/{name}' name=A
    """
    target, name, rest = split_tool(flags, words)
    given = collect(read_words(rest))
    if not given:
        raise click.UsageError("name the argument and its start: ARGUMENT=START")
    argument = list(given)[-1]
    value = str(given.pop(argument))
    kind = "ref/resource" if "://" in name else "ref/prompt"
    ref = {"type": kind, ("uri" if kind == "ref/resource" else "name"): name}

    async def work(client: Client) -> None:
        context = {key: str(text) for key, text in given.items()}
        found = await client.complete(
            ref, argument, value, context or None, timeout_s=flags.call_timeout_s
        )
        if flags.is_json:
            output.write_raw(found.raw)
            return
        for text in found.completion.values:
            output.say(text)
        if found.completion.has_more:
            output.note("there are more")

    run(flags, target, work)
