"""Every fact that can happen, as one tagged union of frozen structs.

An event never changes after it was published; what comes later is a new event that links to it.
Its place (run_id, seq, both times, the server) is filled in by bus.py when it is published.

Links are written by the session, which knows them, and by nobody else:

- `request_seq`: the seq of the frame that first carried the request which the event belongs to
  (FrameSent for a request of ours, FrameReceived for one of the server's).
- `caused_by_seq`: for a request, the seq of the request that it was made because of.
- `exchange_id`: the HTTP exchange that carried a frame; unique within a run.
- `call_id`: the operation of a Client that a request was made for, with all its input rounds, task
  polls and retries; unique within a run.
- `frame_seq`: the FrameReceived that an event was read from.

`is_inferred` says that the wire did not tell and the session decided by its rule: the event
belongs to the only call in flight. A link that even this rule cannot decide is None.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mcplens.protocol.frames import Message, RequestId

# What a request was made for. A later version may know others: readers accept any text.
Purpose = Literal[
    "call", "handshake", "catalog", "heartbeat", "listening", "task_polling", "sign_in", "raw"
]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True, tag_field="type"):
    """What every event carries: its place, which is known once it is published."""

    run_id: str = ""
    seq: int = 0
    wall: float = 0.0
    mono: float = 0.0
    server_id: str = ""


# -- the wire ------------------------------------------------------------------------------


class FrameEvent(Event, frozen=True, kw_only=True):
    """A message on the wire, and what it belongs to.

    `method` is the message's own; a reply has its request's. `request_seq` is None for the frame
    that first carries a request: others refer to its seq. A request that is sent again has the
    first frame's seq. `purpose` is what the request was made for that the frame carries or belongs
    to; None for what the server does on its own.
    """

    message: Message
    size_bytes: int
    method: str | None = None
    exchange_id: int | None
    request_seq: int | None
    caused_by_seq: int | None = None
    is_inferred: bool = False
    call_id: str | None = None
    purpose: str | None = None


class FrameSent(FrameEvent, frozen=True, kw_only=True):
    """A message left; `inbound_seq` is the inbound request that the gateway sent it for."""

    inbound_seq: int | None = None


class FrameReceived(FrameEvent, frozen=True, kw_only=True):
    """A message came, right or wrong."""


class HttpRequestSent(Event, frozen=True, kw_only=True):
    """An HTTP request left; secrets in URL and headers are masked."""

    exchange_id: int
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes = b""


class HttpResponseReceived(Event, frozen=True, kw_only=True):
    """Status and headers of the answer came."""

    exchange_id: int
    status: int
    reason: str
    headers: list[tuple[str, str]]
    elapsed_s: float


class HttpBytesReceived(Event, frozen=True, kw_only=True):
    """A piece of a streamed body came."""

    exchange_id: int
    data: bytes


class HttpExchangeEnded(Event, frozen=True, kw_only=True):
    """The exchange is over; `body` is all that came of a body that was not streamed."""

    exchange_id: int
    elapsed_s: float
    body: bytes = b""
    error: str | None = None


class ProcessStarted(Event, frozen=True, kw_only=True):
    """A stdio server runs; of its environment only the names are told."""

    pid: int
    argv: list[str]
    cwd: str | None
    env_names: list[str]


class ProcessExited(Event, frozen=True, kw_only=True):
    """A stdio server is gone."""

    pid: int
    exit_code: int | None
    signal: str | None


class StderrLine(Event, frozen=True, kw_only=True):
    """A line that a stdio server wrote to stderr, without its newline."""

    pid: int
    data: bytes
    request_seq: int | None
    is_inferred: bool = False

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "backslashreplace")


class Remark(Event, frozen=True, kw_only=True):
    """Something worth knowing that is no error: a fallback taken, a stream opened again."""

    message: str


# -- the connection ------------------------------------------------------------------------


class StateChanged(Event, frozen=True, kw_only=True):
    """The connection moved; while it retries, the count and the delay say how."""

    old: str
    new: str
    transition: str
    retry_count: int = 0
    max_retries: int = 0
    retry_in_s: float | None = None
    error: dict[str, Any] | None = None


class EraDecided(Event, frozen=True, kw_only=True):
    """Which revision is spoken with this server, and why."""

    era: str
    protocol_version: str
    reason: str


class ServerIntroduced(Event, frozen=True, kw_only=True):
    """What the server said of itself when it was connected."""

    protocol_version: str
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None = None


class PingAnswered(Event, frozen=True, kw_only=True):
    latency_s: float


class PingUnanswered(Event, frozen=True, kw_only=True):
    """A ping had no answer in time; `in_a_row` counts how many."""

    in_a_row: int
    timeout_s: float


# -- requests ------------------------------------------------------------------------------


class RequestStarted(Event, frozen=True, kw_only=True):
    request_id: RequestId
    method: str
    request_seq: int | None


class RequestEnded(Event, frozen=True, kw_only=True):
    """A request is over: completed, cancelled, or error with what went wrong."""

    request_id: RequestId
    method: str
    status: str
    elapsed_s: float
    error: dict[str, Any] | None = None
    request_seq: int | None


class RequestPaused(Event, frozen=True, kw_only=True):
    """The clocks of these requests stand still: a person is answering the server's question."""

    request_ids: list[RequestId]
    question_id: RequestId
    request_seqs: list[int]
    question_seq: int | None
    call_ids: list[str] = []


