"""Streamable HTTP: messages and their answers, and what is told of each exchange."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from mcplens.clock import ManualClock
from mcplens.errors import ConfigurationError
from mcplens.events import HttpExchangeEnded, HttpRequestSent, HttpResponseReceived
from mcplens.protocol.frames import Malformed, parse
from mcplens.transports.base import Closing, Outgoing
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.wire import Wire

from .http_answers import JSON, answering, echo
from .recording import Seen, call, connected, notification, result, serving, talking

# -- messages and answers ----------------------------------------------------------------------


async def test_a_json_answer_is_delivered_on_the_channel_of_its_request() -> None:
    async with talking(echo) as (_, heard):
        transport = heard.transport
        transport.write(call("a"))
        await heard.message()
    message, channel = heard.messages[0]
    assert message.raw == result("a")
    assert channel == "a"
    assert not heard.failures


async def test_a_post_has_the_headers_that_the_protocol_wants() -> None:
    async with talking(echo) as (server, heard):
        heard.transport.write(call(1))
        await heard.message()
    headers = server.requests[0].headers
    assert headers["accept"] == "application/json, text/event-stream"
    assert headers["content-type"] == JSON
    assert headers["user-agent"].startswith("mcplens")
    assert "mcp-session-id" not in headers
    assert "mcp-protocol-version" not in headers


async def test_a_raw_message_is_posted_byte_for_byte_and_its_answer_has_no_channel() -> None:
    typed = b'{"jsonrpc": "2.0",  "id": 1, oops'
    async with talking(answering(200, b'{"also": "broken"', JSON)) as (server, heard):
        heard.transport.write(Outgoing(parse(typed)))
        await heard.message()
    assert server.requests[0].body == typed
    message, channel = heard.messages[0]
    assert isinstance(message, Malformed)
    assert channel is None


async def test_many_requests_in_a_row_use_one_connection() -> None:
    async with talking(echo) as (server, heard):
        for number in range(1, 21):
            heard.transport.write(call(number))
            await heard.message(number)
    assert server.connections == 1


async def test_a_notification_that_is_slow_to_be_taken_delays_no_request() -> None:
    taken = asyncio.Event()

    async def handle(request: Seen, wire: Wire) -> None:
        if b"initialized" in request.body:
            await taken.wait()
        await echo(request, wire)

    async with talking(handle) as (server, heard):
        heard.transport.write(notification())
        await server.until(lambda: server.requests)
        heard.transport.write(call(1))
        await heard.message()
        assert not taken.is_set()
        taken.set()


async def test_a_notification_is_out_before_the_transport_is_left() -> None:
    async with talking(echo) as (server, heard):
        heard.transport.write(notification("notifications/cancelled"))
    assert b"notifications/cancelled" in server.requests[0].body


async def test_a_failing_notification_is_a_remark_and_no_more() -> None:
    async with talking(answering(500, b"no room")) as (_, heard):
        heard.transport.write(notification())
        await heard.until(heard.remarks)
    assert "notifications/initialized was not delivered" in heard.remarks()[0]
    assert "no room" in heard.remarks()[0]
    assert not heard.failures
    assert not heard.losses


async def test_headers_of_one_request_win_over_all_others_whatever_their_case() -> None:
    transport_headers = {"x-who": "everyone", "User-Agent": "custom"}
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url, headers=transport_headers)
        async with connected(transport) as heard:
            transport.negotiated("2026-07-28", is_stateless=True)
            transport.write(call(1, X_WHO="this one", MCP_PROTOCOL_VERSION="2025-06-18"))
            transport.write(call(2))
            await heard.message(2)
    first, second = sorted(server.requests, key=lambda request: request.message.id)
    assert first.headers["x-who"] == "this one"
    assert first.headers["mcp-protocol-version"] == "2025-06-18"
    assert second.headers["x-who"] == "everyone"
    assert second.headers["mcp-protocol-version"] == "2026-07-28"
    assert second.headers["user-agent"] == "custom"


async def test_credentials_in_the_url_are_sent_as_a_header_and_not_shown() -> None:
    async with serving(echo) as server:
        url = server.url.replace("127.0.0.1", "user:pa55@127.0.0.1")
        transport = StreamableHttpTransport(url)
        async with connected(transport) as heard:
            transport.write(call(1))
            await heard.message()
            shown = repr((transport, transport.describe(), heard.bus.kept()))
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwYTU1"
    assert "pa55" not in shown
    assert "dXNlcjpwYTU1" not in shown


@pytest.mark.parametrize("url", ["ftp://host/", "http://", "localhost:80/mcp", "http://h:0/"])
def test_a_url_that_cannot_work_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigurationError, match="not a usable URL"):
        StreamableHttpTransport(url)


def test_importing_the_http_transports_loads_no_http_library() -> None:
    script = (
        "import sys, mcplens.transports.streamable_http, mcplens.transports.websocket;"
        "sys.exit(repr({'aiohttp', 'websockets', 'yarl'} & set(sys.modules)))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert outcome.stderr.strip() == "set()"


# -- what is told ------------------------------------------------------------------------------


async def test_an_exchange_is_told_as_it_was_with_its_secrets_masked() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        session = {"Mcp_Session_Id": "s3cret-session", "Set_Cookie": "s3cret-cookie"}
        await wire.respond(200, result(request.message.id), JSON, X_Plain="seen", **session)

    headers = {"Authorization": "Bearer s3cret-token", "X-Api-Key": "s3cret-key", "X-Open": "seen"}
    clock = ManualClock()
    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url + "?key=s3cret-query", headers=headers)
        async with connected(transport, clock) as heard:
            out = call(1, "initialize")
            transport.write(out)
            await heard.message()
            transport.closing = Closing.KILL
        kept = heard.bus.kept()
        assert "s3cret" not in repr((kept, transport, transport.describe()))
        (asked,) = heard.events(HttpRequestSent)
        (answered,) = heard.events(HttpResponseReceived)
        (ended,) = heard.events(HttpExchangeEnded)
    assert (asked.method, asked.body) == ("POST", out.data)
    assert {name.lower() for name, _ in asked.headers} == set(server.requests[0].headers)
    assert ("X-Open", "seen") in asked.headers
    assert (answered.status, answered.reason) == (200, "OK")
    assert ("X-Plain", "seen") in answered.headers
    assert (ended.body, ended.error) == (result(1), None)
    assert asked.exchange_id == answered.exchange_id == ended.exchange_id == 1
    assert heard.exchange_ids == [1]
