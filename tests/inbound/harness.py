"""A handler that a test scripts, and a client that speaks ASGI to a site, without any socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcplens.clock import ManualClock
from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.asgi_app import AsgiApp, Endpoint
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer
from mcplens.inbound.request_validation import HeaderParameters, Incoming
from mcplens.inbound.sse import HttpSse
from mcplens.inbound.streamable_http import StreamableHttp
from mcplens.protocol.frames import Frame, Kind, encode_notification, encode_result
from mcplens.protocol.sse import SseEvent, SseParser

# Nothing here takes long; this only bounds what never comes.
PATIENCE_S = 10
HANDSHAKE = "2025-11-25"
STATELESS = "2026-07-28"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "t"}},
}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}
POST = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
GET = {"accept": "text/event-stream"}

Answer = Callable[[Peer, Frame], None]


class Script:
    """A handler: remembers what came, and answers each method as the test says."""

    def __init__(self) -> None:
        self.received_from: list[tuple[Peer, Incoming]] = []
        self.gone: list[tuple[Peer, str]] = []
        self.answers: dict[str, Answer] = {"initialize": shake_hands, "echo": echo}
        self.parameters: dict[str, HeaderParameters] = {}

    def received(self, peer: Peer, incoming: Incoming) -> None:
        self.received_from.append((peer, incoming))
        frame = incoming.message
        if isinstance(frame, Frame) and frame.kind is Kind.REQUEST and frame.method in self.answers:
            self.answers[frame.method](peer, frame)

    def disconnected(self, peer: Peer, reason: str) -> None:
        self.gone.append((peer, reason))

    def header_parameters(self, tool: str) -> HeaderParameters:
        return self.parameters.get(tool, {})

    @property
    def methods(self) -> list[str]:
        return [
            item.message.method for _, item in self.received_from if hasattr(item.message, "method")
        ]

    @property
    def kinds(self) -> list[Kind]:
        return [
            item.message.kind for _, item in self.received_from if isinstance(item.message, Frame)
        ]

    @property
    def peer(self) -> Peer:
        """Who spoke last."""
        return self.received_from[-1][0]


def shake_hands(peer: Peer, frame: Frame) -> None:
    assert frame.id is not None
    version = frame.value().get("protocolVersion", HANDSHAKE)
    peer.protocol_version = version
    result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "s"}}
    peer.answer(frame.id, encode_result(frame.id, result))


def echo(peer: Peer, frame: Frame) -> None:
    assert frame.id is not None
    peer.answer(frame.id, encode_result(frame.id, {"echo": frame.value()}))


def refusing(code: int) -> Answer:
    def refuse(peer: Peer, frame: Frame) -> None:
        assert frame.id is not None
        peer.refuse(frame.id, code, "no")

    return refuse


def note(number: int) -> bytes:
    return encode_notification("notifications/message", {"level": "info", "data": number})


def request(method: str, identity: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}


def stateless(method: str, identity: Any = 1, **params: Any) -> dict[str, Any]:
    return request(method, identity, **params, _meta=ENVELOPE)


class AsgiExchange:
    """One HTTP request to a site, and what comes back, as it comes."""

    def __init__(
        self, site: AsgiApp, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> None:
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        }
        self._to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._to_app.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self._changed = asyncio.Condition()
        self._parser = SseParser(1 << 30)
        self.reads = asyncio.Event()  # cleared, the client does not read
        self.reads.set()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.events: list[SseEvent] = []
        self.is_ended = False
        self._task = asyncio.ensure_future(self._run(site, scope))

    async def _run(self, site: AsgiApp, scope: dict[str, Any]) -> None:
        await site(scope, self._to_app.get, self._send)
        async with self._changed:
            self.is_ended = True
            self._changed.notify_all()

    async def _send(self, message: Any) -> None:
        await self.reads.wait()
        async with self._changed:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {
                    name.decode().lower(): value.decode() for name, value in message["headers"]
                }
            else:
                self.body += message.get("body", b"")
                self.events += self._parser.feed(message.get("body", b""))
            self._changed.notify_all()

    async def until(self, is_so: Callable[[AsgiExchange], Any]) -> AsgiExchange:
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: is_so(self))
        return self

    async def begun(self) -> AsgiExchange:
        return await self.until(lambda it: it.status)

    async def ended(self) -> AsgiExchange:
        return await self.until(lambda it: it.is_ended)

    async def message(self, number: int) -> Any:
        """The message in the n-th event that has one."""
        await self.until(lambda it: len(it.messages) > number)
        return self.messages[number]

    @property
    def messages(self) -> list[Any]:
        return [json.loads(event.data) for event in self.events if event.data]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    async def leave(self) -> None:
        """Close the connection, as a client may at any time."""
        self._to_app.put_nowait({"type": "http.disconnect"})
        async with asyncio.timeout(PATIENCE_S):
            await self._task

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


class Http:
    """A site with both HTTP endpoints, and a client of it."""

    def __init__(
        self, limits: Limits | None = None, access: AccessControl | None = None, **options: Any
    ) -> None:
        self.script = Script()
        self.clock = ManualClock()
        self.limits = limits or Limits()
        self.endpoint = StreamableHttp(self.script, self.clock, limits=self.limits, **options)
        self.legacy = HttpSse(self.script, self.clock, limits=self.limits)
        endpoints: dict[str, Endpoint] = {
            "/mcp": self.endpoint,
            "/sse": self.legacy,
            "/messages": self.legacy,
        }
        self.site = AsgiApp(endpoints, access=access)
        self.session: dict[str, str] = {}  # the headers that a session's requests carry
        self._exchanges: list[AsgiExchange] = []

    def open(
        self, method: str, path: str = "/mcp", body: Any = None, **headers: str
    ) -> AsgiExchange:
        """Send a request and go on; names with `_` are headers with `-`."""
        data = (
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        )
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        usual = {"POST": POST, "GET": GET}.get(method, {})
        exchange = AsgiExchange(
            self.site, method, path, {"host": "localhost", **usual, **given}, data
        )
        self._exchanges.append(exchange)
        return exchange

    def post(self, body: Any, **headers: str) -> AsgiExchange:
        """A POST of this session."""
        return self.open("POST", body=body, **{**_names(self.session), **headers})

    def get(self, **headers: str) -> AsgiExchange:
        return self.open("GET", **{**_names(self.session), **headers})

    def post_stateless(self, body: Any, **headers: str) -> AsgiExchange:
        """A POST of 2026-07-28, with the headers that repeat its body."""
        usual = {"mcp_protocol_version": STATELESS, "mcp_method": body["method"]}
        params = body.get("params", {})
        named = params.get("name") or params.get("uri") or params.get("taskId")
        if named is not None:
            usual["mcp_name"] = named
        return self.open("POST", body=body, **{**usual, **headers})

    async def connect(self, version: str = HANDSHAKE) -> Peer:
        """Open a session; gives the peer that the handler sees."""
        params = {**INITIALIZE["params"], "protocolVersion": version}  # type: ignore[dict-item]
        done = await self.open("POST", body={**INITIALIZE, "params": params}).ended()
        assert done.status == 200, done.body
        session_id = done.headers["mcp-session-id"]
        self.session = {"mcp-session-id": session_id, "mcp-protocol-version": version}
        return self.script.peer

    async def close(self) -> None:
        for exchange in self._exchanges:
            await exchange.end()
        self.site.close()


def _names(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}


@asynccontextmanager
async def served(**options: Any) -> AsyncIterator[Http]:
    http = Http(**options)
    try:
        yield http
    finally:
        await http.close()


def hold(http: Http, method: str = "slow") -> list[Any]:
    """Answer a method when the test wants to; gives the frames that wait."""
    waiting: list[Any] = []
    http.script.answers[method] = lambda _, frame: waiting.append(frame)
    return waiting
