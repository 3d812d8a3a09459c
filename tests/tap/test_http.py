"""The reverse proxy of `mcplens tap URL`: what passes is the same, and recorded with its links."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import httpx2
import mcp
import pytest

from mcplens.bus import Bus
from mcplens.events import (
    ClientIntroduced,
    Event,
    FrameReceived,
    FrameSent,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
    RequestEnded,
)
from mcplens.tap.backlog import TapBus
from mcplens.tap.http import HttpTap
from tests.servers.run import serve

# A wrong status line, a repeated header, odd cases, and a body that is neither JSON nor text.
ODD = (
    b"HTTP/1.1 418 I'm a Teapot\r\nX-oDd: 1\r\nx-ODD: 2\r\nContent-Type: application/json\r\n"
    b"Content-Length: 6\r\n\r\n\xff\x00{}\r\n"
)


@contextlib.asynccontextmanager
async def tapped(url: str, *, rewrites_auth: bool = False) -> AsyncIterator[tuple[str, Bus]]:
    """The address of a tap in front of a server, and what it publishes."""
    bus = TapBus()
    bus.expect_readers()
    tap = HttpTap(url, bus, "server", rewrites_auth=rewrites_auth)
    async with tap.listening("127.0.0.1", 0) as address:
        yield address, bus


@contextlib.asynccontextmanager
async def raw_server(answer: bytes, *, stays_open: bool = False) -> AsyncIterator["RawServer"]:
    server = RawServer(answer, stays_open=stays_open)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield server


class RawServer:
    """Keeps the bytes of each request, and answers with the same bytes."""

    def __init__(self, answer: bytes, *, stays_open: bool) -> None:
        self.port = 0
        self.requests: list[bytes] = []
        self.left = asyncio.Event()
        self._answer = answer
        self._stays_open = stays_open

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.requests.append(await reader.read(65536))
        writer.write(self._answer)
        await writer.drain()
        if self._stays_open:
            while await reader.read(65536):
                pass
            self.left.set()
        writer.close()


async def ask(port: int, request: bytes) -> bytes:
    """All that comes back for the bytes of a request."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    return answer


def port_of(address: str) -> int:
    return int(address.split(":")[2].split("/")[0])


def of(bus: Bus, *kinds: type[Event]) -> list[Event]:
    return [event for event in bus.kept() if isinstance(event, kinds)]


async def test_only_host_is_changed_on_the_way_there_and_nothing_on_the_way_back() -> None:
    request = (
        b"POST /mcp?a=%2F HTTP/1.1\r\nHost: 127.0.0.1:9\r\nX-One: a\r\nx-one: B\r\n"
        b"content-TYPE: application/json\r\nContent-Length: 4\r\n\r\nnull"
    )
    async with raw_server(ODD) as server, tapped(f"http://127.0.0.1:{server.port}/mcp") as tap:
        direct = await ask(server.port, request)
        through = await ask(port_of(tap[0]), request)
    sent, passed = server.requests
    assert passed == sent.replace(b"127.0.0.1:9", f"127.0.0.1:{server.port}".encode())
    assert through == direct == ODD


@pytest.mark.parametrize("form", ["--json", "--sse-answers"])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_real_client_works_through_it_and_every_link_is_there(form: str, mode: str) -> None:
    async with serve("good", "--transport", "http", form) as server, tapped(server.url) as tap:
        address, bus = tap
        async with mcp.Client(address, mode=mode) as client:
            tools = await client.list_tools()
            assert tools.tools
            results = await asyncio.gather(
                *(client.call_tool("echo", {"text": str(number)}) for number in range(8))
            )
        assert [result.content[0].text for result in results] == list("01234567")  # type: ignore[union-attr]
        sent = {event.seq: event for event in bus.kept() if isinstance(event, FrameSent)}
        replies = [event for event in bus.kept() if isinstance(event, FrameReceived)]
        calls = [event for event in replies if event.method == "tools/call"]
        assert len(calls) == 8
        for reply in calls:
            assert reply.request_seq is not None
            assert sent[reply.request_seq].exchange_id == reply.exchange_id
        assert of(bus, ClientIntroduced)


async def test_legacy_sse_works_through_it() -> None:
    from mcp.client.sse import sse_client

    async with serve("good", "--transport", "sse") as server, tapped(server.url) as tap:
        async with mcp.Client(sse_client(tap[0]), mode="legacy") as client:
            result = await client.call_tool("echo", {"text": "hello"})
        assert result.content[0].text == "hello"  # type: ignore[union-attr]
        replies = [event for event in tap[1].kept() if isinstance(event, FrameReceived)]
        assert "tools/call" in [reply.method for reply in replies]


