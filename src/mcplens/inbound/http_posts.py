"""One POST of streamable HTTP, from its message to its response, in either era.

Knows when the response is a whole one and when it is a stream; how either is sent is up to
streamable_http.py, which makes these.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from mcplens.clock import Clock, Timer
from mcplens.inbound.exchange import JSON, NO_HEADERS
from mcplens.inbound.http_peers import HttpSessionPeer, PendingPost, SessionPost, StatelessPeer
from mcplens.inbound.refusal import Refusal, status_of
from mcplens.inbound.request_validation import Headers, Incoming
from mcplens.inbound.session_table import SessionTable
from mcplens.protocol.eras import Era
from mcplens.protocol.frames import Frame, Kind, Message, RequestId

# A whole response: status, body, content type, headers.
Response = tuple[int, bytes, str, Mapping[str, str]]

ACCEPTED: Final[Response] = (202, b"", "", NO_HEADERS)


class Posted(ABC):
    """A POST with requests that are being served."""

    post: PendingPost

    @property
    @abstractmethod
    def has_stream(self) -> bool:
        """Whether its response is a stream."""

    @abstractmethod
    def open_stream(self) -> None:
        """Answer by a stream."""

    @abstractmethod
    def whole(self) -> Response | None:
        """The response; None if it is a stream."""

    @abstractmethod
    def left(self) -> None:
        """The client disconnected before it had its response."""

    @abstractmethod
    def over(self) -> None:
        """It has its response, or nobody wants it any more."""

    @property
    def is_ready(self) -> bool:
        """Whether it is known what the response is."""
        return self.post.is_over or self.post.rejection is not None or self.has_stream


class SessionPosted(Posted):
    """A POST of a session; `is_first` is the one that creates it."""

    post: SessionPost

    def __init__(
        self, sessions: SessionTable[HttpSessionPeer], session: HttpSessionPeer, *, is_first: bool
    ) -> None:
        self.session = session
        self.headers: Mapping[str, str] = NO_HEADERS  # of the response
        self._sessions = sessions
        self._is_first = is_first
        sessions.begin(session)

    def __repr__(self) -> str:
        return f"<SessionPosted of {self.session!r}>"

    def take(self, message: Message, headers: Headers, *, has_stream_only: bool) -> bool:
        """Hand its messages over; returns whether any of them is a request.

        Raises:
            Refusal: the error to answer with.
        """
        session = self.session
        if type(message) is Frame:
            admitted = [session.admit(message, headers, Era.HANDSHAKE)]  # as the endpoint found
            is_request = message.kind is Kind.REQUEST and message.id is not None
            ids: set[RequestId] = {message.id} if is_request else set()  # type: ignore[arg-type]
        else:
            admitted, ids = self._admit_members(message, headers)
        if ids:
            self.post = session.open_post(ids, has_stream_only=has_stream_only)
        has_requests = bool(ids)  # those that are answered at once are taken out
        for incoming in admitted:
            session.hand_over(incoming)
        return has_requests

    def _admit_members(
        self, message: Message, headers: Headers
    ) -> tuple[list[Incoming], set[RequestId]]:
        admitted: list[Incoming] = []
        ids: set[RequestId] = set()
        try:
            for member in self.session.members(message):
                admitted.append(self.session.admit(member, headers))
                is_request = isinstance(member, Frame) and member.kind is Kind.REQUEST
                if is_request and member.id is not None:  # type: ignore[union-attr]
                    ids.add(member.id)  # type: ignore[union-attr]
        except Refusal:
            self.session.withdraw(ids)  # one bad member of a batch, and all of it is refused
            raise
        return admitted, ids

    @property
    def has_stream(self) -> bool:
        return self.post.stream is not None

    def open_stream(self) -> None:
        self.session.open_stream(self.post)

    def whole(self) -> Response | None:
        post = self.post
        if self._is_first:
            self._introduce()
        if post.rejection is not None:
            rejection = post.rejection
            return rejection.status, rejection.body, rejection.content_type, rejection.headers
        if post.answer is not None:
            return 200, post.answer, JSON, self.headers
        return None if post.stream is not None else ACCEPTED

    def _introduce(self) -> None:
        """Tell the client its session id, unless initialize was refused."""
        session = self.session
        if session.protocol_version is not None or not self.post.is_over:
            self._sessions.add(session)
            self._sessions.begin(session)
            self.headers = {"Mcp-Session-Id": session.id}

    def left(self) -> None:
        """A broken connection does not cancel the request in this era: the work continues."""

    def over(self) -> None:
        session = self.session
        self._sessions.end(session)
        if session.id not in self._sessions:  # refused, or left before it was told its id
            session.close("initialize did not create a session")


class StatelessPosted(Posted):
    """A POST of 2026-07-28, which is a client of its own."""

    def __init__(self, peer: StatelessPeer, peers: set[StatelessPeer]) -> None:
        self.peer = peer
        self.post = peer.post
        self._peers = peers
        peers.add(peer)

    def __repr__(self) -> str:
        return f"<StatelessPosted of {self.peer!r}>"

    @property
    def has_stream(self) -> bool:
        return self.peer.send_queue is not None

    def open_stream(self) -> None:
        self.peer.open_stream()

    def whole(self) -> Response | None:
        post = self.post
        if post.rejection is not None:
            rejection = post.rejection
            return rejection.status, rejection.body, rejection.content_type, rejection.headers
        if post.answer is not None:
            return status_of(post.error_code), post.answer, JSON, NO_HEADERS
        return None if self.peer.send_queue is not None else ACCEPTED

    def left(self) -> None:
        self.peer.close("the client closed the stream of its request")

    def over(self) -> None:
        self._peers.discard(self.peer)
        self.peer.close("the request is over")


class LateAnswers:
    """Wakes posts that have no answer after a while; one timer for all, since all wait as long."""

    def __init__(self, clock: Clock, after_s: float) -> None:
        self._clock = clock
        self._after_s = after_s
        self._waiting: deque[tuple[float, PendingPost]] = deque()
        self._timer: Timer | None = None

    def __repr__(self) -> str:
        return f"<LateAnswers {len(self._waiting)} waiting>"

    def add(self, post: PendingPost, late: Callable[[], None]) -> None:
        """Call `late` when the post is woken, or has waited for so long."""
        post.on_wake = late
        waiting = self._waiting
        while waiting and waiting[0][1].on_wake is None:
            waiting.popleft()
        due = self._clock.monotonic() + self._after_s
        waiting.append((due, post))
        if self._timer is None:
            self._timer = self._clock.call_at(due, self._expire)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        now, waiting = self._clock.monotonic(), self._waiting
        while waiting and (waiting[0][0] <= now or waiting[0][1].on_wake is None):
            post = waiting.popleft()[1]
            if post.on_wake is not None:
                post.wake()
        if waiting:
            self._timer = self._clock.call_at(waiting[0][0], self._expire)
