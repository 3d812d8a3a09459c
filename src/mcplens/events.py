"""All events, as one tagged union of frozen structs.

An event never changes after it was published; what follows is a new event that links to it. Its
position (run_id, seq, both times, the server) is filled in by bus.py when it is published.

Links are written only by the session and the transports, which know them:

- `request_seq`: the seq of the frame that first carried the request which the event belongs to
  (FrameSent for a request of ours, FrameReceived for one of the server's).
- `caused_by_seq`: for a request, the seq of the request that caused it; of a request for an app,
  that of the app's message.
- `exchange_id`: the HTTP exchange that carried a frame; unique within a run.
- `call_id`: the operation of a Client that a request was made for, with all its input rounds, task
  polls and retries; unique within a run.
- `frame_seq`: the FrameReceived that an event was read from.

`is_inferred` means that the message itself did not say, and the session applied its rule: the event
belongs to the only call in flight. A link that this rule cannot decide either is None.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from mcplens.protocol.frames import Message, RequestId

# What a request was made for. Later versions may add others: readers accept any text. Signing in
# takes HTTP exchanges alone so far, so nothing has that purpose yet.
Purpose = Literal[
    "call", "handshake", "catalog", "heartbeat", "listening", "task_polling", "sign_in", "raw"
]


class Event(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag=True, tag_field="type"):
    """The fields of every event: its position, filled in when it is published."""

    run_id: str = ""
    seq: int = 0
    wall: float = 0.0
    mono: float = 0.0
    server_id: str = ""


# -- the wire ------------------------------------------------------------------------------


class FrameEvent(Event, frozen=True, kw_only=True):
    """A message on the wire, and what it belongs to.

    `method` is the message's own; a reply has its request's. `request_seq` is None for the frame
    that first carries a request: other events refer to its seq. A request that is sent again has
    the seq of the first frame. `purpose` is what the request was made for that the frame carries or
    belongs to; None for messages that the server sends on its own.
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
    """A message was sent; `inbound_seq` is the inbound request that the gateway sent it for."""

    inbound_seq: int | None = None


class FrameReceived(FrameEvent, frozen=True, kw_only=True):
    """A message was received, valid or malformed."""


class HttpRequestSent(Event, frozen=True, kw_only=True):
    """An HTTP request was sent; secrets in URL and headers are masked."""

    exchange_id: int
    method: str
    url: str
    headers: list[tuple[str, str]]
    body: bytes = b""


class HttpResponseReceived(Event, frozen=True, kw_only=True):
    """Status and headers of an HTTP response were received."""

    exchange_id: int
    status: int
    reason: str
    headers: list[tuple[str, str]]
    elapsed_s: float


class HttpBytesReceived(Event, frozen=True, kw_only=True):
    """A piece of a streamed body was received."""

    exchange_id: int
    data: bytes


class HttpExchangeEnded(Event, frozen=True, kw_only=True):
    """An HTTP exchange ended; `body` is what was received of a body that is not streamed."""

    exchange_id: int
    elapsed_s: float
    body: bytes = b""
    error: str | None = None


class ProcessStarted(Event, frozen=True, kw_only=True):
    """A stdio server was started; only the names of its environment variables are recorded."""

    pid: int
    argv: list[str]
    cwd: str | None
    env_names: list[str]


class ProcessExited(Event, frozen=True, kw_only=True):
    """The process of a stdio server exited; `stopped_after_s` is set if mcplens stopped it."""

    pid: int
    exit_code: int | None
    signal: str | None
    stopped_after_s: float | None = None


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
    """Something worth knowing that is not an error: a fallback, a stream that was reopened."""

    message: str


# -- the connection ------------------------------------------------------------------------


class StateChanged(Event, frozen=True, kw_only=True):
    """The connection changed its state; while it retries, with the attempt and the delay."""

    old: str
    new: str
    transition: str
    retry_count: int = 0
    max_retries: int | None = 0
    retry_in_s: float | None = None
    error: dict[str, Any] | None = None


class EraDecided(Event, frozen=True, kw_only=True):
    """The protocol revision chosen for this server, and why."""

    era: str
    protocol_version: str
    reason: str


class ServerIntroduced(Event, frozen=True, kw_only=True):
    """How the server described itself in the handshake."""

    protocol_version: str
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None = None


class ClientIntroduced(Event, frozen=True, kw_only=True):
    """How a client that is not ours described itself to its server (`mcplens tap`)."""

    protocol_version: str
    client_info: dict[str, Any]
    capabilities: dict[str, Any]


class PingAnswered(Event, frozen=True, kw_only=True):
    latency_s: float
    request_seq: int | None


class PingUnanswered(Event, frozen=True, kw_only=True):
    """A ping was not answered in time; `in_a_row` counts consecutive ones."""

    in_a_row: int
    timeout_s: float
    request_seq: int | None


# -- requests ------------------------------------------------------------------------------


class RequestStarted(Event, frozen=True, kw_only=True):
    request_id: RequestId
    method: str
    request_seq: int | None


