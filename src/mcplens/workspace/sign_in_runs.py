"""The latest runs of a server's sign-in, as events told of them.

A run is a sign-in, a refresh or a sign-out: its steps with what came, what was expected and the
HTTP exchanges that carried them. Used by sign_in.py.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import msgspec

from mcplens.events import Event, SignInEnded, SignInStarted, SignInStepChanged

_KEPT_RUNS: Final = 4
_MOST_NOTES: Final = 20


class StepRecord(msgspec.Struct, kw_only=True):
    """One step: its latest state, and all that it sent."""

    step: str
    state: str
    started: float
    ended: float | None = None
    text: str = ""
    expected: str = ""
    facts: dict[str, Any] = {}
    notes: list[str] = []
    exchange_ids: list[int] = []


class SignInRun(msgspec.Struct, kw_only=True):
    """One run from its start; `outcome` is None while it goes on."""

    sign_in_id: str
    reason: str
    started: float
    exchange_id: int | None  # the request that was refused
    steps: list[StepRecord] = []
    outcome: str | None = None
    ended: float | None = None
    error: dict[str, Any] | None = None

    @property
    def is_whole(self) -> bool:
        """A sign-in, rather than a refresh or a sign-out."""
        return not self.steps or self.steps[0].step not in ("refresh", "revocation")

    def change(self, event: SignInStepChanged) -> None:
        """Take in what an event tells of a step."""
        step = next((one for one in reversed(self.steps) if one.step == event.step), None)
        if step is None or (event.state == "started" and step.ended is not None):
            step = StepRecord(step=event.step, state="started", started=event.wall)
            self.steps.append(step)
        if event.exchange_id is not None and event.exchange_id not in step.exchange_ids:
            step.exchange_ids.append(event.exchange_id)
        if event.state in ("answered", "noted"):
            # An answer is shown by its exchange.
            if event.state == "noted" and len(step.notes) < _MOST_NOTES:
                step.notes.append(event.text)
            step.state = "started"
            return
        step.state, step.text, step.expected = event.state, event.text, event.expected
        step.facts = {**step.facts, **event.facts}
        step.ended = event.wall if event.state in ("done", "failed") else None


class SignInRuns:
    """The last few runs, the newest last."""

    def __init__(self) -> None:
        self._runs: deque[SignInRun] = deque(maxlen=_KEPT_RUNS)

    def __repr__(self) -> str:
        return f"<SignInRuns {len(self._runs)} runs>"

    def __len__(self) -> int:
        return len(self._runs)

    @property
    def newest_first(self) -> list[SignInRun]:
        return list(reversed(self._runs))

    @property
    def is_running(self) -> bool:
        return bool(self._runs) and self._runs[-1].outcome is None

    def handle_event(self, event: Event) -> None:
        """Take in an event of a sign-in."""
        match event:
            case SignInStarted():
                run = SignInRun(
                    sign_in_id=event.sign_in_id,
                    reason=event.reason,
                    started=event.wall,
                    exchange_id=event.exchange_id,
                )
                self._runs.append(run)
            case SignInStepChanged():
                for run in self._runs:
                    if run.sign_in_id == event.sign_in_id:
                        run.change(event)
            case SignInEnded():
                for run in self._runs:
                    if run.sign_in_id == event.sign_in_id:
                        run.outcome, run.ended, run.error = event.outcome, event.wall, event.error
