"""WebSocket through `mcplens tap URL`: every byte as it came, and its messages recorded."""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_socket
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Frame as SocketFrame
from websockets.frames import Opcode
from websockets.typing import Subprotocol

import mcplens
from mcplens.events import ClientIntroduced, FrameReceived, FrameSent, HttpExchangeEnded, Remark
from mcplens.protocol.frames import Malformed
from mcplens.tap.backlog import TapBus
from mcplens.tap.http import HttpTap
from mcplens.tap.websocket import SocketClosed, SocketMessage, SocketReader
from tests.cli.tls import self_signed
from tests.servers.run import serve
from tests.tap.test_http import of, port_of, tapped

MCP = Subprotocol("mcp")
SWITCHED = (
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"sec-webSocket-ACCEPT: wrong\r\n\r\n"
)
UPGRADE = (
    b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:9\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


async def test_a_client_and_its_server_are_recorded_with_links() -> None:
    async with serve("good", "--transport", "ws") as server, tapped(server.url) as tap:
        address, bus = tap
        assert address.startswith("ws://127.0.0.1:")
        async with mcplens.connect(address) as client:
            result = await client.call_tool("echo", {"text": "hello"})
            assert result.content[0].text == "hello"
        sent = {event.seq: event for event in bus.kept() if isinstance(event, FrameSent)}
        (reply,) = [
            event
            for event in bus.kept()
            if isinstance(event, FrameReceived) and event.method == "tools/call"
        ]
        assert reply.request_seq is not None
        assert sent[reply.request_seq].method == "tools/call"
        assert sent[reply.request_seq].exchange_id == reply.exchange_id
        assert of(bus, ClientIntroduced)


@pytest.mark.parametrize("compression", ["deflate", None])
async def test_frames_pings_and_close_codes_pass_both_ways(compression: str | None) -> None:
    heard: list[str | bytes] = []
    pinged = asyncio.Event()

    async def handler(server: ServerConnection) -> None:
        async for message in server:
            heard.append(message)
            if message == "ping me":
                await (await server.ping(b"are you there"))
                pinged.set()
            elif message == "leave":
                await server.close(4321, "as you wish")
            else:
                await server.send(message)

    big = '{"jsonrpc":"2.0","method":"big","params":{"x":"' + "y" * 300_000 + '"}}'
    async with (
        serve_socket(handler, "127.0.0.1", 0, subprotocols=[MCP], compression=compression) as at,
        tapped(f"ws://127.0.0.1:{at.sockets[0].getsockname()[1]}/mcp") as (address, bus),
        asyncio.timeout(30),
    ):
        async with connect(address, subprotocols=[MCP], compression=compression) as client:
            assert client.subprotocol == "mcp"
            await (await client.ping(b"hello"))
            await client.send(big)
            assert await client.recv() == big
            # In pieces, which the messages of the recording are made of again.
            await client.send(['{"jsonrpc":"2.0",', '"method":', '"pieces"}'])
            assert await client.recv() == '{"jsonrpc":"2.0","method":"pieces"}'
            await client.send(b"\x00\xff")
            assert await client.recv() == b"\x00\xff"
            await client.send("ping me")
            await pinged.wait()
            await client.send("leave")
            with pytest.raises(ConnectionClosedError) as closed:
                await client.recv()
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4321, "as you wish")
        sent = [event.method for event in bus.kept() if isinstance(event, FrameSent)]
        assert sent == ["big", "pieces", None, None, None]
        replies = [event for event in bus.kept() if isinstance(event, FrameReceived)]
        assert [event.method for event in replies] == ["big", "pieces", None]
        assert isinstance(replies[-1].message, Malformed)
        remarks = [event.message for event in bus.kept() if isinstance(event, Remark)]
        assert "the server closed with 4321: as you wish" in remarks
        assert "the client closed with 4321: as you wish" in remarks
        assert any("binary frames" in remark for remark in remarks)


class RawSocketServer:
    """Agrees to a WebSocket, keeps all bytes that come, and sends some of its own."""

    def __init__(self, says: bytes) -> None:
        self.says = says
        self.heard: bytes = b""
        self.is_over = asyncio.Event()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCHED + self.says)
        await writer.drain()
        writer.write_eof()  # its half only
        self.heard = await reader.read()
        writer.close()
        self.is_over.set()


@asynccontextmanager
async def raw_socket_server(says: bytes) -> AsyncIterator[RawSocketServer]:
    server = RawSocketServer(says)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield server


