"""What every transport is: an async context manager of frames in and out.

A transport moves bytes and knows nothing of requests that wait. It publishes what carries them
(HTTP exchanges, processes, stderr); the session, its Receiver, publishes the frames themselves,
since it knows what they belong to. Sending never blocks; everything else is a callback.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from enum import Enum
from types import TracebackType, coroutine
from typing import Any, Final, Protocol, Self

import msgspec

from mcplens.background import Background
from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import InspectorError
from mcplens.events import FrameSent, Remark
from mcplens.protocol.frames import Frame, Kind, Message, RequestId, parse
from mcplens.transports.authorization import Authorizer

# glibc asks the system for every buffer over 128 KiB until it has seen a larger one freed. asyncio
# reads a pipe into 256 KiB: without this line each read may cost 20 µs more.
bytes(1 << 20)

# One message; configurable per transport.
DEFAULT_MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
# Messages that a stream delivers before others get their turn: about a millisecond's work.
MESSAGES_PER_TURN: Final = 16


@coroutine
def give_way() -> Generator[None, None, None]:
    """Let all that is ready run first, so that a server that floods does not slow others."""
    yield


class Closing(Enum):
    """How a transport ends."""

    GRACEFUL = "graceful"  # the polite way, waited for
    HANDOVER = "handover"  # the polite way begun; somebody else finishes it
    KILL = "kill"  # at once


class Receiver(Protocol):
    """What a transport calls: the session. On the event loop, and never awaited."""

    def message_received(
        self,
        message: Message,
        size_bytes: int,
        exchange_id: int | None = None,
        carrier: Outgoing | None = None,
    ) -> None:
        """A message came by this HTTP exchange, in the answer to the POST of `carrier`."""

    def message_resent(self, out: Outgoing, exchange_id: int) -> None:
        """A message is sent once more, by another HTTP exchange (after a redirect)."""

    def only_request_seq(self) -> int | None:
        """The request that what the server says may belong to: that of the only call in flight."""

    def request_failed(self, request_id: RequestId, error: InspectorError) -> None:
        """No answer will come for this request; the connection itself may be well."""

    def connection_lost(self, error: InspectorError) -> None:
        """The channel is gone, unasked."""

    def session_expired(self, error: InspectorError) -> None:
        """The server no longer knows our HTTP session; a new one must be opened."""


class Outgoing(msgspec.Struct, eq=False, gc=False):
    """One message on its way out, with what a transport needs to know of it.

    `sent` is how it was published, which the session does before it hands the message over.
    Nothing in it can refer back to it, so the garbage collector need not look at it.
    """

    message: Message
    is_request: bool = False
    id: RequestId | None = None
    method: str = ""
    headers: Mapping[str, str] | None = None
    sent: FrameSent | None = None

    @property
    def data(self) -> bytes:
        return self.message.raw

    @property
    def name(self) -> str:
        """What it is, for a person."""
        if isinstance(self.message, Frame):
            return self.method or self.message.method or "an answer to the server"
        return "a raw message"

    @property
    def exchange_id(self) -> int | None:
        """The HTTP exchange that it was announced with."""
        return None if self.sent is None else self.sent.exchange_id

    @property
    def is_raw(self) -> bool:
        """Whether these are bytes that a person typed, rather than a message of ours."""
        return not isinstance(self.message, Frame) or self.message.kind is Kind.REQUEST


class Transport(ABC):
    """A way to one server, for one connection: attach, enter, send, leave."""

    kind: str = "?"
    # Whether a server behind this transport may speak 2026-07-28.
    can_be_stateless: bool = True
    # Whether each request is an HTTP exchange of its own: it has headers, an answer of its own,
    # and 2026-07-28 cancels it by closing it.
    exchange_per_request: bool = False
    # Who signs in where the server wants it; None where nobody can.
    authorizer: Authorizer | None = None

    def __init__(self, *, max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> None:
        self.max_message_bytes = max_message_bytes
        self.closing = Closing.GRACEFUL
        self._work = Background()  # it ends with the transport
        self._receiver: Receiver
        self._publish: Publisher
        self._clock: Clock

    def attach(self, receiver: Receiver, publish: Publisher, clock: Clock) -> None:
        """Set the receiver of this transport; once, before it is entered."""
        self._receiver = receiver
        self._publish = publish
        self._clock = clock

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            await self._close(self.closing)
        finally:
            await self._work.end()

    @property
    @abstractmethod
    def identity(self) -> str:
        """What identifies the server within this process: its command or its URL."""

    def unfinished(self, request_id: RequestId | None = None) -> bytes:
        """How the message begins that has come in part, for this request or any; b"" if none."""
        return b""

    @property
    def stray_lines(self) -> Sequence[str]:
        """What the server printed between messages before the handshake was done; the first few."""
        return ()

    @property
    def lack(self) -> str:
        """What an open channel still needs from the server, for a person; "" if nothing."""
        return ""

    @abstractmethod
    async def _open(self) -> None:
        """Establish the channel. Raises InspectorError where that fails."""

    @abstractmethod
    async def _close(self, how: Closing) -> None:
        """Give the channel up and free everything; never raises, safe to call twice."""

    @abstractmethod
    def write(self, out: Outgoing) -> None:
        """Put a message on its way without blocking; failures go to the receiver."""

    def next_exchange_id(self) -> int | None:
        """The id of the HTTP exchange that the next message gets; None where none carries it."""
        return None

    def abandon(self, request_id: RequestId) -> None:  # noqa: B027 (most have nothing to do)
        """No caller waits for this request any more; an HTTP transport closes its stream."""

    def negotiated(  # noqa: B027 (most have nothing to do)
        self, protocol_version: str, *, is_stateless: bool
    ) -> None:
        """The handshake is done; from now on this revision is spoken."""

    def fallback(self) -> Transport | None:
        """Another transport to try when the server refuses the handshake over this one."""
        return None

    def describe(self) -> dict[str, Any]:
        """Facts about the channel for a person (pid, session, address), secrets masked."""
        return {"transport": self.kind}

    def _deliver(self, data: bytes) -> None:
        self._receiver.message_received(parse(data), len(data))

    def _remark(self, text: str) -> None:
        self._publish(Remark(message=text))
