"""Streamable HTTP: answers that are none, and error statuses."""

from __future__ import annotations

import pytest

from mcplens.clock import ManualClock
from mcplens.errors import HttpError
from mcplens.events import HttpExchangeEnded, HttpResponseReceived
from mcplens.protocol.frames import Malformed, encode_error, parse
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.wire import Wire

from .http_answers import JSON, answering, echo
from .recording import Seen, call, connected, result, serving, talking


@pytest.mark.parametrize(
    ("status", "body"), [(202, b""), (202, b"Accepted"), (204, b""), (200, b"")]
)
async def test_a_request_that_is_merely_accepted_fails_at_once(status: int, body: bytes) -> None:
    async with talking(answering(status, body)) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "NO_RESPONSE"
    assert error.status == status
    assert "Content-Length" in error.headers


async def test_a_page_instead_of_an_answer_fails_the_request_and_quotes_the_page() -> None:
    page = b"<!doctype html>\n<h1>Please log in</h1>"
    async with talking(answering(200, page, "text/html; charset=utf-8")) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "INVALID_RESPONSE"
    assert "text/html" in error.message
    assert "<!doctype html> <h1>Please log in</h1>" in error.message
    assert error.details["body"] == page
    assert heard.events(HttpExchangeEnded)[0].body == page


async def test_a_right_answer_with_a_wrong_content_type_counts_and_is_remarked() -> None:
    async with talking(answering(200, result(1), "text/plain")) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
    assert heard.messages[0] == (parse(result(1)), 1)
    assert "text/plain" in heard.remarks()[0]


async def test_broken_json_is_delivered_as_the_malformed_message_that_it_is() -> None:
    async with talking(answering(200, b'{"jsonrpc": "2.0", "id": 1,', JSON)) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
    message, channel = heard.messages[0]
    assert isinstance(message, Malformed)
    assert message.ids == (1,)
    assert channel == 1
    assert not heard.failures  # the session judges it


async def test_a_notification_as_the_whole_answer_is_shown_and_fails_the_request() -> None:
    body = b'{"jsonrpc":"2.0","method":"notifications/message"}'
    async with talking(answering(200, body, JSON)) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "NO_RESPONSE"
    assert heard.messages[0][0].raw == body


async def test_an_error_status_with_an_answer_in_it_is_that_answer() -> None:
    body = encode_error(1, -32022, "unsupported", {"supported": ["2025-11-25"]})
    async with talking(answering(400, body, JSON)) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
    assert heard.messages[0] == (parse(body), 1)
    assert not heard.failures


@pytest.mark.parametrize("identity", [None, "server-error"])
async def test_an_error_status_with_a_jsonrpc_error_for_nobody_is_shown_and_fails_the_request(
    identity: str | None,
) -> None:
    body = encode_error(identity, -32000, "not initialized")
    async with talking(answering(400, body, JSON)) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert heard.messages[0][0].raw == body
    assert error.code == "HTTP_ERROR"
    rpc = {"code": -32000, "message": "not initialized", "data": None}
    assert error.details["rpc_error"] == rpc


async def test_a_challenge_stays_an_authentication_error_even_with_a_jsonrpc_body() -> None:
    body = encode_error(1, -32001, "who are you?")
    handle = answering(401, body, JSON, WWW_Authenticate='Bearer realm="x"')
    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "AUTHENTICATION_FAILED"
    assert error.headers["WWW-Authenticate"] == 'Bearer realm="x"'
    assert error.details["rpc_error"]["code"] == -32001
    assert "who are you?" in error.message


@pytest.mark.parametrize(
    ("challenge", "code"),
    [
        ('Bearer error="insufficient_scope", scope="write"', "AUTHENTICATION_FAILED"),
        ('Basic realm="a, Bearer b", bearer realm="x"', "AUTHENTICATION_FAILED"),
        ("DPoP", "AUTHENTICATION_FAILED"),
        ('Basic realm="a, Bearer b"', "HTTP_ERROR"),
        ("BearerLike", "HTTP_ERROR"),
    ],
)
async def test_a_403_is_about_the_sign_in_only_with_a_challenge_for_a_token(
    challenge: str, code: str
) -> None:
    async with talking(answering(403, b"no", WWW_Authenticate=challenge)) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == code


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (401, "AUTHENTICATION_FAILED", False),
        (403, "HTTP_ERROR", False),
        (404, "HTTP_ERROR", False),
        (429, "RATE_LIMITED", True),
        (500, "HTTP_ERROR", True),
        (503, "HTTP_ERROR", True),
    ],
)
async def test_each_status_fails_its_own_request_with_status_headers_and_body(
    status: int, code: str, retryable: bool
) -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.message.id == 1:
            await wire.respond(status, b"line one\n  line two", "text/plain", X_Trace="abc")
        else:
            await echo(request, wire)

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        heard.transport.write(call(2))
        error = await heard.failure(1)
        await heard.message()
    assert isinstance(error, HttpError)
    assert (error.code, error.retryable, error.status) == (code, retryable, status)
    assert error.headers["X-Trace"] == "abc"
    assert error.body == b"line one\n  line two"
    assert f"POST {server.url} was answered with {status}" in error.message
    assert error.message.endswith("line one line two")
    assert heard.ids() == [2]


async def test_a_head_that_is_no_utf_8_is_told_legibly() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        head = b"HTTP/1.1 500 caf\xe9\r\nContent-Type: text/\xff\r\nContent-Length: 0\r\n\r\n"
        await wire.raw(head)

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.message.endswith("was answered with 500 caf\ufffd")
    assert heard.events(HttpResponseReceived)[0].reason == "caf\ufffd"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        ("Thu, 01 Jan 1970 00:20:00 GMT", 200.0),
        ("soon", None),
        ("²", None),
        ("9" * 400, None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None),
        ("Fri, 31 Dec 9999023859:59 -00+0", None),
    ],
)
async def test_retry_after_is_told_in_seconds(value: str, expected: float | None) -> None:
    async with serving(answering(429, Retry_After=value)) as server:
        transport = StreamableHttpTransport(server.url)
        async with connected(transport, ManualClock(start=1000.0)) as heard:
            transport.write(call(1))
            error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.retry_after_s == expected
