"""POSTs that the HTTP protocol answers without ASGI are answered as ASGI would answer them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mcplens.config.views import View
from mcplens.downstream.server_connection import ServerConnection
from mcplens.errors import InspectorError
from mcplens.gateway import plain_calls
from mcplens.gateway.handler import InboundHandler
from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer
from tests.gateway.harness import NEW, OLD, PATIENCE_S, RunningGateway, http_demo, running_gateway

POST = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
# A target with a query has no direct route.
DIRECTLY, BY_ASGI = "/mcp", "/mcp?by=asgi"
TOKEN = "a-token-of-our-own-1234"


class Answer:
    """A response."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.decode().split("\r\n")
        self.status = int(first.split()[1])
        pairs = (line.split(": ", 1) for line in lines if line)
        self.headers = {name.lower(): value for name, value in pairs}
        self.body = body

    @property
    def message(self) -> Any:
        return json.loads(self.body)


class Connection:
    """One HTTP connection, byte by byte."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.session: dict[str, str] = {}
        self.token = TOKEN

    def request(self, body: Any, target: str = DIRECTLY, **headers: str) -> bytes:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {name.replace("_", "-"): value for name, value in headers.items()}
        token = f"Bearer {self.token}"
        given = {"Host": "127.0.0.1", **POST, **self.session, "Authorization": token}
        lines = {**given, "Content-Length": str(len(data)), **own}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
        return f"POST {target} HTTP/1.1\r\n{head}\r\n".encode() + data

    async def answer(self) -> Answer:
        head = await self.reader.readuntil(b"\r\n\r\n")
        found = Answer(head, b"")
        if "content-length" in found.headers:
            found.body = await self.reader.readexactly(int(found.headers["content-length"]))
        return found

    async def post(self, body: Any, target: str = DIRECTLY, **headers: str) -> Answer:
        self.writer.write(self.request(body, target, **headers))
        return await self.answer()

    async def events(self) -> str:
        """A whole stream of events."""
        text = b""
        while (size := int(await self.reader.readline(), 16)) > 0:
            text += await self.reader.readexactly(size)
            await self.reader.readline()
        await self.reader.readline()
        return text.decode()

    async def initialize(self, version: str = OLD) -> None:
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test"}}
        message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        session_id = (await self.post(message)).headers["mcp-session-id"]
        self.session = {"Mcp-Session-Id": session_id, "MCP-Protocol-Version": version}

    async def is_closed(self) -> bool:
        return await self.reader.read() == b""


def call(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@asynccontextmanager
async def connected(gateway: RunningGateway) -> AsyncIterator[Connection]:
    host, port = gateway.origin.removeprefix("http://").split(":")
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield Connection(reader, writer)
        finally:
            writer.close()


@asynccontextmanager
async def gateway_of_demo(
    default_view: View | None = None, **limits: Any
) -> AsyncIterator[RunningGateway]:
    async with http_demo() as url:
        servers = {"demo": {"url": url, "protocolVersion": OLD}}
        options: dict[str, Any] = {"default_view": default_view, "limits": Limits(**limits)}
        async with running_gateway(servers, token=TOKEN, **options) as gateway:
            yield gateway


ODD: dict[str, dict[str, Any]] = {
    "no token": {"headers": {"Authorization": ""}},
    "a wrong token": {"headers": {"Authorization": "Bearer wrong"}},
    "another host": {"headers": {"Host": "example.com"}},
    "another origin": {"headers": {"Origin": "http://example.com"}},
    "it accepts no stream": {"headers": {"Accept": "application/json"}},
    "it is no JSON": {"headers": {"Content-Type": "text/plain"}},
    "an unknown session": {"headers": {"Mcp-Session-Id": "none"}},
    "no session": {"headers": {"Mcp-Session-Id": ""}},
    "an unknown revision": {"headers": {"MCP-Protocol-Version": "1999-01-01"}},
    "another revision": {"headers": {"MCP-Protocol-Version": NEW}},
    "half a message": {"body": b'{"jsonrpc":"2.0","id":1,'},
    "a batch": {"body": [call(1, "echo"), call(2, "echo")]},
    "a notification": {"body": {"jsonrpc": "2.0", "method": "notifications/initialized"}},
    "an unknown tool": {"body": call(1, "nothing-like-it")},
    "a tool that fails": {"body": call(1, "error-from-server")},
    "params that are no object": {"body": {**call(1, "echo"), "params": []}},
    "too much": {"body": call(1, "echo", text="x" * 5000)},
    "far too much": {"body": call(1, "echo", text="x" * 500_000)},
}


async def test_whatever_is_posted_has_the_answer_that_it_has_over_asgi() -> None:
    async with gateway_of_demo(max_message_bytes=4000) as gateway:
        for name, odd in ODD.items():
            answers = []
            for target in (DIRECTLY, BY_ASGI):
                async with connected(gateway) as connection:
                    await connection.initialize()
                    body = odd.get("body", call(1, "echo", text="hi"))
                    answers.append(await connection.post(body, target, **odd.get("headers", {})))
            direct, asgi = answers
            for answer in answers:
                answer.headers.pop("date")
            assert (direct.status, direct.body) == (asgi.status, asgi.body), name
            assert direct.headers == asgi.headers, name
        assert gateway.gateway.running_calls == 0


async def test_requests_of_one_connection_are_answered_in_their_order() -> None:
    async with gateway_of_demo() as gateway, connected(gateway) as connection:
        await connection.initialize()
        slow_and_quick = (
            connection.request(call(1, "wait", seconds=0.1)),
            connection.request(call(2, "echo", text="hi")),
            connection.request(call(3, "echo", text="hi")),
        )
        connection.writer.write(b"".join(slow_and_quick))
        assert [(await connection.answer()).message["id"] for _ in range(3)] == [1, 2, 3]
        in_pieces = connection.request(call(4, "echo", text="in pieces"))
        for at in range(0, len(in_pieces), 40):
            connection.writer.write(in_pieces[at : at + 40])
            await connection.writer.drain()
        assert "in pieces" in (await connection.answer()).body.decode()
        long = await connection.post(call(5, "echo", text="x" * 300_000))
        assert len(long.body) > 300_000
        last = connection.request(call(6, "echo", text="bye"), Connection="close")
        connection.writer.write(last)
        assert (await connection.answer()).headers["connection"] == "close"
        assert await connection.is_closed()


async def test_an_answer_that_takes_a_while_is_a_stream_and_the_connection_stays() -> None:
    async with gateway_of_demo(stream_after_s=0.05) as gateway, connected(gateway) as connection:
        await gateway.gateway.settled()
        await connection.initialize()
        for number in (1, 2):
            answer = await connection.post(call(number, "wait", seconds=0.2))
            assert answer.headers["content-type"] == "text/event-stream"
            assert f'"id":{number}' in await connection.events()
        steps = call(3, "progress-steps", steps=2, seconds=0)
        steps["params"]["_meta"] = {"progressToken": "p"}
        answer = await connection.post(steps)
        assert answer.headers["content-type"] == "text/event-stream"
        told = await connection.events()
        assert told.count('"progressToken":"p"') >= 2
        assert '"id":3' in told


CANCELLED = {"method": "notifications/cancelled", "params": {"requestId": 1}, "jsonrpc": "2.0"}
PING = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}


def cancelled_count(gateway: RunningGateway) -> int:
    calls = gateway.gateway.statistics.calls.items()
    return sum(count for kind, count in calls if kind.outcome == "cancelled")


async def test_a_call_that_its_client_cancels_is_over_on_both_sides() -> None:
    async with (
        gateway_of_demo() as gateway,
        connected(gateway) as caller,
        connected(gateway) as other,
    ):
        await caller.initialize()
        other.session = caller.session
        caller.writer.write(caller.request(call(1, "wait", seconds=3600)))
        while gateway.gateway.running_calls == 0:
            await other.post(PING)
        assert (await other.post(CANCELLED)).status == 202
        assert (await caller.answer()).status == 202  # without an answer
        assert gateway.gateway.running_calls == 0
        assert cancelled_count(gateway) == 1
        while b"requestId" not in (await other.post(call(2, "cancelled-calls"))).body:
            await other.post(PING)


@pytest.mark.parametrize("name", ["wait", "nothing-like-it"], ids=["by no task", "by a task"])
async def test_a_call_that_is_cancelled_as_it_comes_does_not_count_as_running(name: str) -> None:
    async with gateway_of_demo() as gateway, connected(gateway) as connection:
        await connection.initialize("2025-03-26")  # which has batches
        await connection.post([call(1, name, seconds=3600), CANCELLED])
        await gateway.gateway.ending.drain(PATIENCE_S)
        assert gateway.gateway.running_calls == 0
        assert cancelled_count(gateway) == 1


async def test_requests_that_wait_are_answered_when_the_server_closes() -> None:
    async with (
        gateway_of_demo() as gateway,
        connected(gateway) as connection,
        connected(gateway) as other,
    ):
        await connection.initialize()
        other.session = connection.session
        connection.writer.write(connection.request(call(1, "wait", seconds=3600)))
        while gateway.gateway.running_calls == 0:
            await other.post(PING)
        gateway.app.close()
        assert (await connection.answer()).status == 202
        await gateway.gateway.ending.drain(PATIENCE_S)
        assert gateway.gateway.running_calls == 0


def count_of(gateway: RunningGateway) -> int:
    return sum(gateway.gateway.statistics.calls.values())


async def test_a_call_that_cannot_be_sent_and_is_cancelled_ends_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_sent(*_: Any, **__: Any) -> None:
        raise InspectorError("NOT_CONNECTED", "it is not connected")

    async with gateway_of_demo() as gateway, connected(gateway) as connection:
        await gateway.gateway.settled()
        await connection.initialize("2025-03-26")  # which has batches
        before = count_of(gateway)
        monkeypatch.setattr(ServerConnection, "request_now", not_sent)
        await connection.post([call(1, "echo", text="hi"), CANCELLED])
        await gateway.gateway.ending.drain(PATIENCE_S)
        assert gateway.gateway.running_calls == 0
        assert count_of(gateway) == before + 1


REAL_ANSWER = Peer.answer


def fails(*_: Any, **__: Any) -> None:
    raise RuntimeError("a bug")


def fails_with_a_result(peer: Peer, request_id: Any, data: bytes, **options: Any) -> None:
    if isinstance(peer.handler, InboundHandler) and b'"result"' in data:
        raise RuntimeError("a bug")
    REAL_ANSWER(peer, request_id, data, **options)


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (plain_calls, "_is_plain", fails),
        (ServerConnection, "request_now", fails),
        (Peer, "answer", fails_with_a_result),
    ],
    ids=["before it is sent", "as it is sent", "as it is answered"],
)
async def test_a_bug_fails_one_call_which_counts_as_running_no_longer(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, broken: Any
) -> None:
    async with gateway_of_demo() as gateway, connected(gateway) as connection:
        await gateway.gateway.settled()
        await connection.initialize()
        before = count_of(gateway)
        monkeypatch.setattr(where, name, broken)
        answer = await connection.post(call(1, "echo", text="hi"))
        assert answer.message["error"]["code"] == -32603
        monkeypatch.undo()
        assert "hi" in (await connection.post(call(2, "echo", text="hi"))).body.decode()
        await gateway.gateway.ending.drain(PATIENCE_S)
        assert gateway.gateway.running_calls == 0
        assert count_of(gateway) == before + 2


@pytest.mark.parametrize(("more", "is_kept"), [(0, True), (500, False)])
async def test_a_route_with_many_headers_is_not_remembered(more: int, is_kept: bool) -> None:
    given = {"Host": "127.0.0.1", **POST, "Authorization": f"Bearer {TOKEN}"}
    raw = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    raw += [(b"x", b"")] * more
    async with gateway_of_demo() as gateway:
        first, again = (gateway.app.find_route(b"/mcp", list(raw)) for _ in range(2))
        assert first is not None
        assert (first is again) is is_kept


async def test_a_body_in_tiny_chunks_is_put_together() -> None:
    async with gateway_of_demo() as gateway, connected(gateway) as connection:
        await connection.initialize()
        head, body = connection.request(call(1, "echo", text="x" * 2000)).split(b"\r\n\r\n")
        lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
        chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
        chunked = b"\r\n".join([*lines, b"Transfer-Encoding: chunked", b"", chunks + b"0\r\n\r\n"])
        connection.writer.write(chunked)
        assert b"x" * 2000 in (await connection.answer()).body


@pytest.mark.parametrize("target", [DIRECTLY, BY_ASGI])
@pytest.mark.parametrize(("token", "status"), [("of-the-view-12345", 401), (TOKEN, 200)])
async def test_a_token_that_changes_while_a_body_comes_is_asked_for_again(
    token: str, status: int, target: str
) -> None:
    view = View(separator="none", token="of-the-view-12345")
    async with (
        gateway_of_demo(view) as gateway,
        connected(gateway) as slow,
        connected(gateway) as other,
    ):
        slow.token = token
        await slow.initialize()
        request = slow.request(call(1, "echo", text="hi"), target)
        slow.writer.write(request[:-5])
        await other.initialize()
        gateway.app.use_views(View(separator="none", token="another-one-12345"))
        slow.writer.write(request[-5:])
        assert (await slow.answer()).status == status


@pytest.mark.parametrize("target", ["/mcp/few", "/mcp/few?by=asgi"])
async def test_a_view_that_goes_while_a_body_comes_is_not_used(target: str) -> None:
    async with (
        gateway_of_demo() as gateway,
        connected(gateway) as slow,
        connected(gateway) as other,
    ):
        gateway.gateway.views["few"] = View(name="few")
        gateway.app.use_views()
        meta = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": "demo__echo", "arguments": {"text": "hi"}, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "MCP-Protocol-Version": NEW,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "demo__echo",
        }
        request = slow.request(message, target, **headers)
        slow.writer.write(request)
        assert (await slow.answer()).status == 200
        slow.writer.write(request[:-5])
        await other.initialize()
        del gateway.gateway.views["few"]
        gateway.app.use_views()
        slow.writer.write(request[-5:])
        assert (await slow.answer()).status == 404
