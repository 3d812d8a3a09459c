"""A reverse proxy between a client and a server that is reached by a URL.

Requests and responses pass as they come, piece by piece; of the headers only `Host` is changed.
What follows a switch to WebSocket passes byte by byte, each half closed when the other side's is.
Only the origin of the server is reached. Each connection of the client has a connection of its own
to the server, so a side that does not read stops nothing but itself. Used by `mcplens tap URL`.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Concatenate, Final, ParamSpec
from urllib.parse import SplitResult, urlsplit

import h11

from mcplens.background import Background
from mcplens.bus import Publisher
from mcplens.clock import Clock
from mcplens.errors import ConfigurationError, InspectorError, classify
from mcplens.logs import get_logger
from mcplens.tap.auth_rewriting import AuthRewriting, rewritten_request, rewritten_response
from mcplens.tap.conversation import Conversation
from mcplens.tap.http_observer import Headers, ObservedExchange, Side
from mcplens.tap.http_peer import HEAD_BYTES, READ_BYTES, HttpPeer
from mcplens.transports.network import is_loopback, unreachable

P = ParamSpec("P")

_log: Final = get_logger("mcplens.tap.http")

_CONNECT_S: Final = 30.0
_SCHEMES: Final = ("http", "https", "ws", "wss")
_SWITCHING: Final = 101
# The headers of one connection, which a proxy must not pass on (RFC 9110, 7.6.1).
_OF_CONNECTION: Final = frozenset((b"connection", b"keep-alive", b"proxy-connection"))


class HttpTap:
    """Listens for a client, and passes what it sends on to one server."""

    def __init__(
        self,
        url: str,
        conversation: Conversation,
        publish: Publisher,
        clock: Clock,
        *,
        context: ssl.SSLContext | None = None,
        allowed_hosts: frozenset[str] = frozenset(),
        rewrites_auth: bool = False,
    ) -> None:
        self.target: SplitResult = urlsplit(url)
        if self.target.scheme not in _SCHEMES or not self.target.hostname:
            raise ConfigurationError(
                "CONFIGURATION_INVALID", f"{url} is not an http, https, ws or wss address"
            )
        self._is_tls = self.target.scheme in ("https", "wss")
        self._conversation = conversation
        self._publish = publish
        self._clock = clock
        self._context = context if self._is_tls else None
        self._allowed_hosts = allowed_hosts
        self._rewrites_auth = rewrites_auth
        self._work = Background()

    def __repr__(self) -> str:
        return f"<HttpTap {self.target.geturl()}>"

    @contextlib.asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[str]:
        """Serve while the block lasts; gives the address that the client uses.

        Raises:
            OSError: the port is taken, or the address is not one of this machine.
        """

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._work.start(self._serve(reader, writer), "tap connection")

        server = await asyncio.start_server(connected, host, port)
        try:
            number = server.sockets[0].getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            path = self.target.path or "/"
            query = f"?{self.target.query}" if self.target.query else ""
            scheme = "ws" if self.target.scheme in ("ws", "wss") else "http"
            yield f"{scheme}://{shown}:{number}{path}{query}"
        finally:
            server.close()
            await self._work.end()

    # -- one connection of the client --------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = HttpPeer(reader, writer, h11.Connection(h11.SERVER, HEAD_BYTES))
        upstream: HttpPeer | None = None
        try:
            while True:
                request = await client.next_event()
                if not isinstance(request, h11.Request):
                    return
                refusal = self._refusal(request)
                if refusal is not None:
                    await client.refuse(403, refusal)
                    return
                if upstream is not None and not upstream.is_reusable:
                    upstream.close()
                    upstream = None
                upstream = upstream or await self._connect(client)
                if upstream is None or not await self._exchange(request, client, upstream):
                    return
                client.next_cycle()
        except (h11.ProtocolError, OSError):
            return  # the client's connection is of no more use; it sees that it is closed
        finally:
            for peer in (client, upstream):
                if peer is not None:
                    peer.close()

    async def _connect(self, client: HttpPeer) -> HttpPeer | None:
        """A connection to the server; None if there is none, which the client was told."""
        host = self.target.hostname or ""
        port = self.target.port or (443 if self._is_tls else 80)
        try:
            async with asyncio.timeout(_CONNECT_S):
                reader, writer = await asyncio.open_connection(
                    host, port, ssl=self._context, limit=READ_BYTES
                )
        except (OSError, TimeoutError) as problem:
            error: InspectorError = unreachable(problem, f"tap to {host}:{port}", host, port)
            await client.refuse(502, f"mcplens tap: {error.message}")
            return None
        return HttpPeer(reader, writer, h11.Connection(h11.CLIENT, HEAD_BYTES))

    def _refusal(self, request: h11.Request) -> str | None:
        """A page of another site must not reach the server through us by a name of its own."""
        host = _host(request)
        name = urlsplit(f"//{host}").hostname or ""
        if is_loopback(name) or name in self._allowed_hosts:
            return None
        return f"mcplens tap: the Host {host!r} is neither this machine nor the address of --listen"

    async def _exchange(self, request: h11.Request, client: HttpPeer, upstream: HttpPeer) -> bool:
        """Pass one request and its response on; whether the connections can be used again."""
        seen = _Unfailing(ObservedExchange(self._conversation, self._publish, self._clock))
        rewriting = self._rewriting(request)
        if rewriting is not None:
            request = await rewritten_request(request, client, rewriting)
        passed = self._with_host(request)
        scheme = ("ws" if _is_upgrade(request) else "http") + ("s" if self._is_tls else "")
        url = f"{scheme}://{self._netloc}{request.target.decode('latin-1')}"
        method = request.method.decode("latin-1")
        seen.do(ObservedExchange.request_began, method, url, _text(passed.headers.raw_items()))
        problem: str | None = "the tap was stopped"
        client.answer_to(upstream)
        upstream.answer_to(client)
        try:
            await upstream.send(passed)
            problem = await self._pass_both(client, upstream, seen, rewriting)
            if problem is None and client.is_switched and upstream.is_switched:
                problem = await self._pass_socket(client, upstream, seen)
        except OSError as broken:
            problem = str(broken) or type(broken).__name__
            raise
        finally:
            seen.do(ObservedExchange.ended, problem)
        return problem is None and client.is_done and upstream.is_done

    def _rewriting(self, request: h11.Request) -> AuthRewriting | None:
        if not self._rewrites_auth:
            return None
        origin = f"{'https' if self._is_tls else 'http'}://{self._netloc}"
        return AuthRewriting(origin, f"http://{_host(request)}", request.target.decode("latin-1"))

    async def _pass_both(
        self,
        client: HttpPeer,
        upstream: HttpPeer,
        seen: _Unfailing,
        rewriting: AuthRewriting | None,
    ) -> str | None:
        """Pass the rest of a request and its response on; gives what cut them short."""
        passing = self._pass_response(client, upstream, seen, rewriting)
        answering = self._work.start(passing, "tap response")
        asking = self._work.start(self._pass_request(client, upstream, seen), "tap request")
        try:
            await asyncio.wait((answering, asking), return_when=asyncio.FIRST_COMPLETED)
            # A server may refuse a request that it has not read to its end.
            if not answering.done() and asking.exception() is not None:
                await asyncio.wait((answering,))
            if not answering.done():
                return "the client closed its connection"
            problem = answering.exception()
            if isinstance(problem, h11.ProtocolError | OSError):
                return str(problem) or type(problem).__name__
            if problem is not None:
                raise problem
            return None
        finally:
            for task in (asking, answering):
                task.cancel()
            await asyncio.gather(asking, answering, return_exceptions=True)

    async def _pass_request(self, client: HttpPeer, upstream: HttpPeer, seen: _Unfailing) -> None:
        """The rest of a request; then waits for the client to close its connection.

        The last piece waits until the whole is published: an answer must not be seen first.
        """
        held = b""
        while True:
            event = await client.next_event()
            if isinstance(event, h11.Data):
                data = bytes(event.data)
                seen.do(ObservedExchange.request_data, data)
                if held:
                    await upstream.send(h11.Data(held))
                held = data
            elif isinstance(event, h11.EndOfMessage):
                seen.do(ObservedExchange.request_ended)
                if held:
                    await upstream.send(h11.Data(held))
                await upstream.send(h11.EndOfMessage(headers=event.headers))
                break
            else:
                return
        await client.until_closed()

    async def _pass_response(
        self,
        client: HttpPeer,
        upstream: HttpPeer,
        seen: _Unfailing,
        rewriting: AuthRewriting | None,
    ) -> None:
        while True:
            event = await upstream.next_event()
            if rewriting is not None and isinstance(event, h11.Response):
                event = await rewritten_response(event, upstream, rewriting)
            if isinstance(event, h11.Response | h11.InformationalResponse):
                passed = [
                    (name, value)
                    for name, value in event.headers.raw_items()
                    if name.lower() not in _OF_CONNECTION or event.status_code == _SWITCHING
                ]
                reason = bytes(event.reason).decode("latin-1")
                status = event.status_code
                if isinstance(event, h11.Response):
                    seen.do(ObservedExchange.response_began, status, reason, _text(passed))
                if status == _SWITCHING:
                    seen.do(ObservedExchange.switched, status, reason, _text(passed))
                again = type(event)(status_code=status, reason=event.reason, headers=passed)
                await client.send(again)
                if status == _SWITCHING:
                    return
            elif isinstance(event, h11.Data):
                data = bytes(event.data)
                seen.do(ObservedExchange.response_data, data)
                await client.send(h11.Data(data))
            elif isinstance(event, h11.EndOfMessage):
                # Before its last piece leaves: what the client does next must not be seen first.
                seen.do(ObservedExchange.ended)
                await client.send(h11.EndOfMessage(headers=event.headers))
                return
            else:
                raise ConnectionResetError("the server closed its connection")

    async def _pass_socket(
        self, client: HttpPeer, upstream: HttpPeer, seen: _Unfailing
    ) -> str | None:
        """Pass the bytes of a WebSocket on, both ways; gives what cut it short."""
        tasks = [
            self._work.start(_pass_half(client, upstream, "client", seen), "tap socket, client"),
            self._work.start(_pass_half(upstream, client, "server", seen), "tap socket, server"),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            problems = [task.exception() for task in tasks if task.done()]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        broken = next((problem for problem in problems if problem is not None), None)
        if broken is None:
            return None
        if not isinstance(broken, OSError):
            raise broken
        for peer in (client, upstream):
            peer.abort()
        return str(broken) or type(broken).__name__

    @property
    def _netloc(self) -> str:
        return self.target.netloc.rpartition("@")[2]

    def _with_host(self, request: h11.Request) -> h11.Request:
        """The request as the server gets it: all headers in their order, `Host` changed."""
        headers = [
            (name, self._netloc.encode() if name.lower() == b"host" else value)
            for name, value in request.headers.raw_items()
            if name.lower() not in _OF_CONNECTION or _is_upgrade(request)
        ]
        return h11.Request(method=request.method, target=request.target, headers=headers)


class _Unfailing:
    """Observes an exchange; whatever goes wrong in that must not stop a byte."""

    def __init__(self, exchange: ObservedExchange) -> None:
        self._exchange: ObservedExchange | None = exchange

    def __repr__(self) -> str:
        return f"<_Unfailing {self._exchange!r}>"

    def do(
        self,
        observe: Callable[Concatenate[ObservedExchange, P], None],
        *facts: P.args,
        **named: P.kwargs,
    ) -> None:
        if self._exchange is None:
            return
        try:
            observe(self._exchange, *facts, **named)
        except Exception as problem:  # the tap's own fault is not the client's
            self._exchange = None
            _log.warning("an exchange is not recorded: %s", classify(problem).message)


async def _pass_half(source: HttpPeer, sink: HttpPeer, side: Side, seen: _Unfailing) -> None:
    """Pass on what one side of a WebSocket sends; its end is passed on too.

    Raises:
        OSError: a connection was reset.
    """
    data = source.take_trailing() or await source.read()
    while data:
        seen.do(ObservedExchange.socket_data, side, data)
        await sink.write(data)
        data = await source.read()
    if not sink.end_writing():
        raise ConnectionAbortedError(f"the {side} closed its connection")


def _host(request: h11.Request) -> str:
    found = (value for name, value in request.headers if name == b"host")
    return next(found, b"").decode("latin-1")


def _is_upgrade(request: h11.Request) -> bool:
    return (b"upgrade", b"websocket") in [(name, value.lower()) for name, value in request.headers]


def _text(headers: list[tuple[bytes, bytes]]) -> Headers:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
