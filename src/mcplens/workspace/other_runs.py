"""Runs that other processes record into the same file while we look: `mcplens tap`, a command.

SQLite cannot notify another process, so the folder and the file are looked at a few times a second,
by one timer, and only while somebody listens. Subscribers are notified when a run has new events,
and when its writer has ended or was killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from mcplens.clock import Clock
from mcplens.errors import ConfigurationError
from mcplens.store.filters import Filter
from mcplens.store.history import History, RunSummary
from mcplens.store.live_runs import live_run_ids
from mcplens.store.run_facts import RunFacts

# The recorder writes four times a second: with this, events are shown within a second.
_LOOK_S: Final = 0.25
# Runs that have ended are kept for the pages that show them.
_MOST_RUNS: Final = 50


class OtherRun(msgspec.Struct, frozen=True):
    """A run of another process, as it was last seen."""

    summary: RunSummary
    facts: RunFacts
    is_live: bool


class OtherRuns:
    """The runs of other processes that are live, or have ended while we looked."""

    def __init__(
        self,
        path: str,
        own_run_id: str,
        clock: Clock,
        changed: Callable[[str], None],
    ) -> None:
        self._path = path
        self._own_run_id = own_run_id
        self._clock = clock
        self._changed = changed
        self._runs: dict[str, OtherRun] = {}
        self._is_wanted = asyncio.Event()

    def __repr__(self) -> str:
        live = sum(run.is_live for run in self._runs.values())
        return f"<OtherRuns {live} live, {len(self._runs)} known>"

    def get(self, run_id: str) -> OtherRun | None:
        return self._runs.get(run_id)

    def all(self) -> list[OtherRun]:
        return list(self._runs.values())

    def want(self, is_wanted: bool) -> None:
        """Look only while somebody listens."""
        if is_wanted:
            self._is_wanted.set()
        else:
            self._is_wanted.clear()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self._is_wanted.wait()
            for run_id in await asyncio.to_thread(self.look):
                self._changed(run_id)
            await self._clock.sleep(_LOOK_S)

    def look(self) -> list[str]:
        """The runs that have changed since the last look; blocks while it reads."""
        live = set(live_run_ids(self._path)) - {self._own_run_id}
        known = {run_id for run_id, run in self._runs.items() if run.is_live}
        if not live and not known:
            return []
        try:
            with History(self._path) as history:
                return [one for one in sorted(live | known) if self._update(history, one, live)]
        except ConfigurationError:
            return []  # it is locked for longer than a moment, or gone; the next look may succeed

    def _update(self, history: History, run_id: str, live: set[str]) -> bool:
        summary = history.run(run_id)
        if summary is None:  # its first events are not written yet, or it was deleted
            return self._runs.pop(run_id, None) is not None
        before = self._runs.get(run_id)
        facts = RunFacts(run_id) if before is None else before.facts
        for _, row in history.scan(Filter(run_id=run_id), after=(run_id, facts.last_seq)):
            facts.add(row)
        now = OtherRun(summary, facts, run_id in live and summary.ended is None)
        self._runs[run_id] = now
        if len(self._runs) > _MOST_RUNS:
            del self._runs[next(iter(self._runs))]
        return before is None or (before.summary, before.is_live) != (summary, now.is_live)