class RequestEnded(Event, frozen=True, kw_only=True):
    """A request ended: completed, cancelled, or with an error."""

    request_id: RequestId
    method: str
    status: str
    elapsed_s: float
    error: dict[str, Any] | None = None
    request_seq: int | None
    purpose: str | None


class RequestPaused(Event, frozen=True, kw_only=True):
    """The timeouts of these requests are paused while a person answers a question."""

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
    """A reply arrived after its request had been given up: timed out, cancelled, or ended by an
    answer that could not be read."""

    request_id: RequestId
    method: str
    message: Message
    request_seq: int | None
    frame_seq: int | None


class ReplyUnmatched(Event, frozen=True, kw_only=True):
    """A reply that matches no request of ours, and why."""

    message: Message
    reason: str
    request_seq: int | None
    is_inferred: bool = False
    frame_seq: int | None


# -- messages that the server sends on its own -----------------------------------------------


class NotificationReceived(Event, frozen=True, kw_only=True):
    """A notification, known or not, that has no specific event."""

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
    """A request from the server; `caused_by_seq` is the request of ours that caused it."""

    request_id: RequestId
    method: str
    params: Any = None
    request_seq: int | None
    caused_by_seq: int | None
    is_inferred: bool = False
    call_id: str | None


class ServerRequestEnded(Event, frozen=True, kw_only=True):
    """A request from the server was answered, rejected or withdrawn."""

    request_id: RequestId
    method: str
    outcome: str
    request_seq: int | None


class QuestionOpened(Event, frozen=True, kw_only=True):
    """A question from the server waits for an answer by a person or a profile."""

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
    """A question was closed: how, and by whom it was answered."""

    question_id: str
    method: str
    outcome: str
    answered_by: str = ""
    opened_seq: int | None


class ElicitationCompleted(Event, frozen=True, kw_only=True):
    """The server reported that an elicitation by URL is complete."""

    elicitation_id: str
    is_known: bool


class RootsChanged(Event, frozen=True, kw_only=True):
    """The roots for this server changed."""

    roots: list[dict[str, Any]]


class ReceiverTaskChanged(Event, frozen=True, kw_only=True):
    """A task that we run for the server: created, changed, or gone (expired)."""

    task_id: str
    method: str
    status: str
    task: dict[str, Any]
    is_gone: bool = False
    request_seq: int | None
    call_id: str | None


class ClientTaskChanged(Event, frozen=True, kw_only=True):
    """A task that the server runs for us: created, changed, or no longer polled."""

    task_id: str
    method: str
    status: str
    task: dict[str, Any]
    is_gone: bool = False
    request_seq: int | None
    call_id: str | None


class InputRoundStarted(Event, frozen=True, kw_only=True):
    """The server needs input before it replies (2026-07-28); the request is then sent again."""

    request_id: RequestId
    method: str
    round: int
    most_rounds: int
    keys: list[str]
    request_seq: int | None
    call_id: str | None


class ListRefreshed(Event, frozen=True, kw_only=True):
    """A list was fetched again because the server announced a change, or because it may have
    changed it unheard (`is_unannounced`)."""

    kind: str
    count: int
    error: dict[str, Any] | None = None
    is_unannounced: bool = False


class ResourceRefreshed(Event, frozen=True, kw_only=True):
    """A subscribed resource was read again because the server announced a change, or because it
    may have changed it unheard (`is_unannounced`).

    In the web UI it is only announced, not read. `error` says why it could not be read, or not be
    subscribed to again after a reconnect.
    """

    uri: str
    error: dict[str, Any] | None = None
    is_unannounced: bool = False


class SubscriptionChanged(Event, frozen=True, kw_only=True):
    """The stream of subscriptions/listen (2026-07-28) was opened, lost or ended."""

    state: str
    reason: str = ""


# -- signing in ----------------------------------------------------------------------------


class SignInStarted(Event, frozen=True, kw_only=True):
    """Signing in to a server began: why, and which HTTP exchange was refused."""

    sign_in_id: str
    resource: str
    reason: str
    exchange_id: int | None


class SignInStepChanged(Event, frozen=True, kw_only=True):
    """A step of a sign-in: started, answered by a server, waiting for a person, noted, done or
    failed.

    `exchange_id` is the HTTP exchange that carried the step, if one did.
    """

    sign_in_id: str
    step: str
    state: str
    text: str = ""
    expected: str = ""
    facts: dict[str, Any] = {}
    exchange_id: int | None


class SignInEnded(Event, frozen=True, kw_only=True):
    """A sign-in ended: signed_in, failed, cancelled, or skipped.

    Skipped: looked for before connecting, and the server has no metadata of one.
    """

    sign_in_id: str
    outcome: str
    issuer: str | None = None
    scopes: list[str] = []
    expires_at: float | None = None
    error: dict[str, Any] | None = None


# -- the gateway's clients ---------------------------------------------------------------------


