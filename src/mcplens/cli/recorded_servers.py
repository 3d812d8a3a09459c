"""Which recorded server a command means: one run and server of a trace, or of the recording.

Called by the commands `mock` and `verify`. What is not clear is a usage error.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from mcplens.cli import output
from mcplens.cli.command_options import CommandOptions
from mcplens.cli.completion_candidates import complete_run
from mcplens.cli.exit_codes import CommandError, as_command_error

if TYPE_CHECKING:
    from mcplens.mocking import RecordedServer

# Reading takes some 4 s for each 100 MB.
_LARGE_MB: Final = 50
F = TypeVar("F", bound=Callable[..., Any])


def choice_options(function: F) -> F:
    """The options that choose one server of one run."""
    function = click.option(
        "--server", metavar="NAME", help="The server, if the recording has several."
    )(function)
    return click.option(
        "--run", "run_id", metavar="RUN", shell_complete=complete_run,
        help="The run, if the trace has several; without a trace, a run of the recording.",
    )(function)  # fmt: skip


@contextlib.contextmanager
def recorded_server(
    flags: CommandOptions, trace: str | None, run: str | None, server: str | None
) -> Iterator[RecordedServer]:
    """The server that was recorded, for as long as the block lasts.

    Raises:
        UsageError: it is not clear which run or server is meant.
        CommandError: the trace or the recording cannot be read.
    """
    from mcplens.mocking import RecordingUnclear

    try:
        if trace is not None:
            found = _from_trace(trace, run, server)
        else:
            found = _from_recording(flags, run, server)
    except RecordingUnclear as problem:
        raise click.UsageError(str(problem)) from None
    with found:
        yield found


def _from_trace(path: str, run: str | None, server: str | None) -> RecordedServer:
    from mcplens.mocking import read_trace_file
    from mcplens.store.trace import BrokenLine

    if not os.path.exists(path):
        raise CommandError(f"there is no file {path}")
    size_mb = os.path.getsize(path) // 1_000_000
    if size_mb >= _LARGE_MB:
        output.note(f"mcplens: reading {path} ({size_mb} MB)")
    broken: list[BrokenLine] = []
    with as_command_error():
        found = read_trace_file(path, run=run, server=server, broken=broken)
    for line in broken[:3]:
        output.note(f"note: line {line.line} of {path} was left out: {line.reason}", fg="yellow")
    if len(broken) > 3:
        output.note(f"note: {len(broken) - 3} more lines were left out", fg="yellow")
    return found


def _from_recording(flags: CommandOptions, run: str | None, server: str | None) -> RecordedServer:
    from mcplens.cli.history import opened, run_of
    from mcplens.config.secret_keys import find_keys_by_server
    from mcplens.mocking import read_rows
    from mcplens.store.filters import Filter

    if run is None:
        raise click.UsageError("name a trace file, or a run of the recording with --run")
    with opened(flags, is_json=bool(flags.options.get("is_json"))) as history:
        summary = run_of(history, run)
        rows = history.scan_masked(
            Filter(run_id=summary.run_id), find_keys_by_server(flags.options.get("config"))
        )
        return read_rows(rows, f"run {summary.run_id[:8]}", server=server)
