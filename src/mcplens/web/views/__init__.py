"""What the page is shown: each thing as one value, complete in itself.

Values only, made by showing/ from the workspace's objects. The page keeps no state machine of
its own: a newer view replaces the older one. A `Raw` field is JSON as the server sent it.
Times named like a moment (`started`, `since`) are wall clock seconds, spans end in `_s`.
"""

from mcplens.web.views.base import CallStatus, ErrorView, ListKind, State, Thing
from mcplens.web.views.calls import CallView, ExampleView, ProgressView
from mcplens.web.views.events import (
    EventPage,
    EventView,
    ImportedView,
    MatchesView,
    PinView,
    RunPage,
    RunView,
    WholeEvent,
)
from mcplens.web.views.lists import (
    CompletionView,
    ItemView,
    ListChangeView,
    ListSummary,
    ListView,
    NamesView,
    PingView,
)
from mcplens.web.views.questions import LinkView, ProfileView, QuestionView, TaskView
from mcplens.web.views.servers import (
    ConfirmationView,
    EntryView,
    ExitView,
    ExportView,
    FolderView,
    FoundView,
    InputView,
    PairView,
    QueueView,
    RecordingView,
    RetryView,
    RootView,
    ServerView,
    SettingView,
    SourceView,
    SubscriptionView,
    WrittenView,
)

__all__ = [
    "CallStatus",
    "CallView",
    "CompletionView",
    "ConfirmationView",
    "EntryView",
    "ErrorView",
    "EventPage",
    "EventView",
    "ExampleView",
    "ExitView",
    "ExportView",
    "FolderView",
    "FoundView",
    "ImportedView",
    "InputView",
    "ItemView",
    "LinkView",
    "ListChangeView",
    "ListKind",
    "ListSummary",
    "ListView",
    "MatchesView",
    "NamesView",
    "PairView",
    "PinView",
    "PingView",
    "ProfileView",
    "ProgressView",
    "QuestionView",
    "QueueView",
    "RecordingView",
    "RetryView",
    "RootView",
    "RunPage",
    "RunView",
    "ServerView",
    "SettingView",
    "SourceView",
    "State",
    "SubscriptionView",
    "TaskView",
    "Thing",
    "WholeEvent",
    "WrittenView",
]
