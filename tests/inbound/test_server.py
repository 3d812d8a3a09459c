"""A site on a real port: uvicorn, sockets, clients that stop reading."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from mcplens.clock import SystemClock
from mcplens.errors import ConfigurationError, ConnectError
from mcplens.inbound.access_control import AccessControl
from mcplens.inbound.asgi import headers_of
from mcplens.inbound.asgi_app import AsgiApp
from mcplens.inbound.limits import Limits
from mcplens.inbound.server import Address, serve
from mcplens.inbound.streamable_http import StreamableHttp
from mcplens.inbound.websocket import WebSocketEndpoint

from .harness import INITIALIZE, PATIENCE_S, POST, STATELESS, Script, note, request, stateless

LIMITS = Limits(max_backlog_bytes=256 * 1024, max_replay_bytes=64 * 1024)


@asynccontextmanager
async def listening(access: AccessControl | None = None) -> AsyncIterator[tuple[Address, Script]]:
    script = Script()
    endpoint = StreamableHttp(script, SystemClock(), limits=LIMITS)
    sockets = {"/ws": WebSocketEndpoint(script, limits=LIMITS)}
    async with serve(AsgiApp({"/mcp": endpoint}, sockets=sockets, access=access)) as address:
        yield address, script


async def test_a_site_is_served_on_a_free_port_of_this_machine_alone() -> None:
    async with listening() as (address, _), aiohttp.ClientSession() as http:
        assert address.host == "127.0.0.1"
        async with http.post(address.url("/mcp"), json=INITIALIZE, headers=POST) as response:
            assert response.status == 200
            assert response.headers["Mcp-Session-Id"]


async def test_an_idle_site_wakes_for_its_date_alone_and_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mcplens.inbound import uvicorn_server

    ticks = 0
    first = asyncio.Event()
    asked = uvicorn_server.UvicornServer.on_tick

    async def tick(server: uvicorn_server.UvicornServer, counter: int) -> bool:
        nonlocal ticks
        ticks += 1
        first.set()
        return await asked(server, counter)

    monkeypatch.setattr(uvicorn_server.UvicornServer, "on_tick", tick)
    monkeypatch.setattr(uvicorn_server, "_DATE_S", PATIENCE_S)
    async with asyncio.timeout(PATIENCE_S), listening():
        await first.wait()
    assert ticks == 2  # as it begins, and as it ends


async def test_it_is_gone_with_the_block_even_while_a_stream_is_open() -> None:
    async with asyncio.timeout(PATIENCE_S), aiohttp.ClientSession() as http:
        async with listening() as (address, script):
            script.answers["subscriptions/listen"] = lambda peer, _: peer.send(note(1))
            headers = {
                **POST,
                "MCP-Protocol-Version": STATELESS,
                "Mcp-Method": "subscriptions/listen",
            }
            body = stateless("subscriptions/listen")
            response = await http.post(address.url("/mcp"), json=body, headers=headers)
            assert await response.content.readline()
        await response.read()
        with pytest.raises(aiohttp.ClientConnectionError):
            await http.get(address.url("/mcp"))


async def test_an_error_in_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        async with listening():
            raise ZeroDivisionError


async def test_other_machines_are_let_in_only_with_a_token() -> None:
    with pytest.raises(ConfigurationError, match="token"):
        async with serve(AsgiApp({}), host="0.0.0.0"):
            pass


async def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConnectError, match=f"port {port} on 127.0.0.1 is already in use"):
            async with serve(AsgiApp({}), port=port):
                pass


async def test_a_client_that_stops_reading_holds_up_nobody() -> None:
    """It is cut off; meanwhile others are answered, and memory does not grow with what waits."""
    async with asyncio.timeout(PATIENCE_S), listening() as (address, script):
        script.answers["subscriptions/listen"] = lambda peer, _: peer.send(note(0))
        body = json.dumps(stateless("subscriptions/listen")).encode()
        head = [
            "POST /mcp HTTP/1.1", "Host: localhost", f"MCP-Protocol-Version: {STATELESS}",
            "Mcp-Method: subscriptions/listen", "Content-Type: application/json",
            f"Content-Length: {len(body)}", "", "",
        ]  # fmt: skip
        reader, writer = await asyncio.open_connection(address.host, address.port, limit=1024)
        writer.write("\r\n".join(head).encode() + body)
        assert b"200 OK" in await reader.readline()
        slow = script.peer
        big = b'{"jsonrpc":"2.0","method":"x","params":"' + b"x" * 65536 + b'"}'
        async with aiohttp.ClientSession() as http:
            while slow.is_open:
                slow.send(big)
                headers = {**POST, "MCP-Protocol-Version": STATELESS, "Mcp-Method": "echo"}
                answer = await http.post(
                    address.url("/mcp"), json=stateless("echo"), headers=headers
                )
                assert answer.status == 200
        assert (slow, "the client reads too slowly") in script.gone
        writer.close()


async def test_a_client_that_goes_away_is_noticed() -> None:
    async with asyncio.timeout(PATIENCE_S), listening() as (address, script):
        asked, gone = asyncio.Event(), asyncio.Event()
        script.answers["slow"] = lambda peer, _: asked.set()
        script.disconnected = lambda *_: gone.set()  # type: ignore[method-assign]
        async with aiohttp.ClientSession() as http:
            headers = {**POST, "MCP-Protocol-Version": STATELESS, "Mcp-Method": "slow"}
            calling = asyncio.ensure_future(
                http.post(address.url("/mcp"), json=stateless("slow"), headers=headers)
            )
            await asked.wait()
            calling.cancel()
            await gone.wait()


def test_importing_the_endpoints_loads_no_web_server() -> None:
    modules = ("server", "streamable_http", "sse", "websocket", "stdio")
    code = (
        f"import sys; {'; '.join(f'import mcplens.inbound.{name}' for name in modules)};"
        "print([name for name in ('uvicorn', 'h11', 'websockets') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


async def test_a_request_line_is_answered_as_http_wants_it() -> None:
    """Garbage instead of HTTP closes that connection alone."""
    async with asyncio.timeout(PATIENCE_S), listening() as (address, _):
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b"\x16\x03\x01 this is TLS, or nonsense\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 400")
        writer.close()
        async with aiohttp.ClientSession() as http:
            assert (await http.post(address.url("/mcp"), json=request("x"))).status == 400


def test_blanks_around_the_value_of_a_header_are_not_part_of_it() -> None:
    scope = {"headers": [(b"Mcp-Name", b" echo \t"), (b"X", b"a"), (b"x", b"b ")]}
    assert headers_of(scope) == {"mcp-name": "echo", "x": "a, b"}
