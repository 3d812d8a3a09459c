"""The clients of streamable HTTP: a session (2025-11-25 and before), or one request (2026-07-28).

Their messages become the JSON body of a POST's response, or events of a stream: a request's own, or
the session's standalone stream. The endpoint (streamable_http.py) does the I/O.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from mcplens.clock import Clock
from mcplens.inbound.exchange import NO_HEADERS
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer, PeerHandler
from mcplens.inbound.session_sharing import RestoredStream, SessionSharing, StreamEntry
from mcplens.inbound.session_table import new_session_id
from mcplens.inbound.streams import ReplayBuffer, SendQueue, Stream, Wakeup
from mcplens.protocol.frames import RequestId

# Undelivered events of one stream that are many; those of a session are bounded by its limits.
_MANY_EVENTS: Final = 500
# Events and streams that a replica may have had beyond those that it wrote into the store.
_RESTORED_GAP: Final = 1_000


class Rejection(msgspec.Struct, frozen=True):
    """A plain HTTP response without an MCP message."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = NO_HEADERS


class PendingPost:
    """One POST with a request (or a batch of several), and the state of its response."""

    def __init__(self, ids: set[RequestId], *, has_stream_only: bool = False) -> None:
        self.ids = ids
        self.answer: bytes | None = None  # the answer, if it came before anything else
        self.error_code: int | None = None
        self.rejection: Rejection | None = None
        self.is_over = False
        # Whether even an immediate answer goes on a stream.
        self.has_stream_only = has_stream_only or len(ids) > 1
        self.on_wake: Callable[[], None] | None = None  # called once, in place of who waits
        self._wakeup: Wakeup | None = None

    def wake(self) -> None:
        """There is something to do: an answer, a rejection, or a stream."""
        on_wake, self.on_wake = self.on_wake, None
        if on_wake is not None:
            on_wake()
        elif self._wakeup is not None:
            self._wakeup.wake()

    async def wait(self, clock: Clock, timeout_s: float) -> None:
        """Wait for something to do, or for the timeout."""
        if not (self.is_over or self.rejection):
            self._wakeup = self._wakeup or Wakeup()
            await self._wakeup.wait(clock, timeout_s)

    def settle(self, request_id: RequestId) -> None:
        """One of its requests is done."""
        self.ids.discard(request_id)
        if not self.ids:
            self.is_over = True
            self.wake()


class SessionPost(PendingPost):
    """A POST of a session; its stream can be resumed."""

    stream: Stream | None = None


