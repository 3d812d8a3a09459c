"""The settings of one connection, with their defaults, in seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from mcplens.errors import DEFAULT_RETRYABLE_ERRORS
from mcplens.version import VERSION


class ConnectionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How long things may take, and how often they are tried. None means no limit."""

    connection_timeout_s: float | None = 30.0
    request_timeout_s: float | None = 60.0
    progress_resets_timeout: bool = True
    max_total_timeout_s: float | None = 300.0
    ping_interval_s: float = 30.0  # 0 switches the ping loop off
    max_retries: int = 3  # retries after the first attempt
    retry_backoff_s: tuple[float, ...] = (1.0, 2.0, 4.0)

    @property
    def retry(self) -> RetryConfig:
        return RetryConfig(max_attempts=self.max_retries, backoff_s=self.retry_backoff_s)


class RetryConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which failures to connect are tried again, and when.

    Given to a client, it stands in place of ConnectionConfig's max_retries and retry_backoff_s.
    """

    max_attempts: int = 3  # retries after the first attempt
    backoff_s: tuple[float, ...] = (1.0, 2.0, 4.0)
    retryable_errors: tuple[str, ...] = DEFAULT_RETRYABLE_ERRORS

    def delay_s(self, retry: int) -> float:
        """How long to wait before this retry (from 1); the last delay is used on and on."""
        if not self.backoff_s:
            return 0.0
        return self.backoff_s[min(retry, len(self.backoff_s)) - 1]


class HandlerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How long a question of the server's may wait for a person."""

    request_timeout_s: float | None = 300.0
    auto_reject_on_timeout: bool = True
    timeout_message: str = "Request timed out waiting for user response"


class ClientOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a client presents itself and what it lets through."""

    client_info: dict[str, Any] = msgspec.field(
        default_factory=lambda: {"name": "mcplens", "version": VERSION}
    )
    capabilities: dict[str, Any] = msgspec.field(default_factory=dict)
    meta: dict[str, Any] = msgspec.field(default_factory=dict)  # sent as `_meta` with every request
    protocol_version: str = "auto"
    enforce_capabilities: bool = True
    # What the server may ask: False is not declared, True waits for a person to answer.
    sampling: Any = False
    elicitation: Any = False
    roots: tuple[Any, ...] | None = None  # None is not declared
    handler: HandlerConfig = HandlerConfig()
    receiver_tasks: bool = False
    receiver_task_ttl_s: float | Callable[[], float] = 60.0
    # A task that was declined is completed with the answer, as the specification has it, and
    # not failed.
    completes_declined_tasks: bool = False
    concurrency: int = 1
    history_limit: int = 200
