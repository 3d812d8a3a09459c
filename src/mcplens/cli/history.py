"""`mcplens history`: what earlier runs sent and received."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.command_runner import reporting
from mcplens.cli.completion_candidates import complete_run
from mcplens.cli.exit_codes import CommandError, as_command_error
from mcplens.cli.replay import command as replay
from mcplens.cli.save_test import command as save_test
from mcplens.cli.trace_files import export, import_

if TYPE_CHECKING:
    from mcplens.events import Event
    from mcplens.store.history import Entry, History, RequestRecord, RunSummary

_ARROWS = {"FrameSent": "->", "FrameReceived": "<-"}
# Bytes that are shown before what a search found.
_LEAD = 24
# Events of one call that are looked at: a task that was polled for days has more.
_MOST_OF_CALL = 1_000
# Of an id, what tells the runs of one person apart.
_ID_LENGTH = 8
# Runs that an error names: as many as one reads.
_SHOWN_RUNS = 8


@click.group(
    "history",
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Look at what earlier runs sent and received; without a command, list the newest.

    \b
    mcplens history
    mcplens history show
    mcplens history search 'tools/call'
    mcplens history export -o run.jsonl
    """
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_runs)


@command.command("list")
@click.option("-n", "--limit", default=20, show_default=True, help="How many runs.")
@click.option("--json", "is_json", is_flag=True, help="JSON Lines.")
@click.pass_obj
def list_runs(flags: CommandOptions, limit: int, is_json: bool) -> None:
    """List the newest runs.

    \b
    mcplens history list -n 5
    """
    with opened(flags, is_json=is_json) as history:
        for summary in history.runs(limit):
            if is_json:
                output.write_json(summary)
            else:
                _print_run(summary)
        more = history.run_count() - limit
    if limit >= 0 and more > 0:
        output.note(
            f"{more:,} older {'run is' if more == 1 else 'runs are'} not shown; -n shows more"
        )


@command.command("show")
@click.argument("run_id", required=False, shell_complete=complete_run)
@click.argument("seq", required=False, type=int)
@click.option("-n", "--limit", default=200, show_default=True, help="How many events.")
@click.option("--frames", "only_frames", is_flag=True, help="Only messages.")
@click.option(
    "--related",
    "with_related",
    is_flag=True,
    help="All events of the call or request that SEQ belongs to, with what it caused.",
)
@click.option("--json", "is_json", is_flag=True, help="JSON Lines.")
@click.pass_obj
def show(
    flags: CommandOptions,
    run_id: str | None,
    seq: int | None,
    limit: int,
    only_frames: bool,
    with_related: bool,
    is_json: bool,
) -> None:
    """Show the events of a run (by default the newest), or one event in full.

    \b
    mcplens history show
    mcplens history show 3f2a 17
    mcplens history show 3f2a 17 --related
    """
    from mcplens.store.filters import Filter

    if with_related and seq is None:
        raise click.UsageError("--related needs an event: give a run and the SEQ of the event")
    with opened(flags, is_json=is_json) as history:
        summary = run_of(history, run_id)
        if seq is not None and with_related:
            _print_related(history, summary.run_id, seq, is_json)
            return
        if seq is not None:
            _print_whole(history, summary.run_id, seq, is_json)
            return
        kinds = frozenset(_ARROWS) if only_frames else None
        wanted = Filter(run_id=summary.run_id, kinds=kinds)
        _print_all(history.events(wanted, limit=limit), is_json)


@command.command("search")
@click.argument("text")
@click.option("-i", "--ignore-case", is_flag=True, help="Ignore case.")
@click.option("--server", help="Only this server.")
@click.option("--method", help="Only this method.")
@click.option("--run", "run_id", shell_complete=complete_run, help="Only this run.")
@click.option("-n", "--limit", default=50, show_default=True, help="How many events.")
@click.option("--json", "is_json", is_flag=True, help="JSON Lines.")
@click.pass_obj
def search(
    flags: CommandOptions,
    text: str,
    ignore_case: bool,
    server: str | None,
    method: str | None,
    run_id: str | None,
    limit: int,
    is_json: bool,
) -> None:
    """Find text in what was sent and received, newest first.

    \b
    mcplens history search -i 'not found'
    """
    from mcplens.store.filters import Filter

    with opened(flags, is_json=is_json) as history:
        wanted = Filter(
            text=text,
            ignore_case=ignore_case,
            server_id=server,
            method=method,
            run_id=run_of(history, run_id).run_id if run_id else None,
        )
        found = history.events(wanted, newest_first=True, limit=limit)
        if not is_json:
            found = [_around(history, entry, text, ignore_case=ignore_case) for entry in found]
        _print_all(found, is_json)


command.add_command(export)
command.add_command(import_)
command.add_command(replay)
command.add_command(save_test)


@contextlib.contextmanager
def opened(flags: CommandOptions, *, is_json: bool) -> Iterator[History]:
    """The recording, to be read."""
    from mcplens.store.history import History
    from mcplens.store.recording_file import default_path

    flags.options["is_json"] = is_json
    with reporting(flags, "the recording"), as_command_error():
        path = default_path()
        if not os.path.exists(path):
            raise CommandError(f"nothing has been recorded yet: {path} does not exist")
        with History(path) as history:
            yield history