class HttpSessionPeer(Peer):
    """A client with a session id."""

    kind = "http"
    has_headers = True

    def __init__(
        self,
        handler: PeerHandler,
        limits: Limits,
        clock: Clock,
        *,
        caller: str,
        json_answers: bool,
        on_closed: Callable[[HttpSessionPeer], None],
        session_id: str | None = None,
        sharing: SessionSharing | None = None,
    ) -> None:
        super().__init__(handler, limits, caller=caller)
        self._sharing = sharing
        self.id = session_id or (new_session_id() if sharing is None else sharing.new_id())
        self._json_answers = json_answers
        self._on_closed = on_closed
        self._replay = ReplayBuffer(limits, clock, self._forgot)
        self._numbers = itertools.count(1)
        self._posts: dict[RequestId, SessionPost] = {}
        self.standalone = Stream("s0", self._replay)
        self.streams: dict[str, Stream] = {self.standalone.name: self.standalone}

    def open_post(self, ids: set[RequestId], *, has_stream_only: bool) -> SessionPost:
        """Register a POST with requests."""
        post = SessionPost(ids, has_stream_only=has_stream_only)
        for request_id in ids:
            self._posts[request_id] = post
        return post

    def open_stream(self, post: SessionPost) -> Stream:
        """The stream of a POST; created when first needed."""
        if post.stream is None:
            post.stream = Stream(f"s{next(self._numbers)}", self._replay)
            self.streams[post.stream.name] = post.stream
            if self._sharing is not None:
                self._sharing.log(self, StreamEntry(post.stream.name, 0, ids=tuple(post.ids)))
            post.wake()
        return post.stream

    def reject(
        self,
        request_id: RequestId,
        status: int,
        content_type: str,
        body: bytes,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> bool:
        post = self._posts.get(request_id)
        if post is None or post.stream is not None:
            return False
        self._waiting.pop(request_id, None)
        post.rejection = Rejection(status, content_type, body, headers)
        self._settle(request_id)
        return True

    def hang_up(self, request_id: RequestId, retry_ms: int) -> bool:
        post = self._posts.get(request_id)
        if post is None or self._json_answers or not self.can_resume:
            return False
        self.open_stream(post).hang_up(retry_ms)
        return True

    @property
    def can_resume(self) -> bool:
        """Since then an event may have an id without data, which makes any stream resumable."""
        return self.protocol_version is not None and self.protocol_version >= "2025-11-25"

    @property
    def is_backed_up(self) -> bool:
        # Nobody may ever read the standalone stream: it is optional.
        return any(
            stream.last - stream.delivered > _MANY_EVENTS
            for stream in self.streams.values()
            if stream is not self.standalone or stream.has_reader
        )

    def _put(self, data: bytes, during: RequestId | None) -> None:
        post = None if during is None or self._json_answers else self._posts.get(during)
        # Messages without an open request, or not allowed in its JSON, go to the standalone stream.
        self._put_on(self.standalone if post is None else self.open_stream(post), data)

    def _put_on(self, stream: Stream, data: bytes, answered: tuple[RequestId, ...] = ()) -> None:
        stream.put(data)
        if self._sharing is not None and self.is_open:
            self._sharing.log(self, StreamEntry(stream.name, stream.last, data, answered))

    def _put_answer(self, request_id: RequestId, data: bytes, error_code: int | None) -> None:
        post = self._posts.get(request_id)
        if post is None:
            return
        if post.stream is None and not post.has_stream_only:
            post.answer = data
        else:
            self._put_on(self.open_stream(post), data, (request_id,))
        self._settle(request_id)

    def _put_nothing(self, request_id: RequestId) -> None:
        self._settle(request_id)

    def _settle(self, request_id: RequestId) -> None:
        post = self._posts.pop(request_id)
        post.settle(request_id)
        if post.is_over and post.stream is not None:
            self._finish(post.stream)

    def _finish(self, stream: Stream) -> None:
        stream.finish()
        if stream.is_empty:
            self._forgot(stream)

    def restore(
        self, streams: Iterable[RestoredStream], answer: Callable[[RequestId], bytes]
    ) -> None:
        """Go on with the streams that another replica had; `answer` is for lost requests."""
        highest = 0
        for one in streams:
            if one.name == self.standalone.name:
                self.standalone.restore(one.events, gap=_RESTORED_GAP)
                continue
            if one.name[1:].isdecimal():
                highest = max(highest, int(one.name[1:]))
            stream = self.streams[one.name] = Stream(one.name, self._replay)
            stream.restore(one.events)
            for request_id in one.waiting:
                self._put_on(stream, answer(request_id), (request_id,))
            stream.finish()
        self._numbers = itertools.count(highest + 1 + (_RESTORED_GAP if highest else 0))

    def hang_up_all(self, retry_ms: int) -> None:
        """End the connections of all streams; clients that can resume are told when to."""
        for stream in self.streams.values():
            if self.can_resume and not stream.is_finished:
                stream.hang_up(retry_ms)

    def _forgot(self, stream: Stream) -> None:
        if stream.is_finished:
            self.streams.pop(stream.name, None)

    def _shut(self, reason: str) -> None:
        for post in set(self._posts.values()):
            post.is_over = True
            post.wake()
        self._posts.clear()
        for stream in self.streams.values():
            stream.finish()
        self._replay.close()
        self._on_closed(self)


class StatelessPeer(Peer):
    """A client of 2026-07-28, which exists for a single request."""

    kind = "http"
    has_headers = True

    def __init__(
        self,
        handler: PeerHandler,
        limits: Limits,
        *,
        caller: str,
        json_answers: bool,
        on_overrun: Callable[[], None],
    ) -> None:
        super().__init__(handler, limits, caller=caller)
        self._on_overrun = on_overrun
        self.post = PendingPost(set())
        self.send_queue: SendQueue | None = None
        self._json_answers = json_answers

    def open_stream(self) -> SendQueue:
        if self.send_queue is None:
            self.send_queue = SendQueue(self.limits.max_backlog_bytes, self._overrun)
            self.post.wake()
        return self.send_queue

    def reject(
        self,
        request_id: RequestId,
        status: int,
        content_type: str,
        body: bytes,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> bool:
        if self.send_queue is not None:
            return False
        self._waiting.pop(request_id, None)
        self.post.rejection = Rejection(status, content_type, body, headers)
        self._end()
        return True

    @property
    def is_backed_up(self) -> bool:
        queue = self.send_queue
        return queue is not None and queue.size > self.limits.max_backlog_bytes // 4

    def _put(self, data: bytes, during: RequestId | None) -> None:
        if not self._json_answers:
            self.open_stream().put(data)

    def _put_answer(self, request_id: RequestId, data: bytes, error_code: int | None) -> None:
        if self.send_queue is None:
            self.post.answer, self.post.error_code = data, error_code
        else:
            self.send_queue.put(data)
        self._end()

    def _put_nothing(self, request_id: RequestId) -> None:
        self._end()

    def _overrun(self) -> None:
        self.close("the client reads too slowly")
        self._on_overrun()

    def _end(self) -> None:
        self.post.is_over = True
        self.post.wake()
        if self.send_queue is not None:
            self.send_queue.finish()

    def _shut(self, reason: str) -> None:
        self._end()
