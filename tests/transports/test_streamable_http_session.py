"""The HTTP session of Streamable HTTP: taken, echoed, forgotten, given up."""

from __future__ import annotations

import asyncio
import json

from mcplens.clock import ManualClock
from mcplens.protocol.frames import encode_error
from mcplens.transports.base import Closing
from mcplens.transports.sse import SseTransport
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.wire import Wire

from .http_answers import JSON, echo
from .recording import Seen, call, connected, notification, result, serving, talking


async def test_the_session_id_of_initialize_is_echoed_and_given_up_by_delete() -> None:
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.write(call(1, "initialize"))
            await heard.message()
            transport.negotiated("2025-11-25", is_stateless=False)
            transport.write(notification())
            transport.write(call(2))
            await heard.message(2)
            await server.until(lambda: server.seen("GET"))
            described = transport.describe()
    first, *others = server.requests
    assert "mcp-session-id" not in first.headers
    assert {request.verb for request in others} == {"POST", "GET", "DELETE"}
    assert {request.headers["mcp-session-id"] for request in others} == {"s3cret-session"}
    assert {request.headers["mcp-protocol-version"] for request in others} == {"2025-11-25"}
    assert server.requests[-1].verb == "DELETE"
    assert "s3cret" not in json.dumps(described)
    assert described["protocol_version"] == "2025-11-25"


async def test_a_session_id_that_comes_with_any_other_answer_is_not_taken() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(200, result(request.message.id), JSON, Mcp_Session_Id="stray")

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        await heard.message()
        heard.transport.write(call(2))
        await heard.message(2)
    assert all("mcp-session-id" not in request.headers for request in server.requests)
    assert not server.seen("DELETE")


async def test_a_forgotten_session_fails_its_requests_and_is_told_once() -> None:
    asked = asyncio.Event()

    async def handle(request: Seen, wire: Wire) -> None:
        if "mcp-session-id" in request.headers:
            if len(server.seen("POST")) < 3:
                await asked.wait()
            asked.set()
            # Some servers echo the id; it is about the session all the same.
            await wire.respond(404, encode_error(request.message.id, -32001, "gone"), JSON)
        else:
            await echo(request, wire)

    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.write(call(1, "initialize"))
            await heard.message()
            transport.write(call(2))
            transport.write(call(3))
            errors = [await heard.failure(2), await heard.failure(3)]
            transport.write(call(4, "initialize"))
            await heard.message(2)
            assert transport.describe()["session_id"] is not None
            transport.closing = Closing.KILL
    assert [error.code for error in errors] == ["SESSION_EXPIRED"] * 2
    assert len(heard.expiries) == 1
    assert "gone" in heard.expiries[0].message
    assert "mcp-session-id" not in server.requests[-1].headers


async def test_a_server_that_never_answers_delete_holds_us_up_for_two_seconds_at_most() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.verb == "DELETE":
            await asyncio.Event().wait()
        await echo(request, wire)

    clock = ManualClock()
    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport, clock) as heard:
            transport.write(call(1, "initialize"))
            await heard.message()
            leaving = asyncio.get_running_loop().create_task(transport.__aexit__(None, None, None))
            await server.until(lambda: server.seen("DELETE"))
            await clock.advance(1.9)
            assert not leaving.done()
            await clock.advance(0.2)
            await leaving


async def test_a_killed_transport_sends_no_delete() -> None:
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.write(call(1, "initialize"))
            await heard.message()
            transport.closing = Closing.KILL
    assert not server.seen("DELETE")


async def test_a_stateless_server_gets_no_session_id_no_get_and_no_delete() -> None:
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.write(call(1, "initialize"))
            await heard.message()
            transport.negotiated("2026-07-28", is_stateless=True)
            transport.write(call(2))
            await heard.message(2)
    assert "mcp-session-id" not in server.requests[1].headers
    assert [request.verb for request in server.requests] == ["POST", "POST"]


async def test_the_fallback_is_the_legacy_transport_with_the_same_options() -> None:
    transport = StreamableHttpTransport("http://h/mcp", headers={"X-Key": "k"})
    fallback = transport.fallback()
    assert isinstance(fallback, SseTransport)
    assert fallback.identity == transport.identity
    assert StreamableHttpTransport("http://h/mcp", sse_fallback=False).fallback() is None
