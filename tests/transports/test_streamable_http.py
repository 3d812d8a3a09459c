"""Streamable HTTP: messages, answers, the HTTP session, and what is told of each exchange."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest

from mcplens.clock import ManualClock
from mcplens.errors import ConfigurationError, HttpError
from mcplens.events import (
    FrameReceived,
    HttpExchangeEnded,
    HttpRequestSent,
    HttpResponseReceived,
)
from mcplens.protocol.frames import Frame, Kind, Malformed, encode_error, parse
from mcplens.transports.base import Closing, Outgoing
from mcplens.transports.sse import SseTransport
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.wire import Wire

from .recording import Seen, call, connected, notification, result, serving, talking

JSON = "application/json"


async def echo(request: Seen, wire: Wire) -> None:
    """The good server: a result for a request, 202 for the rest."""
    message = request.message
    if request.verb != "POST":
        await wire.respond(405)
    elif isinstance(message, Frame) and message.kind is Kind.REQUEST:
        session = {"Mcp_Session_Id": "s3cret-session"} if message.method == "initialize" else {}
        await wire.respond(200, result(message.id), JSON, **session)
    else:
        await wire.respond(202)


def answering(status: int, body: bytes = b"", kind: str | None = None, **headers: object):
    """A server that answers every POST in the same way."""

    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(status, body, kind, **headers)

    return handle


# -- messages and answers ----------------------------------------------------------------------


async def test_a_json_answer_is_delivered_on_the_channel_of_its_request():
    async with talking(echo) as (_, heard):
        transport = heard.transport
        transport.send(call("a"))
        await heard.message()
    message, channel = heard.messages[0]
    assert message.raw == result("a")
    assert channel == "a"
    assert not heard.failures


async def test_a_post_has_the_headers_that_the_protocol_wants():
    async with talking(echo) as (server, heard):
        heard.transport.send(call(1))
        await heard.message()
    headers = server.requests[0].headers
    assert headers["accept"] == "application/json, text/event-stream"
    assert headers["content-type"] == JSON
    assert headers["user-agent"].startswith("mcplens")
    assert "mcp-session-id" not in headers
    assert "mcp-protocol-version" not in headers


async def test_the_bytes_of_a_raw_message_are_posted_as_they_are_and_its_answer_has_no_channel():
    typed = b'{"jsonrpc": "2.0",  "id": 1, oops'
    async with talking(answering(200, b'{"also": "broken"', JSON)) as (server, heard):
        heard.transport.send(Outgoing(parse(typed)))
        await heard.message()
    assert server.requests[0].body == typed
    message, channel = heard.messages[0]
    assert isinstance(message, Malformed)
    assert channel is None


async def test_many_requests_in_a_row_use_one_connection():
    async with talking(echo) as (server, heard):
        for number in range(1, 21):
            heard.transport.send(call(number))
            await heard.message(number)
    assert server.connections == 1


async def test_a_notification_that_is_slow_to_be_taken_delays_no_request():
    taken = asyncio.Event()

    async def handle(request: Seen, wire: Wire) -> None:
        if b"initialized" in request.body:
            await taken.wait()
        await echo(request, wire)

    async with talking(handle) as (server, heard):
        heard.transport.send(notification())
        await server.until(lambda: server.requests)
        heard.transport.send(call(1))
        await heard.message()
        assert not taken.is_set()
        taken.set()


async def test_a_notification_is_out_before_the_transport_is_left():
    async with talking(echo) as (server, heard):
        heard.transport.send(notification("notifications/cancelled"))
    assert b"notifications/cancelled" in server.requests[0].body


async def test_a_failing_notification_is_a_remark_and_no_more():
    async with talking(answering(500, b"no room")) as (_, heard):
        heard.transport.send(notification())
        await heard.until(heard.remarks)
    assert "notifications/initialized did not get through" in heard.remarks()[0]
    assert "no room" in heard.remarks()[0]
    assert not heard.failures
    assert not heard.losses


async def test_headers_of_one_request_win_over_all_others_whatever_their_case():
    transport_headers = {"x-who": "everyone", "User-Agent": "custom"}
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url, headers=transport_headers)
        async with connected(transport) as heard:
            transport.negotiated("2026-07-28", is_stateless=True)
            transport.send(call(1, X_WHO="this one", MCP_PROTOCOL_VERSION="2025-06-18"))
            transport.send(call(2))
            await heard.message(2)
    first, second = sorted(server.requests, key=lambda request: request.message.id)
    assert first.headers["x-who"] == "this one"
    assert first.headers["mcp-protocol-version"] == "2025-06-18"
    assert second.headers["x-who"] == "everyone"
    assert second.headers["mcp-protocol-version"] == "2026-07-28"
    assert second.headers["user-agent"] == "custom"


async def test_credentials_in_the_url_are_sent_as_a_header_and_not_shown():
    async with serving(echo) as server:
        url = server.url.replace("127.0.0.1", "user:pa55@127.0.0.1")
        transport = StreamableHttpTransport(url)
        async with connected(transport) as heard:
            transport.send(call(1))
            await heard.message()
            shown = repr((transport, transport.describe(), heard.bus.kept()))
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwYTU1"
    assert "pa55" not in shown
    assert "dXNlcjpwYTU1" not in shown


@pytest.mark.parametrize("url", ["ftp://host/", "http://", "localhost:80/mcp", "http://h:0/"])
def test_a_url_that_cannot_work_is_a_configuration_error(url):
    with pytest.raises(ConfigurationError, match="no usable URL"):
        StreamableHttpTransport(url)


def test_importing_the_http_transports_loads_no_http_library():
    script = (
        "import sys, mcplens.transports.streamable_http, mcplens.transports.websocket;"
        "sys.exit(repr({'aiohttp', 'websockets', 'yarl'} & set(sys.modules)))"
    )
    outcome = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert outcome.stderr.strip() == "set()"


# -- answers that are none ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body"), [(202, b""), (202, b"Accepted"), (204, b""), (200, b"")]
)
async def test_a_request_that_is_merely_accepted_fails_at_once(status, body):
    async with talking(answering(status, body)) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "NO_RESPONSE"
    assert error.status == status
    assert "Content-Length" in error.headers


async def test_a_page_instead_of_an_answer_fails_the_request_and_quotes_the_page():
    page = b"<!doctype html>\n<h1>Please log in</h1>"
    async with talking(answering(200, page, "text/html; charset=utf-8")) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "INVALID_RESPONSE"
    assert "text/html" in error.message
    assert "<!doctype html> <h1>Please log in</h1>" in error.message
    assert error.details["body"] == page
    assert heard.events(HttpExchangeEnded)[0].body == page


async def test_a_right_answer_with_a_wrong_content_type_counts_and_is_remarked():
    async with talking(answering(200, result(1), "text/plain")) as (_, heard):
        heard.transport.send(call(1))
        await heard.message()
    assert heard.messages[0] == (parse(result(1)), 1)
    assert "text/plain" in heard.remarks()[0]


async def test_broken_json_is_delivered_as_the_malformed_message_that_it_is():
    async with talking(answering(200, b'{"jsonrpc": "2.0", "id": 1,', JSON)) as (_, heard):
        heard.transport.send(call(1))
        await heard.message()
    message, channel = heard.messages[0]
    assert isinstance(message, Malformed)
    assert message.ids == (1,)
    assert channel == 1
    assert not heard.failures  # the session judges it


async def test_a_notification_as_the_whole_answer_is_shown_and_fails_the_request():
    body = b'{"jsonrpc":"2.0","method":"notifications/message"}'
    async with talking(answering(200, body, JSON)) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "NO_RESPONSE"
    assert heard.messages[0][0].raw == body


async def test_an_error_status_with_an_answer_in_it_is_that_answer():
    body = encode_error(1, -32022, "unsupported", {"supported": ["2025-11-25"]})
    async with talking(answering(400, body, JSON)) as (_, heard):
        heard.transport.send(call(1))
        await heard.message()
    assert heard.messages[0] == (parse(body), 1)
    assert not heard.failures


@pytest.mark.parametrize("identity", [None, "server-error"])
async def test_an_error_status_with_a_jsonrpc_error_for_nobody_is_shown_and_fails_the_request(
    identity,
):
    body = encode_error(identity, -32000, "not initialized")
    async with talking(answering(400, body, JSON)) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert heard.messages[0][0].raw == body
    assert error.code == "HTTP_ERROR"
    rpc = {"code": -32000, "message": "not initialized", "data": None}
    assert error.details["rpc_error"] == rpc


async def test_a_challenge_stays_an_authentication_error_even_with_a_jsonrpc_body():
    body = encode_error(1, -32001, "who are you?")
    handle = answering(401, body, JSON, WWW_Authenticate='Bearer realm="x"')
    async with talking(handle) as (_, heard):
        heard.transport.send(call(1))
        error = await heard.failure(1)
    assert error.code == "AUTHENTICATION_FAILED"
    assert error.headers["WWW-Authenticate"] == 'Bearer realm="x"'
    assert error.details["rpc_error"]["code"] == -32001
    assert "who are you?" in error.message


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (401, "AUTHENTICATION_FAILED", False),
        (403, "AUTHENTICATION_FAILED", False),
        (404, "HTTP_ERROR", False),
        (429, "RATE_LIMITED", True),
        (500, "HTTP_ERROR", True),
        (503, "HTTP_ERROR", True),
    ],
)
async def test_each_status_fails_its_own_request_with_status_headers_and_body(
    status, code, retryable
):
    async def handle(request: Seen, wire: Wire) -> None:
        if request.message.id == 1:
            await wire.respond(status, b"line one\n  line two", "text/plain", X_Trace="abc")
        else:
            await echo(request, wire)

    async with talking(handle) as (server, heard):
        heard.transport.send(call(1))
        heard.transport.send(call(2))
        error = await heard.failure(1)
        await heard.message()
    assert isinstance(error, HttpError)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert error.headers["X-Trace"] == "abc"
    assert error.body == b"line one\n  line two"
    assert f"POST {server.url} was answered with {status}" in error.message
    assert error.message.endswith("line one line two")
    assert heard.ids() == [2]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("7", 7.0), ("Thu, 01 Jan 1970 00:20:00 GMT", 200.0), ("soon", None)],
)
async def test_retry_after_is_told_in_seconds(value, expected):
    async with serving(answering(429, Retry_After=value)) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport, ManualClock(start=1000.0)) as heard:
            transport.send(call(1))
            error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.retry_after_s == expected


# -- the HTTP session --------------------------------------------------------------------------


async def test_the_session_id_of_initialize_is_echoed_and_given_up_by_delete():
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.send(call(1, "initialize"))
            await heard.message()
            transport.negotiated("2025-11-25", is_stateless=False)
            transport.send(notification())
            transport.send(call(2))
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


async def test_a_session_id_that_comes_with_any_other_answer_is_not_taken():
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(200, result(request.message.id), JSON, Mcp_Session_Id="stray")

    async with talking(handle) as (server, heard):
        heard.transport.send(call(1))
        await heard.message()
        heard.transport.send(call(2))
        await heard.message(2)
    assert all("mcp-session-id" not in request.headers for request in server.requests)
    assert not server.seen("DELETE")


async def test_a_forgotten_session_fails_its_requests_and_is_told_once():
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
            transport.send(call(1, "initialize"))
            await heard.message()
            transport.send(call(2))
            transport.send(call(3))
            errors = [await heard.failure(2), await heard.failure(3)]
            transport.send(call(4, "initialize"))
            await heard.message(2)
            assert transport.describe()["session_id"] is not None
            transport.closing = Closing.KILL
    assert [error.code for error in errors] == ["SESSION_EXPIRED"] * 2
    assert len(heard.expiries) == 1
    assert "gone" in heard.expiries[0].message
    assert "mcp-session-id" not in server.requests[-1].headers


async def test_a_server_that_never_answers_delete_holds_us_up_for_two_seconds_at_most():
    async def handle(request: Seen, wire: Wire) -> None:
        if request.verb == "DELETE":
            await asyncio.Event().wait()
        await echo(request, wire)

    clock = ManualClock()
    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport, clock) as heard:
            transport.send(call(1, "initialize"))
            await heard.message()
            leaving = asyncio.get_running_loop().create_task(transport.__aexit__(None, None, None))
            await server.until(lambda: server.seen("DELETE"))
            await clock.advance(1.9)
            assert not leaving.done()
            await clock.advance(0.2)
            await leaving


async def test_a_killed_transport_sends_no_delete():
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.send(call(1, "initialize"))
            await heard.message()
            transport.closing = Closing.KILL
    assert not server.seen("DELETE")


async def test_a_stateless_server_gets_no_session_id_no_get_and_no_delete():
    async with serving(echo) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport) as heard:
            transport.send(call(1, "initialize"))
            await heard.message()
            transport.negotiated("2026-07-28", is_stateless=True)
            transport.send(call(2))
            await heard.message(2)
    assert "mcp-session-id" not in server.requests[1].headers
    assert [request.verb for request in server.requests] == ["POST", "POST"]


async def test_the_fallback_is_the_legacy_transport_with_the_same_options():
    transport = StreamableHttpTransport("http://h/mcp", headers={"X-Key": "k"})
    fallback = transport.fallback()
    assert isinstance(fallback, SseTransport)
    assert fallback.identity == transport.identity
    assert StreamableHttpTransport("http://h/mcp", sse_fallback=False).fallback() is None


# -- what is told ------------------------------------------------------------------------------


async def test_an_exchange_is_told_as_it_was_with_its_secrets_masked():
    async def handle(request: Seen, wire: Wire) -> None:
        session = {"Mcp_Session_Id": "s3cret-session", "Set_Cookie": "s3cret-cookie"}
        await wire.respond(200, result(request.message.id), JSON, X_Plain="seen", **session)

    headers = {"Authorization": "Bearer s3cret-token", "X-Api-Key": "s3cret-key", "X-Open": "seen"}
    clock = ManualClock()
    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url + "?key=s3cret-query", headers=headers)
        async with connected(transport, clock) as heard:
            out = call(1, "initialize")
            transport.send(out)
            await heard.message()
            transport.closing = Closing.KILL
        kept = heard.bus.kept()
        assert "s3cret" not in repr((kept, transport, transport.describe()))
        (asked,), (answered,), (ended,) = (
            heard.events(kind)
            for kind in (HttpRequestSent, HttpResponseReceived, HttpExchangeEnded)
        )
    assert (asked.method, asked.body) == ("POST", out.data)
    assert {name.lower() for name, _ in asked.headers} == set(server.requests[0].headers)
    assert ("X-Open", "seen") in asked.headers
    assert (answered.status, answered.reason) == (200, "OK")
    assert ("X-Plain", "seen") in answered.headers
    assert (ended.body, ended.error) == (result(1), None)
    assert asked.exchange_id == answered.exchange_id == ended.exchange_id == 1
    order = [type(event) for event in kept]
    assert order.index(HttpExchangeEnded) < order.index(FrameReceived)
