"""`mcplens raw`: bytes exactly as given."""

from __future__ import annotations

import sys

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_first
from mcplens.cli.target_resolution import split_word
from mcplens.errors import ServerError
from mcplens.events import FrameReceived
from mcplens.session.client import Client


@click.command("raw")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    metavar="[TARGET] BYTES|@FILE|-",
    shell_complete=complete_first,
)
@click.option("--wait", "wait_s", default=1.0, show_default=True, metavar="S",
              help="How long to listen when no reply can be identified.")  # fmt: skip
@shared_options
def command(flags: CommandOptions, words: tuple[str, ...], wait_s: float) -> None:
    """Send bytes exactly as given, valid or not, and print the replies.

    \b
    mcplens raw demo @message.json
    mcplens raw demo 'no JSON at all'
    """
    target, source = split_word(flags, words, "BYTES")
    data = _bytes_of(source)

    async def work(client: Client) -> int:
        start = client.last_seq
        try:
            frame = await client.send_raw(data, force=bool(flags.force))
        except ServerError as error:
            output.write_raw(error.raw)
            return exit_codes.REFUSED
        if frame is not None:
            output.write_raw(frame.raw)
            return exit_codes.DONE
        await client.connection.clock.sleep(wait_s)
        for event in client.kept_events(start):
            if isinstance(event, FrameReceived):
                output.write_raw(event.message.raw)
        return exit_codes.DONE

    run(flags, target, work)


def _bytes_of(source: str) -> bytes:
    if source == "-":
        return sys.stdin.buffer.read()
    if not source.startswith("@"):
        return source.encode("utf-8", "surrogateescape")
    try:
        with open(source[1:], "rb") as file:
            return file.read()
    except OSError as problem:
        raise click.UsageError(f"{source[1:]} cannot be read: {problem}") from None
