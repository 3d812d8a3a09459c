"""Legacy HTTP+SSE: the stream, the endpoint that it names, and the POSTs to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from mcplens.errors import ConnectError, HttpError, InspectorError
from mcplens.events import HttpBytesReceived, HttpRequestSent
from mcplens.protocol.frames import Malformed
from mcplens.transports.base import Closing
from mcplens.transports.sse import SseTransport
from tests.servers.misbehaving.abrupt import reset
from tests.servers.misbehaving.wire import Wire

from .recording import (
    BOUND_S,
    HttpServer,
    Recorder,
    Seen,
    call,
    connected,
    notification,
    result,
    serving,
)

ENDPOINT = b"/messages?session=s3cret"


class Stream:
    """A server whose stream the test writes to; POSTs are answered by status."""

    def __init__(self, endpoint: bytes = ENDPOINT, status: int = 202, body: bytes = b"") -> None:
        self.endpoint = endpoint
        self.status = status
        self.body = body
        self.wire: Wire

    async def handle(self, request: Seen, wire: Wire) -> None:
        if request.verb == "POST":
            await wire.respond(self.status, self.body)
            return
        self.wire = wire
        await wire.open_sse()
        if self.endpoint:
            await wire.event(self.endpoint, name="endpoint")
        await asyncio.Event().wait()


@asynccontextmanager
async def streaming(stream: Stream) -> AsyncIterator[tuple[HttpServer, Recorder]]:
    async with (
        serving(stream.handle) as server,
        connected(SseTransport(server.url)) as heard,
    ):
        yield server, heard


async def refusal_of(stream: Stream, **options: object) -> tuple[InspectorError, HttpServer]:
    """How opening the transport fails."""
    async with serving(stream.handle) as server:
        transport = SseTransport(server.url)
        Recorder(transport)
        with pytest.raises(InspectorError) as failure:
            async with asyncio.timeout(BOUND_S), transport:
                pass
    return failure.value, server


async def test_messages_are_posted_to_the_endpoint_and_answered_on_the_stream() -> None:
    stream = Stream()
    async with streaming(stream) as (server, heard):
        heard.transport.write(call(1))
        await server.until(lambda: server.seen("POST"))
        await stream.wire.event(result(1))
        await heard.message()
        described = heard.transport.describe()
    get, post = server.requests
    assert (get.verb, get.path, get.headers["accept"]) == ("GET", "/mcp", "text/event-stream")
    assert (post.path, post.body) == (ENDPOINT.decode(), call(1).data)
    assert post.headers["content-type"] == "application/json"
    assert heard.messages[0][0].raw == result(1)
    assert heard.messages[0][1] is None
    assert "s3cret" not in repr((described, heard.events(HttpRequestSent), heard.transport))


async def test_every_byte_of_the_stream_is_told() -> None:
    stream = Stream()
    async with streaming(stream) as (_, heard):
        await stream.wire.chunk(b": a comment\n\n")
        await stream.wire.event(result(1))
        await heard.message()
    told = b"".join(event.data for event in heard.events(HttpBytesReceived))
    assert b": a comment\n\n" in told
    assert result(1) in told


async def test_posts_use_one_connection_beside_the_stream() -> None:
    stream = Stream()
    async with streaming(stream) as (server, heard):
        for number in range(1, 11):
            heard.transport.write(call(number))
            await server.until_seen("POST", number)
            await stream.wire.event(result(number))
            await heard.message(number)
    assert server.connections == 2


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_any_success_is_fine_for_a_post(status: int) -> None:
    stream = Stream(status=status, body=b"" if status == 204 else b"Accepted")
    async with streaming(stream) as (server, heard):
        heard.transport.write(call(1))
        await server.until(lambda: server.seen("POST"))
        await stream.wire.event(result(1))
        await heard.message()
    assert not heard.failures
    assert not heard.remarks()


async def test_a_refused_post_fails_its_request_alone() -> None:
    stream = Stream(status=500, body=b"no room")
    async with streaming(stream) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
        stream.status = 202
        heard.transport.write(call(2))
        await stream.wire.event(result(2))
        await heard.message()
    assert isinstance(error, HttpError)
    assert (error.status, error.body) == (500, b"no room")
    assert not heard.losses
    assert list(heard.failures) == [1]


async def test_a_refused_notification_is_a_remark() -> None:
    async with streaming(Stream(status=400)) as (_, heard):
        heard.transport.write(notification())
        await heard.until(heard.remarks)
    assert "notifications/initialized was not delivered" in heard.remarks()[0]


async def test_an_answer_in_the_post_itself_is_taken_with_a_remark() -> None:
    async with streaming(Stream(status=200, body=result(1))) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
    assert heard.messages[0][1] == 1
    assert "belongs on its stream" in heard.remarks()[0]


async def test_the_negotiated_revision_is_named_in_every_post() -> None:
    stream = Stream()
    async with streaming(stream) as (server, heard):
        heard.transport.negotiated("2024-11-05", is_stateless=False)
        heard.transport.write(call(1, X_Extra="yes"))
        await server.until(lambda: server.seen("POST"))
    assert server.seen("POST")[0].headers["mcp-protocol-version"] == "2024-11-05"
    assert server.seen("POST")[0].headers["x-extra"] == "yes"


@pytest.mark.parametrize("way", ["end", "cut", "reset"])
async def test_the_end_of_the_stream_is_the_end_of_the_connection(way: str) -> None:
    stream = Stream()
    async with streaming(stream) as (_, heard):
        await stream.wire.chunk(b'data: {"jsonrpc": "2.0", "id"')
        if way == "end":
            await stream.wire.end_sse()
        elif way == "cut":
            await stream.wire.cut()
        else:
            reset(stream.wire.writer.transport)
        await heard.until(lambda: heard.losses)
    assert [error.code for error in heard.losses] == ["CONNECTION_LOST"]
    assert heard.losses[0].retryable


async def test_a_malformed_event_is_delivered_and_the_stream_goes_on() -> None:
    stream = Stream()
    async with streaming(stream) as (_, heard):
        await stream.wire.event(b"{nonsense")
        await stream.wire.event(result(1))
        await heard.message(2)
    assert isinstance(heard.messages[0][0], Malformed)
    assert heard.ids() == [1]


async def test_leaving_on_purpose_is_no_loss() -> None:
    stream = Stream()
    async with streaming(stream) as (server, heard):
        heard.transport.write(notification("notifications/cancelled"))
    assert b"notifications/cancelled" in server.seen("POST")[0].body
    assert not heard.losses


async def test_a_killed_transport_waits_for_nobody() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.verb == "POST":
            await asyncio.Event().wait()
        await stream.handle(request, wire)

    stream = Stream()
    async with serving(handle) as server, connected(SseTransport(server.url)) as heard:
        heard.transport.write(notification())
        await server.until(lambda: server.seen("POST"))
        heard.transport.closing = Closing.KILL
    assert not heard.losses


# -- opening -----------------------------------------------------------------------------------


async def test_an_endpoint_on_another_origin_is_refused_and_nothing_is_sent_there() -> None:
    async with serving(Stream().handle) as other:
        error, server = await refusal_of(Stream(f"{other.url}?key=s3cret".encode()))
    assert isinstance(error, ConnectError)
    assert error.code == "ENDPOINT_REFUSED"
    assert f"http://127.0.0.1:{server.port}" in error.message
    assert f"http://127.0.0.1:{other.port}" in error.message
    assert "s3cret" not in repr(error.to_dict())
    assert not other.requests


async def test_an_endpoint_that_is_too_long_for_a_url_is_refused() -> None:
    error, server = await refusal_of(Stream(b"/" + b"x" * 100_000))
    assert error.code == "ENDPOINT_REFUSED"
    assert "too long for a URL: /xxx" in error.message
    assert len(error.message) < 500
    assert not server.seen("POST")


async def test_an_endpoint_that_is_no_url_is_refused() -> None:
    error, _ = await refusal_of(Stream(b"http://[broken"))
    assert error.code == "ENDPOINT_REFUSED"


async def test_an_absolute_endpoint_on_the_same_origin_is_fine() -> None:
    stream = Stream()
    async with serving(stream.handle) as server:
        stream.endpoint = f"http://127.0.0.1:{server.port}/there".encode()
        async with connected(SseTransport(server.url)) as heard:
            heard.transport.write(call(1))
            await server.until(lambda: server.seen("POST"))
    assert server.seen("POST")[0].path == "/there"


async def test_a_second_endpoint_is_ignored_with_a_remark() -> None:
    stream = Stream()
    async with streaming(stream) as (server, heard):
        await stream.wire.event(b"/other", name="endpoint")
        await stream.wire.event(b"/third", name="endpoint")
        await stream.wire.event(result("after"))
        await heard.message()
        heard.transport.write(call(1))
        await server.until(lambda: server.seen("POST"))
    assert server.seen("POST")[0].path == ENDPOINT.decode()
    assert heard.remarks() == ["a second endpoint event is ignored: /other"]


async def test_a_huge_endpoint_is_quoted_in_part_and_holds_nothing_up() -> None:
    stream = Stream()
    async with streaming(stream) as (_, heard):
        await stream.wire.event(b"?" * 1_000_000, name="endpoint")
        await heard.until(heard.remarks)
        assert len(heard.remarks()[-1]) < 500


async def test_a_refused_stream_is_the_status_that_it_was() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(401, b"who?", WWW_Authenticate="Bearer")

    stream = Stream()
    stream.handle = handle  # type: ignore[method-assign]
    error, _ = await refusal_of(stream)
    assert isinstance(error, HttpError)
    assert error.code == "AUTHENTICATION_FAILED"
    assert error.headers["WWW-Authenticate"] == "Bearer"


async def test_a_page_instead_of_a_stream_is_told_as_such() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(200, b"<h1>Hello</h1>", "text/html")

    stream = Stream()
    stream.handle = handle  # type: ignore[method-assign]
    error, _ = await refusal_of(stream)
    assert error.code == "INVALID_RESPONSE"
    assert "text/html instead of an event stream: <h1>Hello</h1>" in error.message


async def test_a_stream_that_ends_before_its_endpoint_is_no_connection() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.end_sse()

    stream = Stream()
    stream.handle = handle  # type: ignore[method-assign]
    error, _ = await refusal_of(stream)
    assert error.code == "CONNECTION_FAILED"
    assert "before its endpoint event" in error.message


async def test_a_server_that_is_not_there_refuses_the_connection() -> None:
    async with serving(Stream().handle) as server:
        url = server.url
    transport = SseTransport(url)
    Recorder(transport)
    with pytest.raises(ConnectError) as failure:
        async with transport:
            pass
    assert failure.value.code == "CONNECTION_REFUSED"


async def test_opening_can_be_cancelled_while_the_endpoint_does_not_come() -> None:
    async with serving(Stream(endpoint=b"").handle) as server:
        transport = SseTransport(server.url)
        Recorder(transport)
        opening = asyncio.get_running_loop().create_task(transport.__aenter__())
        await server.until(lambda: server.requests)
        opening.cancel()
        await asyncio.wait([opening])
        await server.until(lambda: server.closed)
    assert opening.cancelled()
