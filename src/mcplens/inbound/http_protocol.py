"""HTTP/1.1 on one connection: uvicorn's protocol with limits, and POSTs answered without ASGI.

Uvicorn limits neither how long a connection may stay idle before its first request, nor how long
the headers of a request are. Its way of serving a request (a task, a scope, two writes) costs more
than relaying a call; so a POST whose whole body is here and whose response is a whole one is handed
to its endpoint directly, if the application has a route for it. Everything else goes by ASGI. Made
by uvicorn_server.py for each connection.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from mcplens.inbound.admission import Admission
from mcplens.inbound.asgi import AsgiExchange, Receive, Scope, Send
from mcplens.inbound.exchange import (
    JSON,
    NO_HEADERS,
    DirectExchange,
    DirectRoute,
    FindRoute,
)
from mcplens.inbound.refusal import INTERNAL_ERROR, Refusal

_log = logging.getLogger("mcplens.inbound")

# Real clients send a request at once; a browser opens connections in advance.
REQUEST_WITHIN_S: Final = 10.0
# Of headers and trailers, beyond the packet that they begin in; as most servers have it.
MAX_HEAD_BYTES: Final = 64 * 1024


_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class _NoEvent:
    """In place of the event by which uvicorn wakes a task."""

    def set(self) -> None:
        return


class _Direct(DirectExchange):
    """A POST that is answered directly; uvicorn takes it for one of its cycles."""

    message_event = _NoEvent()
    disconnected = False
    response_complete = False
    more_body = True
    body: bytes | bytearray = b""

    def __init__(self, connection: BoundedProtocol, route: DirectRoute) -> None:
        super().__init__("POST", route.path, "", route.headers)
        self.caller = route.caller
        self.keep_alive = connection.parser.should_keep_alive()
        self.url = connection.url
        self.raw_headers = connection.headers
        self.term = route.term
        self._take = route.take
        self._connection = connection

    def begin(self) -> None:
        """The whole body is here."""
        body, self.body = self.body, b""
        self._connection.on_lost = self._lost
        try:
            self._take(self, bytes(body))
        except Refusal as refusal:
            self._refuse(refusal)
        except Exception as problem:  # a bug, ours or a handler's: only this client fails
            _log.exception("%r failed", self)
            self._refuse(Refusal(500, INTERNAL_ERROR, f"failed: {problem}"))

    def _refuse(self, refusal: Refusal) -> None:
        self.respond_now(refusal.status, refusal.body, JSON, refusal.headers)

    def respond_now(
        self,
        status: int,
        body: bytes = b"",
        content_type: str = "",
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> None:
        if self.response_complete or self.disconnected:
            return
        self.response_complete = True
        self.on_left = self._connection.on_lost = None
        self.keep_alive = self.keep_alive and headers.get("Connection") != "close"
        self._connection.write_response(self.keep_alive, status, body, content_type, headers)

    def go_on(self, serve: Callable[[AsgiExchange], Coroutine[Any, Any, None]]) -> None:
        if self.response_complete or self.disconnected:
            return
        self.on_left = self._connection.on_lost = None

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            exchange = AsgiExchange(scope, receive, send, self.headers)
            exchange.caller, exchange.is_forwarded = self.caller, self.is_forwarded
            await serve(exchange)

        self._connection.serve_by_task(self, app)

    def abort(self) -> None:
        self._connection.transport.abort()

    def _lost(self) -> None:
        self.disconnected = True
        on_left, self.on_left = self.on_left, None
        if on_left is not None:
            on_left()


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    cycle: Any  # the last request: None, uvicorn's, or a _Direct
    due: asyncio.TimerHandle | None = None
    on_lost: Callable[[], None] | None = None  # set while a response is attended
    head_bytes = 0  # received since the parser last had a whole head, or a part of a body
    _direct: _Direct | None = None  # a POST that is being read, to be answered directly
    _is_idle = False  # between a response and the next request
    _idle_since = 0.0
    _idle_timer: asyncio.TimerHandle | None = None

    def __init__(
        self, admission: Admission | None, find_route: FindRoute | None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._admission = admission
        self._find_route = find_route
        self._heads: dict[tuple[int, str], bytes] = {}
        self._heads_with: object = None  # the default headers that are in them

    def __repr__(self) -> str:
        return f"<BoundedProtocol of {self.client}, {'idle' if self.due else 'in use'}>"

    def connection_made(  # type: ignore[override]  # as uvicorn narrows it
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self.expect()
        if self._admission is not None and self.client is not None:
            self._admission.enter(self.client, transport)

    def connection_lost(self, problem: Exception | None) -> None:
        self.expect_no_more()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        super().connection_lost(problem)
        on_lost, self.on_lost = self.on_lost, None
        if on_lost is not None:
            on_lost()

    # -- requests ------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._is_idle = False
        self.head_bytes += len(data)
        super().data_received(data)
        direct = self._direct
        if direct is not None and not direct.more_body:
            self._direct = None
            if direct.term.is_over:  # since its headers came: access control has to see it again
                self.serve_by_task(direct, self.app)
            else:
                direct.begin()
        if self.head_bytes > MAX_HEAD_BYTES:
            self.refuse_head()
        if self._is_idle or not self.is_waiting:
            if self.due is not None:
                self.expect_no_more()
        elif self.transport.get_protocol() is self and not self.transport.is_closing():
            self.expect()
        else:  # it became a WebSocket
            self.expect_no_more()

    def on_message_begin(self) -> None:
        self.head_bytes = 0
        if self._find_route is None:
            super().on_message_begin()
        else:
            self.url, self.headers, self.expect_100_continue = b"", [], False

    def on_headers_complete(self) -> None:
        self.head_bytes = 0
        if self._find_route is None:
            super().on_headers_complete()
            return
        route = self._find_route(self.url, self.headers) if self._may_be_direct() else None
        if route is not None:
            self.cycle = self._direct = _Direct(self, route)
            return
        url, headers, expects = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()  # makes the scope, which has the headers
        self.headers += headers
        self.url, self.expect_100_continue = url, expects
        super().on_headers_complete()

    def _may_be_direct(self) -> bool:
        """Whether it is a plain POST that waits for no other, of a client that reads."""
        parser = self.parser
        return (
            parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and not (self.is_responding or self.expect_100_continue or self.flow.write_paused)
            and not parser.should_upgrade()
        )

    def on_body(self, body: bytes) -> None:
        self.head_bytes = 0
        direct = self._direct
        if direct is None or self.cycle is not direct:
            super().on_body(body)
            return
        if not direct.body:  # most come in one piece
            direct.body = body
        else:
            if not isinstance(direct.body, bytearray):
                direct.body = bytearray(direct.body)
            direct.body += body
        if len(direct.body) > HIGH_WATER_LIMIT:  # the application reads it as it comes
            self._direct = None
            self.serve_by_task(direct, self.app)
            self.flow.pause_reading()

    def on_message_complete(self) -> None:
        self.head_bytes = 0
        if self.cycle is self._direct and self._direct is not None:
            self._direct.more_body = False
        else:
            super().on_message_complete()

    # -- responses -----------------------------------------------------------------------------

    def serve_by_task(self, direct: _Direct, app: Any) -> None:
        """Serve by ASGI what began as a direct exchange."""
        cycle = RequestResponseCycle(
            scope=self._scope_of(direct),
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=direct.keep_alive,
            on_response=self.on_response_complete,
        )
        cycle.body, cycle.more_body = bytearray(direct.body), direct.more_body
        cycle.message_event.set()
        direct.body = b""
        if self.cycle is direct:  # else others wait in the pipeline
            self.cycle = cycle
        self._start_asgi_task(cycle, app)

    def _scope_of(self, direct: _Direct) -> Any:
        return {
            "type": "http",
            "asgi": {"version": self.asgi_version, "spec_version": "2.3"},
            "http_version": "1.1",
            "method": direct.method,
            "path": direct.path,
            "raw_path": direct.url,
            "query_string": b"",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme,
            "root_path": self.root_path,
            "headers": direct.raw_headers,
            "state": self.app_state.copy(),
        }

    def write_response(
        self,
        keep_alive: bool,
        status: int,
        body: bytes,
        content_type: str,
        headers: Mapping[str, str],
    ) -> None:
        """Send a whole response, its head and body in one write."""
        defaults = self.server_state.default_headers
        if self._heads_with is not defaults:  # the date
            self._heads, self._heads_with = {}, defaults
        head = self._heads.get((status, content_type))
        if head is None:
            own = [(b"content-type", content_type.encode("latin-1"))] if content_type else []
            head = STATUS_LINE[status] + _lines([*defaults, *own])
            self._heads[status, content_type] = head
        if headers:
            head += _lines([(key.encode(), value.encode()) for key, value in headers.items()])
        if not keep_alive and "Connection" not in headers:
            head += b"connection: close\r\n"
        transport = self.transport
        transport.write(b"%bcontent-length: %d\r\n\r\n%b" % (head, len(body), body))
        if not keep_alive:
            transport.close()
        self.on_response_complete()

    def on_response_complete(self) -> None:
        """As uvicorn's, but the timer of an idle connection is not set anew for each request."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._is_idle, self._idle_since = True, self.loop.time()
        if self._idle_timer is None:
            self._watch_idle(self.timeout_keep_alive)

    def _watch_idle(self, seconds: float) -> None:
        self._idle_timer = self.loop.call_later(seconds, self._check_idle)

    def _check_idle(self) -> None:
        self._idle_timer = None
        if not self._is_idle:
            return  # the next response sets the timer again
        left_s = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left_s > 0:
            self._watch_idle(left_s)
        else:
            self.timeout_keep_alive_handler()

    # -- limits --------------------------------------------------------------------------------

    def refuse_head(self) -> None:
        self.head_bytes = 0
        if self.is_responding:  # its trailers are too long
            self.transport.abort()
        elif not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in progress, and the connection is not idle after one."""
        return not (self.is_responding or self._is_idle)

    @property
    def is_responding(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def expect(self) -> None:
        if self.due is None:
            self.due = self.loop.call_later(REQUEST_WITHIN_S, self.give_up)

    def expect_no_more(self) -> None:
        due, self.due = self.due, None
        if due is not None:
            due.cancel()

    def give_up(self) -> None:
        self.due = None
        if self.is_waiting:
            self.transport.abort()


def _lines(headers: list[tuple[bytes, bytes]]) -> bytes:
    """Headers as they are sent."""
    if any(_CONTROL.search(value) for _, value in headers):
        raise ValueError("a header with a control character")
    return b"".join(b"%b: %b\r\n" % (name.lower(), value) for name, value in headers)
