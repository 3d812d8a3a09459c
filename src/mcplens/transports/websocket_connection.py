"""The library's connection as our WebSocket transport needs it.

Tells what its users cannot see, and waits for a server's goodbye only so long. Imported by
websocket.py when it connects, so that importing that loads no WebSocket library.
"""

from __future__ import annotations

from typing import Any, Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import State

from mcplens.clock import Clock
from mcplens.transports.websocket import WebSocketFacts

# What is read in one turn, so that a server that floods does not slow others.
_READ_BYTES: Final = 64 * 1024
# More than one largest message of ours, behind which pongs may rightly wait.
MAX_UNREAD_BYTES: Final = 80 * 1024 * 1024


class WebSocketConnection(ClientConnection):
    """A connection that is dropped when the server, having said goodbye, does not hang up."""

    def __init__(
        self,
        protocol: ClientProtocol,
        *,
        facts: WebSocketFacts,
        clock: Clock,
        close_timeout: float,
        **options: Any,
    ) -> None:
        super().__init__(protocol, close_timeout=close_timeout, **options)
        self._facts = facts
        self._clock = clock
        self._goodbye_s = close_timeout
        self._is_ending = False
        self._is_receiving = False
        facts.connection = self

    def connection_made(self, transport: Any) -> None:
        # asyncio reads 256 KiB at once: thousands of small frames, parsed in one go.
        if hasattr(transport, "max_size"):
            transport.max_size = _READ_BYTES
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self._is_receiving = True
        super().data_received(data)
        self._is_receiving = False
        # The library waits for the server to hang up, without a limit.
        if not self._is_ending and self.protocol.close_expected():
            self._is_ending = True
            due = self._clock.monotonic() + self._goodbye_s
            self._clock.call_at(due, self.transport.abort)

    def send_data(self) -> None:
        # Pongs pile up for a server that pings and does not read; not every ping needs one
        # (RFC 6455, 5.5.3).
        is_pong = self._is_receiving and self.protocol.state is State.OPEN
        if is_pong and self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
            self.protocol.data_to_send()
        else:
            super().send_data()

    def process_event(self, event: Any) -> None:
        if type(event) is Frame and event.opcode is Opcode.BINARY:
            self._facts.has_binary = True
        super().process_event(event)


class WebSocketConnect(connect):
    """Goes nowhere else: the library's redirects would take the headers along."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc
