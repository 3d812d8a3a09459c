"""Runs the tests of `mcplens test`, prints each file when it is done, and keeps the reports."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Final

from mcplens.background import Background
from mcplens.cli import exit_codes, output
from mcplens.clock import SystemClock
from mcplens.testing.outcomes import FileOutcome, StepOutcome, totals
from mcplens.testing.reports import ReportFile, as_json, evidence, junit, markdown
from mcplens.testing.runner import RunOptions, outcome_of, run_files
from mcplens.testing.selection import LoadedFile
from mcplens.testing.servers import ServerResolver

# A run that is killed loses at most what ended since.
_WRITE_S: Final = 0.5
_WORDS: Final = {
    "passed": ("passed ", "green"),
    "failed": ("failed ", "red"),
    "running": ("ended  ", "red"),
    "skipped": ("skipped", "yellow"),
    "waiting": ("not run", "yellow"),
}


class TestRun:
    """One run of `mcplens test`."""

    __test__ = False  # its name is not for pytest

    def __init__(
        self,
        files: list[LoadedFile],
        resolver: ServerResolver,
        options: RunOptions,
        *,
        junit: str | None,
        summary: str | None,
        is_json: bool,
        is_quiet: bool,
    ) -> None:
        self._files = files
        self._resolver = resolver
        self._options = options
        self._outcomes = [outcome_of(file) for file in files]
        self._reports = self._made(junit, summary)
        self._is_json = is_json
        self._is_quiet = is_quiet
        self._clock = SystemClock()
        self._printed: set[str] = set()

    def __repr__(self) -> str:
        return f"<TestRun of {len(self._files)} files: {totals(self._outcomes)}>"

    def _made(self, path: str | None, summary: str | None) -> list[ReportFile]:
        found = [] if path is None else [ReportFile(path, junit)]
        return found if summary is None else [*found, ReportFile(summary, markdown, appends=True)]

    async def run(self) -> int:
        """Run all tests; gives the exit code."""
        begun = self._clock.monotonic()
        beside = Background()
        task = asyncio.current_task()
        if os.name == "posix" and task is not None:  # CI ends a job with SIGTERM first
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        self._write()
        beside.start(self._keep_writing(), "write reports")
        is_ended = False
        try:
            await run_files(self._files, self._outcomes, self._resolver, self._options, self._print)
        except asyncio.CancelledError:
            is_ended = True
        finally:
            await beside.end()
            for problem in self._write():
                output.note(f"mcplens: {problem}", fg="yellow")
        if is_ended:
            for outcome in self._outcomes:
                self._print(outcome)
        self._summarise(self._clock.monotonic() - begun)
        if is_ended:
            return exit_codes.INTERRUPTED
        is_failed = any(outcome.is_failed for outcome in self._outcomes)
        return exit_codes.FAILED if is_failed else exit_codes.DONE

    # -- reports ---------------------------------------------------------------------------------

    async def _keep_writing(self) -> None:
        while True:
            await self._clock.sleep(_WRITE_S)
            self._write()

    def _write(self) -> list[str]:
        """Write where the run stands; what went wrong."""
        found = [report.write(self._outcomes) for report in self._reports]
        return [problem for problem in found if problem is not None]

    # -- printing --------------------------------------------------------------------------------

    def _print(self, file: FileOutcome) -> None:
        """Print a file, once."""
        if file.path in self._printed:
            return
        self._printed.add(file.path)
        if self._is_json:
            for step in file.steps:
                output.write_json(as_json(file, step))
        else:
            self._print_steps(file)
        for note in file.notes:
            output.note(f"mcplens: {file.path}: {note}", fg="yellow")
        output.flush()

    def _print_steps(self, file: FileOutcome) -> None:
        if not self._is_quiet or file.is_failed:
            output.say(file.path)
        for step in file.steps:
            if not self._is_quiet or step.status in ("failed", "running"):
                self._print_step(file, step)

    def _print_step(self, file: FileOutcome, step: StepOutcome) -> None:
        word, colour = _WORDS[step.status]
        took = "" if step.elapsed_s is None else f"  {round(step.elapsed_s * 1000)} ms"
        told = f"  {step.reason}" if step.reason else ""
        if step.is_updated:
            told += "  snapshot written"
        if step.status == "passed" and step.name in file.flaky:
            told += f"  passed in attempt {file.attempt}"
        output.say(output.style(f"  {word}", fg=colour) + f"  {step.name}{took}{told}")
        if step.status in ("failed", "running"):
            for line in evidence(file, step):
                output.say(f"            {line}")

    def _summarise(self, took_s: float) -> None:
        counted = totals(self._outcomes)
        if self._is_json:
            return
        output.note(f"{counted} in {took_s:.1f} s", fg="red" if counted.failed else "green")
        problems = (
            problem
            for file in self._outcomes
            for step in file.steps
            if step.status == "failed"
            for problem in step.problems
        )
        if any(problem.startswith("snapshot") for problem in problems):
            output.note(
                "If the new answers are right, write them with --update; what differs each time is "
                "left out by `snapshot: {ignore: [JSONPath]}`."
            )
