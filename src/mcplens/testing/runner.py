"""Runs test files: each one sequence with its own sessions and processes, several at once.

The outcomes are filled in while tests run, so that a report of a run that was killed says what ran.
Called by `mcplens test` and by the pytest plugin.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from mcplens.bus import Bus
from mcplens.clock import Clock, SystemClock
from mcplens.collections.folder import digest_of
from mcplens.collections.json_paths import JsonPathProblem, values_at
from mcplens.collections.shown_values import ValueMasker
from mcplens.collections.snapshots import Snapshots, comparable
from mcplens.collections.test_file import TestStep
from mcplens.collections.variables import PlaceholderProblem, fill_in, variables_in
from mcplens.config.environment import Environment, current_environment
from mcplens.errors import InspectorError, classify
from mcplens.known_secrets import known_secrets
from mcplens.protocol.secret_masking import is_secret_option
from mcplens.store.recorder import Recorder
from mcplens.testing.expectations import problems
from mcplens.testing.matching import differences
from mcplens.testing.observation import Observation
from mcplens.testing.outcomes import FileOutcome, StepOutcome
from mcplens.testing.selection import LoadedFile
from mcplens.testing.servers import ServerResolver
from mcplens.testing.sessions import Sessions
from mcplens.testing.steps import Sender
from mcplens.version import VERSION

DEFAULT_TIMEOUT_S: Final = 60.0
Changed = Callable[[FileOutcome], None]


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How tests are run."""

    updates: bool = False
    retries: int = 0
    jobs: int = 1
    timeout_s: float = DEFAULT_TIMEOUT_S
    trace_dir: str | None = None
    worker: str = ""  # of several processes that run tests of one file: each has its own trace
    record: str | None = None  # the recording; None: not recorded
    is_partial: bool = False  # chosen by -k: snapshots of the others stay


def outcome_of(file: LoadedFile) -> FileOutcome:
    """The outcome of a file that has not been run."""
    return FileOutcome(
        path=file.shown,
        steps=[
            StepOutcome(name=step.name, line=step.line, what=f"{step.kind} {step.target}")
            for step in file.steps
        ],
    )


async def run_files(
    files: Sequence[LoadedFile],
    outcomes: Sequence[FileOutcome],
    resolver: ServerResolver,
    options: RunOptions,
    ended: Changed | None = None,
) -> None:
    """Run all files, some at a time; the outcomes tell how. `ended` is called after each file."""
    free = asyncio.Semaphore(max(1, options.jobs))

    async def one(file: LoadedFile, outcome: FileOutcome) -> None:
        async with free:
            try:
                await run_file(file, outcome, resolver, options)
            except Exception as problem:  # of this file alone: the others go on
                _fail_rest(outcome, classify(problem))
            if ended is not None:
                ended(outcome)

    async with asyncio.TaskGroup() as group:
        for file, outcome in zip(files, outcomes, strict=True):
            group.create_task(one(file, outcome))


def _fail_rest(outcome: FileOutcome, error: InspectorError) -> None:
    """A file whose run broke off: what has not passed has failed, and says why."""
    for step in outcome.steps:
        if step.status in ("waiting", "running"):
            step.status = "failed"
            step.problems = [f"{error.code}: {error.message}"]


async def run_file(
    file: LoadedFile,
    outcome: FileOutcome,
    resolver: ServerResolver,
    options: RunOptions,
) -> None:
    """Run the tests of a file in order; if one fails, all of them again, `retries` times."""
    while True:
        await FileRun(file, outcome, resolver, options).run()
        failed = [step.name for step in outcome.steps if step.status == "failed"]
        if not failed or outcome.attempt > options.retries:
            return
        outcome.flaky = list(dict.fromkeys([*outcome.flaky, *failed]))
        outcome.steps[:] = outcome_of(file).steps
        outcome.attempt += 1


