"""uvicorn without logs and signals, with connection limits and a bounded shutdown.

Uvicorn limits neither the number of connections nor how long one may stay idle before its first
request, nor how long the headers of a request are; each costs a file descriptor or memory, and any
local program can open one. The only module that imports uvicorn; imported by server.py on demand.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from mcplens.inbound.admission import Admission

# For responses that are being written at shutdown.
_SHUTDOWN_S: Final = 2
# Real clients send a request at once; a browser opens connections in advance.
REQUEST_WITHIN_S: Final = 10.0
# Of headers and trailers, beyond the packet that they begin in; as most servers have it.
MAX_HEAD_BYTES: Final = 64 * 1024


class UvicornServer(uvicorn.Server):
    """Signals when it is up, and leaves signal handling to the owner of the process."""

    def __init__(self, config: uvicorn.Config, is_up: asyncio.Event) -> None:
        super().__init__(config)
        self._is_up = is_up

    def __repr__(self) -> str:
        return f"<UvicornServer {'up' if self._is_up.is_set() else 'not up yet'}>"

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._is_up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, but a client that does not read cannot delay it."""
        for server in self.servers:
            server.close()
        state = self.server_state
        for connection in list(state.connections):
            try:
                connection.shutdown()
            except Exception:  # uvicorn's own fails for a socket that is closing
                connection.transport.abort()
        if state.tasks:
            await asyncio.wait(set(state.tasks), timeout=_SHUTDOWN_S)
        for connection in list(state.connections):
            connection.transport.abort()
        for task in set(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with limits on connections, idle time and headers."""

    due: asyncio.TimerHandle | None = None
    on_lost: Callable[[], None] | None = None  # set while a response is attended (asgi.py)
    head_bytes = 0  # received since the parser last had a whole head, or a part of a body

    def __init__(self, admission: Admission | None, **options: Any) -> None:
        super().__init__(**options)
        self._admission = admission

    def __repr__(self) -> str:
        return f"<BoundedProtocol of {self.client}, {'idle' if self.due else 'in use'}>"

    def connection_made(  # type: ignore[override]  # as uvicorn narrows it
        self, transport: asyncio.Transport
    ) -> None:
        super().connection_made(transport)
        self.expect()
        if self._admission is not None and self.client is not None:
            self._admission.enter(self.client, transport)

    def data_received(self, data: bytes) -> None:
        self.head_bytes += len(data)
        super().data_received(data)
        if self.head_bytes > MAX_HEAD_BYTES:
            self.refuse_head()
        is_ours = self.transport.get_protocol() is self  # or it became a WebSocket
        if is_ours and self.is_waiting and not self.transport.is_closing():
            self.expect()
        else:
            self.expect_no_more()

    def on_message_begin(self) -> None:
        self.head_bytes = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self.head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self.head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self.head_bytes = 0
        super().on_message_complete()

    def refuse_head(self) -> None:
        self.head_bytes = 0
        if self.is_responding:  # its trailers are too long
            self.transport.abort()
        elif not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def connection_lost(self, problem: Exception | None) -> None:
        self.expect_no_more()
        super().connection_lost(problem)
        on_lost, self.on_lost = self.on_lost, None
        if on_lost is not None:
            on_lost()

    @property
    def is_waiting(self) -> bool:
        """Whether no request is in progress, and uvicorn's keep-alive timer is not running."""
        return not self.is_responding and self.timeout_keep_alive_task is None

    @property
    def is_responding(self) -> bool:
        # uvicorn's annotation leaves out that there is none before the first request.
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

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


def make_server(
    app: Any, max_message_bytes: int, is_up: asyncio.Event, admission: Admission | None
) -> UvicornServer:
    """A server for this application, not yet started."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        # Longer than clients keep a connection: they close it first, and no request meets a close.
        timeout_keep_alive=75,
        ws="websockets-sansio",
        ws_max_size=max_message_bytes,
        ws_per_message_deflate=False,
    )
    config.load()
    config.http_protocol_class = cast(Any, partial(BoundedProtocol, admission))
    return UvicornServer(config, is_up)
