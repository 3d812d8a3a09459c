"""`*.mcp.yaml` files as pytest items: one for each test, all over the sessions of their file.

A file is one sequence: before a test runs, those before it that are chosen too have run in this
process, also where pytest-xdist spreads them. Files below the root of pytest count as confirmed,
since it runs that project's code anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from mcplens.collections.test_file import TestFileProblem, sentence
from mcplens.errors import InspectorError
from mcplens.sync_client import LoopThread
from mcplens.testing.outcomes import FileOutcome, StepOutcome
from mcplens.testing.reports import evidence
from mcplens.testing.runner import FileRun, RunOptions, outcome_of
from mcplens.testing.selection import LoadedFile, confirmations, load_file, with_needed
from mcplens.testing.servers import ServerResolver


class StepFailed(Exception):
    """A test of a file failed; the evidence is in its outcome."""


class McpFile(pytest.File):
    """A test file, and its run in this process."""

    loaded: LoadedFile
    outcome: FileOutcome
    _thread: LoopThread | None = None
    _run: FileRun | None = None

    def collect(self) -> Iterable[pytest.Item]:
        try:
            self.loaded = load_file(str(self.path))
        except TestFileProblem as problem:
            told = "\n".join(f"{self.path}:{sentence(one)}" for one in problem.problems)
            raise pytest.Collector.CollectError(told) from None
        except InspectorError as problem:
            raise pytest.Collector.CollectError(problem.message) from None
        self._check_confirmed()
        self.outcome = outcome_of(self.loaded)
        has_xdist = self.config.pluginmanager.hasplugin("xdist")
        for step in self.loaded.steps:
            item: McpItem = McpItem.from_parent(self, name=step.name, index=step.index)
            if has_xdist:
                item.add_marker(pytest.mark.xdist_group(str(self.path)))
            yield item

    def _check_confirmed(self) -> None:
        if self.path.is_relative_to(self.config.rootpath):
            return
        from mcplens.collections.folder import CollectionFolder
        from mcplens.config.environment import current_environment

        folder = CollectionFolder(current_environment())
        file = self.loaded
        if not folder.is_confirmed(confirmations(file.path, file.digest, file.content)[0]):
            text = f"{self.path} is outside of {self.config.rootpath}: confirm it with mcplens test"
            raise pytest.Collector.CollectError(text)

    def setup(self) -> None:
        config = self.config
        options = RunOptions(
            updates=bool(config.getoption("--mcp-update")),
            trace_dir=config.getoption("--mcp-trace-dir"),
            worker=getattr(config, "workerinput", {}).get("workerid", ""),  # of pytest-xdist
            is_partial=True,
        )
        self.outcome.steps[:] = outcome_of(self.loaded).steps
        self._run = FileRun(self.loaded, self.outcome, ServerResolver(), options)
        self._thread = LoopThread()
        self._thread.run(self._run.open())

    def teardown(self) -> None:
        thread, run = self._thread, self._run
        self._thread = self._run = None
        if thread is not None and run is not None:
            updated = [step for step in self.outcome.steps if step.is_updated]
            try:
                thread.run(run.close())
            finally:
                thread.stop()
            failed = [step for step in updated if step.status == "failed"]
            if failed:
                raise StepFailed(failed[0].problems[0])

    def run_until(self, index: int) -> StepOutcome:
        """Run the tests up to this one that are chosen, or needed by them, and have not run."""
        assert self._thread is not None
        assert self._run is not None
        chosen = {
            item.index
            for item in self.session.items
            if isinstance(item, McpItem) and item.parent is self
        }
        before = [step for step in self.loaded.steps[: index + 1] if step.index in chosen]
        for step in with_needed(self.loaded.content, before):
            outcome = self.outcome.steps[step.index]
            if outcome.status == "waiting":
                self._thread.run(self._run.run_step(step, outcome))
        return self.outcome.steps[index]


class McpItem(pytest.Item):
    """One test of a file."""

    def __init__(self, *, index: int, **given: Any) -> None:
        super().__init__(**given)
        self.index = index

    @property
    def _file(self) -> McpFile:
        assert isinstance(self.parent, McpFile)
        return self.parent

    def runtest(self) -> None:
        outcome = self._file.run_until(self.index)
        if outcome.status == "skipped":
            pytest.skip(outcome.reason)
        if outcome.status != "passed":
            raise StepFailed(outcome.problems[0] if outcome.problems else outcome.status)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, StepFailed):
            return super().repr_failure(excinfo, style)
        outcome = self._file.outcome
        return "\n".join(evidence(outcome, outcome.steps[self.index]))

    def reportinfo(self) -> tuple[Any, int | None, str]:
        line = self._file.loaded.steps[self.index].line
        return self.path, line - 1, self.name
