"""Streamable HTTP with sessions: what comes on which stream, and how a client comes back."""

from __future__ import annotations

import pytest

from mcplens.inbound.limits import Limits
from mcplens.protocol.frames import Kind, encode_request, encode_result

from .harness import INITIALIZE, hold, note, request, served

# -- answers and streams ---


async def test_what_is_sent_before_the_answer_makes_the_answer_a_stream() -> None:
    async with served() as http:
        peer = await http.connect()
        waiting = hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        peer.send(note(1), during=1)
        await answering.begun()
        assert answering.headers["content-type"] == "text/event-stream"
        assert answering.headers["x-accel-buffering"] == "no"
        peer.answer(1, encode_result(1, {"done": True}))
        await answering.ended()
        assert [message.get("id") for message in answering.messages] == [None, 1]
        assert len(waiting) == 1


async def test_a_stream_begins_with_an_id_to_come_back_with_and_when() -> None:
    async with served(limits=Limits(retry_ms=1234)) as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        peer.send(note(1), during=1)
        await answering.message(0)
        first, second = answering.events
        assert (first.data, first.retry_ms, bool(first.id)) == (b"", 1234, True)
        assert second.id
        assert second.id != first.id


async def test_an_older_client_gets_no_event_without_data() -> None:
    async with served() as http:
        peer = await http.connect("2025-06-18")
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        peer.send(note(1), during=1)
        await answering.message(0)
        assert len(answering.events) == 1


async def test_an_answer_that_takes_its_time_comes_on_a_stream() -> None:
    async with served(limits=Limits(stream_after_s=1)) as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        assert answering.status == 0
        await http.clock.advance(1)
        await answering.begun()
        peer.answer(1, encode_result(1, {}))
        assert (await answering.ended()).messages[-1]["id"] == 1


async def test_a_silent_stream_shows_that_it_is_alive() -> None:
    async with served(limits=Limits(keepalive_s=15)) as http:
        await http.connect()
        listening = await http.get().begun()
        size = len(listening.body)
        await http.clock.advance(15)
        await http.clock.advance(15)
        assert listening.body[size:].count(b": still here") == 2
        assert listening.messages == []


async def test_json_only_sends_everything_else_on_the_standalone_stream() -> None:
    async with served(answers="json") as http:
        peer = await http.connect()
        listening = await http.get().begun()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.advance(60)
        peer.send(note(1), during=1)
        peer.answer(1, encode_result(1, {}))
        assert (await answering.ended()).json["id"] == 1
        assert (await listening.message(0))["params"]["data"] == 1


async def test_events_only_sends_even_a_quick_answer_as_an_event() -> None:
    async with served(answers="sse") as http:
        done = await http.open("POST", body=INITIALIZE).ended()
        assert done.headers["content-type"] == "text/event-stream"
        assert done.headers["mcp-session-id"]
        assert done.messages[0]["id"] == 0


async def test_a_request_of_ours_goes_with_the_request_that_caused_it() -> None:
    async with served() as http:
        peer = await http.connect()
        hold(http)
        listening, answering = await http.get().begun(), http.post(request("slow"))
        await http.clock.settle()
        peer.send(encode_request(1, "roots/list"), during=1)
        assert (await answering.message(0))["method"] == "roots/list"
        await http.post({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}).ended()
        assert http.script.kinds[-1] is Kind.RESULT
        assert listening.messages == []


async def test_what_belongs_to_no_request_goes_on_the_standalone_stream_and_only_once() -> None:
    async with served() as http:
        peer = await http.connect()
        peer.send(note(1))
        first = await http.get().begun()
        await first.message(0)
        second = http.get()
        await first.ended()  # the newest stream has it all from now on
        peer.send(note(2))
        assert (await second.message(0))["params"]["data"] == 2
        assert len(first.messages) == 1


async def test_a_dropped_request_ends_without_an_answer() -> None:
    async with served() as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        peer.drop(1)
        assert (await answering.ended()).status == 202


async def test_a_request_can_be_answered_by_http_alone() -> None:
    async with served() as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        assert peer.reject(1, 502, "text/html", b"<h1>nginx</h1>")
        await answering.ended()
        assert (answering.status, answering.body) == (502, b"<h1>nginx</h1>")


