"""WebSocket: text frames both ways, the handshake, and how it ends."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from mcplens.clock import ManualClock
from mcplens.errors import ConfigurationError, ConnectError, HttpError, InspectorError
from mcplens.events import HttpExchangeEnded, HttpRequestSent, HttpResponseReceived
from mcplens.protocol.frames import Malformed
from mcplens.transports import websocket, websocket_connection
from mcplens.transports.base import MESSAGES_PER_TURN, Closing
from mcplens.transports.websocket import WebSocketTransport

from .recording import (
    BOUND_S,
    Recorder,
    call,
    connected,
    listening,
    most_in_one_turn,
    notification,
    result,
)

Serve = Callable[[ServerConnection], Awaitable[None]]


async def echo(server: ServerConnection) -> None:
    async for _ in server:
        await server.send(result(1).decode())


@asynccontextmanager
async def serving(handle: Serve, **options: object) -> AsyncIterator[str]:
    """A server's URL, for the length of the block."""
    options.setdefault("subprotocols", ["mcp"])
    async with serve(handle, "127.0.0.1", 0, **options) as server:  # type: ignore[arg-type]
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


@asynccontextmanager
async def talking(handle: Serve, **options: object) -> AsyncIterator[Recorder]:
    async with (
        serving(handle, **options) as url,
        connected(WebSocketTransport(url)) as heard,
    ):
        yield heard


async def refusal_of(url: str, **options: object) -> tuple[InspectorError, Recorder]:
    """How opening the transport fails."""
    transport = WebSocketTransport(url, **options)  # type: ignore[arg-type]
    heard = Recorder(transport)
    with pytest.raises(InspectorError) as failure:
        async with asyncio.timeout(BOUND_S), transport:
            pass
    return failure.value, heard


