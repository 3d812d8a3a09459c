"""Where the messages of one direction of an HTTP/1.1 connection begin and end.

Bytes go in as they come, parts come out; the bytes of all parts, in their order, are those that
went in, but for the `Host` of a request. What is not HTTP passes as it is, with the problem. Pure.
Used by http_relay.py, which moves the bytes; http_observer.py reads the parts.
"""

from __future__ import annotations

import re
from collections import deque
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from mcplens.tap.http_head import Head, Heads, RequestHead, ResponseHead

# Longer heads are not read; servers refuse much shorter ones.
HEAD_BYTES: Final = 64 * 1024
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_LINE_BYTES: Final = 16 * 1024


class Kind(Enum):
    """What a part of a direction is."""

    WHOLE = auto()  # a message that came in one piece: its head and its body
    HEAD = auto()
    INFORMED = auto()  # the head of a response that another one follows (1xx)
    SWITCHED = auto()  # the head of a response after which there is no HTTP any more
    DATA = auto()  # of a body
    END = auto()  # of a message
    BEYOND = auto()  # bytes that are not HTTP, or not any more
    PROBLEM = auto()  # what is wrong, as a text; it has no bytes


class Part(NamedTuple):
    """A part of a direction, and its bytes as the other side gets them."""

    kind: Kind
    value: Any
    raw: bytes


# A message that came in one piece: its head and its body.
Whole = tuple[Any, bytes]


def whole_part(whole: Whole) -> Part:
    """A whole message as a part, as the other side gets it."""
    head, body = whole
    return Part(_WHOLE, whole, head.passed + body)


class _State(Enum):
    HEAD = auto()
    LENGTH = auto()
    CHUNK_SIZE = auto()
    CHUNK_DATA = auto()
    CHUNK_END = auto()
    TRAILERS = auto()
    UNTIL_CLOSE = auto()
    BEYOND = auto()


# Enum members as globals: an attribute lookup each time would cost more.
_HEAD, _WHOLE = _State.HEAD, Kind.WHOLE


