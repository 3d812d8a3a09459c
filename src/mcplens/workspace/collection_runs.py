"""Runs of collections: the saved calls of one file, one after the other, across servers.

Before anything is sent, all that can stop a run is known: a file that was not confirmed, a variable
without a value, tools that may change something. Each step is an ordinary call, with its traffic
and its questions. Called by the web UI.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from mcplens.background import Background
from mcplens.collections.folder import Content
from mcplens.collections.model import Step
from mcplens.errors import CancelledRequest, InspectorError, short_text
from mcplens.protocol.frames import decode_value
from mcplens.protocol.lifecycle import ConnectionState
from mcplens.protocol.result_types import Tool
from mcplens.workspace import call_specs as specs
from mcplens.workspace.calls import Call
from mcplens.workspace.saved_calls import SavedCalls, Variable

if TYPE_CHECKING:
    from mcplens.workspace.server import Server
    from mcplens.workspace.workspace import Workspace

RowStatus = Literal["waiting", "running", "done", "error", "cancelled", "skipped"]
# Runs that are kept; the recording has what they sent.
_MOST_KEPT: Final = 20
# Methods that only read, for steps with `request`.
_READING: Final = frozenset(
    {
        "ping", "tools/list", "resources/list", "resources/templates/list", "resources/read",
        "prompts/list", "prompts/get", "completion/complete", "tasks/list", "tasks/get",
    }
)  # fmt: skip


class RunPlan(msgspec.Struct, frozen=True):
    """What must be settled before a run: asked in this order, since connecting starts programs."""

    needs_confirmation: bool = False
    unset: list[Variable] = []
    changing: list[str] = []  # what may change something, as `tool on server`


class Row:
    """One step of a run."""

    def __init__(self, step: Step, position: int) -> None:
        self.step = step
        self.position = position
        self.status: RowStatus = "waiting"
        self.call_id: str | None = None
        self.elapsed_s: float | None = None
        self.size_bytes = 0
        self.text = ""  # the beginning of the result, or what went wrong

    def __repr__(self) -> str:
        return f"<Row {self.step.name!r} {self.status}>"


class CollectionRun:
    """The steps of one run, and where it stands."""

    def __init__(self, identity: str, content: Content, steps: list[Step], started: float) -> None:
        self.identity = identity
        self.key = content.file.key
        self.digest = content.digest
        self.started = started
        self.elapsed_s: float | None = None
        self.rows = [Row(step, at) for at, step in enumerate(steps)]
        self.is_stopping = False
        self.stops_at_failure = False

    def __repr__(self) -> str:
        done = sum(row.status not in ("waiting", "running") for row in self.rows)
        return f"<CollectionRun {self.identity} of {self.key}, {done} of {len(self.rows)}>"

    @property
    def is_running(self) -> bool:
        return self.elapsed_s is None


class CollectionRuns:
    """The latest runs of a workspace."""

    def __init__(self, workspace: Workspace, saved: SavedCalls) -> None:
        self._workspace = workspace
        self._saved = saved
        self._runs: dict[str, CollectionRun] = {}
        self._next = 0
        self._background = Background()

    def __repr__(self) -> str:
        return f"<CollectionRuns {len(self._runs)} kept, {len(self._background)} running>"

    def __iter__(self) -> Any:
        return iter(list(self._runs.values()))

    def get(self, identity: str) -> CollectionRun | None:
        return self._runs.get(identity)

    async def end(self) -> None:
        await self._background.end()

    # -- before a run --------------------------------------------------------------------------

    async def plan(self, content: Content, indexes: Iterable[int] | None) -> RunPlan:
        """What must be settled first; connects the servers if nothing else is left to ask."""
        steps = chosen_steps(content, indexes)
        if not await asyncio.to_thread(self._saved.folder.is_confirmed, content.digest):
            return RunPlan(needs_confirmation=True)
        names = dict.fromkeys(name for step in steps for name in step.variables)
        servers = {step.server for step in steps if step.server is not None}
        variables = [self._saved.variable(name, servers) for name in names]
        unset = [variable for variable in variables if variable.source is None]
        if unset:
            return RunPlan(unset=unset)
        changing: dict[str, None] = {}
        for step in steps:
            if step.problem is None and await self._may_change(step):
                changing[f"{step.target} on {step.server}"] = None
        return RunPlan(changing=list(changing))

    async def _may_change(self, step: Step) -> bool:
        if step.kind != "call":
            return may_change(step, ())
        try:
            server = await self._connected(step)
            await server.fetch_list("tools", refresh=False, one_page=False).ended()
            tools = server.ready().catalog.tools_named(self._saved.filled(step)[0])
        except InspectorError:
            return True  # nothing is known of it; its row will say why
        return may_change(step, tools)

    # -- a run ---------------------------------------------------------------------------------

    async def start(
        self,
        content: Content,
        indexes: Iterable[int] | None,
        *,
        may_change: bool,
        stops_at_failure: bool,
    ) -> CollectionRun:
        """Start a run in the background.

        Raises:
            InspectorError: something must be settled first, or a run of this file is under way.
        """
        steps = chosen_steps(content, indexes)
        plan = await self.plan(content, [step.index for step in steps])
        if plan.needs_confirmation:
            raise InspectorError("INVALID_REQUEST", "this file must be confirmed first")
        if plan.unset:
            names = ", ".join(variable.name for variable in plan.unset)
            raise InspectorError("INVALID_REQUEST", f"these variables are not set: {names}")
        if plan.changing and not may_change:
            text = f"these may change something: {', '.join(plan.changing)}"
            raise InspectorError("INVALID_REQUEST", text)
        if any(run.is_running and run.key == content.file.key for run in self._runs.values()):
            raise InspectorError("INVALID_REQUEST", f"{content.file.name} is running already")
        # All of them now: nothing is sent if one of them cannot be.
        filled = {step.index: self._saved.filled(step) for step in steps if step.problem is None}
        self._next += 1
        run = CollectionRun(str(self._next), content, steps, self._workspace.clock.wall())
        run.stops_at_failure = stops_at_failure
        self._runs[run.identity] = run
        for old in list(self._runs)[:-_MOST_KEPT]:
            if not self._runs[old].is_running:
                self._drop(old)
        self._background.start(self._run(run, filled), f"run {content.file.key}")
        self._changed(run)
        return run

    def stop(self, identity: str, *, cancel: bool) -> CollectionRun:
        """Start no more steps; with `cancel`, the one that runs is cancelled too.

        Raises:
            InspectorError: there is no such run.
        """
        run = self._runs.get(identity)
        if run is None:
            raise InspectorError("INVALID_REQUEST", "this run is no longer kept")
        run.is_stopping = True
        for row in run.rows:
            if cancel and row.status == "running" and row.call_id is not None:
                self._workspace.calls.cancel(row.call_id)
                self._workspace.answers.withdraw(row.call_id)
        self._changed(run)
        return run

    async def _run(self, run: CollectionRun, filled: dict[int, tuple[str, dict[str, Any]]]) -> None:
        clock = self._workspace.clock
        begun = clock.monotonic()
        try:
            for row in run.rows:
                is_over = run.is_stopping or (
                    run.stops_at_failure and any(one.status == "error" for one in run.rows)
                )
                if is_over:
                    row.status = "skipped"
                elif row.step.problem is not None:
                    row.status, row.text = "error", row.step.problem
                else:
                    await self._run_row(run, row, *filled[row.step.index])
        finally:
            for row in run.rows:
                if row.status in ("waiting", "running"):
                    row.status = "skipped" if row.status == "waiting" else "cancelled"
            run.elapsed_s = clock.monotonic() - begun
            self._changed(run)

    async def _run_row(
        self, run: CollectionRun, row: Row, target: str, arguments: dict[str, Any]
    ) -> None:
        from mcplens.workspace.call_execution import start_call

        row.status = "running"
        self._changed(run)
        try:
            server = await self._connected(row.step, lambda: run.is_stopping)
            spec = _spec(server, row.step, target, arguments)
            call = start_call(self._workspace, spec)
        except InspectorError as error:
            row.status = "cancelled" if error.category == "cancelled" else "error"
            row.text = short_text(error.message)
            self._changed(run)
            return
        row.call_id = call.call_id
        self._changed(run)
        assert call.running is not None
        try:
            await asyncio.wait([call.running])
        except asyncio.CancelledError:
            self._workspace.calls.cancel(call.call_id)
            raise
        _take(row, call)
        self._changed(run)

    async def _connected(self, step: Step, is_stopped: Callable[[], bool] = bool) -> Server:
        """The server of a step, connected if it is not.

        Raises:
            InspectorError: there is none, it must be confirmed, or it cannot be reached.
        """
        workspace = self._workspace
        name = step.server or ""
        if name not in workspace.servers:
            text = f"there is no server {name!r}: add one of this name, or edit the call"
            raise InspectorError("INVALID_REQUEST", text)
        server = workspace.find(name)
        if server.state is ConnectionState.CONNECTED:
            return server
        told = asyncio.Event()
        stop = workspace.listen(lambda what, key, server_id: told.set())
        try:
            server = workspace.connect(name)
            await server.begun()
            while server.state is not ConnectionState.CONNECTED:
                if is_stopped():
                    raise CancelledRequest("stopped")
                workspace.bus_reader.catch_up()
                _check_trying(server)
                told.clear()
                await told.wait()
        finally:
            stop()
        workspace.bus_reader.catch_up()
        return server

    def _changed(self, run: CollectionRun) -> None:
        self._workspace.changed("collection_runs", run.identity)

    def _drop(self, identity: str) -> None:
        del self._runs[identity]
        self._workspace.changed("collection_runs", identity)


def may_change(step: Step, tools: Sequence[Tool]) -> bool:
    """Whether a step may change something: the tools of its name are not marked as read-only."""
    if step.kind == "request":
        return step.target not in _READING
    if step.kind != "call":
        return False
    marks = [isinstance(tool.annotations, dict) and tool.annotations for tool in tools]
    return not marks or any(not mark or mark.get("readOnlyHint") is not True for mark in marks)


def chosen_steps(content: Content, indexes: Iterable[int] | None) -> list[Step]:
    if content.problem is not None:
        text = f"{content.file.path} is not a collection: {content.problem}"
        raise InspectorError("INVALID_REQUEST", text)
    steps = content.collection.steps
    wanted = None if indexes is None else set(indexes)
    found = [step for step in steps if wanted is None or step.index in wanted]
    if not found:
        raise InspectorError("INVALID_REQUEST", f"{content.file.name} has no calls to run")
    return found


def _check_trying(server: Server) -> None:
    is_over = server.state is ConnectionState.DISCONNECTED or (
        server.state is ConnectionState.ERROR and server.live.attempt is None
    )
    if is_over and server.live.error is not None:
        reason = str(server.live.error.get("message", ""))
        text = f"{server.server_id} is not connected: {reason}"
        raise InspectorError("NOT_CONNECTED", text, details={"server_id": server.server_id})
    if is_over:
        raise InspectorError("NOT_CONNECTED", f"{server.server_id} is not connected")


def _spec(server: Server, step: Step, target: str, arguments: dict[str, Any]) -> specs.CallSpec:
    server_id = server.server_id
    if step.kind == "read":
        return specs.ResourceRead(server_id=server_id, uri=target)
    if step.kind == "prompt":
        return specs.PromptGet(server_id=server_id, name=target, arguments=texts_of(arguments))
    data = msgspec.json.encode(arguments)
    if step.kind == "request":
        return specs.MethodRequest(server_id=server_id, method=target, params=data)
    tool = server.ready().catalog.tool(target)
    support = "" if tool is None else str((tool.execution or {}).get("taskSupport"))
    return specs.ToolCall(
        server_id=server_id,
        name=target,
        arguments=data,
        as_task=support == "required",
        send_anyway=True,  # bad arguments may be what it is kept for
    )


def texts_of(arguments: dict[str, Any]) -> dict[str, str]:
    """The arguments of a prompt, which are texts."""
    return {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in arguments.items()
    }


def _take(row: Row, call: Call) -> None:
    """Keep how a call ended; the call itself may be dropped later."""
    row.elapsed_s, row.size_bytes = call.elapsed_s, call.size_bytes
    if call.error is not None:
        row.status = "cancelled" if call.status == "cancelled" else "error"
        row.text = short_text(call.error.message)
        return
    outcome = call.outcome
    row.status = "error" if outcome is not None and outcome.is_error else "done"
    if outcome is not None and outcome.raw is not None:
        row.text = short_text(result_text(outcome.raw))


# A preview of one line.
_PREVIEW_BYTES: Final = 64 * 1024


def result_text(raw: bytes) -> str:
    """The beginning of a result for a line of a table: its text, else its JSON."""
    if len(raw) > _PREVIEW_BYTES:
        return raw[:300].decode("utf-8", "replace")
    try:
        value = decode_value(msgspec.Raw(raw))[0]
    except ValueError:
        return raw[:300].decode("utf-8", "replace")
    for block in _blocks(value):
        content = block.get("content")
        nested = content if isinstance(content, dict) else block
        text = nested.get("text")
        if isinstance(text, str) and text.strip():
            return " ".join(text.split())[:300]
    return raw[:300].decode("utf-8", "replace")


def _blocks(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        return []
    for key in ("content", "contents", "messages"):
        found = value.get(key)
        if isinstance(found, list):
            return [block for block in found if isinstance(block, dict)]
    return []
