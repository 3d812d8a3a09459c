"""WebSocket, subprotocol `mcp`: one message per text frame, both ways.

Sends go through a queue and a writer of their own, so that a server that does not read never
blocks a caller. The close code and its reason are part of the error when the connection ends.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from mcplens.clock import within
from mcplens.errors import (
    ConfigurationError,
    ConnectError,
    HttpError,
    InspectorError,
    TimeoutExpired,
    TransportError,
    classify,
)
from mcplens.events import HttpExchangeEnded, HttpRequestSent, HttpResponseReceived
from mcplens.logs import get_logger, muted_logger
from mcplens.protocol.secret_masking import mask_headers, mask_url
from mcplens.transports.authorization import (
    MAX_TRIES,
    REFUSED_STATUSES,
    Authorizer,
    Refusal,
)
from mcplens.transports.base import (
    DEFAULT_MAX_MESSAGE_BYTES,
    MESSAGES_PER_TURN,
    Closing,
    Outgoing,
    Transport,
    give_way,
)
from mcplens.transports.network import (
    DEFAULT_CONNECT_TIMEOUT_S,
    USER_AGENT,
    NetworkOptions,
    check_url,
    proxy_for,
    status_error,
    unreachable,
    usual_context,
)

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection, connect
    from websockets.exceptions import ConnectionClosed
    from websockets.http11 import Response

SUBPROTOCOL: Final = "mcp"
# What waits for a server that does not read; more is refused. One largest message always fits.
MAX_BACKLOG_BYTES: Final = 64 * 1024 * 1024
# How long the server may take to say goodbye.
_GOODBYE_S: Final = {Closing.GRACEFUL: 2.0, Closing.HANDOVER: 0.3}


_log: Final = get_logger(__name__)


@dataclass
class WebSocketFacts:
    """What went over the connection beside the messages."""

    connection: ClientConnection | None = None
    has_binary: bool = False


class WebSocketTransport(Transport):
    """A server on one WebSocket."""

    kind = "websocket"

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        ca_file: str | None = None,
        insecure: bool = False,
        max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES,
        connect_timeout_s: float = DEFAULT_CONNECT_TIMEOUT_S,
        authorizer: Authorizer | None = None,
    ) -> None:
        super().__init__(max_message_bytes=max_message_bytes)
        self._url = check_url(url, ("ws", "wss"))
        self._shown_url = mask_url(url)
        self._options = NetworkOptions(
            headers=headers,
            ca_file=ca_file,
            insecure=insecure,
            connect_timeout_s=connect_timeout_s,
            authorizer=authorizer,
        )
        self.authorizer = authorizer
        self._socket: ClientConnection | None = None
        self._outbox: deque[bytes] = deque()
        self._backlog_bytes = 0
        self._has_work = asyncio.Event()
        self._is_leaving = False
        self._writer: asyncio.Task[None] | None = None
        self._facts = WebSocketFacts()
        self._has_remarked_binary = False
        self._extra_headers: dict[str, str] = {}
        self._exchange_id: int | None = None  # of the last handshake

    def __repr__(self) -> str:
        state = "open" if self._socket else "closed"
        return (
            f"<WebSocketTransport {self._shown_url} {state}, {self._backlog_bytes} bytes to send>"
        )

    @property
    def identity(self) -> str:
        return self._url

    async def _open(self) -> None:
        if self.authorizer is not None:
            self.authorizer.attach(self._publish, self._clock)
            await self.authorizer.make_ready()
        socket = self._socket = await self._open_signed_in()
        _log.debug("%s: connected", self._shown_url)
        if socket.subprotocol != SUBPROTOCOL:
            self._remark(f"the server did not accept the subprotocol {SUBPROTOCOL!r}")
        self._work.start(self._read(socket), "WebSocket reader")
        self._writer = self._work.start(self._send_all(socket), "WebSocket writer")

    async def _open_signed_in(self) -> ClientConnection:
        tries = 0
        while True:
            try:
                return await self._open_socket()
            except HttpError as error:
                if not await self._is_let_in(error, tries):
                    raise
                tries += 1

    async def _open_socket(self) -> ClientConnection:
        started = self._clock.monotonic()
        try:
            socket = await self._connector()
        except asyncio.CancelledError:
            self._publish_handshake(started, "closed by us before its end")
            raise
        except Exception as problem:  # the library lets errors of sockets, TLS and proxies through
            error = self._explain(problem)
            is_status = isinstance(error, HttpError)  # it says all itself
            self._publish_handshake(started, None if is_status else error.message)
            _log.debug("%s: not connected: %s", self._shown_url, error.code)
            raise error from problem
        self._publish_handshake(started)
        return socket

    async def _is_let_in(self, error: HttpError, tries: int) -> bool:
        """Whether to try again, since somebody signed in."""
        if self.authorizer is None or error.status not in REFUSED_STATUSES or tries == MAX_TRIES:
            return False
        connection = self._facts.connection
        response = None if connection is None else connection.response
        challenges = [] if response is None else response.headers.get_all("WWW-Authenticate")
        sent = self._extra_headers.get("Authorization")
        nonce = None if response is None else response.headers.get("DPoP-Nonce")
        refusal = Refusal(error.status or 0, challenges, self._exchange_id, sent, tries, nonce)
        return await self.authorizer.refused(refusal)

    async def _close(self, how: Closing) -> None:
        socket, self._socket = self._socket, None
        if socket is None:
            return
        limit_s = _GOODBYE_S.get(how)
        try:
            if limit_s is not None:
                with contextlib.suppress(TimeoutError):
                    await within(self._clock, limit_s, self._say_goodbye(socket))
        finally:
            socket.transport.abort()
            await self._work.end()

    def write(self, out: Outgoing) -> None:
        size = len(out.data)
        if self._backlog_bytes and self._backlog_bytes + size > MAX_BACKLOG_BYTES:
            message = f"the server does not read: {self._backlog_bytes} bytes wait for it already"
            if out.is_request and out.id is not None:
                self._receiver.request_failed(out.id, TransportError("CONNECTION_LOST", message))
            else:
                self._remark(f"{out.method or 'a message'} was not sent: {message}")
            return
        self._outbox.append(out.data)
        self._backlog_bytes += size
        self._has_work.set()

    def describe(self) -> dict[str, Any]:
        socket = self._socket
        return {
            "transport": self.kind,
            "url": self._shown_url,
            "subprotocol": None if socket is None else socket.subprotocol,
        }

    # -- the connection ------------------------------------------------------------------------

    def _connector(self) -> connect:
        from urllib.parse import urlsplit

        from websockets.typing import Subprotocol

        from mcplens.transports.websocket_connection import WebSocketConnect, WebSocketConnection

        parts = urlsplit(self._url)
        options = self._options
        if self.authorizer is not None:
            self._extra_headers = dict(self.authorizer.headers("GET", self._url) or {})
        secure: dict[str, Any] = (
            {"ssl": options.tls_context() or usual_context()} if parts.scheme == "wss" else {}
        )
        return WebSocketConnect(
            self._url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            additional_headers={**options.headers, **self._extra_headers},
            user_agent_header=USER_AGENT,
            proxy=proxy_for(parts.scheme, parts.hostname or "", parts.port),
            open_timeout=options.connect_timeout_s,
            # A server that is busy in a call answers no pings; MCP's own ping watches it.
            ping_interval=None,
            close_timeout=_GOODBYE_S[Closing.GRACEFUL],
            max_size=self.max_message_bytes,
            logger=muted_logger("mcplens.transports.websocket.library"),
            # The library only calls it, and types it as a class.
            create_connection=partial(WebSocketConnection, facts=self._facts, clock=self._clock),  # type: ignore[arg-type]
            **secure,
        )

    async def _read(self, socket: ClientConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        count = 0
        try:
            while True:
                self._deliver(await socket.recv(decode=False))
                count += 1
                if count % MESSAGES_PER_TURN == 0:
                    await give_way()
                if self._facts.has_binary and not self._has_remarked_binary:
                    self._has_remarked_binary = True
                    self._remark("the server sends binary frames; MCP messages are text frames")
        except ConnectionClosed as closed:
            if self._socket is socket:
                self._receiver.connection_lost(self._loss(closed))

    async def _send_all(self, socket: ClientConnection) -> None:
        from websockets.exceptions import ConnectionClosed

        outbox = self._outbox
        with contextlib.suppress(ConnectionClosed):  # the reader reports why
            while outbox or not self._is_leaving:
                while outbox:
                    data = outbox[0]
                    await socket.send(data, text=True)
                    outbox.popleft()
                    self._backlog_bytes -= len(data)
                if not self._is_leaving:
                    self._has_work.clear()
                    await self._has_work.wait()

    async def _say_goodbye(self, socket: ClientConnection) -> None:
        """Let what was sent last get out, then close."""
        self._is_leaving = True
        self._has_work.set()
        if self._writer is not None:
            await asyncio.wait([self._writer])
        await socket.close()

    # -- how it ended --------------------------------------------------------------------------

    def _loss(self, closed: ConnectionClosed) -> TransportError:
        from websockets.frames import CloseCode

        details: dict[str, Any] = {"close_code": None, "close_reason": ""}
        received, sent = closed.rcvd, closed.sent
        if received is not None and closed.rcvd_then_sent is not False:
            message = f"the server closed the WebSocket with {received}"
            details = {"close_code": int(received.code), "close_reason": received.reason}
        elif sent is not None and sent.code == CloseCode.MESSAGE_TOO_BIG:
            message = f"a message over the limit of {self.max_message_bytes} bytes came ({sent})"
            details = {"close_code": int(sent.code), "close_reason": sent.reason}
        elif sent is not None:
            message = f"the WebSocket was closed for a breach of its protocol ({sent})"
            details = {"close_code": int(sent.code), "close_reason": sent.reason}
        else:
            message = "the WebSocket broke off without a close frame"
            details["close_code"] = int(CloseCode.ABNORMAL_CLOSURE)
        _log.debug("%s: closed with code %s", self._shown_url, details["close_code"])
        return TransportError("CONNECTION_LOST", f"{self._shown_url}: {message}", details=details)

    def _explain(self, problem: Exception) -> InspectorError:
        from urllib.parse import urlsplit

        from websockets import exceptions

        doing = f"GET {self._shown_url}"
        if isinstance(problem, exceptions.InvalidStatus):
            return self._rejection(doing, problem.response)
        if isinstance(problem, TimeoutError) and problem.errno is None:
            message = f"{doing}: no connection within {self._options.connect_timeout_s:g} s"
            return TimeoutExpired("CONNECTION_TIMEOUT", message)
        if isinstance(problem, exceptions.InvalidURI | exceptions.InvalidProxy):
            return ConfigurationError("CONFIGURATION_INVALID", f"{doing}: {problem}")
        if isinstance(problem, exceptions.InvalidHandshake):
            cause = problem.__cause__
            text = f"{problem}: {cause}" if cause else str(problem)
            return ConnectError("CONNECTION_FAILED", f"{doing}: the handshake failed: {text}")
        parts = urlsplit(self._url)
        host, port = parts.hostname or "", parts.port
        if proxy_for(parts.scheme, host, port) is not None:
            return classify(problem, doing)  # whether it is the proxy's or the server's is not told
        return unreachable(problem, doing, host, port or (443 if parts.scheme == "wss" else 80))

    def _rejection(self, doing: str, response: Response) -> HttpError:
        return status_error(
            doing,
            response.status_code,
            response.reason_phrase,
            mask_headers(response.headers.raw_items()),
            bytes(response.body or b""),
            wall=self._clock.wall(),
        )

    def _publish_handshake(self, started: float, error: str | None = None) -> None:
        """Publish the HTTP exchange that opens a WebSocket, as far as it came."""
        connection = self._facts.connection
        if connection is None or connection.request is None:
            return  # nothing was sent
        elapsed_s = self._clock.monotonic() - started
        exchange_id = self._exchange_id = self._publish.next_exchange_id()
        sent = mask_headers(connection.request.headers.raw_items())
        self._publish(
            HttpRequestSent(
                exchange_id=exchange_id, method="GET", url=self._shown_url, headers=sent
            )
        )
        body, response = b"", connection.response
        if response is not None:
            received = mask_headers(response.headers.raw_items())
            status, reason = response.status_code, response.reason_phrase
            self._publish(
                HttpResponseReceived(
                    exchange_id=exchange_id,
                    status=status,
                    reason=reason,
                    headers=received,
                    elapsed_s=elapsed_s,
                )
            )
            body = bytes(response.body or b"")
        ended = HttpExchangeEnded(
            exchange_id=exchange_id, elapsed_s=elapsed_s, body=body, error=error
        )
        self._publish(ended, len(body))
