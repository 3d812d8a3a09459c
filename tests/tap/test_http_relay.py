"""Connections through `mcplens tap URL` behave as they would without it, in bad cases too."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from mcplens.events import FrameReceived, FrameSent, HttpExchangeEnded, HttpRequestSent, Remark
from mcplens.tap.backlog import TapBus
from mcplens.tap.http import HttpTap
from mcplens.tap.http_framing import RequestFraming, Whole
from tests.cli.tls import self_signed
from tests.tap.test_http import of, port_of, tapped

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MEGABYTE = 1_000_000
ASK = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b'Content-Length: 46\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
)
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 36\r\n\r\n"
    b'{"jsonrpc":"2.0","id":1,"result":{}}'
)


@contextlib.asynccontextmanager
async def served(handler: Handler) -> AsyncIterator[int]:
    """The port of a server that does this with each connection."""
    listener = await asyncio.start_server(handler, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1]


@contextlib.asynccontextmanager
async def tapped_server(
    handler: Handler,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter, TapBus]]:
    """A connection through a tap to a server that does this with each connection."""
    async with (
        served(handler) as port,
        tapped(f"http://127.0.0.1:{port}/mcp") as (address, bus),
        asyncio.timeout(30),
    ):
        assert isinstance(bus, TapBus)
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
        yield reader, writer, bus
        writer.close()


async def test_requests_that_do_not_wait_for_each_other_are_answered_in_their_order() -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        b'12\r\n{"jsonrpc":"2.0","\r\n12\r\nid":1,"result":{}}\r\n0\r\n\r\n'
    )
    answers = b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER + chunked + ANSWER

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            await reader.readuntil(b"tools/list")
        writer.write(answers)
        await writer.drain()
        await reader.read()
        writer.close()

    async with tapped_server(handler) as (reader, writer, bus):
        writer.write(ASK * 3)
        assert await reader.readexactly(len(answers)) == answers
        sent = {event.seq: event for event in bus.kept() if isinstance(event, FrameSent)}
        replies = [event for event in bus.kept() if isinstance(event, FrameReceived)]
        assert len(sent) == len(replies) == 3
        assert sorted({reply.exchange_id or 0 for reply in replies}) == [1, 2, 3]
        assert all(not event.error for event in bus.kept() if isinstance(event, HttpExchangeEnded))


async def test_a_body_waits_until_the_server_says_continue() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await reader.readuntil(b"tools/list")
        writer.write(ANSWER)
        await reader.read()
        writer.close()

    async with tapped_server(handler) as (reader, writer, bus):
        head, end, body = ASK.partition(b"\r\n\r\n")
        writer.write(head + b"\r\nExpect: 100-continue" + end)
        await reader.readuntil(b"Continue\r\n\r\n")
        writer.write(body)
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        assert [event.method for event in bus.kept() if isinstance(event, FrameReceived)] == [
            "tools/list"
        ]


@pytest.mark.parametrize(
    "answer",
    [b"\x00\xffnot HTTP at all", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nwhatever"],
)
async def test_a_server_that_does_not_speak_http_is_heard_and_flagged(answer: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"tools/list")
        writer.write(answer + b"\r\n\r\nmore")
        writer.close()

    async with tapped_server(handler) as (reader, writer, bus):
        writer.write(ASK)
        assert await reader.read() == answer + b"\r\n\r\nmore"
        assert any("the server sent" in event.message for event in remarks(bus))
        assert of(bus, HttpRequestSent)


def remarks(bus: TapBus) -> list[Remark]:
    return [event for event in bus.kept() if isinstance(event, Remark)]


async def test_a_request_that_is_not_http_reaches_nobody() -> None:
    reached = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        writer.close()

    async with tapped_server(handler) as (reader, writer, _):
        writer.write(b"x" * 100_000)
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    assert not reached.is_set()


async def test_what_is_wrong_only_later_in_a_request_passes_and_is_flagged() -> None:
    wrong = ASK.replace(b"Content-Length: 46", b"Content-Length: many")

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard = await reader.readuntil(b"tools/list")
        writer.write(heard)
        writer.close()

    async with tapped_server(handler) as (reader, writer, bus):
        writer.write(wrong)
        heard = await reader.read()
        assert b"Content-Length: many" in heard
        assert any("the client sent a Content-Length" in event.message for event in remarks(bus))


async def test_a_client_that_closes_its_half_still_gets_the_answer() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # to the end
        writer.write(ANSWER)
        writer.close()

    async with tapped_server(handler) as (reader, writer, bus):
        writer.write(ASK)
        writer.write_eof()
        assert await reader.read() == ANSWER
        (ended,) = [event for event in bus.kept() if isinstance(event, HttpExchangeEnded)]
        assert ended.error is None


async def test_a_response_that_is_cut_short_is_cut_short_for_the_client() -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"tools/list")
        writer.write(ANSWER[:-5])
        await writer.drain()
        await reader.readexactly(1)
        kept: socket.socket = writer.get_extra_info("socket")
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()

    async with tapped_server(handler) as (reader, writer, bus):
        writer.write(ASK)
        assert await reader.readexactly(len(ANSWER) - 5) == ANSWER[:-5]
        writer.write(b"G")
        with pytest.raises(ConnectionResetError):
            await reader.read()
        ended = of(bus, HttpExchangeEnded)
        assert isinstance(ended[0], HttpExchangeEnded)
        assert ended[0].error


async def test_a_server_that_refuses_a_request_before_it_has_all_of_it_is_heard() -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(refusal)
        await writer.drain()
        writer.close()  # what it has not read makes that a reset

    async with tapped_server(handler) as (reader, writer, bus):
        writer.write(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"
            + b"x" * MEGABYTE
        )
        assert await reader.readexactly(len(refusal)) == refusal
        assert of(bus, HttpRequestSent)


async def test_a_client_that_does_not_read_stops_only_itself() -> None:
    written = 0
    is_stuck = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        heard = await reader.readuntil(b"tools/list")
        if b"/flood" not in heard:
            writer.write(ANSWER)
            await reader.read()
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        with contextlib.suppress(TimeoutError):
            while True:
                writer.write(b"y" * 65536)
                async with asyncio.timeout(1):
                    await writer.drain()
                written += 65536
        is_stuck.set()
        writer.transport.abort()

    async with (
        served(handler) as port,
        tapped(f"http://127.0.0.1:{port}/mcp") as (address, _),
        asyncio.timeout(30),
    ):
        silent, to_silent = await asyncio.open_connection("127.0.0.1", port_of(address))
        silent._transport.pause_reading()  # type: ignore[attr-defined]  # it reads nothing
        to_silent.write(ASK.replace(b"/mcp", b"/flood"))
        await is_stuck.wait()
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
        writer.write(ASK)
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        # The buffers of the system, on four sockets; none of ours grows.
        assert written < 40 * MEGABYTE
        writer.close()
        to_silent.transport.abort()


async def test_a_fault_of_ours_ends_one_connection_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65536):
            writer.write(ANSWER)
        writer.close()

    whole = RequestFraming.whole

    def fail(framing: RequestFraming, data: bytes) -> Whole | None:
        if b"/fault" in data:
            raise RuntimeError("a fault of ours")
        return whole(framing, data)

    monkeypatch.setattr(RequestFraming, "whole", fail)
    async with (
        served(handler) as port,
        tapped(f"http://127.0.0.1:{port}/mcp") as (address, _),
        asyncio.timeout(30),
    ):
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
        writer.write(ASK)
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        broken, to_broken = await asyncio.open_connection("127.0.0.1", port_of(address))
        to_broken.write(ASK.replace(b"/mcp", b"/fault"))
        with pytest.raises(ConnectionResetError):
            await broken.read()
        writer.write(ASK)
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        writer.close()
        to_broken.close()


async def test_many_megabytes_pass_whole_in_both_directions() -> None:
    big = bytes(range(256)) * 40_000

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"Host: 127.0.0.1" in head
        body = await reader.readexactly(len(big))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        await reader.read()
        writer.close()

    async with tapped_server(handler) as (reader, writer, _):
        writer.write(
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(big) + big
        )
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(len(big)) == big


async def test_a_server_behind_https_is_reached_and_a_wrong_certificate_is_told(
    tmp_path: Path,
) -> None:
    certificate = self_signed(tmp_path / "certificate.pem")
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate)
    big = b"z" * 300_000

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"tools/list")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(big) + big)
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=own)
    url = f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with listener, asyncio.timeout(30):
        for context, status in ((trusting, b"200"), (ssl.create_default_context(), b"502")):
            tap = HttpTap(url, TapBus(), "server", context=context)
            async with tap.listening("127.0.0.1", 0) as address:
                reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
                writer.write(ASK)
                answer = await reader.read()
                writer.close()
            assert answer.startswith(b"HTTP/1.1 " + status)
            assert answer.endswith(big) == (status == b"200")
