"""Connections that want nothing are closed, and there are never too many of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import connect

from mcplens.inbound import http_protocol
from mcplens.inbound.admission import Admission, Client
from mcplens.inbound.server import listen, serve_app

from .harness import PATIENCE_S

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers when the event in its state is set, and echoes over a WebSocket."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": message["text"]})
        return
    await app.__dict__["may_answer"].wait()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


@asynccontextmanager
async def served(admission: Admission | None = None) -> AsyncIterator[int]:
    app.__dict__["may_answer"] = asyncio.Event()
    app.__dict__["may_answer"].set()
    listener = listen("127.0.0.1", 0)
    options: dict[str, Any] = {"host": "127.0.0.1", "max_message_bytes": 1000}
    async with (
        asyncio.timeout(PATIENCE_S),
        serve_app(app, listener, close=lambda: None, admission=admission, **options) as address,
    ):
        yield address.port


async def opened(port: int, said: bytes = b"") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    return reader, writer


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


async def answered(reader: asyncio.StreamReader) -> bytes:
    return (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "REQUEST_WITHIN_S", 0.05)


@pytest.mark.parametrize("said", [b"", b"GET / HT", GET[:-2]], ids=["nothing", "a word", "a head"])
async def test_a_connection_without_a_whole_request_is_closed(at_once: None, said: bytes) -> None:
    async with served() as port:
        reader, writer = await opened(port, said)
        assert await is_closed(reader)
        writer.close()


async def test_half_a_second_request_is_not_waited_for_either(at_once: None) -> None:
    async with served() as port:
        reader, writer = await opened(port, GET)
        assert b" 204 " in await answered(reader)
        writer.write(GET[:5])
        assert await is_closed(reader)
        writer.close()


async def test_a_request_under_way_and_the_pause_after_it_have_their_time(at_once: None) -> None:
    async with served() as port:
        app.__dict__["may_answer"].clear()
        reader, writer = await opened(port, GET)
        for _ in range(2):
            idle, other = await opened(port)  # so much later than the request
            assert await is_closed(idle)
            other.close()
            app.__dict__["may_answer"].set()
            assert b" 204 " in await answered(reader)
            idle, other = await opened(port)
            assert await is_closed(idle)
            other.close()
            writer.write(GET)
        writer.close()


HEAD = b"POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"


@pytest.mark.parametrize(
    ("begin", "line"),
    [(HEAD + b"X: ", b"x" * 1000), (HEAD, b"X: y\r\n" * 100), (CHUNKED + b"X: ", b"x" * 1000)],
    ids=["a header", "many headers", "a trailer"],
)
async def test_endless_headers_are_not_read_to_their_end(begin: bytes, line: bytes) -> None:
    async with served() as port:
        app.__dict__["may_answer"].clear()
        reader, writer = await opened(port, begin)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 100 * http_protocol.MAX_HEAD_BYTES and not reader.at_eof():
                writer.write(line)
                await writer.drain()
                sent += len(line)
        assert sent < 100 * http_protocol.MAX_HEAD_BYTES
        writer.close()


async def test_a_long_body_counts_for_nothing_else() -> None:
    body = b"x" * 3 * http_protocol.MAX_HEAD_BYTES
    async with served() as port:
        reader, writer = await opened(port)
        for _ in range(2):
            writer.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            assert b" 204 " in await answered(reader)
        writer.close()


async def test_a_silent_websocket_stays_open(at_once: None) -> None:
    async with served() as port, connect(f"ws://127.0.0.1:{port}/", proxy=None) as page:
        idle, other = await opened(port)
        assert await is_closed(idle)
        other.close()
        await page.send("still there")
        assert await page.recv() == "still there"


def whose(writer: asyncio.StreamWriter) -> Client:
    host, port = writer.get_extra_info("sockname")
    return host, port


async def test_guests_beyond_their_share_make_the_oldest_of_them_go() -> None:
    admission = Admission(5, 3)
    async with served(admission) as port:
        first, mine = await opened(port, GET)
        assert b" 204 " in await answered(first)
        admission.admit(whose(mine))
        held = [await opened(port) for _ in range(5)]
        for oldest, writer in held[:2]:
            assert await is_closed(oldest)
            writer.close()
        # The newest are served, as is who was admitted.
        for reader, writer in (*held[2:], (first, mine)):
            writer.write(GET)
            assert b" 204 " in await answered(reader)
            writer.close()


async def test_no_more_are_admitted_than_there_are_places() -> None:
    admission = Admission(5, 3)
    async with served(admission) as port:
        held = [await opened(port, GET) for _ in range(3)]
        for reader, writer in held:
            assert b" 204 " in await answered(reader)
            admission.admit(whose(writer))
        assert await is_closed(held[2][0])
        held[0][1].close()
        assert await is_closed(held[0][0])
        held[0] = await opened(port, GET)
        assert b" 204 " in await answered(held[0][0])
        admission.admit(whose(held[0][1]))
        for reader, writer in held[:2]:
            writer.write(GET)
            assert b" 204 " in await answered(reader)
            writer.close()
        held[2][1].close()


async def test_a_guest_has_to_go_after_a_while_even_if_its_request_never_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcplens.inbound.admission.GUEST_S", 0.05)
    admission = Admission(5, 3)
    async with served(admission) as port:
        kept, writer = await opened(port, GET)
        assert b" 204 " in await answered(kept)
        admission.admit(whose(writer))
        app.__dict__["may_answer"].clear()
        slow, other = await opened(port, GET)
        socket = await connect(f"ws://127.0.0.1:{port}/", proxy=None)
        assert await is_closed(slow)
        await socket.wait_closed()
        other.close()
        app.__dict__["may_answer"].set()
        writer.write(GET)
        assert b" 204 " in await answered(kept)
        writer.close()


def test_the_pieces_of_a_body_are_not_copied_again_and_again() -> None:
    connection: Any = http_protocol.BoundedProtocol.__new__(http_protocol.BoundedProtocol)
    direct = http_protocol._Direct.__new__(http_protocol._Direct)
    connection._direct = connection.cycle = direct
    connection.on_body(b"a")
    assert direct.body == b"a"
    connection.on_body(b"b")
    joined = direct.body
    connection.on_body(b"c")
    assert direct.body is joined
    assert direct.body == b"abc"
