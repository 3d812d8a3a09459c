"""WebSocket: one message per frame, on a real port."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.asgi_app import AsgiApp
from mcplens.inbound.limits import Limits
from mcplens.inbound.server import serve
from mcplens.inbound.websocket import WebSocketEndpoint
from mcplens.protocol.eras import Era

from .harness import INITIALIZE, PATIENCE_S, Script, note, request, stateless

LIMITS = Limits(max_backlog_bytes=256 * 1024, max_message_bytes=1024 * 1024, max_sessions=2)


@asynccontextmanager
async def listening(access: AccessControl | None = None) -> AsyncIterator[tuple[str, Script]]:
    script = Script()
    site = AsgiApp({}, sockets={"/ws": WebSocketEndpoint(script, limits=LIMITS)}, access=access)
    async with asyncio.timeout(PATIENCE_S), serve(site, limits=LIMITS) as address:
        yield address.url("/ws", "ws"), script


async def ask(socket: ClientConnection, message: Any) -> Any:
    await socket.send(message if isinstance(message, bytes) else json.dumps(message))
    return json.loads(await socket.recv())


async def test_the_subprotocol_is_mcp_where_the_client_offers_it() -> None:
    async with listening() as (url, _):
        async with connect(url, subprotocols=["mcp"]) as socket:  # type: ignore[list-item]
            assert socket.subprotocol == "mcp"
        async with connect(url) as socket:
            assert socket.subprotocol is None
            assert (await ask(socket, INITIALIZE))["id"] == 0


async def test_both_eras_and_messages_of_ours_share_one_socket() -> None:
    async with listening() as (url, script), connect(url) as socket:
        await ask(socket, INITIALIZE)
        assert (await ask(socket, request("echo", 1)))["id"] == 1
        assert (await ask(socket, stateless("echo", 2)))["id"] == 2
        assert [item.era for _, item in script.received_from] == [
            Era.HANDSHAKE, Era.HANDSHAKE, Era.STATELESS,
        ]  # fmt: skip
        script.peer.send(note(7))
        assert json.loads(await socket.recv())["params"]["data"] == 7


async def test_the_envelope_is_checked_and_headers_are_not() -> None:
    async with listening() as (url, _), connect(url) as socket:
        assert (await ask(socket, request("server/discover")))["error"]["code"] == -32602
        assert "result" in await ask(socket, stateless("echo"))


async def test_what_is_no_message_is_answered_and_the_socket_lives() -> None:
    async with listening() as (url, _), connect(url) as socket:
        assert (await ask(socket, b"{"))["error"]["code"] == -32700
        assert (await ask(socket, INITIALIZE))["id"] == 0


async def test_bytes_that_are_no_text_come_as_a_binary_frame() -> None:
    async with listening() as (url, script), connect(url) as socket:
        await ask(socket, INITIALIZE)
        script.peer.send(b"caf\xe9")
        assert await socket.recv() == b"caf\xe9"


async def test_a_message_over_the_limit_closes_the_socket_with_1009() -> None:
    async with listening() as (url, _), connect(url) as socket:
        await socket.send("x" * (2 * 1024 * 1024))
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009


async def test_closing_a_peer_closes_its_socket_with_the_reason() -> None:
    async with listening() as (url, script), connect(url) as socket:
        await ask(socket, INITIALIZE)
        script.peer.send(note(1))
        script.peer.close("enough")
        await socket.recv()  # what was sent before still arrives
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.reason == "enough"


async def test_a_client_that_leaves_is_told_of_once() -> None:
    async with listening() as (url, script), connect(url) as socket:
        await ask(socket, INITIALIZE)
    assert len(script.gone) == 1


async def test_a_client_that_stops_reading_is_disconnected_and_nobody_waits_for_it() -> None:
    async with listening() as (url, script), connect(url, max_queue=1) as slow:
        await ask(slow, INITIALIZE)
        peer = script.peer
        big = b'"' + b"x" * 65536 + b'"'
        async with connect(url) as other:
            await ask(other, INITIALIZE)
            number = 0
            while peer.is_open:
                number += 1
                peer.send(big)
                assert (await ask(other, request("echo", number)))["id"] == number
        assert (peer, "the client reads too slowly") in script.gone
        slow.transport.abort()  # it would wait for the close frame behind all that


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Authorization": "Bearer wrong"}, 401),
    ],
)
async def test_the_handshake_is_refused_with_its_status(
    headers: dict[str, str], status: int
) -> None:
    async with listening(AccessControl(token="right")) as (url, _):
        given = {"Authorization": "Bearer right"} | headers
        host = given.pop("Host", None)
        with pytest.raises(InvalidStatus) as refused:
            await Handshake(url, host, given)
        assert refused.value.response.status_code == status


class Handshake(connect):
    """A handshake whose Host header a test can choose."""

    def __init__(self, url: str, host: str | None, headers: dict[str, str]) -> None:
        if host is not None:
            port = url.split(":")[2].split("/")[0]
            super().__init__(
                f"ws://{host}:{port}/ws",
                additional_headers=headers,
                host="127.0.0.1",
                port=int(port),
                proxy=None,
            )
        else:
            super().__init__(url, additional_headers=headers)


async def test_one_socket_too_many_is_503() -> None:
    async with listening() as (url, _), connect(url), connect(url):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url)
        assert refused.value.response.status_code == 503


async def test_a_path_without_a_socket_is_404() -> None:
    async with listening() as (url, _):
        with pytest.raises(InvalidStatus) as refused:
            await connect(url.replace("/ws", "/elsewhere"))
        assert refused.value.response.status_code == 404
