"""Recorded runs as sessions: who spoke with whom, what waits for an answer, and whether it is live.

A run that another mcplens records is pushed to the page whenever it has new events; what is read of
any other run is read when it is asked for.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.errors import InspectorError
from mcplens.protocol.frames import RequestId
from mcplens.store.filters import Filter
from mcplens.store.history import History, RunSummary
from mcplens.store.run_facts import RunFacts
from mcplens.web.api.events import RunView
from mcplens.web.recording_queries import read, run_view
from mcplens.web.registry import Command, command, latest_view
from mcplens.web.safe_json import json_safe
from mcplens.workspace.other_runs import OtherRun
from mcplens.workspace.workspace import Workspace


class SideView(msgspec.Struct, frozen=True):
    """How a client or a server described itself; `info` has its name and version."""

    info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None


class WaitingRequestView(msgspec.Struct, frozen=True):
    """A request that got no answer (yet); `is_question` if the server asked it."""

    seq: int
    wall: float
    server_id: str
    method: str
    request_id: RequestId | None
    is_question: bool


class RunInfoView(msgspec.Struct, frozen=True):
    """One run, and what its events say about its session.

    `problem_count` counts messages that are malformed or answer no request. `client` is null for a
    run of mcplens itself.
    """

    run: RunView
    client: SideView | None
    server: SideView | None
    era: str | None
    protocol_version: str | None
    message_count: int
    problem_count: int
    waiting: list[WaitingRequestView]


@latest_view("runs")
def latest_run(workspace: Workspace, key: str) -> RunInfoView | None:
    found = workspace.other_runs.get(key)
    return None if found is None else other_run_view(found)


def other_run_view(run: OtherRun) -> RunInfoView:
    return _view(run.summary, run.facts, is_live=run.is_live)


def _view(summary: RunSummary, facts: RunFacts, *, is_live: bool) -> RunInfoView:
    client, server, era = facts.client, facts.server, facts.era
    return RunInfoView(
        run_view(summary, is_live=is_live, client=facts.client, facts=facts),
        None if client is None else _side(client.client_info, client.capabilities),
        None
        if server is None
        else _side(server.server_info, server.capabilities, server.instructions),
        None if era is None else era.era,
        None if era is None else era.protocol_version,
        facts.message_count,
        facts.problem_count,
        [WaitingRequestView(*msgspec.structs.astuple(one)) for one in facts.waiting],
    )


def _side(
    info: dict[str, Any], capabilities: dict[str, Any], instructions: str | None = None
) -> SideView:
    return SideView(json_safe(info), json_safe(capabilities), json_safe(instructions))


class RunInfo(Command, frozen=True, kw_only=True):
    """What a run says about its session."""

    run_id: str


@command
async def show_run(workspace: Workspace, command: RunInfo) -> RunInfoView:
    known = workspace.other_runs.get(command.run_id)
    if known is not None and known.is_live:
        return other_run_view(known)

    def look(history: History) -> RunInfoView:
        summary = history.run(command.run_id)
        if summary is None:
            raise InspectorError("INVALID_REQUEST", f"the run {command.run_id} is not recorded")
        facts = RunFacts(summary.run_id)
        for _, row in history.scan(Filter(run_id=summary.run_id)):
            facts.add(row)
        return _view(summary, facts, is_live=False)

    return await read(workspace, look)
