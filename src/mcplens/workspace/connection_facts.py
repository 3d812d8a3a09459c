"""What is known of a server's connection beside its state: exit, next attempt, subscriptions.

Values, kept by server.py and shown by the page.
"""

from __future__ import annotations

from typing import Any

import msgspec


class ResourceSubscription(msgspec.Struct):
    """A subscribed resource; `error` says why it is not subscribed on this connection."""

    uri: str
    updated: float | None = None
    updates: int = 0
    error: dict[str, Any] | None = None


class Exit(msgspec.Struct, frozen=True):
    """How the server's process ended."""

    pid: int
    exit_code: int | None
    signal: str | None
    at: float
    stopped_after_s: float | None  # set if mcplens stopped it


class Attempt(msgspec.Struct, frozen=True):
    """The next attempt to connect; `at` is its time, None while it is under way."""

    count: int
    most: int | None  # None: no limit
    at: float | None
