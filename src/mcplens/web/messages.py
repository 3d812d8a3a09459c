"""What goes over the WebSocket to the page: replies, changes and events, as one tagged union.

Values only. Commands (the other direction) are in commands/, the views that are carried here in
views/; `typescript.py` writes all of them as types for the page.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from mcplens.web import commands, views
from mcplens.web.views import (
    CallView,
    ErrorView,
    EventView,
    ListSummary,
    ProfileView,
    QuestionView,
    RecordingView,
    ServerView,
    SettingView,
    TaskView,
    Thing,
)


class _Message(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    """What every message to the page is."""


class Hello(_Message, frozen=True, kw_only=True):
    """All that is there now; answers Resume. Events after the place that it resumes from follow.

    `seq` is the newest event, `after_seq` where the events that follow begin. `is_resumed` is
    False for a page of another run.
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


class Reply(_Message, frozen=True):
    """The answer to a command; each command says what its value is."""

    id: int
    value: Any


class Failure(_Message, frozen=True):
    """A command that could not be carried out."""

    id: int
    error: ErrorView


class Events(_Message, frozen=True):
    """What happened, in order, gathered for some milliseconds."""

    first_seq: int
    last_seq: int
    events: list[Raw]


class Missed(_Message, frozen=True):
    """This page was too slow for these events; the recording has them."""

    first_seq: int
    last_seq: int


class Changed(_Message, frozen=True):
    """The newest view of one thing; `value` is None for one that is gone.

    `what` says which: ServerView, CallView, QuestionView, TaskView, ListSummary, SettingView,
    RecordingView. `key` is its id (for lists, the kind; for the recording, nothing).
    """

    what: Thing
    key: str
    server_id: str
    value: Any


AnyMessage = Hello | Reply | Failure | Events | Missed | Changed

# What a field that is typed more loosely here holds, for the page's types.
TYPED_FIELDS = {
    (Events, "events"): list[EventView],
}

# What `Changed.value` is, by `Changed.what`.
THINGS = {
    "servers": ServerView,
    "calls": CallView,
    "questions": QuestionView,
    "tasks": TaskView,
    "lists": ListSummary,
    "settings": SettingView,
    "recording": RecordingView,
}

# What the Reply to a command carries; Resume is answered by Hello, Abandon by nothing more.
REPLIES: Final[dict[type, Any]] = {
    commands.Connect: views.ServerView,
    commands.Disconnect: views.ServerView,
    commands.ConfirmationOf: views.ConfirmationView,
    commands.Confirm: views.ServerView,
    commands.ServerEntryOf: views.EntryView,
    commands.ServerAdd: views.WrittenView,
    commands.ServerEdit: views.WrittenView,
    commands.ServerRemove: None,
    commands.FoundServers: list[views.FoundView],
    commands.ServerRead: list[views.FoundView],
    commands.ServerImport: views.WrittenView,
    commands.ServerExport: views.ExportView,
    commands.ParseTarget: views.FoundView,
    commands.SetCapabilities: views.ServerView,
    commands.List: views.ListView,
    commands.MoreOfList: views.ListSummary,
    commands.StopList: views.ListSummary,
    commands.Complete: views.CompletionView,
    commands.Subscribe: views.ServerView,
    commands.Unsubscribe: views.ServerView,
    commands.SetLevel: views.ServerView,
    commands.Ping: views.PingView,
    commands.CallTool: views.CallView,
    commands.ReadResource: views.CallView,
    commands.GetPrompt: views.CallView,
    commands.Request: views.CallView,
    commands.SendRaw: views.CallView,
    commands.ReplayCall: views.CallView,
    commands.RepeatCall: views.CallView,
    commands.CancelCall: views.CallView,
    commands.AnswerSampling: None,
    commands.AnswerElicitation: None,
    commands.RejectQuestion: None,
    commands.AutoRespond: None,
    commands.SetProfile: views.ServerView,
    commands.AddRoot: views.ServerView,
    commands.RemoveRoot: views.ServerView,
    commands.BrowseFolder: views.FolderView,
    commands.ListTasks: list[TaskView],
    commands.CancelTask: TaskView,
    commands.GetTaskResult: views.CallView,
    commands.Pin: list[views.PinView],
    commands.Unpin: list[views.PinView],
    commands.ListPins: list[views.PinView],
    commands.SaveExample: list[views.ExampleView],
    commands.DeleteExample: list[views.ExampleView],
    commands.ListExamples: list[views.ExampleView],
    commands.ForgetRun: None,
    commands.SetSetting: views.SettingView,
}
