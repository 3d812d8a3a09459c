"""What a server wants to know before it answers: input_required, and the older error -32042."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.events import InputRoundStarted, RequestEnded, RequestStarted
from mcplens.session.handler import ServerRequest
from mcplens.session.results import result_type

from .scripted import (
    SILENT,
    STATELESS,
    Refuse,
    Rig,
    ScriptedServer,
    failure,
    text,
    until,
)

ELICIT = "elicitation/create"
SAMPLE = "sampling/createMessage"
ROOTS = "roots/list"

FORM = {"method": ELICIT, "params": {"message": "who?", "requestedSchema": {"type": "object"}}}
ACCEPTED = {"action": "accept", "content": {"name": "Ada"}}


def asks(state: Any = None, **requests: Any) -> dict[str, Any]:
    """A result that wants input first."""
    result: dict[str, Any] = {"resultType": "input_required"}
    if requests:
        result["inputRequests"] = requests
    if state is not None:
        result["requestState"] = state
    return result


def scripted(*answers: Any, method: str = "tools/call") -> ScriptedServer:
    """A server that answers one call after the other like this."""
    left = list(answers)
    return ScriptedServer({method: lambda request: left.pop(0)}, is_stateless=True)


def stateless(server: ScriptedServer, **options: Any) -> Rig:
    return Rig(server, protocol_version=STATELESS, **options)


class Person:
    """Sees what is asked, and answers when the test says so."""

    def __init__(self) -> None:
        self.asked: dict[str, ServerRequest] = {}
        self.withdrawn: list[str] = []
        self._answers: dict[str, asyncio.Future[Any]] = {}

    async def __call__(self, request: ServerRequest) -> Any:
        key = str(request.id).partition("/")[2]
        self.asked[key] = request
        self._answers[key] = asyncio.get_running_loop().create_future()
        try:
            return await self._answers[key]
        except asyncio.CancelledError:
            self.withdrawn.append(key)
            raise

    def answer(self, key: str, answer: Any) -> None:
        self._answers[key].set_result(answer)

    def refuse(self, key: str, why: str) -> None:
        self._answers[key].set_exception(ServerError(-1, why))


# -- a round -------------------------------------------------------------------------------------


OPERATIONS: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("tools/call", lambda client: client.call_tool("x", {"a": 1}), text("done")),
    ("resources/read", lambda client: client.read_resource("file:///a"), {"contents": []}),
    ("prompts/get", lambda client: client.get_prompt("p", {"a": "b"}), {"messages": []}),
]


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


# -- time ----------------------------------------------------------------------------------------


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


# -- no ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_to_decline_or_cancel_a_form_is_an_answer(action: str) -> None:
    server = scripted(asks(who=FORM), text())
    async with stateless(server, handlers={ELICIT: lambda request: {"action": action}}) as rig:
        await rig.client.call_tool("x")
        (responses,) = server.sent("tools/call")[1]["params"]["inputResponses"].values()
        assert responses == {"action": action}


async def test_a_form_that_is_refused_or_that_nobody_answers_is_cancelled() -> None:
    def refuse(request: ServerRequest) -> Any:
        raise ServerError(-32602, "not declared")

    for handlers in ({ELICIT: refuse}, {}):
        server = scripted(asks(who=FORM), text())
        async with stateless(server, handlers=handlers) as rig:
            await rig.client.call_tool("x")
            assert server.sent("tools/call")[1]["params"]["inputResponses"] == {
                "who": {"action": "cancel"}
            }


@pytest.mark.parametrize("method", [SAMPLE, ROOTS])
async def test_a_refusal_of_anything_else_ends_the_call_and_withdraws_the_rest(method: str) -> None:
    person = Person()
    server = scripted(asks("s", form=FORM, other={"method": method, "params": {}}))
    async with stateless(server, handlers={ELICIT: person, method: person}) as rig:
        call = await rig.call("x")
        person.refuse("other", "the user said no")
        await rig.settle()
        error = failure(call)
        assert error.code == "INPUT_REFUSED"
        assert "'other'" in error.message
        assert method in error.message
        assert "the user said no" in error.message
        assert error.details["reason"] == "the user said no"
        assert person.withdrawn == ["form"]
        assert len(server.sent("tools/call")) == 1


async def test_a_question_that_has_no_handler_ends_the_call() -> None:
    server = scripted(asks(roots={"method": ROOTS}))
    async with stateless(server) as rig:
        with pytest.raises(InspectorError, match="not supported") as problem:
            await rig.client.call_tool("x")
        assert problem.value.code == "INPUT_REFUSED"


async def test_a_handler_that_fails_ends_the_call_and_says_so() -> None:
    def broken(request: ServerRequest) -> Any:
        raise RuntimeError("no idea")

    server = scripted(asks(who=FORM))
    async with stateless(server, handlers={ELICIT: broken}) as rig:
        with pytest.raises(InspectorError, match="RuntimeError: no idea") as problem:
            await rig.client.call_tool("x")
        assert problem.value.code == "INPUT_REFUSED"


async def test_cancelling_the_caller_withdraws_the_questions() -> None:
    person = Person()
    server = scripted(asks(a=FORM, b=FORM))
    async with stateless(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("x")
        call.cancel()
        await rig.settle()
        assert call.cancelled()
        assert sorted(person.withdrawn) == ["a", "b"]
        assert server.sent("notifications/cancelled") == []


@pytest.mark.parametrize("end", ["disconnect", "leave"])
async def test_a_connection_that_ends_while_a_person_answers_ends_the_call(end: str) -> None:
    person = Person()
    server = scripted(asks(who=FORM))
    async with stateless(server, handlers={ELICIT: person}) as rig:
        call = await rig.call("x")
        if end == "leave":
            server.leave()
        else:
            await rig.client.disconnect()
        await rig.settle()
        assert failure(call).code == ("CONNECTION_LOST" if end == "leave" else "CANCELLED")
        assert person.withdrawn == ["who"]


# -- nonsense ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (asks(), "neither inputRequests nor requestState"),
        (asks() | {"inputRequests": {}}, "neither inputRequests nor requestState"),
        (asks() | {"inputRequests": []}, "inputRequests is no object"),
        (asks(a="b"), r"inputRequests\['a'\] is no object but str"),
        (asks(a={"params": {}}), "asks for None"),
        (asks(a={"method": "tools/call"}), "asks for 'tools/call'"),
        (asks(a={"method": ROOTS, "params": [1]}), "params that are no object but list"),
    ],
)
async def test_input_that_cannot_be_asked_for_is_an_invalid_response(
    result: Any, problem: str
) -> None:
    server = ScriptedServer({"tools/call": result}, is_stateless=True)
    async with stateless(server, handlers={ROOTS: lambda request: {"roots": []}}) as rig:
        with pytest.raises(ProtocolError, match=problem) as raised:
            await rig.client.call_tool("x")
        assert raised.value.code == "INVALID_RESPONSE"
        assert raised.value.value == result


async def test_a_list_cannot_ask_for_input() -> None:
    server = ScriptedServer({"tools/list": asks("s", who=FORM)}, is_stateless=True)
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        with pytest.raises(ProtocolError, match="not for this method"):
            await rig.client.list_tools()
        assert rig.events(InputRoundStarted) == []


async def test_a_raw_request_shows_the_result_as_it_came() -> None:
    server = scripted(asks("s", who=FORM))
    async with stateless(server, handlers={ELICIT: lambda request: ACCEPTED}) as rig:
        reply = await rig.client.request("tools/call", {"name": "x"})
        assert reply.value == asks("s", who=FORM)
        assert reply.findings == ()


async def test_a_result_type_deeper_down_does_not_pass_for_that_of_the_result() -> None:
    question = {"method": ELICIT, "params": {"message": "?", "x": {"resultType": "complete"}}}
    frame = {"jsonrpc": "2.0", "id": 9, "result": asks("s", who=question)}
    from mcplens.protocol.frames import Frame, parse

    parsed = parse(msgspec.json.encode(frame))
    assert isinstance(parsed, Frame)
    assert result_type(parsed, "tools/call") == "input_required"


# -- error -32042 (2025-11-25) -------------------------------------------------------------------

PAGE = {"mode": "url", "url": "https://example.com/go", "message": "go", "elicitationId": "e1"}


def required(*pages: Any) -> Refuse:
    return Refuse(-32042, "open this first", {"elicitations": list(pages)})


def legacy(*answers: Any, method: str = "tools/call") -> ScriptedServer:
    left = list(answers)
    return ScriptedServer({method: lambda request: left.pop(0)})


@pytest.mark.parametrize(("method", "operation", "result"), OPERATIONS)
async def test_a_page_that_must_be_opened_first_is_asked_about_and_the_call_tried_again(
    method: str, operation: Callable[[Any], Any], result: Any
) -> None:
    asked: list[ServerRequest] = []

    def accept(request: ServerRequest) -> Any:
        asked.append(request)
        return {"action": "accept"}

    server = legacy(required(PAGE, PAGE | {"elicitationId": "e2"}), result, method=method)
    async with Rig(server, handlers={ELICIT: accept}) as rig:
        await operation(rig.client)
        first, second = server.sent(method)
        assert first["params"].keys() == second["params"].keys()
        assert [(each.origin, each.params["elicitationId"]) for each in asked] == [
            ("error", "e1"),
            ("error", "e2"),
        ]
        assert asked[0].caused_by == first["id"]
        assert json.loads(asked[0].raw) == {"method": ELICIT, "params": PAGE}
        (event,) = rig.events(InputRoundStarted)
        assert (event.request_id, event.keys) == (first["id"], ["e1", "e2"])


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_page_that_is_not_opened_leaves_the_error(action: str) -> None:
    server = legacy(required(PAGE))
    async with Rig(server, handlers={ELICIT: lambda request: {"action": action}}) as rig:
        with pytest.raises(ServerError, match="open this first") as problem:
            await rig.client.call_tool("x")
        assert problem.value.rpc_code == -32042
        assert len(server.sent("tools/call")) == 1


async def test_a_server_may_ask_for_the_page_again_but_not_without_end() -> None:
    server = legacy(required(PAGE), required(PAGE), text())
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        assert (await rig.client.call_tool("x")).content
    server = ScriptedServer({"tools/call": required(PAGE)})
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="open this first"):
            await rig.client.call_tool("x")
        assert len(server.sent("tools/call")) == 11


async def test_another_error_of_the_second_try_is_the_callers() -> None:
    server = legacy(required(PAGE), Refuse(-32000, "now something else"))
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="now something else"):
            await rig.client.call_tool("x")


@pytest.mark.parametrize(
    "data",
    [None, [], "x", {"elicitations": {}}, {"elicitations": []}, {"elicitations": [{"mode": "x"}]}],
)
async def test_an_error_that_names_no_pages_is_an_ordinary_one(data: Any) -> None:
    server = legacy(Refuse(-32042, "strange", data))
    async with Rig(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="strange"):
            await rig.client.call_tool("x")
        assert rig.events(InputRoundStarted) == []


async def test_the_old_error_means_nothing_in_2026_07_28() -> None:
    server = ScriptedServer({"tools/call": required(PAGE)}, is_stateless=True)
    async with stateless(server, handlers={ELICIT: lambda request: {"action": "accept"}}) as rig:
        with pytest.raises(ServerError, match="open this first"):
            await rig.client.call_tool("x")
        assert len(server.sent("tools/call")) == 1
