"""The same sign-in over HTTP+SSE and WebSocket."""

import asyncio

import pytest
from aiohttp import web

import mcplens
from mcplens.auth.steps import Authorize
from mcplens.events import StateChanged
from tests.auth.protected import Protected, consent
from tests.servers.run import serve


async def test_sse_signs_in_with_its_stream_and_sends_the_token_with_each_post() -> None:
    async with serve("sdk_oauth", "--sdk", "mcp", "--transport", "sse") as server:
        for options in ({"sign_in": consent}, {}):  # the second time nobody is asked
            async with mcplens.connect(server.url, transport="sse", **options) as client:  # type: ignore[arg-type]
                result = await client.call_tool("echo", {"text": "hello"})
                assert result.content[0].text == "hello"


async def test_a_websocket_signs_in_with_its_upgrade(server: Protected) -> None:
    url = server.url.replace("http://", "ws://")
    async with mcplens.connect(url, sign_in=consent, protocol_version="2025-11-25") as client:
        await client.call_tool("echo")
    assert server.authorizations[0] == ""
    assert server.authorizations[1].startswith("Bearer access-")


async def test_an_expired_token_reconnects_a_websocket_and_sends_no_call_again(
    server: Protected,
) -> None:
    url = server.url.replace("http://", "ws://")
    async with (
        asyncio.timeout(20),
        mcplens.connect(
            url,
            sign_in=consent,
            protocol_version="2025-11-25",
            max_retries=1,
            retry_backoff_s=(0.0,),
        ) as client,
    ):
        await client.call_tool("echo")
        server.valid.clear()
        assert server.socket is not None
        events = client.bus.subscribe()
        await server.socket.close(code=4401, message=b"expired")
        async for event in events:
            if isinstance(event, StateChanged) and event.new == "CONNECTED":
                break
        assert server.messages.count("tools/call") == 1
        await client.call_tool("echo")
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize("transport", ["sse", "websocket"])
async def test_too_few_scopes_for_a_connection_lead_to_a_step_up(
    server: Protected, transport: str
) -> None:
    """403 at the GET of a stream, or at an upgrade, counts as it does for a POST."""
    asked: list[tuple[str, ...]] = []

    async def look(request: Authorize) -> str:
        asked.append(request.scopes)
        return await consent(request)

    def want_more(token: str) -> web.Response | None:
        if len(asked) > 1:
            return None
        header = 'Bearer error="insufficient_scope", scope="admin"'
        return web.json_response({}, status=403, headers={"WWW-Authenticate": header})

    server.has_stream = transport == "sse"
    server.forbids = want_more
    url = server.url.replace("http://", "ws://") if transport == "websocket" else server.url
    async with (
        asyncio.timeout(20),
        mcplens.connect(
            url, transport=transport, sign_in=look, protocol_version="2025-11-25"
        ) as client,
    ):
        await client.call_tool("echo")
    assert asked == [("notes",), ("notes", "admin")]


async def test_a_message_of_sse_that_is_refused_is_sent_again_with_a_fresh_token(
    server: Protected,
) -> None:
    server.has_stream = True
    async with (
        asyncio.timeout(20),
        mcplens.connect(
            server.url, transport="sse", sign_in=consent, protocol_version="2025-11-25"
        ) as client,
    ):
        await client.call_tool("echo")
        server.valid.clear()
        await client.call_tool("echo")
    assert [form["grant_type"] for form in server.forms] == ["authorization_code", "refresh_token"]
    assert server.streamed.count("tools/call") == 2  # each once
