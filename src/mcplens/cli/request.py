"""`mcplens request`: any method with any params."""

from __future__ import annotations

import click

from mcplens.cli import output
from mcplens.cli.arguments import parse_object
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_first
from mcplens.cli.target_resolution import split_tool
from mcplens.session.client import Client


@click.command("request")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="[TARGET] METHOD [PARAMS]",
    shell_complete=complete_first,
)
@click.option("--params", metavar="JSON", help="The params: JSON, @file, or - for stdin.")
@shared_options
def command(flags: CommandOptions, words: tuple[str, ...], params: str | None) -> None:
    """Send any request and print its result; findings go to stderr.

    \b
    mcplens request demo tools/list
    mcplens request demo tools/call \\
      '{"name": "form-empty"}'
    """
    target, method, rest = split_tool(flags, words)
    given = params if params is not None else (rest[0] if rest else None)
    value = parse_object(given, "PARAMS") if given is not None else None

    async def work(client: Client) -> None:
        reply = await client.request(method, value, timeout_s=flags.call_timeout_s)
        if flags.is_json:
            output.write_raw(reply.raw)
        else:
            output.say(output.pretty(reply.value))
        for finding in reply.findings:
            output.note(f"note: {finding}", fg="yellow")

    run(flags, target, work)
