"""The options of `connect()` and `create_mcp_client()`: names, types and defaults, in one place.

A struct holds the values with their defaults; the TypedDict beside it names the same keywords for
type checkers and editors. app.py builds the structs, the client reads them.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

import msgspec

from mcplens.session.config import MAX_TOTAL_S, ConnectionConfig, HandlerConfig, RetryConfig

if TYPE_CHECKING:  # for annotations alone
    from mcplens.auth.person import Person
    from mcplens.auth.steps import Authorize
    from mcplens.bus import Bus
    from mcplens.clock import Clock
    from mcplens.session.notifications import NotificationHandler
    from mcplens.session.question_handler import Answering, RequestHandler
    from mcplens.session.roots import RootLike

    # None: nobody; a kept sign-in is used all the same. A function gets the request, and returns
    # the URL that the browser was sent back to.
    SignInBy = Literal["browser"] | Callable[[Authorize], Awaitable[str]] | Person | None

# How many requests of `connect()` and of the command line may be in flight.
CONCURRENCY: Final = 8
# Whether everything is recorded: to the user's own recording, or to the file of this name.
Record = bool | str | os.PathLike[str]


class ClientOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a client presents itself, what it answers, and what it lets through."""

    client_info: Mapping[str, Any] | None = None  # None: our name and version
    capabilities: Mapping[str, Any] | None = None  # declared word for word
    meta: Mapping[str, Any] | None = None  # sent as `_meta` with every request
    config: ConnectionConfig | None = None
    retry: RetryConfig | None = None
    concurrency: int = 1
    protocol_version: str = "auto"
    log_level: str | None = None  # from which level on the server is asked to log
    # The same where log_level is None, for 2026-07-28 alone: its servers log nothing unasked.
    default_log_level: str | None = None
    enforce_capabilities: bool = True
    # What the server may ask: False is not declared, True waits for a person to answer.
    sampling: Answering = False
    elicitation: Answering = False
    roots: Sequence[RootLike] | None = None  # None is not declared
    receiver_tasks: bool = False
    receiver_task_ttl_s: float | Callable[[], float] = 60.0
    # A declined task is completed with the answer, as the specification has it, and not failed.
    completes_declined_tasks: bool = False
    handler: HandlerConfig | None = None
    server_id: str = "server"
    server_name: str | None = None  # the configured name; None: server_id
    bus: Bus | None = None
    # How many events the client's own bus keeps; None: few until somebody reads them.
    max_kept_events: int | None = None
    clock: Clock | None = None
    record: Record = False
    secret_keys: Iterable[str] = ()


class ConnectOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `connect()` has besides or instead of a client's options: one attempt by default."""

    connection_timeout_s: float | None = 30.0
    request_timeout_s: float | None = 60.0
    progress_resets_timeout: bool = True
    max_total_timeout_s: float | None = MAX_TOTAL_S
    ping_interval_s: float = 30.0
    max_retries: int | None = 0
    retry_backoff_s: Sequence[float] = (1.0, 2.0, 4.0)
    concurrency: int = CONCURRENCY
    request_handlers: Mapping[str, RequestHandler] | None = None
    notification_handlers: Mapping[str, NotificationHandler] | None = None
    server_id: str | None = None  # None: a name made of the target

    def config(self) -> ConnectionConfig:
        return ConnectionConfig(
            connection_timeout_s=self.connection_timeout_s,
            request_timeout_s=self.request_timeout_s,
            progress_resets_timeout=self.progress_resets_timeout,
            max_total_timeout_s=self.max_total_timeout_s,
            ping_interval_s=self.ping_interval_s,
            max_retries=self.max_retries,
            retry_backoff_s=tuple(self.retry_backoff_s),
        )


class SharedKeywords(TypedDict, total=False):
    """Keywords of both functions."""

    client_info: Mapping[str, Any] | None
    capabilities: Mapping[str, Any] | None
    meta: Mapping[str, Any] | None
    retry: RetryConfig | None
    concurrency: int
    protocol_version: str
    log_level: str | None
    default_log_level: str | None
    enforce_capabilities: bool
    sampling: Answering
    elicitation: Answering
    roots: Sequence[RootLike] | None
    receiver_tasks: bool
    receiver_task_ttl_s: float | Callable[[], float]
    completes_declined_tasks: bool
    handler: HandlerConfig | None
    server_name: str | None
    bus: Bus | None
    max_kept_events: int | None
    clock: Clock | None
    record: Record
    secret_keys: Iterable[str]


class ClientKeywords(SharedKeywords, total=False):
    """Keywords of `create_mcp_client()`: the fields of ClientOptions."""

    config: ConnectionConfig | None
    server_id: str


class TransportKeywords(TypedDict, total=False):
    """Keywords that go to the transport; which of them it takes depends on its kind."""

    # A command.
    env: Mapping[str, str] | None
    cwd: str | None
    inherit_env: bool
    close_wait_s: float
    terminate_wait_s: float
    # A URL.
    headers: Mapping[str, str] | None
    ca_file: str | None
    insecure: bool
    connect_timeout_s: float
    sse_fallback: bool
    # The `auth` block of a server, and who signs in: "browser", a function, or nobody.
    auth: Mapping[str, Any] | None
    sign_in: SignInBy
    sign_in_timeout_s: float
    sign_in_networks: Literal["any", "public"]
    # Both.
    max_message_bytes: int


class ConnectKeywords(SharedKeywords, TransportKeywords, total=False):
    """Keywords of `connect()`: the fields of ConnectOptions, and those of the two above."""

    connection_timeout_s: float | None
    request_timeout_s: float | None
    progress_resets_timeout: bool
    max_total_timeout_s: float | None
    ping_interval_s: float
    max_retries: int | None
    retry_backoff_s: Sequence[float]
    request_handlers: Mapping[str, RequestHandler] | None
    notification_handlers: Mapping[str, NotificationHandler] | None
    server_id: str | None
