"""Misbehaving servers over streamable HTTP and legacy HTTP+SSE, on one hand-written wire."""

import asyncio
import itertools

from tests.servers.process import announce, bind

from .abrupt import flee, reset
from .faults import dump, noise, right
from .script import Message, Script
from .wire import HEAD_LIMIT_BYTES, Request, Wire, event_bytes, read_request

HTML = b"<!doctype html><title>Oops</title><h1>Something went wrong</h1>"
JSON = "application/json"


class WebServer:
    """What both transports share: connections, a second origin, faults of HTTP itself."""

    scheme_path = "/"

    def __init__(self, script: Script, answers: str) -> None:
        self.script = script
        self.answers = answers
        self.foreign_port = 0

    async def run(self, port: int) -> None:
        foreign, listener = bind(0), bind(port)
        self.foreign_port = foreign.getsockname()[1]
        server = await asyncio.start_server(self._connect, sock=listener, limit=HEAD_LIMIT_BYTES)
        await asyncio.start_server(self._connect_foreign, sock=foreign, limit=HEAD_LIMIT_BYTES)
        announce("http", listener, self.scheme_path, foreign_port=self.foreign_port)
        await server.serve_forever()

    async def handle(self, request: Request, wire: Wire) -> None:
        raise NotImplementedError

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = Wire(writer)
        try:
            while request := await read_request(reader):
                noted = {"verb": request.verb, "path": request.path, "headers": request.headers}
                self.script.seen["http"].append(noted)
                if self.script.fault == "silent_start":
                    await asyncio.Event().wait()
                await self.handle(request, wire)
                if writer.is_closing() or request.headers.get("connection") == "close":
                    return
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _connect_foreign(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """The other origin: whatever arrives here should not have been sent."""
        while request := await read_request(reader):
            self.script.seen["foreign"].append(
                {"verb": request.verb, "path": request.path, "headers": request.headers}
            )
            message = self.script.parse(request.body) or {}
            await Wire(writer).respond(200, right(message.get("id"), "from the other origin"), JSON)
        writer.close()

    async def break_http(self, wire: Wire, path: str, fault: str) -> bool:
        """Commit a fault that concerns the exchange and not the message; False if it is none."""
        if fault.startswith("http_") and fault != "http_202_to_request":
            await self._refuse(wire, int(fault.split("_")[1]), is_html=fault.endswith("_html"))
        elif fault == "http_202_to_request":
            await wire.respond(202)
        elif fault == "connection_reset":
            reset(wire.writer.transport)
        elif fault == "dripping_headers":
            await wire.raw(b"HTTP/1.1 200 OK\r\nX-Drip: ")
            while True:
                await wire.raw(b"x")
                await asyncio.sleep(0.2)
        elif fault == "redirect_cross_origin":
            await wire.respond(307, Location=f"http://127.0.0.1:{self.foreign_port}{path}")
        elif fault == "redirect_same_origin":
            await wire.respond(307, Location="/moved" + path)
        else:
            return False
        return True

    async def _refuse(self, wire: Wire, status: int, *, is_html: bool) -> None:
        if is_html:
            await wire.respond(status, HTML, "text/html; charset=utf-8")
            return
        special: dict[int, dict[str, object]] = {
            401: {"WWW_Authenticate": 'Bearer realm="test", error="invalid_token"'},
            429: {"Retry_After": 7},
        }
        await wire.respond(
            status, dump({"error": f"status {status}"}), JSON, **special.get(status, {})
        )


class HttpServer(WebServer):
    """Streamable HTTP, 2025-11-25."""

    scheme_path = "/mcp"

    def __init__(self, script: Script, answers: str) -> None:
        super().__init__(script, answers)
        self.cut_answers: dict[str, bytes] = {}

    async def handle(self, request: Request, wire: Wire) -> None:
        if request.verb == "GET":
            await self._resume(request, wire)
        elif request.verb == "DELETE":
            await wire.respond(200)
        else:
            await self._post(request, wire)

    async def _post(self, request: Request, wire: Wire) -> None:
        message = self.script.parse(request.body)
        if message is None:
            await wire.respond(400, dump({"error": "not a JSON-RPC message"}), JSON)
        elif "method" not in message or "id" not in message:
            await wire.respond(202)
        elif message["method"] == "server/discover" != self.script.at:
            refusal = {"code": -32000, "message": "Bad Request: Server not initialized"}
            await wire.respond(
                400, dump({"jsonrpc": "2.0", "id": message["id"], "error": refusal}), JSON
            )
        elif request.path.startswith("/moved"):
            await wire.respond(200, right(message["id"], "moved, and right"), JSON)
        else:
            await self._answer(message, wire)

    async def _answer(self, message: Message, wire: Wire) -> None:
        is_many = len(self.script.frames(message) or ()) > 1
        is_sse = self.answers == "sse" or is_many or self.script.fault_of(message) == "flood"
        session = {"Mcp_Session_Id": "the-session"} if message["method"] == "initialize" else {}
        is_answered = False

        async def send(frame: bytes) -> None:
            nonlocal is_answered
            is_answered = True
            if not is_sse or session:
                await wire.respond(200, frame, JSON, **session)
                return
            if not wire.is_streaming:
                await wire.open_sse()
            await wire.event(frame)

        async def misbehave(message: Message) -> None:
            nonlocal is_answered
            is_answered = True
            await self._misbehave(message, wire)

        task = self.script.take(message, send, misbehave)
        await asyncio.wait([task] if task else [])
        if wire.is_streaming and not wire.writer.is_closing():
            await wire.end_sse()
        elif not is_answered:  # cancelled
            await wire.respond(202)

    async def _misbehave(self, message: Message, wire: Wire) -> None:
        answer = right(message["id"])
        half = answer[: len(answer) // 2]
        match self.script.fault_of(message):
            case "half_line_exit":
                await wire.head(200, Content_Type=JSON, Content_Length=len(answer))
                await wire.raw(half)
                flee(7, "fatal: half of the answer is all you get")
            case "short_body":
                await wire.head(200, Content_Type=JSON, Content_Length=len(answer))
                await wire.raw(half)
                await wire.cut()
            case "sse_cut_no_ids":
                await wire.open_sse()
                await wire.event(noise(1))
                await wire.chunk(event_bytes(answer)[:-20])
                await wire.cut()
            case "sse_cut_with_ids":
                event_id = f"{message['id']}-1"
                self.cut_answers[event_id] = answer
                await wire.open_sse()
                await wire.event(noise(1), event_id=event_id, retry_ms=10)
                await wire.chunk(event_bytes(answer, f"{message['id']}-2")[:-20])
                await wire.cut()
            case "empty_body":
                await wire.respond(200, b"", JSON)
            case "wrong_content_type":
                await wire.respond(200, answer, "text/plain")
            case str(fault):
                await self.break_http(wire, self.scheme_path, fault)

    async def _resume(self, request: Request, wire: Wire) -> None:
        last_id = request.headers.get("last-event-id", "")
        answer = self.cut_answers.get(last_id)
        if answer is None:
            await wire.respond(405, Allow="POST, DELETE")
            return
        await wire.open_sse()
        await wire.event(answer, event_id=last_id.removesuffix("1") + "2")
        await wire.end_sse()


class SseServer(WebServer):
    """Legacy HTTP+SSE."""

    scheme_path = "/sse"

    def __init__(self, script: Script, answers: str) -> None:
        super().__init__(script, answers)
        self._streams: dict[str, Wire] = {}
        self._numbers = itertools.count(1)

    async def handle(self, request: Request, wire: Wire) -> None:
        path, _, session = request.path.partition("?session=")
        if path == self.scheme_path and request.verb == "GET":
            await self._open(wire)
        elif path == self.scheme_path:
            await wire.respond(405, Allow="GET")
        elif session not in self._streams:
            await wire.respond(404, b"no such session", "text/plain")
        else:
            await self._post(
                request, wire, self._streams[session], is_moved=path.startswith("/moved")
            )

    async def _open(self, wire: Wire) -> None:
        session = str(next(self._numbers))
        endpoint = f"/messages?session={session}"
        if self.script.fault == "sse_foreign_endpoint":
            endpoint = f"http://127.0.0.1:{self.foreign_port}{endpoint}"
        self._streams[session] = wire
        await wire.open_sse()
        await wire.event(endpoint.encode(), name="endpoint")
        await wire.writer.wait_closed()

    async def _post(self, request: Request, wire: Wire, stream: Wire, *, is_moved: bool) -> None:
        message = self.script.parse(request.body)
        if message is None:
            await wire.respond(400)
            return
        fault = None if is_moved else self.script.fault_of(message)
        if fault and await self.break_http(wire, request.path, fault):
            return
        await wire.respond(202, b"Accepted", "text/plain")

        async def misbehave(message: Message) -> None:
            await self._misbehave(message, stream)

        self.script.take(message, stream.event, misbehave)

    async def _misbehave(self, message: Message, stream: Wire) -> None:
        answer = right(message["id"])
        match self.script.fault_of(message):
            case "half_line_exit":
                await stream.chunk(event_bytes(answer[: len(answer) // 2])[:-2])
                flee(7, "fatal: half of the answer is all you get")
            case "sse_cut_no_ids":
                await stream.chunk(event_bytes(answer)[:-20])
                await stream.cut()
            case "redirect_same_origin":
                await stream.event(right(message["id"], "moved, and right"))