class RequestResumed(Event, frozen=True, kw_only=True):
    request_ids: list[RequestId]
    question_id: RequestId
    request_seqs: list[int]
    question_seq: int | None
    call_ids: list[str] = []


class ProgressReceived(Event, frozen=True, kw_only=True):
    """Progress of a request of ours."""

    request_id: RequestId
    progress: float
    total: float | None = None
    message: str | None = None
    request_seq: int | None
    frame_seq: int | None


class LateReply(Event, frozen=True, kw_only=True):
    """An answer came after its request was given up; it is kept in the queue's history."""

    request_id: RequestId
    method: str
    message: Message
    request_seq: int | None
    frame_seq: int | None


class ReplyUnmatched(Event, frozen=True, kw_only=True):
    """A reply that belongs to no request of ours, with why."""

    message: Message
    reason: str
    request_seq: int | None
    is_inferred: bool = False
    frame_seq: int | None


# -- what the server says on its own --------------------------------------------------------


class NotificationReceived(Event, frozen=True, kw_only=True):
    """A notification that has no event of its own, known or not."""

    method: str
    params: Any = None
    request_seq: int | None
    is_inferred: bool = False
    frame_seq: int | None


class LogReceived(Event, frozen=True, kw_only=True):
    """A server log message (notifications/message)."""

    level: str
    logger: str | None
    data: Any
    request_seq: int | None
    is_inferred: bool = False
    call_id: str | None
    frame_seq: int | None


class ServerRequestReceived(Event, frozen=True, kw_only=True):
    """The server asks something of us; `caused_by_seq` is the request of ours that made it ask."""

    request_id: RequestId
    method: str
    params: Any = None
    request_seq: int | None
    caused_by_seq: int | None
    is_inferred: bool = False
    call_id: str | None


class ServerRequestEnded(Event, frozen=True, kw_only=True):
    """A question of the server's was answered, refused, or withdrawn."""

    request_id: RequestId
    method: str
    outcome: str
    request_seq: int | None


class QuestionOpened(Event, frozen=True, kw_only=True):
    """A question of the server's waits for a person or a profile to answer it."""

    question_id: str
    method: str
    params: Any = None
    request_id: RequestId | None = None
    request_seq: int | None
    caused_by_seq: int | None
    is_inferred: bool = False
    call_id: str | None
    origin: str = "request"
    task_id: str | None = None
    timeout_s: float | None = None


class QuestionClosed(Event, frozen=True, kw_only=True):
    """A question no longer waits: how it ended, and who answered."""

    question_id: str
    method: str
    outcome: str
    answered_by: str = ""
    opened_seq: int | None


class ElicitationCompleted(Event, frozen=True, kw_only=True):
    """What a person did at a URL is done, as the server says."""

    elicitation_id: str
    is_known: bool


class RootsChanged(Event, frozen=True, kw_only=True):
    """The roots that this server may see."""

    roots: list[dict[str, Any]]


class ReceiverTaskChanged(Event, frozen=True, kw_only=True):
    """A task that we hold for the server: created, moved, or gone (its time was up)."""

    task_id: str
    method: str
    status: str
    task: dict[str, Any]
    is_gone: bool = False
    request_seq: int | None
    call_id: str | None


class ClientTaskChanged(Event, frozen=True, kw_only=True):
    """A task that the server runs for us: created, moved, or no longer followed."""

    task_id: str
    method: str
    status: str
    task: dict[str, Any]
    is_gone: bool = False
    request_seq: int | None
    call_id: str | None


class InputRoundStarted(Event, frozen=True, kw_only=True):
    """The server wants input before it answers (2026-07-28); the request is sent again after."""

    request_id: RequestId
    method: str
    round: int
    most_rounds: int
    keys: list[str]
    request_seq: int | None
    call_id: str | None


class ListRefreshed(Event, frozen=True, kw_only=True):
    """A list was fetched again because the server said that it changed."""

    kind: str
    count: int
    error: dict[str, Any] | None = None


class ResourceRefreshed(Event, frozen=True, kw_only=True):
    """A subscribed resource was read again because the server said that it changed.

    Where nobody reads it by himself (the web UI), only the change is told. `error`: it could not be
    read, or not be subscribed to again after a reconnect.
    """

    uri: str
    error: dict[str, Any] | None = None


class SubscriptionChanged(Event, frozen=True, kw_only=True):
    """The stream of subscriptions/listen (2026-07-28): opened, lost, or ended."""

    state: str
    reason: str = ""


class EventsMissed(Event, frozen=True, kw_only=True):
    """This reader was too slow: these events are gone from the buffer."""

    first_seq: int
    last_seq: int


AnyEvent = (
    FrameSent
    | FrameReceived
    | HttpRequestSent
    | HttpResponseReceived
    | HttpBytesReceived
    | HttpExchangeEnded
    | ProcessStarted
    | ProcessExited
    | StderrLine
    | Remark
    | StateChanged
    | EraDecided
    | ServerIntroduced
    | PingAnswered
    | PingUnanswered
    | RequestStarted
    | RequestEnded
    | RequestPaused
    | RequestResumed
    | ProgressReceived
    | LateReply
    | ReplyUnmatched
    | NotificationReceived
    | LogReceived
    | ServerRequestReceived
    | ServerRequestEnded
    | QuestionOpened
    | QuestionClosed
    | ElicitationCompleted
    | RootsChanged
    | ReceiverTaskChanged
    | ClientTaskChanged
    | InputRoundStarted
    | ListRefreshed
    | ResourceRefreshed
    | SubscriptionChanged
    | EventsMissed
)
