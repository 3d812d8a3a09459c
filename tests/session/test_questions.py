"""What a server asks of us: who answers, and which clocks stand still meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import ServerError
from mcplens.events import (
    FrameSent,
    RequestPaused,
    RequestResumed,
    ServerRequestEnded,
    ServerRequestReceived,
)
from mcplens.session.question_handler import ServerRequest
from mcplens.session.server_requests import MAX_QUESTIONS

from .scripted import SILENT, SKILLS, ExchangeTransport, Rig, ScriptedServer, failure, text

ASK = "elicitation/create"


class Person:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.asked: list[ServerRequest] = []
        self._answers: list[asyncio.Future[Any]] = []

    async def __call__(self, request: ServerRequest) -> Any:
        self.asked.append(request)
        self._answers.append(asyncio.get_running_loop().create_future())
        return await self._answers[-1]

    def answer(self, which: int = -1) -> None:
        self._answers[which].set_result({"action": "accept", "content": {}})


# -- who answers -------------------------------------------------------------------------------


async def test_a_handler_answers_and_the_server_gets_the_answer() -> None:
    async with Rig(handlers={ASK: lambda request: {"action": "decline"}}) as rig:
        rig.server.ask("q1", ASK, {"message": "sure?"})
        await rig.settle()
        assert rig.server.answer_to("q1") == {
            "jsonrpc": "2.0",
            "id": "q1",
            "result": {"action": "decline"},
        }
        (received,) = rig.events(ServerRequestReceived)
        assert (received.request_id, received.method) == ("q1", ASK)
        assert received.params == {"message": "sure?"}
        (ended,) = rig.events(ServerRequestEnded)
        assert ended.outcome == "answered"


async def test_a_handler_gets_the_question_with_its_bytes() -> None:
    person = Person()
    async with Rig(handlers={ASK: person}) as rig:
        raw = b'{ "jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"n": 1.50}}'
        rig.server.send(raw)
        await rig.settle()
        (asked,) = person.asked
        assert (asked.id, asked.method, asked.params, asked.raw) == (7, ASK, {"n": 1.5}, raw)


async def test_a_question_without_a_handler_is_refused_with_method_not_found() -> None:
    async with Rig() as rig:
        rig.server.ask(1, "sampling/createMessage", {})
        await rig.settle()
        refusal = rig.server.answer_to(1)
        assert refusal is not None
        assert refusal["error"]["code"] == -32601
        assert "sampling/createMessage" in refusal["error"]["message"]
        assert rig.events(ServerRequestEnded)[0].outcome == "refused: no handler"


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_handler_that_raises_is_told_to_the_server(is_async: bool) -> None:
    def broken(request: ServerRequest) -> Any:
        raise RuntimeError("no idea")

    async def broken_later(request: ServerRequest) -> Any:
        broken(request)

    async with Rig(handlers={ASK: broken_later if is_async else broken}) as rig:
        rig.server.ask(1, ASK)
        await rig.settle()
        refusal = rig.server.answer_to(1)
        assert refusal is not None
        assert refusal["error"]["code"] == -32603
        assert "no idea" in refusal["error"]["message"]
        assert (await rig.client.call_tool("add")).content


async def test_a_handler_can_refuse_with_its_own_code() -> None:
    def refuse(request: ServerRequest) -> Any:
        raise ServerError(-1, "the user said no", {"why": "privacy"})

    async with Rig(handlers={"sampling/createMessage": refuse}) as rig:
        rig.server.ask(1, "sampling/createMessage")
        await rig.settle()
        refusal = rig.server.answer_to(1)
        assert refusal is not None
        assert refusal["error"] == {
            "code": -1,
            "message": "the user said no",
            "data": {"why": "privacy"},
        }


async def test_an_answer_that_is_no_json_is_refused_and_not_lost() -> None:
    async with Rig(handlers={ASK: lambda request: {"x": object()}}) as rig:
        rig.server.ask(1, ASK)
        await rig.settle()
        refusal = rig.server.answer_to(1)
        assert refusal is not None
        assert refusal["error"]["code"] == -32603


async def test_a_question_that_the_server_withdraws_is_dropped_and_not_answered() -> None:
    person = Person()
    async with Rig(handlers={ASK: person}) as rig:
        rig.server.ask(1, ASK)
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": 1, "reason": "too slow"})
        await rig.settle()
        assert rig.server.answer_to(1) is None
        assert rig.events(ServerRequestEnded)[0].outcome == "withdrawn"


async def test_a_question_that_is_withdrawn_in_the_same_breath_is_dropped_as_well() -> None:
    person = Person()
    async with Rig(handlers={ASK: person}) as rig:
        rig.server.ask(1, ASK)
        rig.server.notify("notifications/cancelled", {"requestId": 1})
        await rig.settle()
        assert rig.server.answer_to(1) is None
        assert [e.outcome for e in rig.events(ServerRequestEnded)] == ["withdrawn"]
        rig.server.ask(1, ASK)
        await rig.settle()
        person.answer()
        await rig.settle()
        assert rig.server.answer_to(1) is not None


@pytest.mark.parametrize("identity", [99, "1", None, True, {}, 1.0])
async def test_withdrawing_what_was_not_asked_does_nothing(identity: Any) -> None:
    person = Person()
    async with Rig(handlers={ASK: person}) as rig:
        rig.server.ask(1, ASK)
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": identity})
        await rig.settle()
        person.answer()
        await rig.settle()
        assert rig.server.answer_to(1) is not None


async def test_two_open_questions_with_one_id_are_not_mixed_up() -> None:
    person = Person()
    async with Rig(handlers={ASK: person}) as rig:
        rig.server.ask(1, ASK)
        rig.server.ask(1, ASK)
        await rig.settle()
        assert len(person.asked) == 1
        refusal = rig.server.answer_to(1)
        assert refusal is not None
        assert "in use" in refusal["error"]["message"]


async def test_more_questions_than_anybody_can_answer_are_refused_until_there_is_room() -> None:
    person = Person()
    async with Rig(handlers={ASK: person}) as rig:
        for number in range(MAX_QUESTIONS + 1):
            rig.server.ask(f"q{number}", ASK)
        await rig.settle()
        assert len(person.asked) == MAX_QUESTIONS
        refusal = rig.server.answer_to(f"q{MAX_QUESTIONS}")
        assert refusal is not None
        assert refusal["error"] == {"code": -32603, "message": "refused: too many questions wait"}
        person.answer(0)
        await rig.settle()
        rig.server.ask("late", ASK)
        await rig.settle()
        assert person.asked[-1].id == "late"


async def test_a_question_may_have_the_id_of_a_request_of_ours() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    async with Rig(server, handlers={ASK: lambda request: {"action": "accept"}}) as rig:
        call = await rig.call()
        identity = rig.entry().id
        server.ask(identity, ASK)
        await rig.settle()
        assert server.answer_to(identity) is not None
        assert not call.done()
        server.notify("notifications/cancelled", {"requestId": identity})
        server.reply(identity, text("mine"))
        assert (await call).content[0].text == "mine"


async def test_ping_is_answered_at_once_even_while_a_call_is_in_flight() -> None:
    async with Rig(ScriptedServer({"tools/call": SILENT})) as rig:
        await rig.call()
        rig.server.ask("p", "ping")
        await rig.settle()
        assert rig.server.answer_to("p") == {"jsonrpc": "2.0", "id": "p", "result": {}}


async def test_ping_is_answered_during_the_handshake() -> None:
    async with Rig(ScriptedServer({"initialize": SILENT}), connect=False) as rig:
        await rig.started(rig.client.connect())
        rig.server.ask("p", "ping")
        await rig.settle()
        assert rig.server.answer_to("p") is not None


async def test_params_that_cannot_be_decoded_are_refused_and_not_ignored() -> None:
    async with Rig(handlers={ASK: lambda request: {}}) as rig:
        # Legal as far as the envelope goes, and too big a number for any decoder.
        rig.server.send(
            b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"n":'
            + b"9" * 5_000
            + b"}}"
        )
        await rig.settle()
        assert rig.server.answer_to(1) is not None


@pytest.mark.parametrize(
    ("handlers", "capabilities"),
    [
        ((), {}),
        (("sampling/createMessage",), {"sampling": {}}),
        (("roots/list",), {"roots": {}}),
        ((ASK, "roots/list"), {"elicitation": {"form": {}}, "roots": {}}),
    ],
)
async def test_what_is_advertised_is_what_has_a_handler(
    handlers: tuple[str, ...], capabilities: dict[str, Any]
) -> None:
    async with Rig(handlers=dict.fromkeys(handlers, lambda request: {})) as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["capabilities"] == {**capabilities, **SKILLS}


async def test_capabilities_that_were_given_are_advertised_as_they_are() -> None:
    given = {"roots": {"listChanged": True}, "experimental": {"x": {}}}
    async with Rig(handlers={"roots/list": lambda r: {}}, capabilities=given) as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["capabilities"] == {**given, **SKILLS}


async def test_a_handler_can_be_taken_away() -> None:
    async with Rig(handlers={ASK: lambda request: {}}) as rig:
        rig.client.set_request_handler(ASK, None)
        rig.server.ask(1, ASK)
        await rig.settle()
        refusal = rig.server.answer_to(1)
        assert refusal is not None
        assert refusal["error"]["code"] == -32601


# -- which clocks stand still ------------------------------------------------------------------


async def test_both_clocks_stand_still_while_a_person_answers() -> None:
    person = Person()
    async with Rig(ScriptedServer({"tools/call": SILENT}), handlers={ASK: person}) as rig:
        call = await rig.call()
        entry = rig.entry()
        await rig.advance(50)
        rig.server.ask(1, ASK)
        await rig.settle()
        assert rig.entry().is_waiting_on_user
        (paused,) = rig.events(RequestPaused)
        assert (paused.request_ids, paused.question_id) == ([entry.id], 1)
        await rig.advance(3_000)
        assert not call.done()
        person.answer()
        await rig.settle()
        assert not entry.is_waiting_on_user
        (resumed,) = rig.events(RequestResumed)
        assert (resumed.request_ids, resumed.question_id) == ([entry.id], 1)
        await rig.advance(9.9)
        assert not call.done()
        await rig.advance(0.1)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_the_absolute_maximum_stands_still_as_well() -> None:
    person = Person()
    async with Rig(ScriptedServer({"tools/call": SILENT}), handlers={ASK: person}) as rig:
        call = await rig.call()
        rig.server.ask(1, ASK)
        await rig.advance(1_000)
        person.answer()
        await rig.settle()
        for step in range(1, 30):
            await rig.advance(10)
            rig.server.progress(rig.entry().id, step)
        await rig.settle()
        assert not call.done()
        await rig.advance(10)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_where_the_cause_is_unknown_all_requests_in_flight_stand_still() -> None:
    person = Person()
    server = ScriptedServer({"tools/call": SILENT, "tasks/result": SILENT, "raw": SILENT})
    async with Rig(server, handlers={ASK: person}, concurrency=2) as rig:
        calls = [await rig.call("a"), await rig.call("b")]
        calls.append(await rig.started(rig.client.request("tasks/result", {"taskId": "t"})))
        raw = b'{"jsonrpc":"2.0","id":"r","method":"raw"}'
        calls.append(await rig.started(rig.client.send_raw(raw)))
        rig.server.ask(1, ASK)
        await rig.settle()
        assert len(rig.events(RequestPaused)[0].request_ids) == 4
        await rig.advance(1_000)
        assert [call.done() for call in calls] == [False] * 4
        person.answer()
        await rig.advance(60)
        assert {failure(call).code for call in calls} == {"REQUEST_TIMEOUT"}


async def test_where_the_cause_is_known_only_that_request_stands_still() -> None:
    person = Person()
    server = ScriptedServer({"tools/call": SILENT})
    transport = ExchangeTransport(server)
    rig = Rig(server, make_transport=lambda: transport, handlers={ASK: person}, concurrency=2)
    async with rig:
        asking, other = await rig.call("asks"), await rig.call("other")
        cause = server.sent("tools/call")[0]["id"]
        transport.deliver_on(cause, {"jsonrpc": "2.0", "id": 1, "method": ASK})
        await rig.settle()
        assert person.asked[0].caused_by == cause
        (asked,) = rig.events(ServerRequestReceived)
        sent = next(event for event in rig.events(FrameSent) if event.method == "tools/call")
        assert (asked.caused_by_seq, asked.is_inferred) == (sent.seq, False)
        assert rig.events(RequestPaused)[0].request_ids == [cause]
        await rig.advance(60)
        assert (asking.done(), other.done()) == (False, True)


async def test_with_two_questions_open_the_clock_goes_on_after_the_last_answer() -> None:
    person = Person()
    async with Rig(ScriptedServer({"tools/call": SILENT}), handlers={ASK: person}) as rig:
        call = await rig.call()
        rig.server.ask(1, ASK)
        rig.server.ask(2, ASK)
        await rig.advance(500)
        person.answer(0)
        await rig.settle()
        assert rig.entry().is_waiting_on_user
        await rig.advance(500)
        assert not call.done()
        person.answer(1)
        await rig.advance(60)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_a_withdrawn_question_lets_the_clock_go_on() -> None:
    person = Person()
    async with Rig(ScriptedServer({"tools/call": SILENT}), handlers={ASK: person}) as rig:
        call = await rig.call()
        rig.server.ask(1, ASK)
        await rig.advance(500)
        rig.server.notify("notifications/cancelled", {"requestId": 1})
        await rig.settle()
        assert not rig.entry().is_waiting_on_user
        await rig.advance(60)
        assert call.done()


async def test_the_call_ends_with_the_servers_answer_after_the_question() -> None:
    person = Person()
    async with Rig(ScriptedServer({"tools/call": SILENT}), handlers={ASK: person}) as rig:
        call = await rig.call()
        rig.server.ask("q", ASK)
        await rig.advance(500)
        person.answer()
        await rig.settle()
        rig.server.reply(rig.entry().id, text("thanks"))
        assert (await call).content[0].text == "thanks"


async def test_questions_without_a_call_in_flight_pause_nothing() -> None:
    async with Rig(handlers={ASK: lambda request: {}}) as rig:
        rig.server.ask(1, ASK)
        await rig.settle()
        assert rig.events(RequestPaused) == []
        assert rig.events(RequestResumed) == []