async def accept(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    chosen: bytes = b"Sec-WebSocket-Protocol: mcp\r\n",
) -> None:
    """Take a handshake, by hand."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    key = next(line for line in head.split("\r\n") if "-Key:" in line).split(": ")[1]
    digest = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"%sSec-WebSocket-Accept: %s\r\n\r\n" % (chosen, base64.b64encode(digest))
    )


# -- messages ----------------------------------------------------------------------------------


async def test_a_message_goes_out_as_one_text_frame_and_the_answer_comes_back() -> None:
    got: list[str | bytes] = []

    async def handle(server: ServerConnection) -> None:
        got.append(await server.recv())
        await server.send(result(1).decode())
        await server.wait_closed()

    async with talking(handle) as heard:
        heard.transport.write(call(1))
        await heard.message()
        assert heard.transport.describe()["subprotocol"] == "mcp"
    assert got == [call(1).data.decode()]
    assert heard.messages[0][0].raw == result(1)
    assert heard.messages[0][1] is None
    assert not heard.losses
    assert not heard.remarks()


async def test_binary_frames_are_delivered_with_one_remark() -> None:
    async def handle(server: ServerConnection) -> None:
        await server.send(result(1).decode())
        await server.send(result(2))
        await server.send(result(3))
        await server.wait_closed()

    async with talking(handle) as heard:
        await heard.message(3)
        await heard.until(heard.remarks)
    assert heard.ids() == [1, 2, 3]
    assert len(heard.remarks()) == 1
    assert "binary" in heard.remarks()[0]


async def test_text_that_is_no_utf8_is_shown_and_does_no_harm() -> None:
    async def handle(server: ServerConnection) -> None:
        await server.send(b'{"jsonrpc":"2.0","id":1,"result":"\xff"}', text=True)
        await server.send(result(2).decode())
        await server.wait_closed()

    async with talking(handle) as heard:
        await heard.message(2)
    assert b"\xff" in heard.messages[0][0].raw
    assert heard.ids()[-1] == 2
    assert not heard.losses


async def test_nonsense_is_delivered_as_malformed() -> None:
    async def handle(server: ServerConnection) -> None:
        await server.send("{nonsense")
        await server.wait_closed()

    async with talking(handle) as heard:
        await heard.message()
    assert isinstance(heard.messages[0][0], Malformed)


async def test_a_flood_of_frames_leaves_others_their_turn() -> None:
    async def handle(server: ServerConnection) -> None:
        for number in range(500):
            await server.send(result(number).decode())
        await server.wait_closed()

    async with talking(handle) as heard:
        assert await most_in_one_turn(heard, 500) <= MESSAGES_PER_TURN


async def test_pings_of_a_server_that_does_not_read_are_not_answered_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket_connection, "MAX_UNREAD_BYTES", 100_000)
    ping = struct.pack("!BB", 0x89, 125) + b"p" * 125
    text = b"\x81" + struct.pack("!B", len(result(1))) + result(1)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept(reader, writer)
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        kernel = writer.get_extra_info("socket")
        kernel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(60):
            writer.write(ping * 1000)
            await writer.drain()
        writer.write(text)
        await asyncio.Event().wait()

    async with listening(handle) as port:
        transport = WebSocketTransport(f"ws://127.0.0.1:{port}/")
        async with connected(transport) as heard:
            await heard.message()
            assert transport._socket is not None
            assert transport._socket.transport.get_write_buffer_size() < 300_000
            transport.closing = Closing.KILL


async def test_what_was_sent_last_is_out_before_the_transport_is_left() -> None:
    got: list[str | bytes] = []

    async def handle(server: ServerConnection) -> None:
        got.extend([message async for message in server])

    async with talking(handle) as heard:
        for _ in range(3):
            heard.transport.write(notification("notifications/cancelled"))
    assert len(got) == 3


async def test_a_server_that_does_not_read_blocks_nobody_and_fails_what_is_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket, "MAX_BACKLOG_BYTES", 1000)

    is_over = asyncio.Event()

    async def handle(server: ServerConnection) -> None:
        server.transport.pause_reading()
        await is_over.wait()
        server.transport.abort()

    async with talking(handle) as heard:
        heard.transport.closing = Closing.KILL
        big = call(1, "x" * 8_000_000)  # more than the sockets between us hold
        heard.transport.write(big)
        heard.transport.write(call(2))
        error = await heard.failure(2)
        assert 1 not in heard.failures
        is_over.set()
    assert error.code == "CONNECTION_LOST"
    assert "does not read" in error.message


# -- the handshake -----------------------------------------------------------------------------


async def test_the_handshake_is_told_with_its_secrets_masked() -> None:
    headers = {"Authorization": "Bearer s3cret", "X-Open": "seen"}
    async with serving(echo) as url:
        transport = WebSocketTransport(url + "?key=s3cret", headers=headers)
        async with connected(transport) as heard:
            pass
    (asked,), (answered,) = heard.events(HttpRequestSent), heard.events(HttpResponseReceived)
    assert ("X-Open", "seen") in asked.headers
    assert ("Sec-WebSocket-Protocol", "mcp") in asked.headers
    assert answered.status == 101
    assert "s3cret" not in repr((heard.bus.kept(), transport, transport.describe()))


async def test_a_server_without_the_subprotocol_is_connected_with_a_remark() -> None:
    async with talking(echo, subprotocols=None) as heard:
        heard.transport.write(call(1))
        await heard.message()
    assert heard.remarks() == ["the server did not accept the subprotocol 'mcp'"]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "AUTHENTICATION_FAILED"),
        (404, "HTTP_ERROR"),
        (429, "RATE_LIMITED"),
        (307, "HTTP_ERROR"),
    ],
)
async def test_a_rejected_handshake_is_an_error_with_status_headers_and_body(
    status: int, code: str
) -> None:
    def reject(connection: ServerConnection, request: Request) -> Response:
        response = connection.respond(HTTPStatus(status), "not here")
        response.headers["Retry-After"] = "7"
        response.headers["Location"] = "ws://elsewhere.invalid/?token=s3cret"
        return response

    async with serving(echo, process_request=reject) as url:
        error, heard = await refusal_of(url)
    assert isinstance(error, HttpError)
    assert (error.code, error.status) == (code, status)
    assert error.body == b"not here"
    assert error.retry_after_s == (7.0 if status == 429 else None)
    assert heard.events(HttpResponseReceived)[0].status == status
    assert ("Upgrade", "websocket") in heard.events(HttpRequestSent)[0].headers
    assert "s3cret" not in repr((error.to_dict(), heard.bus.kept()))


async def test_a_server_that_speaks_something_else_fails_the_handshake() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")

    async with listening(handle) as port:
        error, heard = await refusal_of(f"ws://127.0.0.1:{port}/")
    assert isinstance(error, ConnectError)
    assert "handshake failed" in error.message
    assert heard.events(HttpRequestSent)
    assert heard.events(HttpExchangeEnded)[0].error == error.message


async def test_a_handshake_that_is_wrong_is_told_with_what_was_wrong_in_it() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept(reader, writer, b"Sec-WebSocket-Protocol: other\r\n")

    async with listening(handle) as port:
        error, heard = await refusal_of(f"ws://127.0.0.1:{port}/")
    assert "unsupported subprotocol: other" in error.message
    received = heard.events(HttpResponseReceived)[0]
    assert received.status == 101
    assert ("Sec-WebSocket-Protocol", "other") in received.headers
    assert heard.events(HttpExchangeEnded)[0].error == error.message


async def test_a_handshake_that_is_called_off_is_told() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        is_asked.set()
        await reader.read()

    is_asked = asyncio.Event()
    async with listening(handle) as port, asyncio.timeout(BOUND_S):
        transport = WebSocketTransport(f"ws://127.0.0.1:{port}/")
        heard = Recorder(transport)
        opening = asyncio.get_running_loop().create_task(transport.__aenter__())
        await is_asked.wait()
        opening.cancel()
        await asyncio.wait([opening])
    assert heard.events(HttpExchangeEnded)[0].error == "closed by us before its end"


async def test_a_server_that_is_not_there_refuses_the_connection() -> None:
    async with serving(echo) as url:
        pass
    error, _ = await refusal_of(url)
    assert error.code == "CONNECTION_REFUSED"
    assert error.details["system_code"] == "ECONNREFUSED"


async def test_a_handshake_that_is_never_answered_times_out() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with listening(handle) as port:
        error, _ = await refusal_of(f"ws://127.0.0.1:{port}/", connect_timeout_s=0.05)
    assert error.code == "CONNECTION_TIMEOUT"


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "ws://"])
def test_a_url_that_is_no_websocket_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError):
        WebSocketTransport(url)


# -- how it ends -------------------------------------------------------------------------------


@pytest.mark.parametrize(("code", "reason"), [(1000, ""), (1011, "out of memory"), (4001, "bye")])
async def test_the_close_code_and_its_reason_are_told(code: int, reason: str) -> None:
    async def handle(server: ServerConnection) -> None:
        await server.close(code, reason)

    async with talking(handle) as heard:
        await heard.until(lambda: heard.losses)
    (error,) = heard.losses
    assert error.code == "CONNECTION_LOST"
    assert (error.details["close_code"], error.details["close_reason"]) == (code, reason)
    assert str(code) in error.message
    assert reason in error.message


async def test_a_connection_that_breaks_off_is_told_as_such() -> None:
    async def handle(server: ServerConnection) -> None:
        server.transport.abort()

    async with talking(handle) as heard:
        await heard.until(lambda: heard.losses)
    assert heard.losses[0].details["close_code"] == 1006
    assert "without a close frame" in heard.losses[0].message


async def test_a_message_over_the_limit_ends_the_connection_and_says_why() -> None:
    async def handle(server: ServerConnection) -> None:
        await server.send("x" * 2000)
        await server.wait_closed()

    async with (
        serving(handle) as url,
        connected(WebSocketTransport(url, max_message_bytes=1000)) as heard,
    ):
        await heard.until(lambda: heard.losses)
    assert heard.losses[0].details["close_code"] == 1009
    assert "limit of 1000 bytes" in heard.losses[0].message


async def test_a_frame_that_breaks_the_protocol_ends_the_connection_if_nobody_hangs_up() -> None:
    is_told = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accept(reader, writer)
        writer.write(struct.pack("!BB", 0x83, 0))  # an opcode that does not exist
        await reader.readexactly(2)
        is_told.set()
        await reader.read()

    clock = ManualClock()
    async with listening(handle) as port:
        transport = WebSocketTransport(f"ws://127.0.0.1:{port}/")
        async with connected(transport, clock) as heard:
            async with asyncio.timeout(BOUND_S):
                await is_told.wait()
            assert not heard.losses
            await clock.advance(2)
            await heard.until(lambda: heard.losses)
    assert heard.losses[0].details["close_code"] == 1002


async def test_leaving_on_purpose_closes_with_1000_and_is_no_loss() -> None:
    closed: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def handle(server: ServerConnection) -> None:
        await server.wait_closed()
        closed.set_result(server.close_code)

    async with serving(handle) as url:
        async with connected(WebSocketTransport(url)) as heard:
            pass
        async with asyncio.timeout(BOUND_S):
            assert await closed == 1000
    assert not heard.losses
