"""A stream of server-sent events as a transport follows it: its place, its end, its messages.

One EventStream outlives the connections that carry it, so that it can be resumed from its last
event id. Called by both HTTP transports; protocol/sse.py reads the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mcplens.errors import HttpError
from mcplens.protocol.frames import (
    Batch,
    Frame,
    Kind,
    Malformed,
    Message,
    RequestId,
    parse,
    too_long,
)
from mcplens.protocol.sse import SseEvent, SseParser
from mcplens.transports.base import MESSAGES_PER_TURN, give_way
from mcplens.transports.http_exchange import HttpExchange
from mcplens.transports.network import KEPT_BYTES, one_line

# The event stream standard leaves the delay to us where the server names none.
DEFAULT_RETRY_S: Final = 1.0
# A server that asks for no delay, and ends each stream at once, would be asked without end.
_LEAST_RETRY_S: Final = 0.1
# What is parsed in one turn: lines that make no event, without end, must not slow other servers.
_PIECE_BYTES: Final = 32 * 1024
# What servers take as one header; a control character none of them would.
_MAX_ID_CHARACTERS: Final = 8 * 1024
_UNSENDABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# As much is quoted of the name of an event.
_QUOTED_CHARACTERS: Final = 200
_REPLIES: Final = (Kind.RESULT, Kind.ERROR)


class EventStream:
    """What is known of a stream from the events that came."""

    def __init__(self, limit_bytes: int) -> None:
        self.event_count = 0
        self.last_event_id = ""
        self.retry_s = DEFAULT_RETRY_S
        self._limit_bytes = limit_bytes
        self._last: tuple[HttpExchange, SseParser] | None = None
        self._how = "ended"
        self._has_odd_id = False

    def __repr__(self) -> str:
        return f"<EventStream after {self.event_count} events, last id {self.last_event_id!r}>"

    @property
    def has_begun(self) -> bool:
        return self._last is not None

    @property
    def unfinished(self) -> bytes:
        """What came of an event whose end has not come."""
        if self._last is None or not self._last[1].has_partial_event:
            return b""
        partial = self._last[1].partial()
        return b"" if partial.startswith(b":") else partial  # a comment is not a message

    def ending(self) -> HttpError:
        """How the last connection ended, as the error of a request that is not answered."""
        assert self._last is not None
        exchange, partial = self._last[0], self.unfinished
        problem = f"the stream {self._how} before the answer"
        if partial:
            problem += f", in the middle of an event: {one_line(partial)}"
        if self._has_odd_id:
            problem += "; it cannot be resumed, since no header can hold its last event id"
        return exchange.error("NO_RESPONSE", problem, partial)

    async def follow(self, exchange: HttpExchange, take: Callable[[SseEvent], None]) -> None:
        """Hand over the events that have data until this connection ends or breaks."""
        parser = SseParser(self._limit_bytes)
        self._last = exchange, parser
        self._how = "ended"
        try:
            while chunk := await exchange.read_some():
                for start in range(0, len(chunk), _PIECE_BYTES):
                    if start:
                        await give_way()
                    for event in parser.feed(chunk[start : start + _PIECE_BYTES]):
                        self._note(event)
                        if event.data:
                            take(event)
                        if self.event_count % MESSAGES_PER_TURN == 0:
                            await give_way()
        except Exception as problem:  # whatever it is, it is noted and goes on
            from mcplens.transports.http_connection import what_broke

            self._how = f"broke off ({what_broke(problem)})"
            raise

    def oddity(self, event: SseEvent) -> str:
        """What to say of an event of another kind."""
        name = event.event[:_QUOTED_CHARACTERS]
        return f"an event named {name!r} is not a message: {one_line(event.data)}"

    def message_in(self, event: SseEvent) -> Message | None:
        """The message that an event carries; None for an event of another kind."""
        if event.event != "message":
            return None
        if event.is_too_long:
            return too_long(event.data[:KEPT_BYTES], self._limit_bytes)
        return parse(event.data)

    def _note(self, event: SseEvent) -> None:
        self.event_count += 1
        if event.id is not None:
            is_long = len(event.id) > _MAX_ID_CHARACTERS
            self._has_odd_id = is_long or _UNSENDABLE.search(event.id) is not None
            self.last_event_id = "" if self._has_odd_id else event.id
        if event.retry_ms is not None:
            self.retry_s = max(_LEAST_RETRY_S, event.retry_ms / 1000)


class AnswerStream(EventStream):
    """The stream that a request was answered with, and whether the answer has come on it."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(limit_bytes)
        self.exchange: HttpExchange | None = None  # the one that it is to come by
        self.is_given = False
        self.has_doubtful = False  # something came that may have been meant as the answer

    @property
    def unfinished(self) -> bytes:
        if self.exchange is not None and not self.has_begun:
            return self.exchange.so_far
        return super().unfinished

    def settles(self, message: Message, request_id: RequestId) -> bool:
        """Whether this message, which came on the stream, is the answer at last."""
        if self.is_given:
            return False
        if _answers(message, request_id):
            self.is_given = True
            return True
        self.has_doubtful = self.has_doubtful or may_answer(message)
        return False


def may_answer(message: Message) -> bool:
    """Whether it is an answer of sorts, right or wrong, so that the session can judge it."""
    if isinstance(message, Batch):
        return any(may_answer(member) for member in message.members)
    return isinstance(message, Malformed) or message.kind in _REPLIES


def _answers(message: Message, request_id: RequestId) -> bool:
    if isinstance(message, Frame):
        return message.id == request_id and message.kind in _REPLIES
    if isinstance(message, Batch):
        return any(_answers(member, request_id) for member in message.members)
    return False
