"""`mcplens raw`: bytes exactly as given."""

from __future__ import annotations

import sys
from typing import Final

import click

from mcplens.cli import exit_codes, output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_first
from mcplens.cli.target_resolution import split_word
from mcplens.errors import InspectorError, ServerError
from mcplens.events import (
    Event,
    FrameReceived,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
)
from mcplens.protocol.frames import Frame, Kind
from mcplens.session.client import Client

# The first HTTP status that says that a request was refused.
_FIRST_ERROR: Final = 400


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
    """Send bytes exactly as given, valid or not, and print what comes back.

    If that is an error, the exit code is 5.

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
        except InspectorError:
            _show_refusals(client.kept_events(start))
            raise
        if frame is not None:
            output.write_raw(frame.raw)
            return exit_codes.DONE
        await client.connection.clock.sleep(wait_s)
        return _show_replies(client.kept_events(start))

    run(flags, target, work)


def _show_replies(events: list[Event]) -> int:
    """Print all that came; whether the server refused what was sent is the exit code."""
    is_refused = False
    for event in events:
        if isinstance(event, FrameReceived):
            output.write_raw(event.message.raw)
            is_refused |= isinstance(event.message, Frame) and event.message.kind is Kind.ERROR
    is_refused |= _show_refusals(events)
    return exit_codes.REFUSED if is_refused else exit_codes.DONE


def _show_refusals(events: list[Event]) -> bool:
    """Print HTTP answers that refused what was sent, unless they were messages: printed already."""
    sent = {
        event.exchange_id
        for event in events
        if isinstance(event, HttpRequestSent) and event.method == "POST"
    }
    known = {event.exchange_id for event in events if isinstance(event, FrameReceived)}
    refused: dict[int, HttpResponseReceived] = {}
    for event in events:
        if isinstance(event, HttpResponseReceived) and event.exchange_id in sent:
            if event.status >= _FIRST_ERROR:
                refused[event.exchange_id] = event
        elif isinstance(event, HttpExchangeEnded) and event.exchange_id in refused:
            answer = refused[event.exchange_id]
            output.note(f"HTTP status {answer.status} {answer.reason}".rstrip(), fg="yellow")
            if event.body and event.exchange_id not in known:
                output.write_raw(event.body)
    return bool(refused)


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
