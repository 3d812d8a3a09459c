"""What the page may ask for: one struct per command, each with an id that its reply repeats.

Values only; carrying_out.py does what they say.
"""

from __future__ import annotations

from mcplens.web.commands.base import NOTHING, Abandon, Command, Resume
from mcplens.web.commands.calls import (
    CallTool,
    CancelCall,
    GetPrompt,
    ReadResource,
    RepeatCall,
    ReplayCall,
    Request,
    SendRaw,
)
from mcplens.web.commands.kept import (
    DeleteExample,
    ForgetRun,
    ListExamples,
    ListPins,
    Pin,
    SaveExample,
    Unpin,
)
from mcplens.web.commands.offers import (
    Complete,
    List,
    MoreOfList,
    Ping,
    SetLevel,
    StopList,
    Subscribe,
    Unsubscribe,
)
from mcplens.web.commands.questions import (
    AddRoot,
    AnswerElicitation,
    AnswerSampling,
    AutoRespond,
    BrowseFolder,
    RejectQuestion,
    RemoveRoot,
    SetProfile,
)
from mcplens.web.commands.servers import (
    Confirm,
    ConfirmationOf,
    Connect,
    Disconnect,
    FoundServers,
    ParseTarget,
    ServerAdd,
    ServerEdit,
    ServerEntryOf,
    ServerExport,
    ServerImport,
    ServerRead,
    ServerRemove,
    SetCapabilities,
    SetSetting,
)
from mcplens.web.commands.tasks import CancelTask, GetTaskResult, ListTasks

AnyCommand = (
    Resume | Abandon | Connect | Disconnect | ConfirmationOf | Confirm | ServerEntryOf | ServerAdd
    | ServerEdit | ServerRemove | FoundServers | ServerRead | ServerImport | ServerExport
    | ParseTarget | SetCapabilities | List | MoreOfList | StopList | Complete | Subscribe
    | Unsubscribe | SetLevel | Ping | CallTool
    | ReadResource | GetPrompt | Request | SendRaw | ReplayCall | RepeatCall | CancelCall
    | AnswerSampling | AnswerElicitation | RejectQuestion | AutoRespond
    | SetProfile | AddRoot | RemoveRoot | BrowseFolder | ListTasks | CancelTask | GetTaskResult
    | Pin | Unpin | ListPins | SaveExample | DeleteExample | ListExamples | ForgetRun | SetSetting
)  # fmt: skip

__all__ = [
    "NOTHING",
    "Abandon",
    "AddRoot",
    "AnswerElicitation",
    "AnswerSampling",
    "AnyCommand",
    "AutoRespond",
    "BrowseFolder",
    "CallTool",
    "CancelCall",
    "CancelTask",
    "Command",
    "Complete",
    "Confirm",
    "ConfirmationOf",
    "Connect",
    "DeleteExample",
    "Disconnect",
    "ForgetRun",
    "FoundServers",
    "GetPrompt",
    "GetTaskResult",
    "List",
    "ListExamples",
    "ListPins",
    "ListTasks",
    "MoreOfList",
    "ParseTarget",
    "Pin",
    "Ping",
    "ReadResource",
    "RejectQuestion",
    "RemoveRoot",
    "RepeatCall",
    "ReplayCall",
    "Request",
    "Resume",
    "SaveExample",
    "SendRaw",
    "ServerAdd",
    "ServerEdit",
    "ServerEntryOf",
    "ServerExport",
    "ServerImport",
    "ServerRead",
    "ServerRemove",
    "SetCapabilities",
    "SetLevel",
    "SetProfile",
    "SetSetting",
    "StopList",
    "Subscribe",
    "Unpin",
    "Unsubscribe",
]
