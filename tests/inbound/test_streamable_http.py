"""Streamable HTTP with sessions, as 2025-11-25 has it: the session, and what a request must be."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.inbound.limits import Limits
from mcplens.protocol.eras import Era
from mcplens.protocol.frames import Kind, Malformed

from .harness import INITIALIZE, STATELESS, Http, hold, refusing, request, served

NOTIFICATION = {"jsonrpc": "2.0", "method": "notifications/initialized"}


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
        http.script.answers["initialize"] = refusing(-32602)
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
        assert http.script.kinds[1:] == [Kind.NOTIFICATION, Kind.RESULT]


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
