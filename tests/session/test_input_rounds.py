"""What a server wants to know before it answers: asked, answered, and the request sent again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcplens.errors import ProtocolError
from mcplens.events import InputRoundStarted, RequestEnded, RequestStarted
from mcplens.session.question_handler import ServerRequest

from .input_servers import OPERATIONS, ROOTS, SAMPLE, asks, scripted, stateless
from .person import ACCEPTED, ELICIT, FORM, Person
from .scripted import SILENT, ScriptedServer, failure, text, until


@pytest.mark.parametrize(("method", "operation", "result"), OPERATIONS)
async def test_a_question_is_answered_and_the_request_sent_again(
    method: str, operation: Callable[[Any], Any], result: Any
) -> None:
    server = scripted(asks("s1", who=FORM), result, method=method)
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        await operation(rig.client)
        first, second = server.sent(method)
        assert second["id"] != first["id"]
        own = {"inputResponses", "requestState", "_meta"}
        same = {key: value for key, value in first["params"].items() if key not in own}
        assert {key: value for key, value in second["params"].items() if key not in own} == same
        assert "inputResponses" not in first["params"]
        assert second["params"]["inputResponses"] == {"who": ACCEPTED}
        assert second["params"]["requestState"] == "s1"


async def test_a_question_comes_to_its_handler_as_the_server_wrote_it() -> None:
    asked: list[ServerRequest] = []

    def answer(request: ServerRequest) -> Any:
        asked.append(request)
        return ACCEPTED

    server = scripted(asks(who=FORM), text())
    async with stateless(server, handlers={ELICIT: answer}) as rig:
        await rig.client.call_tool("x")
        (request,) = asked
        call_id = server.sent("tools/call")[0]["id"]
        assert (request.id, request.method, request.params) == (
            f"{call_id}/who",
            ELICIT,
            FORM["params"],
        )
        assert (request.caused_by, request.origin) == (call_id, "input_required")
        assert json.loads(request.raw) == FORM


@pytest.mark.parametrize(
    "state",
    [
        '"plain"',
        '""',
        '"\\u00e9 \\/ \\ud83d\\ude00 é 😀"',
        '"a lone \\ud800 surrogate"',
        '"eyJ\\"resultType\\":\\"complete\\"}"',
        '{"n": 1.500E+3, "big": 123456789012345678901234567890, "a": 1, "a": 2}',
        "12345678901234567890.000",
    ],
)
async def test_the_state_comes_back_byte_for_byte(state: str) -> None:
    def answer(request: dict[str, Any]) -> Any:
        if "requestState" in request["params"]:
            return text()
        frame = (
            '{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","requestState": %s }}'
        )
        return (frame % (request["id"], state)).encode()

    server = ScriptedServer({"tools/call": answer}, is_stateless=True)
    async with stateless(server) as rig:
        call = await rig.call("x")
        await rig.advance(1)
        await call
        assert f'"requestState":{state}'.encode() in server.raw[-1]


async def test_without_a_state_none_is_sent_back() -> None:
    for missing in (asks(who=FORM), asks(who=FORM) | {"requestState": None}):
        server = scripted(missing, text())
        async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
            await rig.client.call_tool("x")
            assert "requestState" not in server.sent("tools/call")[1]["params"]


async def test_state_and_answers_of_one_call_never_reach_another() -> None:
    person = Person()
    server = scripted(asks("mine", who=FORM), text("other"), text("mine"), text("next"))
    async with stateless(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("x")
        other = await rig.client.call_tool("y")  # while a person answers: nothing is in flight
        assert other.content[0].text == "other"
        person.answer("who", ACCEPTED)
        assert (await call).content[0].text == "mine"
        await rig.client.call_tool("x")
        for index in (1, 3):
            params = server.sent("tools/call")[index]["params"]
            assert "requestState" not in params
            assert "inputResponses" not in params


async def test_several_questions_are_asked_at_once_and_answered_in_any_order() -> None:
    person = Person()
    roots = {"method": ROOTS}
    sample = {"method": SAMPLE, "params": {"messages": [], "maxTokens": 1}}
    server = scripted(asks("s", form=FORM, model=sample, roots=roots), text())
    async with stateless(server, handlers={ELICIT: person, SAMPLE: person, ROOTS: person}) as rig:
        call = await rig.call("x")
        assert list(person.asked) == ["form", "model", "roots"]
        assert person.asked["roots"].params == {}
        person.answer("roots", {"roots": []})
        person.answer("model", {"role": "assistant"})
        await rig.settle()
        assert len(server.sent("tools/call")) == 1
        person.answer("form", ACCEPTED)
        await call
        assert server.sent("tools/call")[1]["params"]["inputResponses"] == {
            "form": ACCEPTED,
            "model": {"role": "assistant"},
            "roots": {"roots": []},
        }


async def test_each_round_carries_its_own_state_and_answers_alone() -> None:
    server = scripted(asks("one", a=FORM), asks("two", b=FORM), text())
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        await rig.client.call_tool("x")
        _, second, third = (call["params"] for call in server.sent("tools/call"))
        assert (second["requestState"], list(second["inputResponses"])) == ("one", ["a"])
        assert (third["requestState"], list(third["inputResponses"])) == ("two", ["b"])
        rounds = [(e.round, e.most_rounds, e.keys) for e in rig.events(InputRoundStarted)]
        assert rounds == [(1, 10, ["a"]), (2, 10, ["b"])]
        ids = [call["id"] for call in server.sent("tools/call")]
        assert [event.request_id for event in rig.events(InputRoundStarted)] == ids[:2]


async def test_the_callers_headers_and_progress_go_with_every_round() -> None:
    seen: list[float] = []
    server = scripted(asks(who=FORM), SILENT)
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        call = await rig.started(
            rig.client.call_tool("x", on_progress=lambda report: seen.append(report.progress))
        )
        again = server.sent("tools/call")[1]
        assert again["params"]["_meta"]["progressToken"] == again["id"]
        server.progress(again["id"], 0.5)
        server.reply(again["id"], text())
        await call
        assert seen == [0.5]


async def test_two_hundred_questions_at_once_are_all_asked_and_answered() -> None:
    questions = {f"q{number}": FORM for number in range(200)}
    server = scripted(asks(None, **questions), text())
    person = Person()
    async with stateless(server, handlers={ELICIT: person}) as rig:
        call = rig.go(rig.client.call_tool("x"))
        await until(lambda: len(person.asked) == 200)
        for key in reversed(questions):
            person.answer(key, {"action": "decline"})
        await call
        assert len(server.sent("tools/call")[1]["params"]["inputResponses"]) == 200


async def test_no_clock_runs_while_a_person_answers() -> None:
    person = Person()
    server = scripted(asks(who=FORM), text())
    async with stateless(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("x", timeout_s=5)
        await rig.advance(100_000)
        assert not call.done()
        assert {e.request_id for e in rig.events(RequestStarted)} == {
            e.request_id for e in rig.events(RequestEnded)
        }
        person.answer("who", ACCEPTED)
        assert (await call).content


async def test_the_request_that_is_sent_again_has_its_own_time() -> None:
    server = scripted(asks(who=FORM), SILENT)
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        call = await rig.call("x", timeout_s=5)
        await rig.advance(4)
        assert not call.done()
        await rig.advance(2)
        assert failure(call).code == "REQUEST_TIMEOUT"


async def test_a_state_without_questions_is_sent_back_after_a_while_and_ever_later() -> None:
    server = scripted(*(asks(f"s{number}") for number in range(3)), text())
    async with stateless(server) as rig:
        call = await rig.call("x")
        sent: list[int] = []
        for _ in range(8):
            sent.append(len(server.sent("tools/call")))
            await rig.advance(0.25)
        assert sent == [1, 2, 2, 3, 3, 3, 3, 4]
        await call
        assert server.sent("tools/call")[3]["params"]["requestState"] == "s2"
        assert "inputResponses" not in server.sent("tools/call")[3]["params"]


async def test_a_server_that_asks_without_end_is_stopped() -> None:
    server = ScriptedServer({"tools/call": asks("s", who=FORM)}, is_stateless=True)
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        with pytest.raises(ProtocolError, match="asked for input 10 times") as problem:
            await rig.client.call_tool("x")
        assert problem.value.code == "INVALID_RESPONSE"
        assert problem.value.details["server_id"] == "scripted"
        assert len(server.sent("tools/call")) == 11
