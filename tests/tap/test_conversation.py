"""What passes between a foreign client and its server carries the links that a session's would."""

import json
from typing import Any, TypeVar

import pytest

from mcplens.events import (
    ClientIntroduced,
    Event,
    FrameReceived,
    FrameSent,
    LogReceived,
    ProgressReceived,
    ReplyUnmatched,
    RequestEnded,
    ServerIntroduced,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.protocol.eras import CLIENT_INFO, PROTOCOL_VERSION
from mcplens.protocol.frames import parse
from mcplens.tap.backlog import TapBus, TapPublisher
from mcplens.tap.conversation import Conversation
from mcplens.tap.open_requests import OpenRequest

E = TypeVar("E", bound=Event)


class Talk:
    """A client and a server that say what a test wants them to say."""

    def __init__(self) -> None:
        self.bus = TapBus()
        self.conversation = Conversation(TapPublisher(self.bus, "server"))
        self.requests: dict[int, OpenRequest] = {}  # by the seq of their frames

    def client(self, **message: Any) -> FrameSent:
        request = self.conversation.client_said(parse(_line(message)))
        if request is not None:
            self.requests[request.seq] = request
        return self.last(FrameSent)

    def wait(self, seconds: float) -> None:
        """What is said from now on passes so much later."""
        self.bus.clock.times[0] += seconds
        self.bus.clock.times[1] += seconds

    def server(self, **message: Any) -> FrameReceived:
        self.conversation.server_said(parse(_line(message)))
        return self.last(FrameReceived)

    def server_raw(self, data: bytes) -> FrameReceived:
        self.conversation.server_said(parse(data))
        return self.last(FrameReceived)

    def last(self, kind: type[E]) -> E:
        found = [event for event in self.bus.kept() if isinstance(event, kind)]
        assert found, f"there is no {kind.__name__}"
        return found[-1]


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


@pytest.fixture
def talk() -> Talk:
    return Talk()


def test_replies_out_of_order_belong_to_their_requests(talk: Talk) -> None:
    first = talk.client(id=1, method="tools/call", params={"name": "slow"})
    second = talk.client(id="1", method="tools/list")
    assert first.call_id != second.call_id
    talk.wait(1.5)
    reply = talk.server(id="1", result={"tools": []})
    assert (reply.request_seq, reply.method, reply.call_id) == (
        second.seq,
        "tools/list",
        second.call_id,
    )
    reply = talk.server(id=1, error={"code": -32602, "message": "no such tool"})
    ended = talk.last(RequestEnded)
    assert (reply.request_seq, ended.request_seq) == (first.seq, first.seq)
    assert (ended.status, ended.elapsed_s) == ("error", 1.5)


def test_a_question_of_the_server_belongs_to_the_only_call_and_its_answer_to_it(
    talk: Talk,
) -> None:
    talk.client(id=1, method="ping")
    call = talk.client(id=2, method="tools/call", params={"name": "ask"})
    question = talk.server(id=1, method="sampling/createMessage", params={})
    assert (question.caused_by_seq, question.call_id) == (call.seq, call.call_id)
    assert question.is_inferred
    assert talk.last(ServerRequestReceived).caused_by_seq == call.seq
    answer = talk.client(id=1, result={"role": "assistant"})
    assert (answer.request_seq, answer.method) == (question.seq, "sampling/createMessage")
    assert talk.last(ServerRequestEnded).outcome == "answered"


def test_with_two_calls_in_flight_nothing_is_guessed(talk: Talk) -> None:
    for number in (1, 2):
        talk.client(id=number, method="tools/call", params={"name": "ask"})
    question = talk.server(id=7, method="roots/list")
    assert (question.caused_by_seq, question.is_inferred) == (None, False)
    log = talk.server(method="notifications/message", params={"level": "info", "data": "x"})
    assert log.request_seq is None
    assert talk.last(LogReceived).data == "x"


def test_progress_and_cancellation_belong_to_the_request_that_they_name(talk: Talk) -> None:
    other = talk.client(id=1, method="tools/call", params={"name": "b"})
    call = talk.client(
        id=2, method="tools/call", params={"name": "a", "_meta": {"progressToken": "t"}}
    )
    progress = talk.server(
        method="notifications/progress", params={"progressToken": "t", "progress": 3}
    )
    assert (progress.request_seq, progress.is_inferred) == (call.seq, False)
    assert talk.last(ProgressReceived).request_id == 2
    cancelled = talk.client(method="notifications/cancelled", params={"requestId": 1})
    assert cancelled.request_seq == other.seq


def test_a_cancelled_request_has_ended_and_a_late_answer_is_still_linked(talk: Talk) -> None:
    call = talk.client(id=1, method="tools/call", params={"name": "slow"})
    talk.wait(2.5)
    talk.client(method="notifications/cancelled", params={"requestId": 1})
    ended = talk.last(RequestEnded)
    assert (ended.request_seq, ended.status, ended.elapsed_s) == (call.seq, "cancelled", 2.5)
    other = talk.client(id=2, method="tools/call", params={"name": "next"})
    question = talk.server(id=1, method="roots/list")
    assert question.caused_by_seq == other.seq  # the only call that is in flight
    late = talk.server(id=1, result={})
    assert (late.request_seq, late.call_id) == (call.seq, call.call_id)
    assert talk.last(RequestEnded) is ended


def test_listening_ends_with_its_stream_or_the_session_and_waits_for_no_answer(talk: Talk) -> None:
    over_http = talk.client(id=1, method="subscriptions/listen", params={})
    call = talk.client(id=2, method="tools/call", params={"name": "slow"})
    talk.conversation.exchange_ended(talk.requests[call.seq])  # the client may resume that stream
    assert RequestEnded not in {type(event) for event in talk.bus.kept()}
    talk.conversation.exchange_ended(talk.requests[over_http.seq])
    assert talk.last(RequestEnded).request_seq == over_http.seq
    over_stdio = talk.client(id=3, method="subscriptions/listen", params={})
    talk.conversation.ended()
    assert (talk.last(RequestEnded).request_seq, talk.last(RequestEnded).status) == (
        over_stdio.seq,
        "cancelled",
    )
    ends = [event for event in talk.bus.kept() if isinstance(event, RequestEnded)]
    assert len(ends) == 2


def test_progress_is_linked_whatever_else_the_params_have(talk: Talk) -> None:
    big = {"name": "a", "arguments": {"text": "_meta" * 1000}, "_meta": {"progressToken": 7}}
    call = talk.client(id=1, method="tools/call", params=big)
    progress = talk.server(
        method="notifications/progress", params={"progressToken": 7, "progress": 1}
    )
    assert progress.request_seq == call.seq
    talk.client(id=2, method="tools/call", params=["_meta"])
    talk.client(id=3, method="tools/call", params={"_meta": "not an object"})


def test_a_reply_to_nothing_and_a_malformed_one_are_shown_with_the_reason(talk: Talk) -> None:
    call = talk.client(id=1, method="tools/list")
    talk.server(id=99, result={})
    assert "no request of the client" in talk.last(ReplyUnmatched).reason
    broken = talk.server_raw(b'{"jsonrpc":"2.0","id":1,"result":{')
    assert broken.request_seq == call.seq


def test_both_sides_are_named_in_both_eras(talk: Talk) -> None:
    talk.client(
        id=1,
        method="initialize",
        params={
            "protocolVersion": "2025-11-25",
            "clientInfo": {"name": "editor", "version": "3"},
            "capabilities": {"roots": {}},
        },
    )
    client = talk.last(ClientIntroduced)
    assert (client.client_info["name"], client.capabilities) == ("editor", {"roots": {}})
    talk.server(
        id=1,
        result={
            "protocolVersion": "2025-06-18",
            "serverInfo": {"name": "files", "version": "1"},
            "capabilities": {"tools": {}},
        },
    )
    server = talk.last(ServerIntroduced)
    assert (server.server_info["name"], server.protocol_version) == ("files", "2025-06-18")

    meta = {CLIENT_INFO: {"name": "agent"}, PROTOCOL_VERSION: "2026-07-28"}
    for number in (2, 3):
        talk.client(id=number, method="tools/list", params={"_meta": meta})
    named = [event for event in talk.bus.kept() if isinstance(event, ClientIntroduced)]
    assert [event.client_info["name"] for event in named] == ["editor", "agent"]
