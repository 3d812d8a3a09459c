"""The server's side: its questions, tasks of both roles, and who may answer."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw

from mcplens.protocol.frames import RequestId


class LinkView(msgspec.Struct, frozen=True):
    """A URL that a person is asked to open: where a browser would really go, and what is odd.

    One that is not `is_openable` must not be handed to a browser.
    """

    url: str
    host: str
    warnings: list[str]
    is_openable: bool


class QuestionView(msgspec.Struct, frozen=True, kw_only=True):
    """What a server asks or asked: it waits, or `is_done` with an `outcome`.

    `server_name` is the server's own word, `server_id` the user's. `number` of `count` is its
    place among those that wait for the same call. `origin` says how it came: as a `request`, as a
    `task` that we hold, as `input_required` (in round `round` of `most_rounds`), or with the
    `error` -32042. `answering_by` is a profile that is at work on it.
    """

    question_id: str
    server_id: str
    server_name: str | None
    method: str
    mode: str | None
    params: Raw
    request_id: RequestId | None
    caused_by: RequestId | None
    call_id: str | None
    number: int
    count: int
    origin: str
    round: int | None
    most_rounds: int | None
    task_id: str | None
    link: LinkView | None
    opened: float
    deadline: float | None
    profile: str | None
    answering_by: str | None
    answered_by: str | None
    is_done: bool
    outcome: str | None


class TaskView(msgspec.Struct, frozen=True, kw_only=True):
    """A task: one that the server runs for us (`client`), or one that we hold (`receiver`).

    `expires` is when it is forgotten (null: never), `request_id` what became this task, and
    `question_id` what it waits for. `is_gone` says that it is no longer followed. `created` is by
    the clock of whoever runs it, `started` by that of this machine, if it saw the beginning.
    """

    task_id: str
    server_id: str
    role: Literal["client", "receiver"]
    method: str
    status: str
    message: str | None
    created: float
    started: float
    updated: float
    expires: float | None
    poll_interval_s: float | None
    request_id: RequestId | None
    call_id: str | None
    question_id: str | None
    task: dict[str, Any]
    is_over: bool
    is_gone: bool


class ProfileView(msgspec.Struct, frozen=True):
    """A named way to answer without a person; `problem` says why it cannot be used."""

    name: str
    kind: str
    is_built_in: bool
    problem: str | None