class InboundConnected(Event, frozen=True, kw_only=True):
    """A client finished its handshake with the gateway (2025-11-25 and before)."""

    client_id: str
    client_info: dict[str, Any]
    path: str
    transport: str
    protocol_version: str


class InboundDisconnected(Event, frozen=True, kw_only=True):
    """A client of the gateway is gone."""

    client_id: str
    reason: str


class InboundReceived(Event, frozen=True, kw_only=True):
    """The gateway received a message from a client; frames that it sent for it name its seq
    (`inbound_seq`). `client_name` is what the client calls itself."""

    client_id: str
    client_name: str
    message: Message
    size_bytes: int
    method: str | None = None


class InboundAnswered(Event, frozen=True, kw_only=True):
    """The gateway answered a request of a client's: ok, error, refused or cancelled.

    `target_id` is the server that it was passed on to; empty where the gateway answered itself.
    """

    client_id: str
    client_name: str
    request_seq: int | None
    method: str
    target_id: str
    outcome: str
    size_bytes: int
    elapsed_s: float


# -- MCP Apps ------------------------------------------------------------------------------------


class AppOpened(Event, frozen=True, kw_only=True):
    """An app was opened in the web UI, under this policy."""

    app_id: str
    tool: str
    uri: str
    profile: str
    policy: str
    size_bytes: int


class AppMessageEvent(Event, frozen=True, kw_only=True):
    """A message between an app and its host; `refusal` is why the host did not follow it.

    `request_seq` is set for an answer. A request of the host's to the server for an app names the
    app's message as `caused_by_seq`.
    """

    app_id: str
    tool: str
    message: Message
    size_bytes: int
    method: str | None = None
    request_seq: int | None
    refusal: str | None = None


class AppMessageReceived(AppMessageEvent, frozen=True, kw_only=True):
    """An app sent a message to mcplens, its host."""


class AppMessageSent(AppMessageEvent, frozen=True, kw_only=True):
    """mcplens sent a message to an app."""


class AppPolicyViolated(Event, frozen=True, kw_only=True):
    """The browser stopped an app from doing what its policy does not allow."""

    app_id: str
    tool: str
    directive: str
    blocked: str
    line: int | None = None
    sample: str = ""


class ConfigurationReloaded(Event, frozen=True, kw_only=True):
    """The files of the configuration changed: servers by name, or why the former one stays."""

    added: list[str] = []
    removed: list[str] = []
    changed: list[str] = []
    error: dict[str, Any] | None = None


class StoreStateChanged(Event, frozen=True, kw_only=True):
    """The store that replicas of a gateway share is up, full or down."""

    store: str
    status: str
    reason: str = ""


class EventsMissed(Event, frozen=True, kw_only=True):
    """This reader was too slow: these events are no longer in the ring."""

    first_seq: int
    last_seq: int


class StrayOutputDropped(Event, frozen=True, kw_only=True):
    """These lines of a server's stderr and stdout, none of them messages, are not recorded: it
    wrote more than is recorded in full. The lines before and after them are."""

    first_seq: int
    last_seq: int
    stdout_lines: int
    stderr_lines: int
    size_bytes: int


# -- several events in one -------------------------------------------------------------------------


class Passed(Event, frozen=True):
    """Consecutive events of one message that passed through a tap, published as one event.

    Almost all messages are a request of the client or its result, and one event costs a fraction of
    four. `seq` is that of the last of them. It is not in AnyEvent: the recording and all readers
    but the recorder get the events that it stands for. Created by position, which is faster.
    """

    raw: bytes
    request_id: RequestId
    method: str
    call_id: str | None
    purpose: str | None
    exchange_id: int | None
    # Of the HTTP message that carried it alone; None if none did.
    headers: list[tuple[str, str]] | None

    @property
    def event_count(self) -> int:
        raise NotImplementedError

    @property
    def from_seq(self) -> int:
        """The seq of the first of the events."""
        return self.seq - self.event_count + 1


class RequestPassed(Passed, frozen=True):
    """A request of a tapped client: HttpRequestSent if it has headers, FrameSent, RequestStarted.

    The HTTP request is a POST.
    """

    url: str = ""

    @property
    def event_count(self) -> int:
        return 2 if self.headers is None else 3


class ResultPassed(Passed, frozen=True):
    """A result that a tapped client waited for: FrameReceived and RequestEnded; if it has headers,
    HttpResponseReceived before them and HttpExchangeEnded after them."""

    request_seq: int
    elapsed_s: float
    status: int = 0
    reason: str = ""
    exchange_elapsed_s: float = 0.0

    @property
    def event_count(self) -> int:
        return 2 if self.headers is None else 4


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
    | ClientIntroduced
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
    | SignInStarted
    | SignInStepChanged
    | SignInEnded
    | InboundConnected
    | InboundDisconnected
    | InboundReceived
    | InboundAnswered
    | AppOpened
    | AppMessageReceived
    | AppMessageSent
    | AppPolicyViolated
    | ConfigurationReloaded
    | StoreStateChanged
    | EventsMissed
    | StrayOutputDropped
)
