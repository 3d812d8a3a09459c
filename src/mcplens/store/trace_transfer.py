"""Export of the recording to trace files, and import from them.

An export that is imported and exported again is the same, byte for byte. Called by the web UI and
the command line.
"""

from __future__ import annotations

import os
from typing import BinaryIO, Final

import msgspec

from mcplens.errors import ConfigurationError
from mcplens.store.database import Database, Run
from mcplens.store.filters import Filter
from mcplens.store.history import History, IsStopped, check, go_on, unreadable
from mcplens.store.recorded_secrets import KeysOf
from mcplens.store.rows import Row
from mcplens.store.schema import Locked, Unusable
from mcplens.store.trace import BrokenLine, event_line, header_line, read_trace, run_line

# Events per transaction of an import: few, so that a recorder does not have to wait.
_BATCH_EVENTS: Final = 1_000
_BATCH_BYTES: Final = 8 * 1024 * 1024


# Each is a row of a table and an entry of a list; no real recording has so many.
MOST_RUNS: Final = 100_000
# Broken lines that are listed one by one; a file of nothing else has millions.
_MOST_BROKEN: Final = 100


class ImportResult(msgspec.Struct, frozen=True):
    """The result of an import; `known_count` events were recorded already.

    `broken` has the first lines that could not be read, `broken_count` is the number of all.
    """

    run_ids: list[str]
    event_count: int
    known_count: int
    broken: list[BrokenLine]
    broken_count: int = 0


def export_trace(
    history: History,
    file: BinaryIO,
    wanted: Filter | None = None,
    keys_of: KeysOf | None = None,
) -> int:
    """Write the events that match a filter as a trace; returns how many."""
    runs = {run.run_id: run for run in history.runs()}
    file.write(header_line())
    count, current = 0, ""
    for run_id, row in history.scan_masked(wanted, keys_of):
        if run_id != current and run_id in runs:
            run = runs[run_id]
            file.write(run_line(Run(run_id, run.started, run.title, run.version)))
            current = run_id
        file.write(event_line(run_id, row))
        count += 1
    return count


def import_trace(
    trace: str | os.PathLike[str],
    path: str | os.PathLike[str],
    is_stopped: IsStopped = go_on,
    *,
    name: str | None = None,
) -> ImportResult:
    """Import a trace file; what was imported before a cancellation stays.

    Errors name the file by `name`, or by its path.

    Raises:
        CancelledRequest: `is_stopped` returned true.
        ConfigurationError: it is not a trace file, or the recording cannot be written.
    """
    importer = _Importer(os.fspath(path))

    def leave_out(line: BrokenLine) -> None:
        check(is_stopped)  # a file of nothing else has millions
        importer.leave_out(line)

    try:
        for found in read_trace(trace, leave_out, name):
            check(is_stopped)
            if isinstance(found, Run):
                importer.begin(found)
            else:
                importer.add(found.run_id, found.row)
        importer.end()
    except (Unusable, Locked) as problem:
        raise unreadable(problem) from None
    finally:
        importer.close()
    return ImportResult(
        list(importer.runs),
        importer.new_count,
        importer.known_count,
        importer.broken,
        importer.broken_count,
    )


class _Importer:
    """Writes one run after the other to the recording."""

    def __init__(self, path: str) -> None:
        self.runs: dict[str, Run] = {}
        self.new_count = 0
        self.known_count = 0
        self.broken: list[BrokenLine] = []
        self.broken_count = 0
        self._path = path
        self._database: Database | None = None
        self._run_id: str | None = None
        self._rows: list[Row] = []
        self._bytes = 0

    def leave_out(self, line: BrokenLine) -> None:
        self.broken_count += 1
        if len(self.broken) < _MOST_BROKEN:
            self.broken.append(line)

    def begin(self, run: Run) -> None:
        self.end()
        run = self.runs.setdefault(run.run_id, run)
        if len(self.runs) > MOST_RUNS:
            message = f"the trace has more than {MOST_RUNS:,} runs; only these were imported"
            raise ConfigurationError("CONFIGURATION_INVALID", message)
        self._run_id = run.run_id
        if self._database is None:
            self._database = Database(self._path, run)
            self._database.open()
        else:
            self._database.turn_to(run)

    def add(self, run_id: str, row: Row) -> None:
        if run_id != self._run_id:
            self.begin(self.runs.get(run_id, Run(run_id, row.wall)))
        self._rows.append(row)
        self._bytes += len(row.payload or b"")
        if len(self._rows) >= _BATCH_EVENTS or self._bytes > _BATCH_BYTES:
            self._flush()

    def end(self) -> None:
        """End the current run."""
        if self._database is not None:
            self._flush(is_over=True)
        self._run_id = None

    def close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _flush(self, *, is_over: bool = False) -> None:
        assert self._database is not None
        rows, self._rows, self._bytes = self._rows, [], 0
        self._database.add(rows)
        ended = rows[-1].wall if is_over and rows else None
        new_count = self._database.commit(ended)
        self.new_count += new_count
        self.known_count += len(rows) - new_count