class Framing:
    """The messages of one direction."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._state = _State.HEAD
        self._buffer = b""  # the beginning of a head or of a line
        self._left = 0  # of a body or a chunk
        self._parts: list[Part] = []
        self._last: Head | None = None  # the next one is often the same

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state.name}, {self._left} bytes to come>"

    @property
    def is_between(self) -> bool:
        """Whether no message has begun that did not end."""
        return self._state is _State.HEAD and not self._buffer

    def feed(self, data: bytes) -> list[Part]:
        """The parts that these bytes complete."""
        whole = self.whole(data)
        return self.parts(data) if whole is None else [whole_part(whole)]

    def whole(self, data: bytes) -> Whole | None:
        """The message, if these bytes are exactly one: what almost all reads give."""
        if self._state is not _HEAD or self._buffer:
            return None
        head = self._last
        if head is None or not data.startswith(head.raw):
            found = _HEAD_END.search(data)
            head = None if found is None else self._read_head(data[: found.end()])
            self._last = head
        if head is None:
            return None
        end = len(head.raw)
        if head.length != len(data) - end or not self._has_body(head):
            return None
        return head, data[end:]

    def parts(self, data: bytes) -> list[Part]:
        """As `feed`, of bytes that are not a whole message."""
        parts: list[Part] = []
        self._parts = parts
        while data:
            data = self._step(data)
        return parts

    def eof(self, reason: str | None = None) -> list[Part]:
        """The parts that the end of the connection completes; `reason` if it is cut off by that."""
        state, self._state = self._state, _State.BEYOND
        if state is _State.UNTIL_CLOSE:
            return [Part(Kind.END, reason, b"")]
        return [Part(Kind.BEYOND, self._buffer, self._buffer)] if self._buffer else []

    def switch(self) -> None:
        """There is no HTTP any more."""
        self._state = _State.BEYOND

    def _step(self, data: bytes) -> bytes:
        """Take a part of the bytes; gives the rest."""
        match self._state:
            case _State.HEAD:
                return self._take_head(data)
            case _State.LENGTH | _State.CHUNK_DATA:
                return self._take_data(data)
            case _State.CHUNK_SIZE | _State.CHUNK_END | _State.TRAILERS:
                return self._take_line(data)
            case _State.UNTIL_CLOSE:
                self._add(Kind.DATA, data, data)
            case _State.BEYOND:
                self._add(Kind.BEYOND, data, data)
        return b""

    def _take_head(self, data: bytes) -> bytes:
        data = self._buffer + data
        self._buffer = b""
        blank = len(data) - len(data.lstrip(b"\r\n"))
        found = _HEAD_END.search(data, blank)
        if found is None:
            if len(data) > HEAD_BYTES:
                return self._give_up(f"no head within {HEAD_BYTES} bytes", data)
            self._buffer = data
            return b""
        if blank:  # RFC 9112, 2.2: empty lines before a message are skipped
            self._add(Kind.DATA, b"", data[:blank])
        head = self._read_head(data[blank : found.end()])
        if head.problem is not None:
            self._add(Kind.PROBLEM, head.problem, b"")
        self._begin(head)
        return data[found.end() :]

    def _begin(self, head: Head) -> None:
        self._add(Kind.HEAD, head, head.passed)
        if head.is_malformed or (head.problem is not None and head.problem.startswith("not the")):
            self._state = _State.BEYOND
        elif head.is_chunked:
            self._state = _State.CHUNK_SIZE
        elif head.length:
            self._state, self._left = _State.LENGTH, head.length
        elif head.length is None and self._ends_with_connection(head):
            self._state = _State.UNTIL_CLOSE
        else:
            self._end(b"")

    def _take_data(self, data: bytes) -> bytes:
        piece = data[: self._left]
        self._left -= len(piece)
        self._add(Kind.DATA, piece, piece)
        if not self._left:
            if self._state is _State.LENGTH:
                self._end(b"")
            else:
                self._state = _State.CHUNK_END
        return data[len(piece) :]

    def _take_line(self, data: bytes) -> bytes:
        """A line between chunks: a size, the end of a chunk, or a trailer."""
        data = self._buffer + data
        self._buffer = b""
        end = data.find(b"\n") + 1
        if not end:
            if len(data) > _LINE_BYTES:
                return self._give_up("a line between chunks that does not end", data)
            self._buffer = data
            return b""
        raw, line, rest = data[:end], data[:end].strip(), data[end:]
        if self._state is _State.TRAILERS:
            self._add(Kind.DATA, b"", raw) if line else self._end(raw)
        elif self._state is _State.CHUNK_END:
            if line:
                return self._give_up("a chunk that is longer than its size", data)
            self._add(Kind.DATA, b"", raw)
            self._state = _State.CHUNK_SIZE
        else:
            return self._take_size(raw, line, rest)
        return rest

    def _take_size(self, raw: bytes, line: bytes, rest: bytes) -> bytes:
        try:
            self._left = int(line.partition(b";")[0].strip(), 16)
        except ValueError:
            self._left = -1
        if self._left < 0:
            return self._give_up(f"not the size of a chunk: {line[:100]!r}", raw + rest)
        self._add(Kind.DATA, b"", raw)
        self._state = _State.CHUNK_DATA if self._left else _State.TRAILERS
        return rest

    def _end(self, raw: bytes) -> None:
        self._add(Kind.END, None, raw)
        self._state = _State.HEAD

    def _give_up(self, problem: str, data: bytes) -> bytes:
        self._state = _State.BEYOND
        self._add(Kind.PROBLEM, problem, b"")
        return data

    def _add(self, kind: Kind, value: Any, raw: bytes) -> None:
        self._parts.append(Part(kind, value, raw))

    # -- what differs between the directions -----------------------------------------------------

    def _read_head(self, raw: bytes) -> Head:
        raise NotImplementedError

    def _has_body(self, head: Head) -> bool:
        """Whether a message with this head has the body that its length says, and is in order."""
        raise NotImplementedError

    def _ends_with_connection(self, head: Head) -> bool:
        """Whether a body without a length goes on until the connection is closed."""
        raise NotImplementedError


class RequestFraming(Framing):
    """What a client sends. After a request for another protocol, the rest waits for the answer."""

    def __init__(self, heads: Heads, asked: deque[str]) -> None:
        super().__init__(heads)
        self._asked = asked
        self.is_held = False
        self._held = b""

    def whole(self, data: bytes) -> Whole | None:
        return None if self.is_held else super().whole(data)

    def parts(self, data: bytes) -> list[Part]:
        if self.is_held:
            self._held += data
            return []
        return super().parts(data)

    @property
    def held_bytes(self) -> int:
        return len(self._held)

    def release(self, *, is_switched: bool) -> list[Part]:
        """The answer to a request for another protocol has come."""
        self.is_held = False
        if is_switched:
            self._state = _State.BEYOND
        held, self._held = self._held, b""
        return self.feed(held) if held else []

    def _step(self, data: bytes) -> bytes:
        if self.is_held and self._state is _State.HEAD:
            self._held += data
            return b""
        return super()._step(data)

    def _read_head(self, raw: bytes) -> RequestHead:
        return self._heads.request(raw)

    def _has_body(self, head: Head) -> bool:
        assert isinstance(head, RequestHead)
        if head.problem is not None or head.is_upgrade:
            return False
        self._asked.append(head.method)
        return True

    def _begin(self, head: Head) -> None:
        assert isinstance(head, RequestHead)
        self._asked.append(head.method)
        self.is_held = head.is_upgrade
        super()._begin(head)

    def _ends_with_connection(self, head: Head) -> bool:
        return False


class ResponseFraming(Framing):
    """What a server sends, in answer to `asked`: the methods of the requests so far."""

    def __init__(self, heads: Heads, asked: deque[str]) -> None:
        super().__init__(heads)
        self._asked = asked

    @property
    def is_between(self) -> bool:
        return super().is_between and not self._asked

    def _read_head(self, raw: bytes) -> ResponseHead:
        return self._heads.response(raw)

    def _has_body(self, head: Head) -> bool:
        assert isinstance(head, ResponseHead)
        if head.problem is not None or head.status < 200 or head.status in (204, 304):
            return False
        if not self._asked or self._asked[0] in ("HEAD", "CONNECT"):
            return False
        self._asked.popleft()
        return True

    def _begin(self, head: Head) -> None:
        assert isinstance(head, ResponseHead)
        if head.problem is None and 100 <= head.status < 200:
            is_last = head.status == 101
            self._add(Kind.SWITCHED if is_last else Kind.INFORMED, head, head.raw)
            if is_last:
                self._state = _State.BEYOND
            return
        method = self._asked.popleft() if self._asked else ""
        if method == "CONNECT" and 200 <= head.status < 300:
            self._add(Kind.SWITCHED, head, head.raw)
            self._state = _State.BEYOND
        elif method == "HEAD" or head.status in (204, 304):
            self._add(Kind.HEAD, head, head.raw)
            self._end(b"")
        else:
            super()._begin(head)

    def _ends_with_connection(self, head: Head) -> bool:
        return True
