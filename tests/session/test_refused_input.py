"""Input that a server wants and does not get: declined, withdrawn, or nothing one can ask."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mcplens.errors import InspectorError, ProtocolError, ServerError
from mcplens.events import InputRoundStarted
from mcplens.session.question_handler import ServerRequest
from mcplens.session.results import result_type

from .input_servers import ROOTS, SAMPLE, asks, scripted, stateless
from .person import ACCEPTED, ELICIT, FORM, Person
from .scripted import ScriptedServer, failure, text

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
        (asks() | {"inputRequests": []}, "inputRequests is not an object"),
        (asks(a="b"), r"inputRequests\['a'\] must be an object, not str"),
        (asks(a={"params": {}}), "asks for None"),
        (asks(a={"method": "tools/call"}), "asks for 'tools/call'"),
        (asks(a={"method": ROOTS, "params": [1]}), "must be an object, not list"),
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
