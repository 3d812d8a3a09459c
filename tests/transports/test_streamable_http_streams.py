"""Streamable HTTP: answers as streams of events, their resumption, and the server's own stream."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator

import pytest

from mcplens.clock import ManualClock
from mcplens.errors import HttpError
from mcplens.events import HttpBytesReceived, HttpExchangeEnded, HttpResponseReceived
from mcplens.protocol.frames import Malformed, encode_notification
from mcplens.protocol.sse import SseEvent, SseParser
from mcplens.transports import event_stream
from mcplens.transports.base import MESSAGES_PER_TURN
from mcplens.transports.streamable_http import StreamableHttpTransport
from tests.servers.misbehaving.abrupt import reset
from tests.servers.misbehaving.wire import Wire, event_bytes

from .recording import (
    HttpServer,
    Recorder,
    Seen,
    call,
    connected,
    most_in_one_turn,
    result,
    serving,
    talking,
)

NOTE = encode_notification("notifications/message", {"data": "on the way"})


async def answer_in_events(request: Seen, wire: Wire) -> None:
    await wire.open_sse()
    await wire.event(NOTE)
    await wire.event(result(request.message.id))
    await wire.end_sse()


async def wait_for_sleep(clock: ManualClock, server: HttpServer) -> None:
    """Until the transport waits on its clock and nothing is under way at the server."""
    async with asyncio.timeout(10):
        while not clock.timer_count:
            await clock.settle()


async def exchanges_ended(heard: Recorder, count: int) -> None:
    await heard.until(lambda: len(heard.events(HttpExchangeEnded)) == count)


# -- answers -----------------------------------------------------------------------------------


async def test_events_are_delivered_in_order_on_the_channel_of_their_request() -> None:
    async with talking(answer_in_events) as (_, heard):
        heard.transport.write(call(1))
        await heard.message(2)
    assert [message.raw for message, _ in heard.messages] == [NOTE, result(1)]
    assert [channel for _, channel in heard.messages] == [1, 1]


async def test_an_event_is_delivered_before_the_stream_ends_and_its_bytes_are_told() -> None:
    goes_on = asyncio.Event()

    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(NOTE)
        await goes_on.wait()
        await wire.event(result(1))
        await wire.end_sse()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
        assert not heard.events(HttpExchangeEnded)
        goes_on.set()
        await heard.until(lambda: heard.events(HttpExchangeEnded))
    streamed = b"".join(event.data for event in heard.events(HttpBytesReceived))
    assert streamed == event_bytes(NOTE) + event_bytes(result(1))


async def test_connections_of_finished_streams_are_used_again() -> None:
    async with talking(answer_in_events) as (server, heard):
        for number in range(1, 11):
            heard.transport.write(call(number))
            await exchanges_ended(heard, number)
    assert server.connections == 1


async def test_a_stream_that_stays_open_after_the_answer_is_closed_by_us() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(result(1))
        await asyncio.Event().wait()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        await heard.message()
        await clock.advance(5.0)
        await server.until(lambda: server.closed)
    assert not heard.failures


async def test_an_event_of_another_name_is_remarked_and_not_taken_for_a_message() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(b"2026-01-01", name="ping")
        await wire.event(result(1))
        await wire.end_sse()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
    assert heard.ids() == [1]
    assert "'ping'" in heard.remarks()[0]


async def test_the_name_of_an_event_is_quoted_in_part() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(b"x", name="n" * 100_000)
        await wire.end_sse()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.failure(1)
    (remark,) = heard.remarks()
    assert "nnnn" in remark
    assert len(remark) < 1000


async def test_an_event_over_the_limit_is_shown_by_its_start() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(result(1, "x" * 5000))
        await wire.end_sse()

    async with serving(handle) as server:
        transport = StreamableHttpTransport(server.url, max_message_bytes=1000)
        async with connected(transport) as heard:
            transport.write(call(1))
            message = await heard.message()
    assert isinstance(message, Malformed)
    assert "limit of 1000 bytes" in message.reason
    assert message.ids == (1,)


async def test_a_flood_of_events_leaves_others_their_turn() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(event_bytes(NOTE) * 500 + event_bytes(result(1)))
        await wire.end_sse()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        assert await most_in_one_turn(heard, 501) <= MESSAGES_PER_TURN


async def test_lines_that_make_no_event_leave_others_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []

    class Measured(SseParser):
        def feed(self, chunk: bytes) -> Iterator[SseEvent]:
            sizes.append(len(chunk))
            return super().feed(chunk)

    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(b":\n" * 500_000)
        await wire.event(result(1))
        await wire.end_sse()

    monkeypatch.setattr(event_stream, "SseParser", Measured)
    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.message()
    assert sum(sizes) > 1_000_000
    assert max(sizes) <= 32 * 1024


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_a_body_that_unpacks_to_far_more_than_it_weighs_leaves_others_their_turn(
    kind: str,
) -> None:
    packed = gzip.compress(b" " * 20_000_000)

    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(200, packed, kind, Content_Encoding="gzip")

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.until(lambda: heard.events(HttpResponseReceived))
        turns = 0
        async with asyncio.timeout(10):
            while 1 not in heard.failures:
                await asyncio.sleep(0)
                turns += 1
    assert turns > 10


async def test_an_abandoned_request_closes_its_stream() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(NOTE)
        await asyncio.Event().wait()

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        await heard.message()
        heard.transport.abandon(1)
        await server.until(lambda: server.closed)
        await heard.until(lambda: heard.events(HttpExchangeEnded))
        assert heard.events(HttpExchangeEnded)[0].error == "closed by us before its end"
    assert not heard.failures


# -- streams that end too soon -----------------------------------------------------------------


async def test_a_stream_without_event_ids_that_ends_before_the_answer_fails_the_request() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(NOTE)
        await wire.end_sse()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert isinstance(error, HttpError)
    assert error.code == "NO_RESPONSE"
    assert error.status == 200
    assert "the stream ended before the answer" in error.message


async def test_a_stream_cut_in_the_middle_of_an_event_quotes_what_came_of_it() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(b'data: {"jsonrpc": "2.0", "id": 1')
        await wire.cut()

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "NO_RESPONSE"
    assert "broke off" in error.message
    assert '{"jsonrpc": "2.0", "id": 1' in error.message
    assert error.details["body"] == b'data: {"jsonrpc": "2.0", "id": 1'
    assert not server.seen("GET")


async def test_an_answer_that_came_before_the_connection_was_reset_counts() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(result(1))
        reset(wire.writer.transport)

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.until(lambda: heard.messages or heard.failures)
    assert heard.ids() == [1]
    assert not heard.failures


async def test_what_may_be_a_broken_answer_is_left_to_the_session_when_the_stream_ends() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(b'{"jsonrpc": "2.0", "result": {}}')
        await wire.end_sse()

    async with talking(handle) as (_, heard):
        heard.transport.write(call(1))
        await heard.until(lambda: heard.events(HttpExchangeEnded))
    assert isinstance(heard.messages[0][0], Malformed)
    assert not heard.failures


async def test_a_cut_stream_with_event_ids_is_resumed_after_the_delay_the_server_wants() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        if request.verb == "POST":
            await wire.chunk(b"id: e1\nretry: 500\ndata: \n\n")  # primes, and carries nothing
            await wire.cut()
        elif request.headers["last-event-id"] == "e1":
            await wire.event(NOTE, event_id="e2")
            await wire.end_sse()
        else:
            await wire.event(result(1), event_id="e3")
            await wire.end_sse()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        await wait_for_sleep(clock, server)
        await clock.advance(0.49)
        assert not server.seen("GET")
        await clock.advance(0.02)
        await heard.message()
        await wait_for_sleep(clock, server)
        await clock.advance(0.5)
        await heard.message(2)
    assert [message.raw for message, _ in heard.messages] == [NOTE, result(1)]
    assert [channel for _, channel in heard.messages] == [1, 1]
    assert [get.headers["last-event-id"] for get in server.seen("GET")] == ["e1", "e2"]
    assert server.seen("GET")[0].headers["accept"] == "text/event-stream"


async def test_a_server_that_wants_no_delay_is_not_asked_without_end() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(b"id: e1\nretry: 0\ndata: \n\n")
        await wire.end_sse()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        for _ in range(3):
            await wait_for_sleep(clock, server)
            count = len(server.seen("GET"))
            await clock.advance(0.1)
            await server.until_seen("GET", count + 1)
        await wait_for_sleep(clock, server)
    assert len(server.seen("GET")) == 3


async def test_a_long_delay_that_the_server_wants_is_told() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(b"id: e1\nretry: 1000000000000\ndata: \n\n")
        await wire.end_sse()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        await wait_for_sleep(clock, server)
    assert "again in 1,000,000,000 s, as the server asks" in heard.remarks()[0]


@pytest.mark.parametrize("event_id", [b"a\x01b", b"i" * 100_000])
async def test_an_event_id_that_no_header_can_hold_fails_the_request_at_once(
    event_id: bytes,
) -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.chunk(b"id: " + event_id + b"\ndata: \n\n")
        await wire.end_sse()

    async with talking(handle) as (server, heard):
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "NO_RESPONSE"
    assert "cannot be resumed, since no header can hold its last event id" in error.message
    assert not server.seen("GET")


async def test_a_server_that_refuses_to_resume_fails_the_request_with_its_refusal() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.verb == "GET":
            await wire.respond(405, b"no GET here")
            return
        await wire.open_sse()
        await wire.event(NOTE, event_id="e1")
        await wire.end_sse()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        await wait_for_sleep(clock, server)
        await clock.advance(1)
        error = await heard.failure(1)
    assert error.code == "NO_RESPONSE"
    assert error.details["status"] == 405
    assert "no GET here" in error.message
    assert "before the answer" in error.message


async def test_resuming_goes_on_with_growing_delays_while_the_server_is_down() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        if request.verb == "POST":
            await wire.open_sse()
            await wire.event(NOTE, event_id="e1")
            await wire.end_sse()
        elif len(server.seen("GET")) == 1:
            await wire.respond(503)
        elif len(server.seen("GET")) == 2:
            reset(wire.writer.transport)
        else:
            await answer_in_events(Seen("", "", {}, call(1).data), wire)

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        for delay_s in (1, 1, 2):
            await wait_for_sleep(clock, server)
            count = len(server.seen("GET"))
            await clock.advance(delay_s)
            await server.until_seen("GET", count + 1)
        await heard.message(3)
    assert heard.ids()[-1] == 1
    assert not heard.failures


async def test_an_abandoned_request_is_resumed_no_more() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(NOTE, event_id="e1")
        await wire.end_sse()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.write(call(1))
        await wait_for_sleep(clock, server)
        heard.transport.abandon(1)
        await clock.advance(60)
    assert not server.seen("GET")
    assert not heard.failures


async def test_a_stateless_stream_is_not_resumed() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(NOTE, event_id="e1")
        await wire.end_sse()

    async with talking(handle) as (server, heard):
        heard.transport.negotiated("2026-07-28", is_stateless=True)
        heard.transport.write(call(1))
        error = await heard.failure(1)
    assert error.code == "NO_RESPONSE"
    assert not server.seen("GET")


# -- the server's own stream -------------------------------------------------------------------


async def test_messages_on_the_servers_own_stream_belong_to_no_request() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        await wire.event(NOTE)
        await asyncio.Event().wait()

    async with talking(handle) as (server, heard):
        heard.transport.negotiated("2025-11-25", is_stateless=False)
        await heard.message()
    assert heard.messages[0][0].raw == NOTE
    assert heard.messages[0][1] is None
    assert server.requests[0].verb == "GET"


async def test_a_server_without_a_stream_of_its_own_is_asked_once() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(405)

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.negotiated("2025-11-25", is_stateless=False)
        await heard.until(heard.remarks)
        await clock.advance(100)
    assert heard.remarks() == ["the server offers no stream of its own (405 Method Not Allowed)"]
    assert len(server.requests) == 1


async def test_the_servers_own_stream_is_opened_again_where_it_broke() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.open_sse()
        if "last-event-id" not in request.headers:
            await wire.chunk(b"retry: 3000\n\n" + event_bytes(NOTE, "g1"))
            await wire.cut()
        else:
            await wire.event(NOTE, event_id="g2")
            await asyncio.Event().wait()

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.negotiated("2025-11-25", is_stateless=False)
        await wait_for_sleep(clock, server)
        await clock.advance(2.9)
        assert len(server.requests) == 1
        await clock.advance(0.2)
        await heard.message(2)
    assert server.requests[1].headers["last-event-id"] == "g1"


async def test_the_servers_own_stream_is_given_up_after_five_failures() -> None:
    async def handle(request: Seen, wire: Wire) -> None:
        await wire.respond(500)

    clock = ManualClock()
    async with talking(handle, clock) as (server, heard):
        heard.transport.negotiated("2025-11-25", is_stateless=False)
        for delay_s in (1, 2, 4, 8):
            await wait_for_sleep(clock, server)
            await clock.advance(delay_s)
        await heard.until(heard.remarks)
        await clock.advance(100)
    assert len(server.requests) == 5
    assert "given up after 5 tries" in heard.remarks()[0]
    assert_unharmed(heard)


def assert_unharmed(heard: Recorder) -> None:
    assert not heard.failures
    assert not heard.losses
