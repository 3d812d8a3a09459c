"""Streamable HTTP adapter, both eras on one endpoint; the legacy one with sessions and replay."""

import asyncio
import itertools
import json
import uuid
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from .brain import Brain, Host, Peer
from .envelope import HTTP_STATUS, require_envelope, require_headers
from .protocol import (
    INVALID_REQUEST,
    MODERN_VERSION,
    NOT_INITIALIZED,
    PARSE_ERROR,
    VERSION_KEY,
    Message,
    RpcError,
    encode,
    error,
    is_request,
    is_response,
    meta_of,
    params_of,
)
from .streams import Stream, event, open_sse


@dataclass(frozen=True)
class HttpOptions:
    path: str = "/mcp"
    answers: str = "auto"  # json | sse | auto: JSON unless something is sent before the answer
    required_header: tuple[str, str] | None = None
    slow_notifications_s: float = 0
    polling_ms: int | None = (
        None  # end each tools/call stream at once; the answer waits for a resuming GET
    )
    has_session: bool = True
    has_get: bool = True
    has_delete: bool = True


class Session:
    def __init__(self, brain: Brain) -> None:
        self.id = uuid.uuid4().hex
        self.standalone = Stream("get")
        self.streams = {"get": self.standalone}
        self.peer = Peer(brain, self.standalone.put)
        self.reader: asyncio.Task[Any] | None = None
        self._numbers = itertools.count(1)

    def open_stream(self) -> Stream:
        stream = Stream(f"post{next(self._numbers)}")
        self.streams[stream.name] = stream
        return stream


class SessionHost(Host):
    """Lets the tool drop_session reach the sessions."""

    def __init__(self) -> None:
        self.sessions: dict[str, Session] = {}

    def drop_session(self, peer: Peer) -> None:
        for session in [session for session in self.sessions.values() if session.peer is peer]:
            del self.sessions[session.id]
            session.standalone.finish()
            if peer in peer.brain.peers:
                peer.brain.peers.remove(peer)