class FileRun:
    """One attempt at the tests of a file."""

    def __init__(
        self,
        file: LoadedFile,
        outcome: FileOutcome,
        resolver: ServerResolver,
        options: RunOptions,
        here: Environment | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._file = file
        self._outcome = outcome
        self._resolver = resolver
        self._options = options
        self._here = here or current_environment()
        self._clock: Clock = clock or SystemClock()
        self._bus = Bus(self._clock)
        self._sessions = Sessions(file.path, resolver, self._bus, self._clock)
        self._sender = Sender(self._bus, self._clock)
        self._saved: dict[str, Any] = {}
        self._snapshots: Snapshots | None = None

    def __repr__(self) -> str:
        return f"<FileRun of {self._file.shown}, attempt {self._outcome.attempt}>"

    async def run(self) -> None:
        """Run all steps; every server has ended afterwards, and the trace is complete."""
        begun = self._clock.monotonic()
        await self.open()
        try:
            for step, outcome in zip(self._file.steps, self._outcome.steps, strict=True):
                await self.run_step(step, outcome)
        finally:
            await self.close()
            self._outcome.elapsed_s = self._clock.monotonic() - begun

    # -- recording -------------------------------------------------------------------------------

    async def open(self) -> None:
        """Begin to record."""
        outcome, options = self._outcome, self._options
        outcome.run_id = self._bus.run_id
        outcome.trace = self._trace_path()
        self._recorder: Recorder | None = None
        if options.record is None and outcome.trace is None:
            return
        try:
            keys = self._resolver.secret_keys(self._file.content.servers)
        except InspectorError as problem:
            outcome.notes.append(f"not recorded, since secret keys cannot be read: {problem}")
            outcome.trace = None
            return
        self._recorder = Recorder(
            self._bus,
            options.record,
            trace=outcome.trace,
            secret_keys=keys,
            title=f"test {os.path.basename(self._file.path)}",
            version=VERSION,
            warn=outcome.notes.append,
        )
        shown = outcome.trace or self._bus.run_id[:8]
        outcome.open_command = f"mcplens web --show {shlex.quote(shown)}"

    def _trace_path(self) -> str | None:
        folder, outcome = self._options.trace_dir, self._outcome
        if folder is None:
            return None
        os.makedirs(folder, exist_ok=True)
        parts = os.path.relpath(self._file.path).removesuffix(".mcp.yaml").split(os.sep)
        name = "__".join(part for part in parts if part != os.pardir)
        if os.pardir in parts or any("__" in part for part in parts):
            name += f"-{digest_of(self._file.path)[:8]}"  # another file may have the same
        again = f".{outcome.attempt}" if outcome.attempt > 1 else ""
        worker = f".{self._options.worker}" if self._options.worker else ""
        return os.path.join(folder, f"{name}{worker}{again}.jsonl")

    async def close(self) -> None:
        """End the servers, the recording, and write the snapshots."""
        try:
            await self._sessions.close()
        finally:
            self._bus.close()
            if self._recorder is not None:
                await self._recorder.aclose()
        if self._snapshots is not None and self._options.updates:
            names = [step.name for step in self._file.content.steps]
            try:
                self._snapshots.write(None if self._options.is_partial else names)
            except InspectorError as problem:
                updated = [step for step in self._outcome.steps if step.is_updated]
                for step in updated:
                    step.is_updated, step.status = False, "failed"
                    step.problems = [f"its snapshot was not written: {problem.message}"]
                self._outcome.notes += [] if updated else [problem.message]

    # -- one step --------------------------------------------------------------------------------

    async def run_step(self, step: TestStep, outcome: StepOutcome) -> None:
        """Run one step; nothing that a server does is raised."""
        missing = self._missing(step)
        if missing is not None:
            outcome.status, outcome.reason = "skipped", missing
            return
        outcome.status = "running"
        seen, masker = Observation(step.kind), ValueMasker()
        after = self._bus.last_seq
        server_id = ""
        try:
            target, arguments, expect = self._filled(step)
            masker = ValueMasker(self._resolver.secret_keys([step.server]))
            session = await self._sessions.session(step.server)
            server_id, masker = session.client.server_id, session.masker
            self._sessions.choose_profile(session, step, self._file.content.profiles)
            if step.kind == "call" and (expect or {}).get("valid"):
                await session.know_schemas()
            timeout_s = self._timeout_s(step)
            after = self._bus.last_seq
            await self._sender.send(session.client, step, target, arguments, timeout_s, seen)
            seen.take(self._bus, server_id, after)
            masker.learn(seen.result)
            found = problems(expect, seen, masker)
            found = found or self._save(step, seen) or self._compare(step, seen, masker, outcome)
        except PlaceholderProblem as problem:
            found = [problem.text]
        except Exception as problem:
            error = classify(problem)
            found = [f"{error.code}: {masker.text(error.message)}"]
            seen.take(self._bus, server_id or self._last_server(after), after)
        outcome.elapsed_s = seen.elapsed_s
        outcome.problems = found
        outcome.status = "failed" if found else "passed"
        if found:
            outcome.frames, outcome.stderr = seen.frames(masker), seen.stderr(masker)

    def _last_server(self, after: int) -> str:
        """The server that a step tried to connect to."""
        return next((event.server_id for event in self._bus.since(after) if event.server_id), "")

    def _timeout_s(self, step: TestStep) -> float:
        if step.timeout_ms is None:
            return self._options.timeout_s
        return step.timeout_ms / 1000 or float("inf")

    def _missing(self, step: TestStep) -> str | None:
        """A variable that a step before did not save."""
        for one in self._file.content.steps[: step.index]:
            for name in one.save:
                if name in step.variables and name not in self._saved:
                    return f"needs ${{{name}}}, which {one.name!r} did not save"
        return None

    def _filled(self, step: TestStep) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
        def lookup(name: str) -> Any:
            if name in self._saved:
                return self._saved[name]
            value = self._here.variable(name)
            if value is not None and is_secret_option(name):
                known_secrets.learn(value)
            return value

        expect = dict(step.expect) if step.expect is not None else None
        target, arguments = fill_in([step.target, step.arguments], lookup)
        for key, wanted in (expect or {}).items():
            if key != "schema" and any(variables_in(wanted)):
                assert expect is not None
                expect[key] = fill_in(wanted, lookup)
        return str(target), arguments, expect

    def _save(self, step: TestStep, seen: Observation) -> list[str]:
        for name, path in step.save.items():
            try:
                values = values_at(path, seen.result)
            except JsonPathProblem as problem:
                return [f"save {name}: {problem}"]
            if not values or values[0] is None:
                return [f"save {name}: nothing is at {path}"]
            self._saved[name] = values[0]
        return []

    def _compare(
        self, step: TestStep, seen: Observation, masker: ValueMasker, outcome: StepOutcome
    ) -> list[str]:
        """Compare with the snapshot, or write it."""
        wanted = (step.expect or {}).get("snapshot", False)
        if wanted is False:
            return []
        if self._snapshots is None:
            self._snapshots = Snapshots(self._file.path)
        given = wanted.get("ignore", []) if isinstance(wanted, dict) else []
        value = comparable(seen.result, masker, given if isinstance(given, list) else [given])
        if self._options.updates:
            outcome.is_updated = self._snapshots.put(step.name, value)
            return []
        if step.name not in self._snapshots:
            path = os.path.relpath(self._snapshots.path)
            return [f"{path} has no snapshot of this test; write it with --update"]
        found = differences(self._snapshots.get(step.name), value, ("snapshot",), is_exact=True)
        return [one.told(masker) for one in found]
