"""Why a server does not work: the checks of the doctor, for the page."""

from __future__ import annotations

from typing import Literal

import msgspec

from mcplens.bus import Bus
from mcplens.clock import SystemClock
from mcplens.doctor.checks import Check, Diagnosis, Examined
from mcplens.doctor.examination import Examination, misconfigured
from mcplens.web.api.server_entries import reached_by
from mcplens.web.registry import Command, command
from mcplens.web.safe_json import json_safe
from mcplens.workspace.server import Server
from mcplens.workspace.workspace import Workspace


class CheckView(msgspec.Struct, frozen=True):
    """One check: what was tried, what came, how long it took, and output that shows it."""

    name: str
    title: str
    state: Literal["ok", "warning", "failed"]
    tried: str
    came: str
    elapsed_s: float | None
    lines: list[str]


class DiagnosisView(msgspec.Struct, frozen=True):
    """The checks in the order in which things fail, one sentence, and one command."""

    server_id: str
    is_healthy: bool
    checks: list[CheckView]
    conclusion: str
    command: str


class Examine(Command, frozen=True, kw_only=True):
    """Check a server step by step, over a connection of its own that is not recorded."""

    server_id: str


@command
async def examine(workspace: Workspace, command: Examine) -> DiagnosisView:
    server = workspace.find(command.server_id)
    workspace.check_confirmed(server)
    if server.entry.problem is not None:
        return _view(server, misconfigured(server.server_id, server.entry.problem))
    target, options = server.made_of(server.entry, workspace.config_files.configuration.settings)
    options = {name: value for name, value in options.items() if name != "retry"}
    shown = reached_by(server.entry)
    path = server.entry.source.path or None
    examined = Examined(server.server_id, target, options, shown, server.server_id, path)
    clock = SystemClock()
    bus = Bus(clock)
    try:
        return _view(server, await Examination(examined, bus=bus, clock=clock).run())
    finally:
        bus.close()


def _view(server: Server, diagnosis: Diagnosis) -> DiagnosisView:
    return DiagnosisView(
        server.server_id,
        diagnosis.is_healthy,
        [_check_view(check) for check in diagnosis.checks],
        diagnosis.conclusion,
        diagnosis.command,
    )


def _check_view(check: Check) -> CheckView:
    tried, came, lines = json_safe([check.tried, check.came, list(check.lines)])
    return CheckView(check.name, check.title, check.state, tried, came, check.elapsed_s, lines)
