"""Streamable HTTP of 2026-07-28: every POST stands alone."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.inbound.limits import Limits
from mcplens.inbound.peer import Peer
from mcplens.protocol.frames import encode_result

from .harness import (
    ENVELOPE,
    INITIALIZE,
    STATELESS,
    Http,
    note,
    refusing,
    request,
    served,
    stateless,
)


def hold(http: Http) -> list[Any]:
    waiting: list[Any] = []
    http.script.answers["slow"] = lambda peer, frame: waiting.append((peer, frame))
    return waiting


async def test_a_request_is_answered_without_any_session() -> None:
    async with served() as http:
        done = await http.post_stateless(stateless("echo")).ended()
        assert (done.status, done.headers["content-type"]) == (200, "application/json")
        assert "mcp-session-id" not in done.headers


async def test_a_session_id_and_an_event_id_mean_nothing() -> None:
    async with served() as http:
        more = {"mcp_session_id": "old", "last_event_id": "s0-1"}
        assert (await http.post_stateless(stateless("echo"), **more).ended()).status == 200


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_get_and_delete_are_405(method: str) -> None:
    async with served() as http:
        done = await http.open(method, mcp_protocol_version=STATELESS).ended()
        assert (done.status, done.headers["allow"]) == (405, "POST")
    async with served(is_stateless_only=True) as http:
        assert (await http.open(method).ended()).status == 405


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (request("echo"), {}, -32602),
        (request("server/discover"), {}, -32602),
        (stateless("echo"), {"mcp_method": "other"}, -32020),
        (stateless("echo"), {"mcp_protocol_version": "2025-11-25"}, -32020),
        (stateless("tools/call", name="a"), {"mcp_name": "b"}, -32020),
        (
            request("echo", _meta=ENVELOPE | {next(iter(ENVELOPE)): "2099-01-01"}),
            {"mcp_protocol_version": "2099-01-01"},
            -32022,
        ),
    ],
)
async def test_a_request_that_is_not_as_it_must_be_is_400_with_its_code(
    body: dict[str, Any], headers: dict[str, str], code: int
) -> None:
    async with served() as http:
        done = await http.post_stateless(body, **headers).ended()
        assert (done.status, done.json["error"]["code"], done.json["id"]) == (400, code, 1)
        assert http.script.received_from == []


async def test_the_handler_says_which_arguments_headers_repeat() -> None:
    async with served() as http:
        http.script.parameters["t"] = {"Region": ("region",)}
        http.script.answers["tools/call"] = http.script.answers["echo"]
        call = stateless("tools/call", name="t", arguments={"region": "eu"})
        assert (await http.post_stateless(call).ended()).json["error"]["code"] == -32020
        assert (await http.post_stateless(call, mcp_param_region="eu").ended()).status == 200


async def test_an_unknown_method_is_404_with_a_json_rpc_error() -> None:
    async with served() as http:
        http.script.answers["what"] = refusing(-32601)
        done = await http.post_stateless(stateless("what")).ended()
        assert (done.status, done.json["error"]["code"]) == (404, -32601)


async def test_what_is_no_message_is_400() -> None:
    async with served() as http:
        for body, code in ((b"{", -32700), (b"[]", -32600)):
            done = await http.open("POST", body=body, mcp_protocol_version=STATELESS).ended()
            assert (done.status, done.json["error"]["code"]) == (400, code)


async def test_a_notification_is_202_and_an_answer_400() -> None:
    async with served() as http:
        note_ = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}
        assert (await http.post_stateless(note_).ended()).status == 202
        answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
        done = await http.open("POST", body=answer, mcp_protocol_version=STATELESS).ended()
        assert done.status == 400


async def test_initialize_is_refused_where_only_2026_07_28_is_spoken() -> None:
    async with served(is_stateless_only=True) as http:
        done = await http.open("POST", body=INITIALIZE).ended()
        assert (done.status, done.json["error"]["code"]) == (400, -32022)
        assert done.json["error"]["data"]["requested"] == "2025-11-25"


async def test_a_request_without_envelope_is_refused_where_only_2026_07_28_is_spoken() -> None:
    async with served(is_stateless_only=True) as http:
        done = await http.open("POST", body=request("echo")).ended()
        assert (done.status, done.json["error"]["code"]) == (400, -32602)


async def test_what_comes_before_the_answer_makes_a_stream_without_event_ids() -> None:
    async with served() as http:
        waiting = hold(http)
        answering = http.post_stateless(stateless("slow"))
        await http.clock.settle()
        peer, frame = waiting[0]
        peer.send(note(1), during=frame.id)
        peer.answer(frame.id, encode_result(frame.id, {}))
        await answering.ended()
        assert len(answering.messages) == 2
        assert [event.id for event in answering.events] == [None, None]


async def test_a_client_that_closes_its_stream_has_cancelled_its_request() -> None:
    async with served() as http:
        waiting = hold(http)
        answering = http.post_stateless(stateless("slow"))
        await http.clock.settle()
        await answering.leave()
        peer, frame = waiting[0]
        assert http.script.gone == [(peer, "the client closed the stream of its request")]
        peer.answer(frame.id, encode_result(frame.id, {}))  # heard by nobody, and no error


async def test_a_request_that_was_answered_is_over() -> None:
    async with served() as http:
        await http.post_stateless(stateless("echo")).ended()
        assert [reason for _, reason in http.script.gone] == ["the request is over"]


async def test_two_clients_may_use_the_same_id_at_the_same_time() -> None:
    async with served() as http:
        waiting = hold(http)
        first, second = (http.post_stateless(stateless("slow", 1)) for _ in range(2))
        await http.clock.settle()
        for peer, frame in reversed(waiting):
            peer.answer(frame.id, encode_result(frame.id, {"peer": id(peer)}))
        results = [(await one.ended()).json["result"]["peer"] for one in (first, second)]
        assert len(set(results)) == 2


async def test_listening_is_a_request_that_stays_open_even_where_answers_are_json() -> None:
    async with served(answers="json") as http:
        http.script.answers["subscriptions/listen"] = lambda peer, frame: peer.send(note(1))
        listening = http.post_stateless(stateless("subscriptions/listen"))
        await listening.message(0)
        http.script.peer.send(note(2))
        assert (await listening.message(1))["params"]["data"] == 2
        http.script.peer.close("the server is closing")
        await listening.ended()


async def test_a_listener_that_does_not_read_is_disconnected_and_nobody_else() -> None:
    async with served(limits=Limits(max_backlog_bytes=1000)) as http:
        http.script.answers["subscriptions/listen"] = lambda peer, frame: peer.send(note(0))
        slow = http.post_stateless(stateless("subscriptions/listen"))
        await slow.message(0)
        peer = http.script.peer
        slow.reads.clear()
        for number in range(100):
            peer.send(note(number))
        assert http.script.gone == [(peer, "the client reads too slowly")]
        assert (await http.post_stateless(stateless("echo", 2)).ended()).status == 200


async def test_one_request_too_many_is_503() -> None:
    async with served(limits=Limits(max_stateless_requests=1)) as http:
        hold(http)
        http.post_stateless(stateless("slow"))
        await http.clock.settle()
        done = await http.post_stateless(stateless("echo")).ended()
        assert (done.status, "retry-after" in done.headers) == (503, True)


async def test_a_handler_that_fails_to_say_goodbye_breaks_nothing() -> None:
    async with served() as http:

        def fail(peer: Peer, reason: str) -> None:
            raise RuntimeError("oops")

        http.script.disconnected = fail  # type: ignore[method-assign]
        assert (await http.post_stateless(stateless("echo")).ended()).status == 200


async def test_closing_the_endpoint_ends_requests_that_wait() -> None:
    async with served() as http:
        hold(http)
        answering = http.post_stateless(stateless("slow"))
        await http.clock.settle()
        http.endpoint.close()
        await answering.ended()
        assert http.script.gone[0][1] == "the server is closing"
