"""The endpoint of the older HTTP+SSE transport: a GET opens the stream, POSTs carry messages.

Answers are sent on the stream; when the stream ends, the client is disconnected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs

from mcplens.clock import Clock
from mcplens.inbound.asgi import COMMENT, AsgiExchange, event
from mcplens.inbound.exchange import EVENT_STREAM
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer, PeerHandler
from mcplens.inbound.refusal import HTTP_REFUSAL, Refusal
from mcplens.inbound.session_table import SessionTable, new_session_id
from mcplens.inbound.streams import SendQueue
from mcplens.protocol.frames import RequestId

_QUERY_KEY: Final = "session_id"


class SsePeer(Peer):
    """A client with its stream open."""

    kind = "sse"

    def __init__(
        self,
        handler: PeerHandler,
        limits: Limits,
        *,
        caller: str,
        on_closed: Callable[[SsePeer], None],
        on_overrun: Callable[[], None],
    ) -> None:
        super().__init__(handler, limits, caller=caller)
        self._on_overrun = on_overrun
        self.id = new_session_id()
        self.send_queue = SendQueue(limits.max_backlog_bytes, self._overrun)
        self._on_closed = on_closed

    def _put(self, data: bytes, during: RequestId | None) -> None:
        self.send_queue.put(data)

    def _overrun(self) -> None:
        self.close("the client reads too slowly")
        self._on_overrun()

    def _shut(self, reason: str) -> None:
        self.send_queue.finish()
        self._on_closed(self)


class HttpSse:
    """Two paths: the stream's, and the one that takes messages."""

    def __init__(
        self,
        handler: PeerHandler,
        clock: Clock,
        *,
        messages_path: str = "/messages",
        limits: Limits | None = None,
    ) -> None:
        self.messages_path = messages_path
        self._handler = handler
        self._clock = clock
        self._limits = limits or Limits()
        self.sessions: SessionTable[SsePeer] = SessionTable(clock, self._limits)

    def __repr__(self) -> str:
        return f"<HttpSse {self.sessions!r}>"

    def close(self) -> None:
        """End all streams."""
        self.sessions.close_all("the server is closing")

    async def handle(self, exchange: AsgiExchange) -> None:
        """Answer one HTTP request.

        Raises:
            Refusal: the error to answer with.
        """
        is_message = exchange.path == self.messages_path
        wanted = "POST" if is_message else "GET"
        if exchange.method != wanted:
            # 405 to a POST is what sends a client of streamable HTTP on to this transport.
            text = f"{exchange.method} is not offered here"
            raise Refusal(405, HTTP_REFUSAL, text, headers={"Allow": wanted})
        await (self._post(exchange) if is_message else self._get(exchange))

    async def _post(self, exchange: AsgiExchange) -> None:
        session_id = parse_qs(exchange.query).get(_QUERY_KEY, [None])[0]
        peer = self.sessions.get(session_id, exchange.caller)
        body = await exchange.body(self._limits.max_message_bytes)
        await exchange.respond(202, b"Accepted", "text/plain")
        peer.take(body, exchange.headers)

    async def _get(self, exchange: AsgiExchange) -> None:
        if not exchange.accepts(EVENT_STREAM):
            raise Refusal(406, HTTP_REFUSAL, f"Accept must name {EVENT_STREAM}")
        self.sessions.make_room()
        peer = SsePeer(
            self._handler,
            self._limits,
            caller=exchange.caller,
            on_closed=self.sessions.remove,
            on_overrun=exchange.abort,
        )
        self.sessions.add(peer)
        self.sessions.begin(peer)
        try:
            await exchange.attend(self._write(exchange, peer))
        finally:
            peer.close("the client closed its stream")

    async def _write(self, exchange: AsgiExchange, peer: SsePeer) -> None:
        await exchange.open_events()
        endpoint = f"{self.messages_path}?{_QUERY_KEY}={peer.id}"
        await exchange.write(event(endpoint.encode(), name="endpoint"))
        keepalive_s = self._limits.keepalive_s
        while (messages := await peer.send_queue.take(self._clock, keepalive_s)) is not None:
            for data in messages:
                await exchange.write(event(data, name="message"))
            if not messages:
                await exchange.write(COMMENT)
        await exchange.end()