async def test_a_client_that_leaves_a_stream_is_told_to_the_server() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n"
    async with raw_server(head, stays_open=True) as server:
        async with tapped(f"http://127.0.0.1:{server.port}/mcp") as (address, bus):
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
            writer.write(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
            async with asyncio.timeout(20):
                await reader.readuntil(b"data: {}\n\n")
                writer.close()
                await server.left.wait()
        ended = of(bus, HttpExchangeEnded)[-1]
        assert isinstance(ended, HttpExchangeEnded)
        assert ended.error == "the client closed its connection"


async def test_a_client_that_leaves_what_it_listened_to_waits_for_no_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: here\n\n"
    asked = b'{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}'
    request = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request += b"Content-Length: %d\r\n\r\n" % len(asked) + asked
    async with raw_server(head, stays_open=True) as server:
        async with tapped(f"http://127.0.0.1:{server.port}/mcp") as (address, bus):
            reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
            writer.write(request)
            async with asyncio.timeout(20):
                await reader.readuntil(b": here\n\n")
                assert not of(bus, RequestEnded)
                writer.close()
                await server.left.wait()
        (ended,) = of(bus, RequestEnded)
    assert isinstance(ended, RequestEnded)
    assert (ended.method, ended.status) == ("subscriptions/listen", "cancelled")


async def test_a_session_is_ended_by_delete_and_the_servers_answer_is_passed_on() -> None:
    client = {"name": "x", "version": "1"}
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    accept = {"Accept": "application/json, text/event-stream"}

    async def end_session(http: httpx2.AsyncClient, url: str) -> list[int]:
        """The statuses of a handshake, the end of that session, and two uses of it afterwards."""
        began = await http.post(url, json=hello, headers=accept)
        session = accept | {"Mcp-Session-Id": began.headers["mcp-session-id"]}
        ended = await http.delete(url, headers=session)
        late = await http.post(url, json=listing, headers=session)
        again = await http.delete(url, headers=session)
        return [one.status_code for one in (began, ended, late, again)]

    async with serve("good", "--transport", "http") as server, tapped(server.url) as (address, bus):
        async with httpx2.AsyncClient() as http:
            direct = await end_session(http, server.url)
            through = await end_session(http, address)
        assert through == direct
        assert direct[1] in (200, 202, 204)
        assert direct[2] == 404
        kept = bus.kept()
    asked = [event for event in kept if isinstance(event, HttpRequestSent)]
    assert [event.method for event in asked] == ["POST", "DELETE", "POST", "DELETE"]
    answers = {
        event.exchange_id: event.status for event in kept if isinstance(event, HttpResponseReceived)
    }
    assert [answers[event.exchange_id] for event in asked] == direct
    ends = [event for event in kept if isinstance(event, HttpExchangeEnded)]
    assert [event.error for event in ends] == [None] * 4


async def test_an_answer_is_published_before_the_client_has_all_of_it() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    asked = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    request = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    request += b"Content-Length: %d\r\n\r\n" % len(asked) + asked
    answer = head.encode() + b"\r\n" + body
    async with (
        raw_server(answer, stays_open=True) as server,
        tapped(f"http://127.0.0.1:{server.port}/mcp") as (address, bus),
        asyncio.timeout(20),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
        writer.write(request)
        await reader.readuntil(body)
        replies = [event for event in bus.kept() if isinstance(event, FrameReceived)]
        assert [reply.method for reply in replies] == ["tools/list"]
        writer.close()


async def test_a_page_of_another_site_gets_nothing() -> None:
    async with raw_server(ODD) as server, tapped(f"http://127.0.0.1:{server.port}/") as tap:
        answer = await ask(port_of(tap[0]), b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert server.requests == []


async def test_a_server_that_is_not_there_is_a_502_that_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with tapped(f"http://127.0.0.1:{port}/mcp") as (address, _):
        request = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        answer = await ask(port_of(address), request)
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert b"mcplens tap" in answer


async def test_tokens_in_headers_and_in_bodies_of_a_sign_in_are_masked() -> None:
    body = b'{"access_token":"very-secret-token","token_type":"bearer"}'
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    form = b"grant_type=refresh_token&refresh_token=another-secret"
    request = (
        b"POST /token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer header-secret-1\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(form), form)
    )
    answer = head.encode() + b"\r\n" + body
    async with raw_server(answer) as server, tapped(f"http://127.0.0.1:{server.port}/") as tap:
        assert body in await ask(port_of(tap[0]), request)
    assert form in server.requests[0]
    shown = repr(of(tap[1], HttpRequestSent, HttpResponseReceived, HttpExchangeEnded))
    assert "grant_type=refresh_token" in shown
    assert "secret" not in shown
