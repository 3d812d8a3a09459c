"""One HTTP request as the endpoints see it, however it is served: headers, path, caller.

Answered over ASGI (asgi.py), or directly by the HTTP protocol where the response is a whole one
(http_protocol.py).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mcplens.inbound.request_validation import Headers

if TYPE_CHECKING:
    from mcplens.inbound.asgi import AsgiExchange

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
NO_HEADERS: Final[Mapping[str, str]] = {}


def decode_headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers by lower-case name; the values of one that is repeated are joined by ", "."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        # RFC 9110, 5.5: blanks around a value are not part of it; not every parser takes them off.
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1").strip(" \t")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


@lru_cache(maxsize=64)  # clients send one and the same header with each request
def _accepted_types(accept: str) -> frozenset[str]:
    return frozenset(part.partition(";")[0].strip().lower() for part in accept.split(","))


def accepts(headers: Headers, content_type: str) -> bool:
    """Whether the client accepts this type; without an Accept header it accepts anything."""
    accepted = headers.get("accept")
    if accepted is None:
        return True
    kinds = _accepted_types(accepted)
    if content_type in kinds:
        return True
    return "*/*" in kinds or content_type.partition("/")[0] + "/*" in kinds


class Exchange:
    """A request; how it is answered is up to those who inherit."""

    def __init__(self, method: str, path: str, query: str, headers: Headers) -> None:
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.caller = ""  # an id, from access control
        self.is_forwarded = False  # by another replica

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.method} {self.path}>"

    def accepts(self, content_type: str) -> bool:
        """Whether the client accepts this type."""
        return accepts(self.headers, content_type)

    def abort(self) -> None:
        """Drop the connection of a client that does not read."""
        raise NotImplementedError


class DirectExchange(Exchange):
    """A request that is answered without a task of its own, unless its response is a stream."""

    on_left: Callable[[], None] | None = None  # called if the client disconnects meanwhile

    def respond_now(
        self,
        status: int,
        body: bytes = b"",
        content_type: str = "",
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        """Send a whole response, in one write."""
        raise NotImplementedError

    def go_on(self, serve: Callable[[AsgiExchange], Coroutine[Any, Any, None]]) -> None:
        """Answer by a task, over ASGI."""
        raise NotImplementedError


class RouteTerm:
    """How long routes hold: until who may use what changes."""

    is_over = False


class DirectRoute(NamedTuple):
    """Where a POST goes that may be answered directly, after access control."""

    path: str
    headers: Headers
    caller: str
    take: Callable[[DirectExchange, bytes], None]  # raises Refusal
    term: RouteTerm
    until: float  # monotonic: access control has to look at it again then


# The route of a POST by its target and raw headers; None: it is answered over ASGI, as all others.
FindRoute = Callable[[bytes, list[tuple[bytes, bytes]]], DirectRoute | None]
