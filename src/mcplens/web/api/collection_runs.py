"""Runs of collections, and the values of the variables that they need."""

from __future__ import annotations

import msgspec

from mcplens.errors import InspectorError
from mcplens.store.lenient_json import to_json
from mcplens.web.api.collections import VariableView, on_thread, variable_view
from mcplens.web.registry import Command, command, latest_view
from mcplens.workspace.collection_runs import CollectionRun, RowStatus
from mcplens.workspace.saved_calls import SavedCalls
from mcplens.workspace.workspace import Workspace


class RunPlanView(msgspec.Struct, frozen=True):
    """What must be settled before a run, in this order; empty if it can start."""

    needs_confirmation: bool
    unset: list[VariableView]
    changing: list[str]


class RunRowView(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a run; `text` is the beginning of its result, or what went wrong."""

    index: int
    name: str
    server_id: str | None
    target: str
    status: RowStatus
    call_id: str | None
    elapsed_s: float | None
    size_bytes: int
    text: str


class CollectionRunView(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a collection; `elapsed_s` is None while it runs."""

    collection_run_id: str
    key: str
    digest: str
    started: float
    elapsed_s: float | None
    is_stopping: bool
    rows: list[RunRowView]


def collection_run_view(run: CollectionRun) -> CollectionRunView:
    return CollectionRunView(
        collection_run_id=run.identity,
        key=run.key,
        digest=run.digest,
        started=run.started,
        elapsed_s=run.elapsed_s,
        is_stopping=run.is_stopping,
        rows=[
            RunRowView(
                index=row.step.index,
                name=row.step.name,
                server_id=row.step.server,
                target=row.step.target,
                status=row.status,
                call_id=row.call_id,
                elapsed_s=row.elapsed_s,
                size_bytes=row.size_bytes,
                text=row.text,
            )
            for row in run.rows
        ],
    )


@latest_view("collection_runs")
def latest_run(workspace: Workspace, key: str) -> CollectionRunView | None:
    run = workspace.collection_runs.get(key)
    return None if run is None else collection_run_view(run)


class SetVariables(Command, frozen=True, kw_only=True):
    """Values that were typed, kept in memory until mcplens ends; null forgets one."""

    values: dict[str, str | None]


@command
async def set_variables(workspace: Workspace, command: SetVariables) -> None:
    for name, value in command.values.items():
        workspace.saved_calls.type_in(name, value)


class FillSavedCall(Command, frozen=True, kw_only=True):
    """The arguments of a saved call with its variables filled in, as JSON text, for a form.

    A failure with `details.variable` says that this one is not set."""

    key: str
    digest: str
    index: int


@command
async def fill(workspace: Workspace, command: FillSavedCall) -> str:
    def filled(saved: SavedCalls) -> str:
        content = saved.content(command.key, command.digest)
        if not saved.folder.is_confirmed(content.digest):
            text = f"{content.file.name} came from elsewhere: confirm it under Collections first"
            raise InspectorError("INVALID_REQUEST", text)
        return to_json(saved.filled(saved.step(content, command.index))[1]).decode()

    return await on_thread(workspace, filled)


class PlanRun(Command, frozen=True, kw_only=True):
    """What must be settled before these steps can be run (null: all of them). Connects their
    servers, if nothing else is left to ask."""

    key: str
    digest: str
    steps: list[int] | None = None


@command
async def plan_run(workspace: Workspace, command: PlanRun) -> RunPlanView:
    content = await on_thread(workspace, lambda saved: saved.content(command.key, command.digest))
    plan = await workspace.collection_runs.plan(content, command.steps)
    return RunPlanView(
        plan.needs_confirmation, [variable_view(one) for one in plan.unset], plan.changing
    )


class RunCollection(Command, frozen=True, kw_only=True):
    """Run steps one after the other (null: all of them); the reply comes when it has started."""

    key: str
    digest: str
    steps: list[int] | None = None
    may_change: bool = False
    stops_at_failure: bool = False


@command
async def run(workspace: Workspace, command: RunCollection) -> CollectionRunView:
    content = await on_thread(workspace, lambda saved: saved.content(command.key, command.digest))
    started = await workspace.collection_runs.start(
        content,
        command.steps,
        may_change=command.may_change,
        stops_at_failure=command.stops_at_failure,
    )
    return collection_run_view(started)


class StopRun(Command, frozen=True, kw_only=True):
    """Start no more steps of a run; with `cancel`, the one that runs is cancelled too."""

    collection_run_id: str
    cancel: bool = False


@command
async def stop_run(workspace: Workspace, command: StopRun) -> CollectionRunView:
    stopped = workspace.collection_runs.stop(command.collection_run_id, cancel=command.cancel)
    return collection_run_view(stopped)
