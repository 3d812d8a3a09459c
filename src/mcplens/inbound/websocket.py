"""The endpoint of WebSocket, subprotocol `mcp`: one message per text frame, both ways."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from mcplens.inbound.asgi import Receive, Scope, Send, abort
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer, PeerHandler
from mcplens.inbound.refusal import full
from mcplens.inbound.request_validation import Headers
from mcplens.inbound.streams import SendQueue
from mcplens.protocol.frames import RequestId

SUBPROTOCOL: Final = "mcp"
# RFC 6455: "an endpoint is going away".
_GOING_AWAY: Final = 1001


class WebSocketPeer(Peer):
    """A client on its socket."""

    kind = "websocket"

    def __init__(self, handler: PeerHandler, limits: Limits, *, caller: str) -> None:
        super().__init__(handler, limits, caller=caller)
        self.send_queue = SendQueue(limits.max_backlog_bytes, self._overrun)
        self.close_reason = ""
        self.on_overrun: Callable[[], object] | None = None

    def _put(self, data: bytes, during: RequestId | None) -> None:
        self.send_queue.put(data)

    def _overrun(self) -> None:
        self.close("the client reads too slowly")
        if self.on_overrun is not None:
            self.on_overrun()

    def _shut(self, reason: str) -> None:
        self.close_reason = reason
        self.send_queue.finish()


class WebSocketEndpoint:
    """Takes sockets."""

    def __init__(self, handler: PeerHandler, *, limits: Limits | None = None) -> None:
        self._handler = handler
        self._limits = limits or Limits()
        self._peers: set[WebSocketPeer] = set()

    def __repr__(self) -> str:
        return f"<WebSocketEndpoint {len(self._peers)} open>"

    def close(self) -> None:
        """End all connections."""
        for peer in list(self._peers):
            peer.close("the server is closing")

    def make_room(self) -> None:
        """Check that one more socket may be opened.

        Raises:
            Refusal: 503; there are too many.
        """
        if len(self._peers) >= self._limits.max_sessions:
            raise full(f"{len(self._peers)} sockets are open")

    async def handle_socket(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, caller: str
    ) -> None:
        """Serve one client until either side closes."""
        if (await receive())["type"] != "websocket.connect":
            return
        chosen = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": chosen})
        peer = WebSocketPeer(self._handler, self._limits, caller=caller)
        self._peers.add(peer)
        loop = asyncio.get_running_loop()
        reader = loop.create_task(self._read(peer, receive, headers))
        writer = loop.create_task(self._write(peer, send))
        peer.on_overrun = writer.cancel
        try:
            await asyncio.wait([reader, writer], return_when=asyncio.FIRST_COMPLETED)
            if writer.cancelled():
                abort(send)
        finally:
            self._peers.discard(peer)
            peer.close("the client closed its socket")
            for task in (reader, writer):
                task.cancel()
            await asyncio.gather(reader, writer, return_exceptions=True)

    async def _read(self, peer: WebSocketPeer, receive: Receive, headers: Headers) -> None:
        while (message := await receive())["type"] == "websocket.receive":
            text = message.get("text")
            peer.take(message.get("bytes") or b"" if text is None else text.encode(), headers)

    async def _write(self, peer: WebSocketPeer, send: Send) -> None:
        while (messages := await peer.send_queue.take()) is not None:
            for data in messages:
                await send({"type": "websocket.send", **_payload(data)})
        reason = peer.close_reason[:100]  # a close frame holds 123 bytes of it
        await send({"type": "websocket.close", "code": _GOING_AWAY, "reason": reason})


def _payload(data: bytes) -> dict[str, str | bytes]:
    """A text frame; bytes that are not text can only be sent as a binary one."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"bytes": data}
