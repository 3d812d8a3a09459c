"""`mcplens history export` and `import`: recordings as files that can be sent to somebody."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.command_runner import reporting
from mcplens.cli.completion_candidates import complete_run
from mcplens.cli.exit_codes import as_command_error


@click.command("export")
@click.argument("run_id", required=False, shell_complete=complete_run)
@click.option(
    "-o", "--output", "path", metavar="FILE", help="Write to this file instead of stdout."
)
@click.option(
    "--har", "is_har", is_flag=True, help="Export HTTP exchanges as HAR, for browser tools."
)
@click.option("--all", "is_all", is_flag=True, help="All runs, not only the newest.")
@click.pass_obj
def export(
    flags: CommandOptions, run_id: str | None, path: str | None, is_har: bool, is_all: bool
) -> None:
    """Write a run (by default the newest) as a trace file: one JSON object per line.

    Values of the secretKeys in the current configuration are masked as well.

    \b
    mcplens history export -o run.jsonl
    mcplens history export --har -o a.har
    """
    from mcplens.cli.history import opened, run_of
    from mcplens.config.secret_keys import find_keys_by_server
    from mcplens.store.filters import Filter
    from mcplens.store.har import export_har
    from mcplens.store.trace_transfer import export_trace

    with opened(flags, is_json=False) as history:
        wanted = Filter() if is_all else Filter(run_id=run_of(history, run_id).run_id)
        keys_of = find_keys_by_server()
        write = export_har if is_har else export_trace
        if path is None:
            write(history, sys.stdout.buffer, wanted, keys_of)
            return
        with _to_write(path) as file:
            count = write(history, file, wanted, keys_of)
    output.note(f"{count} {'exchanges' if is_har else 'events'} written to {path}")


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.pass_obj
def import_(flags: CommandOptions, file: str) -> None:
    """Add the runs of a trace file to the recording.

    \b
    mcplens history import run.jsonl
    """
    from mcplens.store.recording_file import default_path
    from mcplens.store.trace_transfer import import_trace

    with reporting(flags, file), as_command_error():
        found = import_trace(file, default_path())
    known = f", {found.known_count} were already recorded" if found.known_count else ""
    runs = "1 run" if len(found.run_ids) == 1 else f"{len(found.run_ids)} runs"
    output.say(f"{runs} with {found.event_count} new events imported{known}")
    for broken in found.broken:
        output.note(f"note: line {broken.line} was left out: {broken.reason}", fg="yellow")
    if more := found.broken_count - len(found.broken):
        lines = "1 more line was" if more == 1 else f"{more} more lines were"
        output.note(f"note: {lines} left out", fg="yellow")


def _to_write(path: str) -> BinaryIO:
    from mcplens.store.recording_file import open_private

    try:
        return open_private(path)
    except OSError as problem:
        raise click.UsageError(f"{path} cannot be written: {problem.strerror}") from None
