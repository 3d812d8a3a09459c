"""Approval of what the gateway publishes: what waits with its changes, and the approval.

Of each definition the digest that was shown comes back with the approval, so that nothing is
approved that a person has not seen.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from mcplens.contracts.change_rules import ChangeClass
from mcplens.errors import InspectorError
from mcplens.gateway.approvals import Approvals
from mcplens.gateway.pinned_definitions import WORDS, PinnedDefinition, Subject, changes_between
from mcplens.web.api.gateway import running_gateway
from mcplens.web.registry import Command, command
from mcplens.workspace.workspace import Workspace

# As many as a person reads; the others follow when these are approved.
_MOST_SHOWN: Final = 200
# Of a definition, so much is shown.
_MOST_TEXT: Final = 200_000


class ChangeView(msgspec.Struct, frozen=True):
    """One change of a definition, by a rule of `mcplens diff`."""

    change_class: ChangeClass
    rule: str
    pointer: str
    message: str


class WaitingView(msgspec.Struct, frozen=True):
    """A definition that waits for approval; `before` is null if it is new.

    `kind` is the name of its list, `word` what one of them is called. `before` and `after` are JSON
    with secrets masked. One that `is_held` is not published.
    """

    view: str
    kind: str
    server_id: str
    name: str
    sha256: str
    word: str
    is_held: bool
    changes: list[ChangeView]
    before: str | None
    after: str


class ApprovalView(msgspec.Struct, frozen=True):
    """What waits for approval, the first of it; `count` counts all.

    `problem` says why approvals cannot be read or kept.
    """

    count: int
    problem: str | None
    waiting: list[WaitingView]


class WaitingDefinitions(Command, frozen=True, kw_only=True):
    """What the views publish that nobody has approved as it is."""


class ChosenDefinition(msgspec.Struct, frozen=True):
    """A definition as the page showed it."""

    view: str
    kind: str
    server_id: str
    name: str
    sha256: str


class ApproveDefinitions(Command, frozen=True, kw_only=True):
    """Approve these definitions as they were shown; one that changed meanwhile still waits."""

    chosen: list[ChosenDefinition]


@command
async def waiting_definitions(workspace: Workspace, command: WaitingDefinitions) -> ApprovalView:
    return _view(_approvals(workspace))


@command
async def approve_definitions(workspace: Workspace, command: ApproveDefinitions) -> ApprovalView:
    approvals = _approvals(workspace)
    chosen = [
        (Subject(one.view, one.kind, one.server_id, one.name), one.sha256) for one in command.chosen
    ]
    if await approvals.approve(chosen, "web UI") < len(set(chosen)):
        raise InspectorError("INVALID_REQUEST", "some definitions changed meanwhile: look again")
    return _view(approvals)


def _approvals(workspace: Workspace) -> Approvals:
    return running_gateway(workspace).approvals


def _view(approvals: Approvals) -> ApprovalView:
    waiting = list(approvals.waiting.values())
    shown = [_waiting(approvals, one) for one in waiting[:_MOST_SHOWN]]
    return ApprovalView(len(waiting), approvals.problem, shown)


def _waiting(approvals: Approvals, one: PinnedDefinition) -> WaitingView:
    before = approvals.approved(one.subject)
    changes = [
        ChangeView(each.change_class, each.rule, each.pointer, each.message)
        for each in changes_between(before, one)
    ]
    return WaitingView(
        *one.subject,
        one.sha256,
        WORDS[one.kind],
        approvals.is_held(one.view),
        changes,
        None if before is None else _text(before.definition),
        _text(one.definition),
    )


def _text(definition: Any) -> str:
    return json.dumps(definition, indent=2, ensure_ascii=False)[:_MOST_TEXT]
