"""The settings of one connection, with their defaults, in seconds."""

from __future__ import annotations

from typing import Final

import msgspec

from mcplens.protocol.deadlines import Deadline


class DefaultMaximum(float):
    """A maximum that nobody chose: it rises with a longer `request_timeout_s`."""


MAX_TOTAL_S: Final = DefaultMaximum(300.0)


class ConnectionConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How long things may take, and how often they are tried. None means no limit."""

    connection_timeout_s: float | None = 30.0
    request_timeout_s: float | None = 60.0
    progress_resets_timeout: bool = True
    max_total_timeout_s: float | None = MAX_TOTAL_S
    ping_interval_s: float = 30.0  # 0 switches the ping loop off
    max_retries: int | None = 3  # retries after the first attempt
    retry_backoff_s: tuple[float, ...] = (1.0, 2.0, 4.0)

    def __post_init__(self) -> None:
        maximum, request_s = self.max_total_timeout_s, self.request_timeout_s
        if isinstance(maximum, DefaultMaximum) and (request_s is None or request_s > maximum):
            msgspec.structs.force_setattr(self, "max_total_timeout_s", request_s)

    def deadline(self, now: float, timeout_s: float) -> Deadline:
        """The deadline of a call whose caller gave this timeout, which may exceed the maximum."""
        maximum = self.max_total_timeout_s
        if maximum is not None and timeout_s > maximum:
            maximum = timeout_s
        return Deadline(now, timeout_s, maximum, self.progress_resets_timeout)

    @property
    def retry(self) -> RetryConfig:
        return RetryConfig(max_attempts=self.max_retries, backoff_s=self.retry_backoff_s)


class RetryConfig(msgspec.Struct, frozen=True, kw_only=True):
    """Which failures to connect are tried again, and when.

    Given to a client, it stands in place of ConnectionConfig's max_retries and retry_backoff_s.
    """

    max_attempts: int | None = 3  # retries after the first attempt; None for ever
    backoff_s: tuple[float, ...] = (1.0, 2.0, 4.0)
    # Each delay is a random part of what backoff_s says, so that many do not retry at once.
    full_jitter: bool = False
    # Exactly these codes, ours or the system's; () for none, None for the built-in decision.
    retryable_errors: tuple[str, ...] | None = None

    def delay_s(self, retry: int) -> float:
        """How long to wait before this retry (from 1); the last delay is used on and on."""
        if not self.backoff_s:
            return 0.0
        delay_s = self.backoff_s[min(retry, len(self.backoff_s)) - 1]
        if not self.full_jitter:
            return delay_s
        import random  # 2 ms, and only needed for a retry

        return random.uniform(0.0, delay_s)


class HandlerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """How long a question of the server's may wait for a person."""

    request_timeout_s: float | None = 300.0
    auto_reject_on_timeout: bool = True
    timeout_message: str = "Request timed out waiting for user response"
