"""Every fact that can happen, as one tagged union of frozen structs.

An event never changes after it was published; what comes later is a new event that names the same
request, exchange or process. All carry where they stand: (run_id, seq), both times, the server.
Published by transports and sessions through bus.py; read by every surface.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mcplens.protocol.frames import Message, RequestId


class Event(msgspec.Struct, frozen=True, tag=True, tag_field="type"):
    """What every event carries."""

    run_id: str
    seq: int
    wall: float
    mono: float
    server_id: str


# -- the wire ------------------------------------------------------------------------------


class FrameSent(Event, frozen=True):
    """A message left; `channel` is the request whose HTTP exchange carries it."""

    message: Message
    size_bytes: int
    channel: RequestId | None = None


class FrameReceived(Event, frozen=True):
    """A message came, right or wrong."""

    message: Message
    size_bytes: int
    channel: RequestId | None = None


class HttpRequestSent(Event, frozen=True):
    """An HTTP request left; secrets in URL and headers are masked."""

    exchange_id: int
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes = b""


class HttpResponseReceived(Event, frozen=True):
    """Status and headers of the answer came."""

    exchange_id: int
    status: int
    reason: str
    headers: list[tuple[str, str]]
    elapsed_s: float


class HttpBytesReceived(Event, frozen=True):
    """A piece of a streamed body came."""

    exchange_id: int
    data: bytes


class HttpExchangeEnded(Event, frozen=True):
    """The exchange is over; `body` is all that came of a body that was not streamed."""

    exchange_id: int
    elapsed_s: float
    body: bytes = b""
    error: str | None = None


class ProcessStarted(Event, frozen=True):
    """A stdio server runs; of its environment only the names are told."""

    pid: int
    argv: list[str]
    cwd: str | None
    env_names: list[str]


class ProcessExited(Event, frozen=True):
    """A stdio server is gone."""

    pid: int
    exit_code: int | None
    signal: str | None


class StderrLine(Event, frozen=True):
    """A line that a stdio server wrote to stderr, without its newline."""

    pid: int
    data: bytes

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "backslashreplace")


class Remark(Event, frozen=True):
    """Something worth knowing that is no error: a fallback taken, a stream opened again."""

    message: str


# -- the connection ------------------------------------------------------------------------


class StateChanged(Event, frozen=True):
    """The connection moved; while it retries, the count and the delay say how."""

    old: str
    new: str
    transition: str
    retry_count: int = 0
    max_retries: int = 0
    retry_in_s: float | None = None
    error: dict[str, Any] | None = None


class EraDecided(Event, frozen=True):
    """Which revision is spoken with this server, and why."""

    era: str
    protocol_version: str
    reason: str


class ServerIntroduced(Event, frozen=True):
    """What the server said of itself when it was connected."""

    protocol_version: str
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None = None


class PingAnswered(Event, frozen=True):
    latency_s: float


class PingUnanswered(Event, frozen=True):
    """A ping had no answer in time; `in_a_row` counts how many."""

    in_a_row: int
    timeout_s: float


# -- requests ------------------------------------------------------------------------------


class RequestStarted(Event, frozen=True):
    request_id: RequestId
    method: str


class RequestEnded(Event, frozen=True):
    """A request is over: completed, cancelled, or error with what went wrong."""

    request_id: RequestId
    method: str
    status: str
    elapsed_s: float
    error: dict[str, Any] | None = None


class RequestPaused(Event, frozen=True):
    """The clocks of these requests stand still: a person is answering the server's question."""

    request_ids: list[RequestId]
    question_id: RequestId


class RequestResumed(Event, frozen=True):
    request_ids: list[RequestId]
    question_id: RequestId


class ProgressReceived(Event, frozen=True):
    """Progress of a request of ours."""

    request_id: RequestId
    progress: float
    total: float | None = None
    message: str | None = None


class LateReply(Event, frozen=True):
    """An answer came after its request was given up; it is kept in the queue's history."""

    request_id: RequestId
    method: str
    message: Message


class ReplyUnmatched(Event, frozen=True):
    """A reply that belongs to no request of ours, with why."""

    message: Message
    reason: str


# -- what the server says on its own --------------------------------------------------------


class NotificationReceived(Event, frozen=True):
    """A notification that has no event of its own, known or not."""

    method: str
    params: Any = None


class LogReceived(Event, frozen=True):
    """A server log message (notifications/message)."""

    level: str
    logger: str | None
    data: Any


class ServerRequestReceived(Event, frozen=True):
    """The server asks something of us; `caused_by` is the request that it belongs to, if known."""

    request_id: RequestId
    method: str
    params: Any = None
    caused_by: RequestId | None = None


class ServerRequestEnded(Event, frozen=True):
    """A question of the server's was answered, refused, or withdrawn."""

    request_id: RequestId
    method: str
    outcome: str


class QuestionOpened(Event, frozen=True):
    """A question of the server's waits for a person or a profile to answer it."""

    question_id: str
    method: str
    params: Any = None
    request_id: RequestId | None = None
    caused_by: RequestId | None = None
    origin: str = "request"
    task_id: str | None = None
    timeout_s: float | None = None


class QuestionClosed(Event, frozen=True):
    """A question no longer waits: how it ended, and who answered."""

    question_id: str
    method: str
    outcome: str
    answered_by: str = ""


class ElicitationCompleted(Event, frozen=True):
    """What a person did at a URL is done, as the server says."""

    elicitation_id: str
    is_known: bool


class RootsChanged(Event, frozen=True):
    """The roots that this server may see."""

    roots: list[dict[str, Any]]


class ReceiverTaskChanged(Event, frozen=True):
    """A task that we hold for the server: created, moved, or gone (its time was up)."""

    task_id: str
    method: str
    status: str
    task: dict[str, Any]
    is_gone: bool = False


class ClientTaskChanged(Event, frozen=True):
    """A task that the server runs for us: created, moved, or no longer followed."""

    task_id: str
    method: str
    status: str
    task: dict[str, Any]
    is_gone: bool = False


class InputRoundStarted(Event, frozen=True):
    """The server wants input before it answers (2026-07-28); the request is sent again after."""

    request_id: RequestId
    method: str
    round: int
    most_rounds: int
    keys: list[str]


class ListRefreshed(Event, frozen=True):
    """A list was fetched again because the server said that it changed."""

    kind: str
    count: int
    error: dict[str, Any] | None = None


class ResourceRefreshed(Event, frozen=True):
    """A subscribed resource was read again because the server said that it changed.

    Where nobody reads it by himself (the web UI), only the change is told. `error`: it could not be
    read, or not be subscribed to again after a reconnect.
    """

    uri: str
    error: dict[str, Any] | None = None


class SubscriptionChanged(Event, frozen=True):
    """The stream of subscriptions/listen (2026-07-28): opened, lost, or ended."""

    state: str
    reason: str = ""


class EventsMissed(Event, frozen=True):
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
