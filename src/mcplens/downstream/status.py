"""Status and state of a downstream server: stopped, starting, running, or failed."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from mcplens.protocol.lifecycle import ConnectionState


class ServerStatus(Enum):
    STOPPED = "STOPPED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    ERROR = "ERROR"


# The statuses of a session that stays open.
STATUS_OF = {
    ConnectionState.CONNECTING: ServerStatus.STARTING,
    ConnectionState.CONNECTED: ServerStatus.RUNNING,
    ConnectionState.ERROR: ServerStatus.ERROR,
    ConnectionState.DISCONNECTING: ServerStatus.STOPPED,
    ConnectionState.DISCONNECTED: ServerStatus.STOPPED,
}


class ServerState(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a server, since when, and what is to happen next; times are wall time.

    `error` is the last failure, also after the server was stopped; `retry_at` is when the next
    attempt to connect begins by itself. While `is_paused`, no call is tried: too many failed.
    """

    status: ServerStatus
    since: float
    message: str = ""  # of ERROR
    error: dict[str, Any] | None = None
    retry_at: float | None = None
    is_paused: bool = False
