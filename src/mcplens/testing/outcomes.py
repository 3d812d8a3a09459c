"""How tests ended, as values: what reports are made of. Nothing in here holds a secret."""

from __future__ import annotations

from typing import Literal

import msgspec

# waiting and running are those of a run that was ended before they were.
Status = Literal["waiting", "running", "passed", "failed", "skipped"]


class StepOutcome(msgspec.Struct, kw_only=True):
    """One test: how it ended, and the evidence if it failed."""

    name: str
    line: int
    status: Status = "waiting"
    what: str = ""  # `call add`
    elapsed_s: float | None = None
    problems: list[str] = []  # each a sentence
    reason: str = ""  # why it was skipped
    frames: list[str] = []
    stderr: list[str] = []
    is_updated: bool = False  # its snapshot was written


class FileOutcome(msgspec.Struct, kw_only=True):
    """One file: its tests in order, and how its trace is opened."""

    path: str
    steps: list[StepOutcome] = []
    attempt: int = 1
    # The tests that failed in an attempt before this one: they are not stable.
    flaky: list[str] = []
    elapsed_s: float = 0.0
    run_id: str = ""
    trace: str | None = None
    open_command: str = ""
    # Something that belongs to no test: the snapshots cannot be written, the trace is not.
    notes: list[str] = []

    @property
    def is_failed(self) -> bool:
        return any(step.status in ("failed", "running", "waiting") for step in self.steps)

    def count(self, *statuses: Status) -> int:
        return sum(step.status in statuses for step in self.steps)


class Totals(msgspec.Struct, frozen=True):
    """The numbers at the end of a report."""

    passed: int
    failed: int
    skipped: int
    not_run: int
    flaky: int
    updated: int

    def __str__(self) -> str:
        parts = [f"{self.passed} passed", f"{self.failed} failed"]
        named = {"skipped": self.skipped, "not run": self.not_run, "passed on a retry": self.flaky}
        parts += [f"{count} {name}" for name, count in named.items() if count]
        if self.updated:
            parts.append(f"{self.updated} snapshot{'' if self.updated == 1 else 's'} written")
        return ", ".join(parts)


def totals(files: list[FileOutcome]) -> Totals:
    return Totals(
        passed=sum(file.count("passed") for file in files),
        failed=sum(file.count("failed", "running") for file in files),
        skipped=sum(file.count("skipped") for file in files),
        not_run=sum(file.count("waiting") for file in files),
        flaky=sum(
            step.status == "passed" and step.name in file.flaky
            for file in files
            for step in file.steps
        ),
        updated=sum(step.is_updated for file in files for step in file.steps),
    )
