"""What a timeout says of an answer over HTTP that began and did not end, or of what never came."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

import mcplens
from mcplens.protocol.frames import encode_result
from tests.servers.misbehaving.wire import Wire
from tests.transports.recording import Seen, serving

JSON = "application/json"
Begin = Callable[[Wire], Awaitable[None]]


async def half_a_body(wire: Wire) -> None:
    await wire.head(200, Content_Type=JSON, Content_Length=500)
    await wire.raw(b'{"jsonrpc": "2.0", "id": ')


async def half_an_event(wire: Wire) -> None:
    await wire.open_sse()
    await wire.chunk(b'data: {"jsonrpc": "2.0", "id": ')


async def no_endpoint(wire: Wire) -> None:
    await wire.open_sse()
    await wire.chunk(b": welcome\n\n")


async def message_of(begin: Begin, transport: str) -> str:
    """What is said when a server begins so and then falls silent."""

    async def handle(request: Seen, wire: Wire) -> None:
        await begin(wire)
        await asyncio.Event().wait()

    async with serving(handle) as server:
        with pytest.raises(mcplens.InspectorError) as caught:
            async with mcplens.connect(
                server.url,
                transport=transport,
                protocol_version="2025-11-25",
                connection_timeout_s=2,
                max_retries=0,
            ):
                pass
    assert caught.value.code == "CONNECTION_TIMEOUT"
    return caught.value.message


@pytest.mark.parametrize("begin", [half_a_body, half_an_event])
async def test_a_handshake_that_times_out_quotes_what_came_of_its_answer(begin: Begin) -> None:
    message = await message_of(begin, "http")
    assert "a message has come whose end is missing" in message
    assert '{"jsonrpc": "2.0", "id": ' in message


async def test_a_stream_that_names_no_endpoint_is_what_the_timeout_tells() -> None:
    message = await message_of(no_endpoint, "sse")
    assert "its stream is open, but the endpoint event has not come" in message


async def test_a_call_that_times_out_quotes_what_came_of_its_own_answer() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        message = request.message
        if request.verb != "POST":
            await wire.respond(405)
        elif message.method == "initialize":
            about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "half", "version": "1"}}
            body = encode_result(message.id, {"protocolVersion": "2025-11-25", **about})
            await wire.respond(200, body, JSON)
        elif message.method == "tools/call":
            if b'"half"' in request.body:
                await half_a_body(wire)
            await asyncio.Event().wait()
        else:
            await wire.respond(202)

    async with (
        serving(handle) as server,
        mcplens.connect(server.url, protocol_version="2025-11-25", concurrency=2) as client,
    ):
        calls = [client.call_tool(name, {}, timeout_s=1.0) for name in ("half", "nothing")]
        half, nothing = await asyncio.gather(*calls, return_exceptions=True)
    assert 'whose end is missing: \'{"jsonrpc": "2.0", "id": \'' in str(half)
    assert str(nothing).startswith("no answer to tools/call within")
    assert "missing" not in str(nothing)
