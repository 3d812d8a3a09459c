"""Streamable HTTP with sessions, as 2025-11-25 has it."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.inbound.limits import Limits
from mcplens.protocol.eras import Era
from mcplens.protocol.frames import Malformed, encode_request, encode_result

from .harness import INITIALIZE, STATELESS, Http, note, request, served

NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def hold(http: Http, method: str = "slow") -> list[Any]:
    """Answer a method when the test wants to; gives the frames that wait."""
    waiting: list[Any] = []
    http.script.answers[method] = lambda _, frame: waiting.append(frame)
    return waiting


# -- opening and ending a session ---


async def test_initialize_opens_a_session_whose_id_is_then_needed() -> None:
    async with served() as http:
        peer = await http.connect()
        done = await http.post(request("echo", text="hi")).ended()
        assert (done.status, done.headers["content-type"]) == (200, "application/json")
        assert done.json["result"]["echo"] == {"text": "hi"}
        assert http.script.peer is peer


async def test_a_request_without_a_session_is_400_and_with_an_unknown_one_404() -> None:
    async with served() as http:
        for method in ("POST", "GET", "DELETE"):
            body = request("echo") if method == "POST" else None
            assert (await http.open(method, body=body).ended()).status == 400
            done = await http.open(method, body=body, mcp_session_id="guess").ended()
            assert done.status == 404
        assert http.script.received_from == []


async def test_initialize_that_is_refused_opens_no_session() -> None:
    async with served() as http:
        http.script.answers["initialize"] = lambda peer, frame: peer.refuse(frame.id, -32602, "no")
        done = await http.open("POST", body=INITIALIZE).ended()
        assert done.json["error"]["code"] == -32602
        assert "mcp-session-id" not in done.headers
        assert len(http.endpoint.sessions) == 0
        assert len(http.script.gone) == 1


async def test_a_client_that_leaves_before_initialize_is_answered_leaves_nothing_behind() -> None:
    async with served() as http:
        waiting = hold(http, "initialize")
        opening = http.open("POST", body=INITIALIZE)
        await http.clock.settle()
        await opening.leave()
        assert (len(waiting), len(http.endpoint.sessions), len(http.script.gone)) == (1, 0, 1)


async def test_delete_ends_the_session() -> None:
    async with served() as http:
        peer = await http.connect()
        listening = await http.get().begun()
        assert (await http.open("DELETE", **session_of(http)).ended()).status == 200
        await listening.ended()
        assert http.script.gone == [(peer, "the client ended its session")]
        assert (await http.post(request("echo")).ended()).status == 404


async def test_an_idle_session_expires_and_is_then_404() -> None:
    async with served(limits=Limits(idle_s=60)) as http:
        await http.connect()
        await http.clock.advance(60)
        assert (await http.post(request("echo")).ended()).status == 404
        assert http.script.gone[0][1] == "idle for 60 s"


async def test_a_session_that_listens_does_not_expire() -> None:
    async with served(limits=Limits(idle_s=60, keepalive_s=1e9)) as http:
        await http.connect()
        await http.get().begun()
        await http.clock.advance(600)
        assert (await http.post(request("echo")).ended()).status == 200


async def test_one_session_too_many_takes_the_place_of_an_idle_one() -> None:
    async with served(limits=Limits(max_sessions=1)) as http:
        await http.connect()
        first = dict(http.session)
        await http.connect()
        assert (await http.post(request("echo")).ended()).status == 200
        http.session = first
        assert (await http.post(request("echo")).ended()).status == 404


async def test_with_all_sessions_busy_initialize_is_503() -> None:
    async with served(limits=Limits(max_sessions=1)) as http:
        await http.connect()
        await http.get().begun()
        assert (await http.open("POST", body=INITIALIZE).ended()).status == 503


# -- what a request must be ---


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"accept": "application/json"}, 406),
        ({"accept": "text/event-stream"}, 406),
        ({"accept": "text/html"}, 406),
        ({"content_type": "text/plain"}, 415),
        ({"mcp_protocol_version": "1999-01-01"}, 400),
    ],
)
async def test_headers_that_will_not_do_are_refused(headers: dict[str, str], status: int) -> None:
    async with served() as http:
        await http.connect()
        done = await http.post(request("echo"), **headers).ended()
        assert done.status == status
        assert http.script.methods == ["initialize"]


@pytest.mark.parametrize(
    "accept", ["*/*", "application/*, text/*", "text/event-stream;q=1, application/json"]
)
async def test_accept_may_be_written_in_several_ways(accept: str) -> None:
    async with served() as http:
        await http.connect()
        assert (await http.post(request("echo"), accept=accept).ended()).status == 200


async def test_without_a_version_header_an_old_client_is_meant() -> None:
    async with served() as http:
        await http.connect("2025-03-26")
        del http.session["mcp-protocol-version"]
        assert (await http.post(request("echo")).ended()).status == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{not json", -32700),
        (b"", -32700),
        (b'"a string"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
        (b'[{"jsonrpc":"2.0","id":1,"method":"echo"}]', -32600),
    ],
)
async def test_what_is_no_message_is_400_and_the_handler_is_told(body: bytes, code: int) -> None:
    async with served() as http:
        await http.connect()
        done = await http.post(body).ended()
        assert (done.status, done.json["error"]["code"], done.json["id"]) == (400, code, None)
        message = http.script.received_from[-1][1].message
        assert isinstance(message, Malformed)
        assert message.raw == body


async def test_a_message_over_the_limit_is_413() -> None:
    async with served(limits=Limits(max_message_bytes=1000)) as http:
        await http.connect()
        assert (await http.post(request("echo", text="x" * 1000)).ended()).status == 413


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "HEAD"])
async def test_other_methods_are_405(method: str) -> None:
    async with served() as http:
        done = await http.open(method).ended()
        assert (done.status, done.headers["allow"]) == (405, "GET, POST, DELETE")


async def test_notifications_and_answers_are_202_without_a_body() -> None:
    async with served() as http:
        await http.connect()
        answer = {"jsonrpc": "2.0", "id": 9, "result": {}}
        for message in (NOTIFICATION, answer):
            done = await http.post(message).ended()
            assert (done.status, done.body) == (202, b"")
        assert [item.message.kind.value for _, item in http.script.received_from[1:]] == [
            "notification",
            "result",
        ]


async def test_an_id_that_waits_for_its_answer_cannot_be_used_again() -> None:
    async with served() as http:
        await http.connect()
        waiting = hold(http)
        http.post(request("slow", 7))
        await http.clock.settle()
        done = await http.post(request("echo", 7)).ended()
        assert (done.status, done.json["error"]["code"], done.json["id"]) == (400, -32600, 7)
        assert len(waiting) == 1


async def test_too_many_requests_at_once_are_429() -> None:
    async with served(limits=Limits(max_requests=2)) as http:
        await http.connect()
        hold(http)
        for number in (1, 2):
            http.post(request("slow", number))
        await http.clock.settle()
        assert (await http.post(request("slow", 3)).ended()).status == 429


async def test_a_handler_that_fails_is_an_error_of_that_request_alone() -> None:
    async with served() as http:
        await http.connect()

        def fail(peer: Any, frame: Any) -> None:
            raise RuntimeError("oops")

        http.script.answers["bad"] = fail
        done = await http.post(request("bad")).ended()
        assert done.json["error"] == {"code": -32603, "message": "the server failed: oops"}
        assert (await http.post(request("echo")).ended()).status == 200


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
        assert http.script.received_from[-1][1].message.kind.value == "result"
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


# -- batches, and the other era ---


async def test_a_batch_of_2025_03_26_is_answered_on_one_stream() -> None:
    async with served() as http:
        await http.connect("2025-03-26")
        done = await http.post([request("echo", 1), NOTIFICATION, request("echo", 2)]).ended()
        assert sorted(message["id"] for message in done.messages) == [1, 2]


async def test_a_batch_with_a_bad_member_is_refused_whole() -> None:
    async with served() as http:
        await http.connect("2025-03-26")
        done = await http.post([request("echo", 1), {"jsonrpc": "2.0"}]).ended()
        assert done.status == 400
        assert (await http.post(request("echo", 1)).ended()).status == 200


async def test_both_eras_live_on_one_endpoint() -> None:
    async with served() as http:
        await http.connect()
        from .harness import stateless

        done = await http.post_stateless(stateless("echo")).ended()
        assert (done.status, http.script.received_from[-1][1].era) == (200, Era.STATELESS)
        assert "mcp-session-id" not in done.headers
        await http.post(request("echo")).ended()
        assert http.script.received_from[-1][1].era is Era.HANDSHAKE
        assert STATELESS not in str(http.session)


def session_of(http: Http) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in http.session.items()}