async def test_bytes_with_line_ends_become_one_event() -> None:
    async with served() as http:
        peer = await http.connect()
        listening = await http.get().begun()
        peer.send(b"one\ntwo\r\nthree\rfour")
        await listening.until(lambda it: any(event.data for event in it.events))
        assert listening.events[-1].data == b"one\ntwo\nthree\nfour"


# -- coming back ---


async def test_a_broken_connection_cancels_nothing_and_its_stream_is_replayed() -> None:
    async with served() as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        for number in (1, 2):
            peer.send(note(number), during=1)
        await answering.message(1)
        await answering.leave()
        assert http.script.gone == []
        peer.send(note(3), during=1)
        peer.answer(1, encode_result(1, {}))
        seen = answering.events[1].id  # the first of the two notes
        assert seen is not None
        resumed = await http.get(last_event_id=seen).ended()
        assert [message.get("params", {}).get("data") for message in resumed.messages] == [
            2,
            3,
            None,
        ]
        assert resumed.messages[-1]["id"] == 1


async def test_a_finished_stream_can_be_resumed_from_its_very_start() -> None:
    async with served() as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        peer.send(note(1), during=1)
        peer.answer(1, encode_result(1, {}))
        await answering.ended()
        start = answering.events[0].id
        assert start is not None
        assert len((await http.get(last_event_id=start).ended()).messages) == 2


async def test_hanging_up_ends_the_connection_and_the_answer_waits_to_be_fetched() -> None:
    async with served() as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        assert peer.hang_up(1, 50)
        await answering.ended()
        assert answering.events[-1].retry_ms == 50
        peer.answer(1, encode_result(1, {"found": True}))
        resumed = await http.get(last_event_id=answering.events[-1].id or "").ended()
        assert resumed.messages == [{"jsonrpc": "2.0", "id": 1, "result": {"found": True}}]


async def test_an_older_client_cannot_be_hung_up_on() -> None:
    async with served() as http:
        peer = await http.connect("2025-06-18")
        hold(http)
        http.post(request("slow"))
        await http.clock.settle()
        assert not peer.hang_up(1, 50)


@pytest.mark.parametrize("event_id", ["nonsense", "s0-99", "s7-1", "s0-x", "-"])
async def test_an_event_that_never_was_is_400(event_id: str) -> None:
    async with served() as http:
        await http.connect()
        assert (await http.get(last_event_id=event_id).ended()).status == 400


async def test_what_is_no_longer_kept_of_a_request_is_400() -> None:
    async with served(limits=Limits(max_replay_events=2)) as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        for number in range(9):
            peer.send(note(number), during=1)
        await answering.message(8)
        await answering.leave()
        start = answering.events[0].id
        assert start is not None
        assert (await http.get(last_event_id=start).ended()).status == 400


async def test_the_standalone_stream_goes_on_with_what_is_still_kept() -> None:
    async with served(limits=Limits(max_backlog_bytes=300, max_replay_bytes=100)) as http:
        peer = await http.connect()
        for number in range(100):
            peer.send(note(number))
        listening = http.get()
        assert (await listening.message(0))["params"]["data"] > 90


async def test_a_burst_that_a_reader_has_not_seen_yet_is_not_lost_to_the_replay_limit() -> None:
    async with served(limits=Limits(max_replay_events=10)) as http:
        peer = await http.connect()
        hold(http)
        answering = http.post(request("slow"))
        await http.clock.settle()
        for number in range(500):
            peer.send(note(number), during=1)
        peer.answer(1, encode_result(1, {}))
        assert len((await answering.ended()).messages) == 501


async def test_a_reader_that_falls_too_far_behind_is_cut_off_and_the_session_lives() -> None:
    async with served(limits=Limits(max_backlog_bytes=500, max_replay_bytes=100)) as http:
        peer = await http.connect()
        listening = await http.get().begun()
        listening.reads.clear()
        for number in range(100):
            peer.send(note(number))
            await http.clock.settle(2)
        assert (await http.post(request("echo")).ended()).status == 200
        listening.reads.set()
        await listening.ended()
        assert len(listening.messages) < 100
        assert http.script.gone == []