class HttpServer:
    def __init__(self, brain: Brain, host: SessionHost, options: HttpOptions) -> None:
        self.brain = brain
        self.sessions = host.sessions
        self.options = options

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        body = await request.read()
        try:
            message = json.loads(body) if body else None
        except ValueError:
            message = None
        self.brain.record.note_http(request.method, request.path_qs, request.headers, message)
        try:
            self._check_request(request)
            if request.method == "POST":
                if message is None:
                    raise Refusal(400, PARSE_ERROR, "Parse error")
                return await self._post(request, message)
            if self.brain.options.era == "modern":
                raise Refusal(405, NOT_INITIALIZED, "only POST")
            if request.method == "GET" and self.options.has_get:
                return await self._get(request)
            if request.method == "DELETE" and self.options.has_delete:
                return self._delete(request)
            raise Refusal(405, NOT_INITIALIZED, f"{request.method} is not offered")
        except Refusal as refusal:
            return refusal.response(message)

    def _check_request(self, request: web.BaseRequest) -> None:
        origin = request.headers.get("Origin")
        if request.path != self.options.path:
            raise Refusal(404, NOT_INITIALIZED, "no such path")
        if origin and not origin.startswith(("http://127.0.0.1", "http://localhost")):
            raise Refusal(403, NOT_INITIALIZED, f"foreign origin {origin}")
        if self.options.required_header:
            name, value = self.options.required_header
            if request.headers.get(name) != value:
                raise Refusal(401, NOT_INITIALIZED, f"{name} is missing or wrong")
        accepted = {
            "POST": ("application/json", "text/event-stream"),
            "GET": ("text/event-stream",),
        }
        for kind in accepted.get(request.method, ()):
            if kind not in request.headers.get("Accept", ""):
                raise Refusal(406, NOT_INITIALIZED, f"Accept must name {kind}")
        if request.method == "POST" and request.content_type != "application/json":
            raise Refusal(415, NOT_INITIALIZED, "Content-Type must be application/json")

    async def _post(self, request: web.BaseRequest, message: Any) -> web.StreamResponse:
        if not isinstance(message, dict):
            raise Refusal(400, INVALID_REQUEST, "one JSON-RPC message per POST")
        if self._is_modern(request, message):
            return await self._post_modern(request, message)
        if message.get("method") == "server/discover":
            await self.brain.hold_discover()
        session = self._session_of(request, message)
        if not is_request(message):
            session.peer.receive(message)
            await asyncio.sleep(self.options.slow_notifications_s if "method" in message else 0)
            return web.Response(status=202)
        stream = session.open_stream()
        # An answer in JSON has no room for anything else: the rest goes to the standalone stream.
        aside = session.standalone.put if self.options.answers == "json" else stream.put
        task = session.peer.receive(
            message, lambda out: (stream.put if is_response(out) else aside)(out)
        )
        _finish_with(task, stream)
        is_new = message["method"] == "initialize" and self.options.has_session
        headers = {"Mcp-Session-Id": session.id} if is_new else {}
        if self.options.polling_ms is not None and message["method"] == "tools/call":
            return await self._send_away(request, stream)
        return await self._reply(request, stream, headers)

    async def _post_modern(self, request: web.BaseRequest, message: Message) -> web.StreamResponse:
        if not is_request(message):
            self.brain.record.methods.append(message.get("method", ""))
            return web.Response(status=202)
        peer = Peer(self.brain, lambda _: None)
        try:
            if message["method"] != "initialize":
                require_envelope(params_of(message))
                require_headers(message, request.headers, self.brain.catalog.tools_by_name())
            peer.admit(message["method"], params_of(message))
        except RpcError as cause:
            self.brain.record.methods.append(message["method"])
            return _json(error(message["id"], cause), HTTP_STATUS[cause.body["code"]])
        stream = Stream("modern")
        is_listening = message["method"] == "subscriptions/listen"
        keeps_all = self.options.answers != "json" or is_listening
        task = peer.receive(
            message, lambda out: stream.put(out) if keeps_all or is_response(out) else None
        )
        _finish_with(task, stream)
        try:
            return await self._reply(request, stream, {}, is_modern=True)
        except (asyncio.CancelledError, ConnectionError):
            # Cancellation in 2026-07-28: the client closes the response stream.
            self.brain.record.closed_streams.append(message["id"])
            peer.cancel(message["id"])
            raise

    async def _reply(
        self,
        request: web.BaseRequest,
        stream: Stream,
        headers: dict[str, str],
        *,
        is_modern: bool = False,
    ) -> web.StreamResponse:
        if self.options.answers != "sse":
            first = await stream.wait_for_first()
            if first is None:  # cancelled: there is nothing to say
                return web.Response(status=202, headers=headers)
            if is_response(first):
                code = first.get("error", {}).get("code")
                return _json(first, HTTP_STATUS.get(code, 200) if is_modern else 200, headers)
        response = await open_sse(request, headers)
        # 2026-07-28 has no event ids: a lost stream is a lost request.
        return await self._write(response, stream, 0, has_ids=not is_modern)

    async def _write(
        self, response: web.StreamResponse, stream: Stream, after: int, *, has_ids: bool = True
    ) -> web.StreamResponse:
        async for event_id, message in stream.follow(after):
            await response.write(event(message, event_id if has_ids else None))
        await response.write_eof()
        return response

    async def _send_away(self, request: web.BaseRequest, stream: Stream) -> web.StreamResponse:
        """Polling (2025-11-25): an event id to come back with, a delay, the end of the stream."""
        response = await open_sse(request)
        await response.write(
            f"id: {stream.name}-0\nretry: {self.options.polling_ms}\ndata: \n\n".encode()
        )
        await response.write_eof()
        return response

    async def _get(self, request: web.BaseRequest) -> web.StreamResponse:
        session = self._session_of(request, None)
        name, _, seen = request.headers.get("Last-Event-ID", "").rpartition("-")
        stream = session.streams.get(name, session.standalone)
        after = int(seen) if name in session.streams else stream.delivered
        if stream is session.standalone:
            if session.reader:  # each message goes out on one stream only: the newest wins
                session.reader.cancel()
            session.reader = asyncio.current_task()
        try:
            response = await open_sse(request)
            await response.write(b": open\n\n")
            return await self._write(response, stream, after)
        finally:
            if session.reader is asyncio.current_task():
                session.reader = None

    def _delete(self, request: web.BaseRequest) -> web.StreamResponse:
        session = self._session_of(request, None)
        self.sessions.pop(session.id, None)
        session.standalone.finish()
        session.peer.close()
        return web.Response(status=200)

    def _session_of(self, request: web.BaseRequest, message: Any) -> Session:
        session_id = request.headers.get("Mcp-Session-Id")
        is_initialize = isinstance(message, dict) and message.get("method") == "initialize"
        if session_id is None and not self.options.has_session and (self.sessions or is_initialize):
            session_id = next(iter(self.sessions), None)
        if session_id is None and is_initialize:
            session = Session(self.brain)
            self.sessions[session.id] = session
            self.brain.record.sessions.append(session.id)
            return session
        if session_id is None:
            raise Refusal(400, NOT_INITIALIZED, "Bad Request: Server not initialized")
        if session_id not in self.sessions:
            raise Refusal(404, -32001, "Session not found")
        session = self.sessions[session_id]
        named = request.headers.get("MCP-Protocol-Version")
        if named and session.peer.version and named != session.peer.version:
            raise Refusal(
                400, NOT_INITIALIZED, f"Bad Request: protocol version {named} was not negotiated"
            )
        return session

    def _is_modern(self, request: web.BaseRequest, message: Message) -> bool:
        if self.brain.options.era != "both":
            return self.brain.options.era == "modern"
        if message.get("method") == "initialize":
            return False
        is_named = request.headers.get("MCP-Protocol-Version") == MODERN_VERSION
        return is_named or VERSION_KEY in meta_of(params_of(message))


def _json(
    message: Message, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    kind = "application/json"
    return web.Response(status=status, body=encode(message), content_type=kind, headers=headers)


def _finish_with(task: "asyncio.Task[None] | None", stream: Stream) -> None:
    """End the stream when the request is done, answered or not."""
    if task:
        task.add_done_callback(lambda _: stream.finish())
    else:
        stream.finish()


class Refusal(Exception):
    """An answer that HTTP gives before the brain sees the message."""

    def __init__(self, status: int, code: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.cause = RpcError(code, text)

    def response(self, message: Any) -> web.Response:
        request_id = message.get("id") if isinstance(message, dict) else None
        headers = {"Allow": "POST"} if self.status == 405 else {}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return _json(error(request_id, self.cause), self.status, headers)
