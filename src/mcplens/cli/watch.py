"""`mcplens watch` and `mcplens subscribe`: events as they happen."""

from __future__ import annotations

import contextlib
from typing import Any, Final

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions, shared_options
from mcplens.cli.command_runner import run
from mcplens.cli.completion_candidates import complete_run, complete_target, complete_words
from mcplens.cli.target_resolution import split_word
from mcplens.errors import InspectorError
from mcplens.events import Event, FrameReceived, FrameSent, ResourceRefreshed, StateChanged
from mcplens.known_secrets import known_secrets
from mcplens.session.client import Client

# Fields of every event: where it is, not what happened.
_OWN: Final = frozenset(Event.__struct_fields__)
# Of one field.
_SHOWN_CHARACTERS: Final = 200


@click.command("watch")
@click.argument("target", required=False, shell_complete=complete_target)
@click.option(
    "--run",
    "run_id",
    is_flag=False,
    flag_value="",
    metavar="[RUN]",
    shell_complete=complete_run,
    help="Follow a run that another mcplens records: its id, or the newest that is live.",
)
@click.option("--for", "for_s", type=float, metavar="S", help="Stop after this long.")
@shared_options
def command(
    flags: CommandOptions, target: str | None, run_id: str | None, for_s: float | None
) -> None:
    """Show every event of a connection until Ctrl-C; --json prints JSON Lines.

    \b
    mcplens watch demo --for 2
    mcplens watch --run
    """
    if run_id is not None:
        _watch_run(flags, target, run_id, for_s)
        return

    async def work(client: Client) -> None:
        start = client.last_seq if flags.is_in_shell else 0
        await _follow(client, flags, for_s, lambda event: True, start)

    run(flags, target, work)


@click.command("subscribe")
@click.argument(
    "words", nargs=-1, required=True, metavar="[TARGET] URI", shell_complete=complete_words
)
@click.option("--for", "for_s", type=float, metavar="S", help="Stop after this long.")
@shared_options
def subscribe(flags: CommandOptions, words: tuple[str, ...], for_s: float | None) -> None:
    """Follow a resource: print it now and after each update.

    \b
    mcplens subscribe demo demo://ticker
    """
    target, uri = split_word(flags, words, "URI")

    async def work(client: Client) -> None:
        start = client.last_seq
        await client.subscribe(uri)
        _print(flags, await client.read_resource(uri))

        def show(event: Event) -> bool:
            if isinstance(event, ResourceRefreshed) and event.error is None:
                _print(flags, client.catalog.resources.get(event.uri))
            return False

        try:
            await _follow(client, flags, for_s, show, start)
        finally:
            if flags.is_in_shell:  # elsewhere the connection ends
                with contextlib.suppress(InspectorError):
                    await client.unsubscribe(uri)

    run(flags, target, work)


def _watch_run(flags: CommandOptions, target: str | None, run_id: str, for_s: float | None) -> None:
    """Follow a recorded run until its writer ends or is gone."""
    import asyncio

    from mcplens.cli.history import opened, run_of
    from mcplens.clock import SystemClock, within
    from mcplens.store.run_follower import follow_run, newest_live

    if target is not None or flags.is_server_known:
        raise click.UsageError("--run follows a recorded run; it takes no server")
    with opened(flags, is_json=flags.is_json) as history:
        found = run_of(history, run_id) if run_id else newest_live(history)
        if found is None:
            raise click.UsageError("no run is live; `mcplens history list` shows ended ones")
        output.note(f"mcplens: following {found.run_id[:8]}  {found.title}")

        async def work() -> None:
            async for event in follow_run(history, found.run_id, SystemClock()):
                _event(flags, event)

        with contextlib.suppress(TimeoutError):
            asyncio.run(within(SystemClock(), for_s, work()))


async def _follow(
    client: Client, flags: CommandOptions, for_s: float | None, show: Any, start: int
) -> None:
    from mcplens.clock import within

    async def follow() -> None:
        async for event in client.events(start):
            if show(event):
                _event(flags, event)
            if isinstance(event, StateChanged) and event.new == "DISCONNECTED":
                raise client.last_error or InspectorError("CONNECTION_LOST", "disconnected")

    try:
        await within(client.connection.clock, for_s, follow())
    except TimeoutError:
        return


def _event(flags: CommandOptions, event: Event) -> None:
    if flags.is_json:
        output.write_json(known_secrets.mask_value(_plain(event)))
        return
    line = output.one_line(known_secrets.mask_text(f"{event.seq:>6} {_described(event)}"))
    output.say(line[: output.width()])


def _described(event: Event) -> str:
    """An event in one line: a message as it came, else what is set of its fields."""
    if isinstance(event, FrameSent | FrameReceived):
        arrow = "->" if isinstance(event, FrameSent) else "<-"
        reason = getattr(event.message, "reason", None)
        return f"{arrow} {f'[malformed: {reason}] ' if reason else ''}{_shown(event.message)}"
    if isinstance(event, StateChanged):
        return f"{type(event).__name__:<22} {event.old} -> {event.new}{_failure(event.error)}"
    fields = {name: getattr(event, name) for name in event.__struct_fields__ if name not in _OWN}
    texts = [
        f"{name}={_shown(value)[:_SHOWN_CHARACTERS]}"
        for name, value in fields.items()
        if value not in (None, "", b"", [], {}) and value is not False
    ]
    return f"{type(event).__name__:<22} {' '.join(texts)}"


def _failure(error: dict[str, Any] | None) -> str:
    return "" if error is None else f" ({error.get('code')}: {error.get('message')})"


def _shown(value: Any) -> str:
    """A value of an event as text."""
    value = getattr(value, "raw", value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value, ensure_ascii=False, default=str)


def _plain(event: Event) -> dict[str, Any]:
    """An event for JSON; a message as the text that it was."""
    plain: dict[str, Any] = {"type": type(event).__name__}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if name == "message" and not isinstance(value, str):
            plain["malformed"] = getattr(value, "reason", None)
            value = value.raw.decode("utf-8", "backslashreplace")
        elif isinstance(value, bytes):
            value = value.decode("utf-8", "backslashreplace")
        elif isinstance(value, InspectorError):
            value = value.to_dict()
        plain[name] = value
    return plain


def _print(flags: CommandOptions, result: Any) -> None:
    if result is None:
        return
    if flags.is_json:
        output.write_raw(result.raw)
        return
    for part in result.contents:
        output.say(part.text if part.text is not None else f"[{part.mime_type}, binary]")
