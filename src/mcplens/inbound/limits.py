"""What one client may cost us, and how long its things are kept. Every buffer here has an end."""

from __future__ import annotations

import msgspec

from mcplens.transports.base import DEFAULT_MAX_MESSAGE_BYTES


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The bounds of the inbound transports."""

    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    # What waits for a client that does not read; with more it is disconnected.
    max_backlog_bytes: int = 16 * 1024 * 1024
    max_backlog_events: int = 50_000
    # What is kept of one session to be replayed; the oldest goes first.
    max_replay_events: int = 1_000
    max_replay_bytes: int = 8 * 1024 * 1024
    # Requests of one client that wait for their answers.
    max_requests: int = 1_000
    # Sessions of streamable HTTP, streams of HTTP+SSE, WebSockets: of each so many.
    max_sessions: int = 1_000
    # Requests of 2026-07-28 over HTTP that wait, of all clients; each open listen is one.
    max_stateless_requests: int = 10_000
    # A session without any HTTP exchange for so long is over.
    idle_s: float = 30 * 60.0
    # A silent stream gets a comment: proxies keep it open, and a dead client is noticed.
    keepalive_s: float = 15.0
    # A request that takes longer is answered by a stream, which a client can resume.
    stream_after_s: float = 1.0
    # How long a client should wait before it resumes a stream.
    retry_ms: int = 1_000