async def exchanged(port: int, says: bytes) -> bytes:
    """What a client hears until the server's half is closed; only then it speaks itself."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(UPGRADE)
    async with asyncio.timeout(20):
        heard = await reader.read()
        writer.write(says)
        writer.write_eof()
        await writer.drain()
        await reader.read()
    writer.close()
    return heard


async def test_wrong_bytes_and_half_closed_connections_pass_both_ways() -> None:
    good = SocketFrame(Opcode.TEXT, b'{"jsonrpc":"2.0","method":"x"}').serialize(mask=False)
    rubbish = os.urandom(100_000)
    async with raw_socket_server(good + b"\xff" + rubbish) as server:
        direct = await exchanged(server.port, rubbish)
        await server.is_over.wait()
        async with tapped(f"http://127.0.0.1:{server.port}/mcp") as (address, bus):
            server.is_over.clear()
            server.heard = b""
            through = await exchanged(port_of(address), rubbish)
            async with asyncio.timeout(20):
                await server.is_over.wait()
        assert through == direct == SWITCHED + good + b"\xff" + rubbish
        assert server.heard == rubbish
        replies = [event for event in bus.kept() if isinstance(event, FrameReceived)]
        assert [event.method for event in replies] == ["x"]
        remarks = [event.message for event in bus.kept() if isinstance(event, Remark)]
        assert any("not WebSocket frames" in remark for remark in remarks)
        assert len(of(bus, HttpExchangeEnded)) == 1


async def test_a_connection_that_the_server_resets_is_reset_for_the_client() -> None:
    async def resets(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(SWITCHED)
        await writer.drain()
        await reader.read(1)
        # Closing it with this option set sends a reset.
        kept: socket.socket = writer.get_extra_info("socket")
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        writer.transport.abort()

    listener = await asyncio.start_server(resets, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, tapped(f"ws://127.0.0.1:{port}/") as (address, bus):
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
        writer.write(UPGRADE)
        async with asyncio.timeout(20):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"x")
            with pytest.raises(ConnectionResetError):
                await reader.read()
        writer.close()
        ended = of(bus, HttpExchangeEnded)
    assert isinstance(ended[-1], HttpExchangeEnded)
    assert ended[-1].error


async def test_a_server_that_refuses_the_upgrade_is_heard() -> None:
    async def refuses(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(refuses, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    async with listener, tapped(f"ws://127.0.0.1:{port}/") as (address, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port_of(address))
        writer.write(UPGRADE)
        async with asyncio.timeout(20):
            answer = await reader.readuntil(b"no")
        writer.close()
    assert answer == b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno"


async def test_a_server_behind_tls_is_reached(tmp_path: Path) -> None:
    certificate = self_signed(tmp_path / "certificate.pem")
    context = ssl.create_default_context(cafile=str(certificate))
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate)

    async def handler(server: ServerConnection) -> None:
        await server.send(await server.recv())

    async with serve_socket(handler, "127.0.0.1", 0, ssl=own) as at:
        url = f"wss://127.0.0.1:{at.sockets[0].getsockname()[1]}/"
        tap = HttpTap(url, TapBus(), "server", context=context)
        async with (
            tap.listening("127.0.0.1", 0) as address,
            asyncio.timeout(20),
            connect(address) as client,
        ):
            await client.send("hello")
            assert await client.recv() == "hello"


_FRAMES = st.lists(
    st.tuples(st.sampled_from([Opcode.TEXT, Opcode.PING]), st.binary(max_size=300), st.booleans()),
    max_size=6,
)


@given(frames=_FRAMES, size=st.integers(min_value=1, max_value=50))
def test_frames_are_read_however_they_are_cut(
    frames: list[tuple[Opcode, bytes, bool]], size: int
) -> None:
    data = b"".join(
        SocketFrame(opcode, payload[:125]).serialize(mask=is_masked)
        for opcode, payload, is_masked in frames
    )
    data += SocketFrame(Opcode.CLOSE, b"\x03\xe8bye").serialize(mask=True)
    taken: list[SocketMessage | SocketClosed] = []
    reader = SocketReader(taken.append)
    for at in range(0, len(data), size):
        reader.feed(data[at : at + size])
    texts = [payload[:125] for opcode, payload, _ in frames if opcode is Opcode.TEXT]
    assert [one.message.raw for one in taken if isinstance(one, SocketMessage)] == texts
    assert taken[-1] == SocketClosed(1000, "bye")
