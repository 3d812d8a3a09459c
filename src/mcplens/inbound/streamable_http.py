"""The endpoint of streamable HTTP, both eras on one path.

2025-11-25 and before: sessions, a standalone stream (GET), streams that can be resumed, DELETE.
2026-07-28: each POST stands alone, and a client that closes its stream has cancelled its request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Literal

from mcplens.clock import Clock
from mcplens.inbound.asgi import COMMENT, AsgiExchange, event
from mcplens.inbound.exchange import EVENT_STREAM, JSON, DirectExchange, Exchange, accepts
from mcplens.inbound.http_peers import HttpSessionPeer, StatelessPeer
from mcplens.inbound.http_posts import (
    ACCEPTED,
    LateAnswers,
    Posted,
    SessionPosted,
    StatelessPosted,
)
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import LISTEN, PeerHandler
from mcplens.inbound.refusal import HTTP_REFUSAL, INVALID_REQUEST, Refusal, full, too_large
from mcplens.inbound.request_validation import (
    VERSION_HEADER,
    Headers,
    Incoming,
    era_of_message,
    malformed,
    unsupported,
    version_offered,
)
from mcplens.inbound.session_sharing import Elsewhere, RestoredStream, SessionSharing
from mcplens.inbound.session_table import SessionTable
from mcplens.inbound.streams import SendQueue, Stream
from mcplens.protocol.eras import HANDSHAKE_VERSIONS, STATELESS_VERSIONS, Era
from mcplens.protocol.frames import Batch, Frame, Kind, Malformed, Message, RequestId, parse

Answers = Literal["auto", "json", "sse"]
_SESSION_HEADER: Final = "mcp-session-id"


class StreamableHttp:
    """One MCP endpoint. `answers`: JSON unless other messages come first, or always one form."""

    def __init__(
        self,
        handler: PeerHandler,
        clock: Clock,
        *,
        limits: Limits | None = None,
        answers: Answers = "auto",
        is_stateless_only: bool = False,
        on_foreign: Callable[[str], None] | None = None,
        sharing: SessionSharing | None = None,
    ) -> None:
        self._handler = handler
        self._sharing = sharing
        self._is_closing = False
        self._clock = clock
        self._limits = limits or Limits()
        self._answers = answers
        self._is_stateless_only = is_stateless_only
        self._requests: set[StatelessPeer] = set()
        self._late_answers = LateAnswers(clock, self._limits.stream_after_s)
        self.sessions: SessionTable[HttpSessionPeer] = SessionTable(clock, self._limits, on_foreign)

    def __repr__(self) -> str:
        return f"<StreamableHttp {self.sessions!r}, {len(self._requests)} stateless requests>"

    def close(self) -> None:
        """End all sessions and streams; a client that comes back may find another replica."""
        self._is_closing = True
        for session in self.sessions:
            session.hang_up_all(self._limits.retry_ms)
        self.sessions.close_all("the server is closing")
        for request in list(self._requests):
            request.close("the server is closing")
        self._late_answers.close()

    async def handle(self, exchange: AsgiExchange) -> None:
        """Answer one HTTP request.

        Raises:
            Refusal: the error to answer with.
        """
        body = b""
        if exchange.method == "POST":
            check_post(exchange.headers)
            body = await exchange.body(self._limits.max_message_bytes)
        await self.serve(exchange, body)

    async def serve(self, exchange: AsgiExchange, body: bytes) -> None:
        """Answer one HTTP request whose body is here; it may be for another replica.

        Raises:
            Refusal: the error to answer with.
        """
        try:
            await self.serve_here(exchange, body)
        except Elsewhere:
            assert self._sharing is not None
            await self._sharing.serve(self, exchange, body)

    async def serve_here(self, exchange: AsgiExchange, body: bytes) -> None:
        """Answer one HTTP request.

        Raises:
            Refusal: the error to answer with.
            Elsewhere: what it is about is not here; nothing was done.
        """
        match exchange.method:
            case "POST":
                posted = self._begin(exchange, body)
                if posted is None:
                    await exchange.respond(*ACCEPTED)
                else:
                    await self.respond(exchange, posted)
            case "GET" | "DELETE" if not self._is_stateless(exchange):
                session = self._session_of(exchange)
                if exchange.method == "GET":
                    await self._get(exchange, session)
                else:
                    session.close("the client ended its session")
                    await exchange.respond(200)
            case _:
                # 2026-07-28 has neither GET nor DELETE.
                allowed = "POST" if self._is_stateless(exchange) else "GET, POST, DELETE"
                text = f"{exchange.method} is not offered here"
                raise Refusal(405, HTTP_REFUSAL, text, headers={"Allow": allowed})

    def _is_stateless(self, exchange: Exchange) -> bool:
        version = exchange.headers.get(VERSION_HEADER)
        return self._is_stateless_only or version in STATELESS_VERSIONS

    # -- POST ----------------------------------------------------------------------------------

    def post_now(self, exchange: DirectExchange, body: bytes) -> None:
        """A POST whose headers `check_post` accepts and whose body is here.

        It is answered by a task only if that takes a while.

        Raises:
            Refusal: the error to answer with.
        """
        if len(body) > self._limits.max_message_bytes:
            raise too_large(self._limits.max_message_bytes)
        try:
            posted = self._begin(exchange, body)
        except Elsewhere:
            exchange.go_on(lambda later: self._serve_elsewhere(later, body))
            return
        if posted is None:
            exchange.respond_now(*ACCEPTED)
            return

        direct = _DirectPost(self, exchange, posted)
        if posted.is_ready:
            direct.proceed()
        else:
            exchange.on_left = direct.leave
            self._late_answers.add(posted.post, direct.proceed)

    async def _serve_elsewhere(self, exchange: AsgiExchange, body: bytes) -> None:
        assert self._sharing is not None
        try:
            await self._sharing.serve(self, exchange, body)
        except Refusal as refusal:
            if not exchange.has_begun:
                await exchange.refuse(refusal)

    def _begin(self, exchange: Exchange, body: bytes) -> Posted | None:
        """Hand the message of a POST over; None if it has no request to answer.

        Raises:
            Refusal: the error to answer with.
            Elsewhere: what it is about is not here; nothing was done.
        """
        message = parse(body)
        if isinstance(message, Frame):
            era = era_of_message(message, exchange.headers)
            if self._is_stateless_only and era is Era.HANDSHAKE and message.method == "initialize":
                raise unsupported(str(version_offered(message)), message)
            if era is Era.STATELESS or self._is_stateless_only:
                return self._begin_stateless(exchange, message)
        elif self._is_stateless(exchange):
            text = "not one JSON-RPC request or notification"
            raise malformed(Malformed(message.raw, getattr(message, "reason", text)))
        return self._begin_in_session(exchange, message)

    def _begin_stateless(self, exchange: Exchange, frame: Frame) -> Posted | None:
        sharing = self._sharing
        if sharing is not None and not exchange.is_forwarded and sharing.is_elsewhere(frame):
            raise Elsewhere
        peer = StatelessPeer(
            self._handler,
            self._limits,
            caller=exchange.caller,
            json_answers=self._answers == "json" and frame.method != LISTEN,
            on_overrun=exchange.abort,
        )
        if frame.kind is not Kind.REQUEST:
            if frame.kind is not Kind.NOTIFICATION:
                text = "2026-07-28 has no responses from clients"
                raise Refusal(400, INVALID_REQUEST, text)
            peer.hand_over(Incoming(frame, Era.STATELESS, exchange.headers))
            peer.close("a notification must be sent on its own")
            return None
        if len(self._requests) >= self._limits.max_stateless_requests:
            raise full(f"{len(self._requests)} requests wait for an answer")
        incoming = peer.admit(frame, exchange.headers, Era.STATELESS)
        posted = StatelessPosted(peer, self._requests)
        if self._answers == "sse":
            posted.open_stream()
        peer.hand_over(incoming)
        return posted

    def _begin_in_session(self, exchange: Exchange, message: Message) -> Posted | None:
        is_first = isinstance(message, Frame) and message.method == "initialize"
        if is_first and _SESSION_HEADER not in exchange.headers:
            self.sessions.make_room()
            session = self._new_session(exchange.caller)
        else:
            session = self._session_of(exchange, message)
            is_first = False
        posted = SessionPosted(self.sessions, session, is_first=is_first)
        has_requests = False
        try:
            is_streamed = self._answers == "sse"
            has_requests = posted.take(message, exchange.headers, has_stream_only=is_streamed)
        finally:
            if not has_requests:
                posted.over()
        return posted if has_requests else None

    async def respond(self, exchange: AsgiExchange, posted: Posted) -> None:
        """Answer a POST as a whole or by a stream."""
        try:
            if not await exchange.attend(self._answer(exchange, posted)):
                posted.left()
        finally:
            posted.over()

    async def _answer(self, exchange: AsgiExchange, posted: Posted) -> None:
        post = posted.post
        if not posted.has_stream:
            await post.wait(self._clock, self._limits.stream_after_s)
        while not posted.has_stream and not post.is_over:
            if self._answers == "json" and not post.has_stream_only:
                await post.wait(self._clock, self._limits.keepalive_s)
            else:
                posted.open_stream()
        whole = posted.whole()
        if whole is not None:
            await exchange.respond(*whole)
        elif isinstance(posted, SessionPosted) and posted.post.stream is not None:
            await exchange.open_events(posted.headers)
            await self._write_stream(exchange, posted.session, posted.post.stream, 0)
        elif isinstance(posted, StatelessPosted) and posted.peer.send_queue is not None:
            await exchange.open_events()
            await self._write_queue(exchange, posted.peer.send_queue)

    async def _write_queue(self, exchange: AsgiExchange, send_queue: SendQueue) -> None:
        """2026-07-28 has no event ids: a lost stream is a lost request."""
        keepalive_s = self._limits.keepalive_s
        while (messages := await send_queue.take(self._clock, keepalive_s)) is not None:
            for data in messages:
                await exchange.write(event(data))
            if not messages:
                await exchange.write(COMMENT)
        await exchange.end()

    def _new_session(self, caller: str, session_id: str | None = None) -> HttpSessionPeer:
        return HttpSessionPeer(
            self._handler,
            self._limits,
            self._clock,
            caller=caller,
            json_answers=self._answers == "json",
            on_closed=self._closed,
            session_id=session_id,
            sharing=self._sharing,
        )

    def _closed(self, session: HttpSessionPeer) -> None:
        self.sessions.remove(session)
        if self._sharing is not None:
            self._sharing.closed(session, is_over=not self._is_closing)

    def adopt(
        self,
        session_id: str,
        caller: str,
        protocol_version: str,
        streams: Iterable[RestoredStream],
        answer: Callable[[RequestId], bytes],
    ) -> HttpSessionPeer:
        """Go on with a session that another replica had; `answer` is for its lost requests.

        Raises:
            Refusal: 503; too many sessions are in use.
        """
        self.sessions.make_room()
        session = self._new_session(caller, session_id)
        session.protocol_version = protocol_version
        session.restore(streams, answer)
        self.sessions.add(session)
        return session

    def _session_of(self, exchange: Exchange, message: Message | None = None) -> HttpSessionPeer:
        version = exchange.headers.get(VERSION_HEADER)
        # Without the header 2025-03-26 is meant, which any session may be.
        if version is not None and version not in HANDSHAKE_VERSIONS:
            raise unsupported(version, message if isinstance(message, Frame) else None)
        session_id = exchange.headers.get(_SESSION_HEADER)
        sharing = self._sharing
        if sharing is not None and session_id is not None:
            is_parked = sharing.is_parking and _has_request(message)
            if is_parked or session_id not in self.sessions:
                raise Elsewhere
        return self.sessions.get(session_id, exchange.caller)

    # -- streams -------------------------------------------------------------------------------

    async def _get(self, exchange: AsgiExchange, session: HttpSessionPeer) -> None:
        if not exchange.accepts(EVENT_STREAM):
            raise Refusal(406, HTTP_REFUSAL, f"Accept must name {EVENT_STREAM}")
        last_event_id = exchange.headers.get("last-event-id", "")
        stream, after = self._resume(session, last_event_id)
        self.sessions.begin(session)
        try:
            await exchange.attend(self._answer_get(exchange, session, stream, after))
        finally:
            self.sessions.end(session)

    async def _answer_get(
        self, exchange: AsgiExchange, session: HttpSessionPeer, stream: Stream, after: int
    ) -> None:
        await exchange.open_events()
        if stream.restored is not None:
            after = await self._write_earlier(exchange, stream, after)
        await self._write_stream(exchange, session, stream, after)

    async def _write_earlier(self, exchange: AsgiExchange, stream: Stream, after: int) -> int:
        """Events that another replica had; the number after which this one goes on."""
        for number, data in stream.earlier:
            if number > after:
                await exchange.write(event(data, id=f"{stream.name}-{number}"))
        return max(after, stream.forgotten)

    def _resume(self, session: HttpSessionPeer, last_event_id: str) -> tuple[Stream, int]:
        """The stream that a GET asks for, and after which of its events."""
        standalone = session.standalone
        if not last_event_id:
            return standalone, max(standalone.delivered, standalone.forgotten)
        name, _, number = last_event_id.partition("-")
        stream = session.streams.get(name)
        restored = None if stream is None or not number.isdecimal() else stream.restored
        is_new = stream is standalone and restored is not None and int(number) > restored
        if stream is not None and restored is not None and not is_new:
            # The replica before may have sent more than it wrote into the store.
            return stream, min(int(number), restored)
        if stream is None or not number.isdecimal() or int(number) > stream.last:
            text = f"there is no event {last_event_id!r} to resume from, or it is no longer kept"
            raise Refusal(400, HTTP_REFUSAL, text)
        if int(number) < stream.forgotten and stream is not standalone:
            text = f"what came after event {last_event_id!r} is no longer kept"
            raise Refusal(400, HTTP_REFUSAL, text)
        return stream, max(int(number), stream.forgotten)

    async def _write_stream(
        self, exchange: AsgiExchange, session: HttpSessionPeer, stream: Stream, after: int
    ) -> None:
        reader = stream.attach(exchange.abort)  # a client that reads too slowly may resume
        try:
            await self._follow(exchange, session, stream, after, reader)
        finally:
            stream.detach(reader)

    async def _follow(
        self,
        exchange: AsgiExchange,
        session: HttpSessionPeer,
        stream: Stream,
        after: int,
        reader: int,
    ) -> None:
        if session.can_resume:
            # An id to come back with, before anything else (2025-11-25, "Sending Messages").
            await exchange.write(_empty_event(stream, after, self._limits.retry_ms))
        else:
            await exchange.write(COMMENT)  # so that the client sees the stream open
        while stream.is_reader(reader):
            while after < stream.last:
                data = stream.peek(after + 1)
                after += 1
                await exchange.write(event(data, id=f"{stream.name}-{after}"))
                stream.deliver(after)
            if stream.is_finished and stream.retry_ms is None:
                break
            if stream.retry_ms is not None:
                retry_ms, stream.retry_ms = stream.retry_ms, None
                await exchange.write(_empty_event(stream, after, retry_ms))
                break
            await stream.wait(after, self._clock, self._limits.keepalive_s)
            if stream.is_silent(after):
                await exchange.write(COMMENT)
        await exchange.end()


def _empty_event(stream: Stream, after: int, retry_ms: int) -> bytes:
    return event(b"", id=f"{stream.name}-{after}", retry_ms=retry_ms)


class _DirectPost:
    """A POST that waits for its answer without a task."""

    __slots__ = ("_endpoint", "_exchange", "_posted")

    def __init__(self, endpoint: StreamableHttp, exchange: DirectExchange, posted: Posted) -> None:
        self._endpoint = endpoint
        self._exchange = exchange
        self._posted = posted

    def proceed(self) -> None:
        """Respond, if the response is a whole one; else, or if it is late, by a task."""
        posted = self._posted
        whole = posted.whole() if posted.is_ready else None
        if whole is None:
            respond = self._endpoint.respond
            self._exchange.go_on(lambda exchange: respond(exchange, posted))
            return
        try:
            self._exchange.respond_now(*whole)
        finally:
            posted.post.answer = None  # the post may be kept a while longer
            posted.over()

    def leave(self) -> None:
        """The client disconnected."""
        posted = self._posted
        posted.post.on_wake = None
        posted.left()
        posted.over()


def _has_request(message: Message | None) -> bool:
    members = message.members if isinstance(message, Batch) else [message]
    return any(isinstance(one, Frame) and one.kind is Kind.REQUEST for one in members)


def check_post(headers: Headers) -> None:
    """Raises Refusal if a POST with these headers cannot carry a message."""
    if not (accepts(headers, JSON) and accepts(headers, EVENT_STREAM)):
        raise Refusal(406, HTTP_REFUSAL, f"Accept must name {JSON} and {EVENT_STREAM}")
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != JSON:
        raise Refusal(415, HTTP_REFUSAL, f"Content-Type must be {JSON}")
