"""Follows a run while another process records it: its events, as they are written.

SQLite cannot notify another process, so the file is asked a few times a second whether anything
was written to it, which costs a few microseconds. Called by `mcplens watch --run`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from mcplens.clock import Clock
from mcplens.events import Event
from mcplens.store.filters import Filter
from mcplens.store.history import History, RunSummary
from mcplens.store.live_runs import is_live
from mcplens.store.row_decoding import decode_row

# The recorder writes four times a second: with this, events are shown within a second.
_LOOK_S: Final = 0.2


def newest_live(history: History) -> RunSummary | None:
    """The newest run that a process records now."""
    unended = (run for run in history.runs() if run.ended is None)
    return next((run for run in unended if is_live(history.path, run.run_id)), None)


async def follow_run(history: History, run_id: str, clock: Clock) -> AsyncIterator[Event]:
    """Every event of a run, until its end is written or its writer is gone."""
    last_seq = 0
    while True:
        # Asked first: what was written before the writer ended is read after.
        run = history.run(run_id)
        is_over = run is None or run.ended is not None or not is_live(history.path, run_id)
        for _, row in history.scan(Filter(run_id=run_id), after=(run_id, last_seq)):
            last_seq = row.seq
            yield decode_row(run_id, row).event
        if is_over:
            return
        await clock.sleep(_LOOK_S)
