"""Streamable HTTP when the network or the server breaks the exchange, or there is no connection."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import tracemalloc

import pytest

from mcplens.errors import ConnectError, HttpError, TransportError
from mcplens.events import HttpExchangeEnded, HttpResponseReceived
from mcplens.protocol.frames import Frame, encode_notification
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.ports import held_port
from tests.servers.misbehaving.abrupt import reset
from tests.servers.misbehaving.wire import Wire

from .http_answers import JSON, echo
from .recording import (
    Recorder,
    Seen,
    call,
    connected,
    listening,
    result,
    serving,
    talking,
)

NOTE = encode_notification("notifications/message", {"data": "on the way"})


async def first_breaks(request: Seen, wire: Wire) -> bool:
    """True for the request that is to break; the others are answered rightly."""
    if isinstance(request.message, Frame) and request.message.id == 1:
        return True
    await echo(request, wire)
    return False


async def assert_others_unharmed(heard: Recorder) -> None:
    heard.transport.write(call("next"))
    await heard.until(lambda: "next" in heard.ids())
    assert set(heard.failures) == {1}
    assert not heard.losses


# -- broken exchanges --------------------------------------------------------------------------


async def test_a_body_shorter_than_announced_fails_with_all_that_came() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            await wire.head(200, Content_Type=JSON, Content_Length=1000, X_Trace="abc")
            await wire.raw(b'{"jsonrpc": "2.0", "id"')
            await wire.cut()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
        await assert_others_unharmed(heard)
    assert isinstance(error, HttpError)
    assert error.code == "NO_RESPONSE"
    assert (error.status, error.headers["X-Trace"]) == (200, "abc")
    assert error.body == b'{"jsonrpc": "2.0", "id"'
    ended = heard.events(HttpExchangeEnded)[0]
    assert ended.body == error.body
    assert ended.error == error.message


async def test_a_reset_before_the_answer_fails_that_request_alone() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            reset(wire.writer.transport)

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        heard.transport.write(call(2))
        error = await heard.failure(1)
        await heard.message()
        await assert_others_unharmed(heard)
    assert isinstance(error, TransportError)
    assert error.code == "CONNECTION_RESET"
    assert len([post for post in server.requests if post.message.id == 1]) == 1  # not sent again


async def test_a_server_that_hangs_up_without_an_answer_is_a_reset_too() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.cut()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "CONNECTION_RESET"
    assert "without an answer" in error.message


async def test_a_reset_in_the_body_keeps_status_and_what_came() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.head(200, Content_Type=JSON, Content_Length=1000)
        await wire.raw(b"half")
        await heard.until(lambda: heard.events(HttpResponseReceived))
        reset(wire.writer.transport)

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.status == 200
    assert error.body == b"half"


async def test_headers_that_drip_for_ever_end_when_the_request_is_abandoned() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            await wire.raw(b"HTTP/1.1 200 OK\r\nX-Drip: ")
            while True:
                await wire.raw(b"x")
                await asyncio.sleep(0)

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        await server.until(lambda: server.requests)
        heard.transport.write(call(2))
        await heard.message()
        heard.transport.abandon(1)
        await server.until(lambda: server.closed)
        await heard.until(lambda: len(heard.events(HttpExchangeEnded)) == 2)
    assert heard.ids() == [2]
    assert not heard.failures


async def test_an_answer_that_is_no_http_says_so() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "INVALID_RESPONSE"
    assert "not valid HTTP" in error.message


async def test_a_body_over_the_limit_fails_the_request_and_keeps_its_start() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(200, result(1, "x" * 300_000), JSON)

    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url, max_message_bytes=100_000)
        async with connected(transport) as heard:
            transport.write(call(1))
            error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "MESSAGE_TOO_LARGE"
    assert len(error.body) == 64 * 1024
    assert error.body.startswith(result(1, "x" * 300_000)[:100])


async def test_an_error_that_is_kept_does_not_keep_the_body_with_it() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.head(200, Content_Type=JSON, Content_Length=9_000_000)
        await wire.raw(b"x" * 8_000_000)
        await wire.cut()

    async with talking(handle) as (_, heard):
        tracemalloc.start()
        try:
            heard.transport.write(call(1))
            error = await heard.failure(1)
            await heard.transport._work.ended()
            gc.collect()
            kept_bytes, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert len(error.details["body"]) == 64 * 1024
    assert kept_bytes < 2_000_000


async def test_an_error_of_a_stream_does_not_keep_what_was_read_of_it() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(b"data: half")
        await wire.cut()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.__traceback__ is None


async def test_a_header_that_no_http_request_can_have_fails_the_request() -> None:
    async with talking(echo) as (_, heard):
        heard.transport.write(call(1, X_Bad="two\r\nlines"))
        error = await heard.failure(1)
        await assert_others_unharmed(heard)
    assert error.code == "CONFIGURATION_INVALID"


# -- no connection at all ----------------------------------------------------------------------


async def test_a_refused_connection_fails_the_request_with_the_systems_code() -> None:
    with held_port() as port:
        transport = StreamableHttpTransport(f"http://127.0.0.1:{port}/mcp")
        async with connected(transport) as heard:
            transport.write(call(1))
            error = await heard.failure(1)
    assert isinstance(error, ConnectError)
    assert error.code == "CONNECTION_REFUSED"
    assert error.details["system_code"] == "ECONNREFUSED"
    assert error.message.endswith(" refused the connection; nothing listens there")
    assert "Connect call failed" in error.details["original_error"]
    assert heard.events(HttpExchangeEnded)[0].error


async def test_a_host_that_does_not_exist_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_such_host(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", no_such_host)
    monkeypatch.setenv("NO_PROXY", "*")
    transport = StreamableHttpTransport("http://nowhere.invalid/mcp")
    async with connected(transport) as heard:
        transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "HOST_NOT_FOUND"
    assert error.details["system_code"] == "ENOTFOUND"
    assert error.message.endswith(": the host nowhere.invalid was not found")


async def test_a_connection_that_does_not_come_about_times_out() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        others = []
        for _ in range(4):  # fills the backlog, so that the next connection hangs
            other = socket.socket()
            other.setblocking(False)
            other.connect_ex(full.getsockname())
            others.append(other)
        url = f"http://127.0.0.1:{full.getsockname()[1]}/mcp"
        transport = StreamableHttpTransport(url, connect_timeout_s=0.05)
        async with connected(transport) as heard:
            transport.write(call(1))
            error = await heard.failure(1)
        for other in others:
            other.close()
    assert error.code == "CONNECTION_TIMEOUT"


async def test_a_stream_that_turns_into_no_http_fails_its_request_at_once() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            await wire.open_sse()
            await wire.event(NOTE)
            await heard.message()  # what follows comes in a read of its own
            await wire.raw(b"zz\r\n")
            await asyncio.Event().wait()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
        await assert_others_unharmed(heard)
    assert error.code == "NO_RESPONSE"
    assert "the stream broke off (what follows is not valid HTTP: Invalid" in error.message
    assert "\n" not in error.message
    assert "not valid HTTP" in (heard.events(HttpExchangeEnded)[0].error or "")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
async def test_a_body_that_is_not_encoded_as_it_says_is_told_in_plain_words(encoding: str) -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if await first_breaks(request, wire):
            await wire.respond(200, b"\x78" + result(1), JSON, Content_Encoding=encoding)

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
        await assert_others_unharmed(heard)
    assert error.code == "INVALID_RESPONSE"
    assert re.search(rf"cannot be decoded as .*{encoding}.*Content-Encoding", error.message)
    assert "install" not in error.message


async def test_a_server_that_hangs_up_in_the_tls_handshake_is_told_as_such() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10_000)

    async with listening(hang_up) as port:
        transport = StreamableHttpTransport(f"https://127.0.0.1:{port}/")
        async with connected(transport) as heard:
            transport.write(call(1))
            error = await heard.failure(1)
    assert error.code == "CONNECTION_RESET"
    assert error.message.endswith("closed the connection without an answer")
