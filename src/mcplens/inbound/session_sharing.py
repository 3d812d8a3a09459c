"""How a session of streamable HTTP is shared with other replicas, as its endpoint sees it.

The interface that streamable_http.py and http_peers.py call, and the log by which another replica
restores the streams of a session: which requests each stream answers, and its events. Without
replicas there is none of this. gateway/shared_sessions.py implements it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

import msgspec

from mcplens.protocol.frames import Frame, RequestId

if TYPE_CHECKING:
    from mcplens.inbound.asgi import AsgiExchange
    from mcplens.inbound.http_peers import HttpSessionPeer
    from mcplens.inbound.streamable_http import StreamableHttp


class StreamEntry(msgspec.Struct, frozen=True, array_like=True):
    """One entry of the log: a stream that was opened for requests (number 0), or an event of it."""

    stream: str
    number: int
    data: bytes = b""
    ids: tuple[RequestId, ...] = ()  # that the stream is for, or that the event answers


class RestoredStream:
    """A stream as the log of another replica has it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.events: list[tuple[int, bytes]] = []
        self.waiting: list[RequestId] = []  # requests that have no answer

    def __repr__(self) -> str:
        return f"<RestoredStream {self.name}, {len(self.events)} events>"

    @property
    def last(self) -> int:
        return self.events[-1][0] if self.events else 0


def read_log(entries: Iterable[StreamEntry]) -> dict[str, RestoredStream]:
    """The streams of a session, by name."""
    found: dict[str, RestoredStream] = {}
    for entry in entries:
        stream = found.setdefault(entry.stream, RestoredStream(entry.stream))
        if entry.number == 0:
            stream.waiting += entry.ids
            continue
        if stream.events and entry.number != stream.last + 1:
            stream.events.clear()  # those before cannot be told apart from what is missing
        stream.events.append((entry.number, entry.data))
        stream.waiting = [one for one in stream.waiting if one not in entry.ids]
    return found


class Elsewhere(Exception):
    """What a request is about is not here: another replica may have it."""


class SessionSharing(Protocol):
    """What an endpoint tells of its sessions, and asks of other replicas."""

    def new_id(self) -> str:
        """The id of a new session."""

    def closed(self, session: HttpSessionPeer, *, is_over: bool) -> None:
        """A session is not here any more; `is_over`: nor anywhere else."""

    def log(self, session: HttpSessionPeer, entry: StreamEntry) -> None:
        """Something happened on a stream of a session."""

    def is_elsewhere(self, frame: Frame) -> bool:
        """Whether a request of 2026-07-28 is about something that another replica has."""

    @property
    def is_parking(self) -> bool:
        """Whether `serve` keeps new requests of sessions, until another replica has them."""

    async def serve(self, endpoint: StreamableHttp, exchange: AsgiExchange, body: bytes) -> None:
        """Answer a request about something that is not here.

        Raises:
            Refusal: the error to answer with.
        """