def run_of(history: History, run_id: str | None) -> RunSummary:
    """The run that is meant: by the beginning of its id, or the newest."""
    if run_id is None:
        runs = history.runs(1)
        if runs:
            return runs[0]
        raise click.UsageError("nothing has been recorded yet")
    found = history.runs_that_start_with(run_id)
    if len(found) == 1:
        return found[0]
    if not found:
        raise click.UsageError(
            f"no run has an id that starts with {run_id!r}; `mcplens history list` has their ids"
        )
    length = _telling_length([one.run_id for one in found])
    shown = [f"  {one.run_id[:length]}  {one.title}".rstrip() for one in found[:_SHOWN_RUNS]]
    if len(found) > len(shown):
        shown.append(f"  and {len(found) - len(shown)} more")
    raise click.UsageError(
        "\n".join([f"{len(found)} runs have an id that starts with {run_id!r}:", *shown])
    )


def _telling_length(ids: list[str]) -> int:
    """How many characters tell the ids apart; as many as the list shows, at least."""
    for length in range(_ID_LENGTH, len(ids[0])):
        if len({one[:length] for one in ids}) == len(ids):
            return length
    return len(ids[0])


def _print_run(summary: RunSummary) -> None:
    started = datetime.fromtimestamp(summary.started, UTC).astimezone()
    servers = ", ".join(summary.servers)
    title = summary.title or servers
    if output.is_narrow():
        output.say(f"{summary.run_id[:8]}  {started:%Y-%m-%d %H:%M:%S}")
        output.say(f"  {title} ({summary.event_count} events)")
        return
    output.say(
        f"{summary.run_id[:8]}  {started:%Y-%m-%d %H:%M:%S}  {summary.event_count:>6} events  "
        f"{title}"
    )


def _print_all(entries: list[Entry], is_json: bool) -> None:
    for entry in entries:
        if is_json:
            output.write_json(entry)
        else:
            output.say(output.one_line(_line(entry))[: max(output.width(), 40)])
    if not entries:
        output.note("nothing found")


def _line(entry: Entry) -> str:
    time = f"{datetime.fromtimestamp(entry.wall, UTC).astimezone():%H:%M:%S.%f}"[:-3]
    what = _ARROWS.get(entry.kind, entry.kind)
    text = entry.head.decode("utf-8", "backslashreplace").replace("\n", " ")
    text = text or entry.lost
    about = entry.reason and f"[malformed: {entry.reason}] "
    label = "" if entry.kind in _ARROWS else f"{entry.method or entry.status or ''} "
    if entry.kind == "StrayOutputDropped" and entry.detail:
        lines = entry.detail.get("stdout_lines", 0) + entry.detail.get("stderr_lines", 0)
        label = f"{lines:,} lines of output are not recorded "
    return f"{entry.run_id[:8]} {entry.seq:>5} {time} {what} {about}{label}{text}"


def _around(history: History, entry: Entry, text: str, *, ignore_case: bool) -> Entry:
    """The entry, beginning a few words before what was found in it."""
    stored = history.event(entry.run_id, entry.seq)
    message = _bytes_of(stored.event) if stored is not None else None
    raw = entry.head if message is None else message
    wanted = text.encode("utf-8", "surrogateescape")
    at = raw.lower().find(wanted.lower()) if ignore_case else raw.find(wanted)
    if at <= _LEAD:
        return entry
    start = at - _LEAD
    while raw[start] & 0xC0 == 0x80:  # not in the middle of a character
        start += 1
    head = "…".encode() + raw[start : at + len(wanted) + len(entry.head)]
    return msgspec.structs.replace(entry, head=head)


def _print_related(history: History, run_id: str, seq: int, is_json: bool) -> None:
    record = history.request_record(run_id, seq)
    if record is None:
        if history.event(run_id, seq) is None:
            raise click.UsageError(f"that run has no event {seq}")
        raise click.UsageError(
            f"event {seq} belongs to no recorded request; to see it alone: "
            f"mcplens history show {run_id[:8]} {seq}"
        )
    found = {entry.seq: entry for one in _records_of_call(history, record) for entry in one}
    _print_all([found[number] for number in sorted(found)], is_json)
    if record.is_cut:
        output.note("the run is long: later events of this request were not looked for")


def _records_of_call(history: History, record: RequestRecord) -> Iterator[list[Entry]]:
    """The events of a request, and of all others that were made for the same call."""
    from mcplens.store.filters import Filter

    yield _entries_of(record)
    call_id = next((entry.call_id for entry in record.entries if entry.call_id), None)
    if call_id is None:
        return
    run_id = record.entries[0].run_id
    wanted = Filter(run_id=run_id, call_id=call_id)
    of_call = history.events(wanted, limit=_MOST_OF_CALL)
    yield of_call
    for entry in of_call:
        is_request = entry.kind == "FrameSent" and entry.status == "request"
        other = history.request_record(run_id, entry.seq) if is_request else None
        if other is not None:
            yield _entries_of(other)


def _entries_of(record: RequestRecord) -> list[Entry]:
    """The events of a request, its HTTP exchanges, and of the requests that it caused."""
    caused = [entry for one in record.caused for entry in _entries_of(one)]
    return [*record.entries, *record.http, *caused]


def _print_whole(history: History, run_id: str, seq: int, is_json: bool) -> None:
    stored = history.event(run_id, seq)
    if stored is None:
        raise click.UsageError(f"that run has no event {seq}")
    message = _bytes_of(stored.event)
    size_bytes = getattr(stored.event, "size_bytes", 0)
    if is_json or message is None:
        output.write_json(stored.event)
    elif not message and size_bytes:
        output.note(f"the message of {size_bytes:,} bytes is not recorded")
    else:
        output.write_raw(message)
    for mask in stored.masked:
        output.note(f"masked: {mask}")


def _bytes_of(event: Event) -> bytes | None:
    """The bytes of the message that an event is about; a remark's `message` is a text."""
    message = getattr(event, "message", None)
    return None if message is None or isinstance(message, str) else bytes(message.raw)
