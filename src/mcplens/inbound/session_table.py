"""The open sessions: unguessable ids, bound to their caller, limited in number, closed when idle.

Used by both HTTP transports that have sessions (2025-11-25 and before).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Generic, Protocol, TypeVar

from mcplens.clock import Clock, Timer
from mcplens.inbound.limits import Limits
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal, full


class InboundSession(Protocol):
    """What the table needs to know of a session."""

    id: str
    caller: str

    def close(self, reason: str = "") -> None: ...


S = TypeVar("S", bound=InboundSession)


def new_session_id() -> str:
    """256 random bits in visible ASCII."""
    return secrets.token_urlsafe(32)


class SessionTable(Generic[S]):
    """Session id -> session."""

    def __init__(
        self, clock: Clock, limits: Limits, on_foreign: Callable[[str], None] | None = None
    ) -> None:
        self._on_foreign = on_foreign  # called with the caller who asks for another's session
        self._clock = clock
        self._limits = limits
        self._sessions: dict[str, S] = {}
        self._exchanges: dict[str, int] = {}  # HTTP exchanges that are under way
        self._idle_since: dict[str, float] = {}  # in the order in which they became idle
        self._timer: Timer | None = None

    def __repr__(self) -> str:
        return f"<SessionTable {len(self._sessions)} open, {len(self._idle_since)} idle>"

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[S]:
        return iter(list(self._sessions.values()))

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._sessions

    def make_room(self) -> None:
        """Make room for one more session, by closing the longest idle one if necessary.

        Raises:
            Refusal: 503; all of them are in use.
        """
        if len(self._sessions) < self._limits.max_sessions:
            return
        oldest = next(iter(self._idle_since), None)
        if oldest is None:
            raise full(f"{len(self._sessions)} sessions are open")
        self._sessions[oldest].close("closed to make room for another session")

    def add(self, session: S) -> None:
        self._sessions[session.id] = session
        self._idle_since[session.id] = self._clock.monotonic()
        self._watch()

    def remove(self, session: S) -> None:
        self._sessions.pop(session.id, None)
        self._exchanges.pop(session.id, None)
        self._idle_since.pop(session.id, None)

    def get(self, session_id: str | None, caller: str) -> S:
        """An open session.

        Raises:
            Refusal: 400 without an id, 404 where the caller has no session with this one.
        """
        if session_id is None:
            raise Refusal(
                400, HTTP_REFUSAL, "no session: send initialize first, or send the session id"
            )
        session = self._sessions.get(session_id)
        # Another caller's session does not exist for this one.
        if session is None or session.caller != caller:
            if session is not None and self._on_foreign is not None:
                self._on_foreign(caller)
            raise Refusal(404, HTTP_REFUSAL, "there is no such session, or it has ended")
        return session

    def begin(self, session: S) -> None:
        """An HTTP exchange of this session began, so it is not idle."""
        if session.id in self._sessions:
            self._exchanges[session.id] = self._exchanges.get(session.id, 0) + 1
            self._idle_since.pop(session.id, None)

    def end(self, session: S) -> None:
        """An HTTP exchange ended; after the last one the session is idle."""
        count = self._exchanges.pop(session.id, 0) - 1
        if session.id not in self._sessions:
            return
        if count > 0:
            self._exchanges[session.id] = count
        else:
            self._idle_since[session.id] = self._clock.monotonic()
            self._watch()

    def close_all(self, reason: str) -> None:
        for session in list(self._sessions.values()):
            session.close(reason)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch(self) -> None:
        """One timer for all, set to the session that is idle longest."""
        if self._timer is None and self._idle_since:
            due = next(iter(self._idle_since.values())) + self._limits.idle_s
            self._timer = self._clock.call_at(due, self._expire)

    def _expire(self) -> None:
        self._timer = None
        too_old = self._clock.monotonic() - self._limits.idle_s
        for session_id, since in list(self._idle_since.items()):
            if since > too_old:
                break
            self._sessions[session_id].close(f"idle for {self._limits.idle_s:g} s")
        self._watch()
