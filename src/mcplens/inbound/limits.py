"""Limits on what one client may use, and how long its state is kept. Every buffer is bounded."""

from __future__ import annotations

import msgspec

from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of the inbound transports."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    # Unsent data for a client that does not read; beyond it the client is disconnected.
    max_backlog_bytes: int = 16 * 1024 * 1024
    max_backlog_events: int = 50_000
    # Events kept per session for replay; the oldest are dropped first.
    max_replay_events: int = 1_000
    max_replay_bytes: int = 8 * 1024 * 1024
    # Delivered ones are dropped once they are older: clients resume a broken stream in seconds.
    max_replay_s: float = 60.0
    # Pending requests of one client.
    max_requests: int = 1_000
    # Sessions of streamable HTTP, streams of HTTP+SSE, WebSockets: a limit for each.
    max_sessions: int = 1_000
    # Pending requests of 2026-07-28 over HTTP, of all clients; each open listen counts.
    max_stateless_requests: int = 10_000
    # A session without any HTTP exchange for this long is closed.
    idle_s: float = 30 * 60.0
    # An idle stream gets a comment: proxies keep it open, and a dead client is noticed.
    keepalive_s: float = 15.0
    # A request that takes longer is answered by a stream, which a client can resume.
    stream_after_s: float = 1.0
    # How long a client should wait before it resumes a stream.
    retry_ms: int = 1_000
