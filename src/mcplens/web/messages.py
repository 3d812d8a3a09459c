"""Messages to the page over its WebSocket: replies, changes and events, as one tagged union.

Commands (the other direction) and the views that are carried here are in api/; `typescript.py`
writes all of them as types for the page.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from mcplens.web.api.answer_settings import ProfileView
from mcplens.web.api.calls import CallView
from mcplens.web.api.collection_runs import CollectionRunView
from mcplens.web.api.errors import ErrorView
from mcplens.web.api.events import EventView
from mcplens.web.api.gateway import GatewayView
from mcplens.web.api.questions import QuestionView
from mcplens.web.api.runs import RunInfoView
from mcplens.web.api.servers import ServerView
from mcplens.web.api.settings import SettingView
from mcplens.web.api.tasks import TaskView
from mcplens.workspace.workspace import ObjectKind


class _Message(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    """Base of all messages to the page."""


class Hello(_Message, frozen=True, kw_only=True):
    """A snapshot of the current state; answers Resume. Events after `after_seq` follow.

    `seq` is the newest event. `is_resumed` is False for a page of another run.
    """

    id: int
    run_id: str
    version: str
    seq: int
    after_seq: int
    is_resumed: bool
    recording_problem: str | None
    first_server_id: str | None
    servers: list[ServerView]
    calls: list[CallView]
    questions: list[QuestionView]
    tasks: list[TaskView]
    profiles: list[ProfileView]
    settings: list[SettingView]
    collection_runs: list[CollectionRunView]
    runs: list[RunInfoView]
    gateway: GatewayView


class CommandReply(_Message, frozen=True):
    """The answer to a command; its value is what the command's function returns."""

    id: int
    value: Any


class Failure(_Message, frozen=True):
    """A command that could not be carried out."""

    id: int
    error: ErrorView


class Events(_Message, frozen=True):
    """Events, in order, collected over a few milliseconds."""

    first_seq: int
    last_seq: int
    events: list[Raw]


class Missed(_Message, frozen=True):
    """This page was too slow for these events; the recording has them."""

    first_seq: int
    last_seq: int


class Changed(_Message, frozen=True):
    """The latest view of one object; `value` is None for one that is gone.

    `what` says which: ServerView, CallView, QuestionView, TaskView, ListSummary, SettingView,
    RecordingView, CollectionRunView, RunInfoView (of another process), GatewayView. `key` is its id
    (for lists, the kind; for the recording and the gateway, nothing).
    """

    what: ObjectKind
    key: str
    server_id: str
    value: Any


AnyMessage = Hello | CommandReply | Failure | Events | Missed | Changed

# Exact types of fields that are declared more loosely here, for the types of the page.
TYPED_FIELDS = {(Events, "events"): list[EventView]}
