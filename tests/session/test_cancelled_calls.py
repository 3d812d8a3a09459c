"""What a cancelled call takes with it: the questions that it caused. And calls that the server
cancels."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcplens.errors import CancelledRequest
from mcplens.events import LateReply, QuestionClosed, ServerRequestEnded

from . import extension_servers, task_servers
from .person import ELICIT, FORM
from .scripted import SILENT, STATELESS, ExchangeTransport, Rig, ScriptedServer, failure, text

SAMPLE = "sampling/createMessage"
ASKED: dict[str, Any] = {
    ELICIT: {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}},
    SAMPLE: {"messages": [], "maxTokens": 1},
}
ANSWERS: dict[str, dict[str, Any]] = {
    ELICIT: {"result": {"action": "cancel"}},
    SAMPLE: {"error": {"code": -1, "message": "the call was cancelled"}},
}


def asking(**options: Any) -> Rig:
    """A server that does not answer calls; the test has it ask."""
    options = {"sampling": True, "elicitation": True} | options
    return Rig(ScriptedServer({"tools/call": SILENT}), **options)


def answer(rig: Rig, identity: str) -> dict[str, Any]:
    found = rig.server.answer_to(identity) or {}
    return {key: value for key, value in found.items() if key in ("result", "error")}


@pytest.mark.parametrize("method", [ELICIT, SAMPLE])
@pytest.mark.parametrize("how", ["caller", "abort"])
async def test_a_cancelled_call_cancels_its_question(method: str, how: str) -> None:
    async with asking() as rig:
        call = await rig.call()
        rig.server.ask("q1", method, ASKED[method])
        await rig.settle()
        assert rig.server.answer_to("q1") is None
        if how == "caller":
            call.cancel()
        else:
            rig.client.abort(rig.entry().id)
        await rig.settle()
        assert answer(rig, "q1") == ANSWERS[method]
        assert rig.client.elicitation.get_pending() == rig.client.sampling.get_pending() == []
        assert [event.outcome for event in rig.events(QuestionClosed)] == ["call cancelled"]


@pytest.mark.parametrize("method", [ELICIT, SAMPLE])
async def test_a_handler_of_the_users_own_is_stopped_with_the_call(method: str) -> None:
    stopped = asyncio.Event()

    async def handler(request: object) -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            stopped.set()

    async with asking(handlers={method: handler}) as rig:
        call = await rig.call()
        rig.server.ask("q1", method, ASKED[method])
        await rig.settle()
        call.cancel()
        await rig.settle()
        assert stopped.is_set()
        assert answer(rig, "q1") == ANSWERS[method]
        assert [e.outcome for e in rig.events(ServerRequestEnded)] == ["call cancelled"]


async def test_questions_of_other_calls_go_on() -> None:
    server = ScriptedServer({"tools/call": SILENT})
    transport = ExchangeTransport(server)
    options: dict[str, Any] = {"concurrency": 2, "elicitation": True}
    async with Rig(server, make_transport=lambda: transport, **options) as rig:
        calls = [await rig.call("a"), await rig.call("b")]
        for index, entry in enumerate(rig.client.queue.in_progress()):
            question = {"jsonrpc": "2.0", "id": f"q{index}", "method": ELICIT}
            transport.deliver_on(entry.id, question | {"params": ASKED[ELICIT]})
        await rig.settle()
        calls[0].cancel()
        await rig.settle()
        assert answer(rig, "q0") == ANSWERS[ELICIT]
        assert server.answer_to("q1") is None
        (pending,) = rig.client.elicitation.get_pending()
        assert pending.request.id == "q1"


async def test_a_cancelled_call_cancels_the_questions_of_its_task() -> None:
    server = task_servers.TaskServer()
    async with Rig(server, elicitation=True) as rig:
        call = await rig.call("slow", task=True)
        related = {"_meta": {task_servers.RELATED: {"taskId": "t1"}}}
        server.ask("q1", ELICIT, ASKED[ELICIT] | related)
        await rig.settle()
        call.cancel()
        await rig.settle()
        assert answer(rig, "q1") == ANSWERS[ELICIT]
        assert server.sent("tasks/cancel")


async def test_a_cancelled_call_cancels_the_input_that_the_server_required() -> None:
    required = {"resultType": "input_required", "inputRequests": {"who": FORM}}
    for server in (
        ScriptedServer({"tools/call": required}, is_stateless=True),
        extension_servers.TaskServer(),
    ):
        if isinstance(server, extension_servers.TaskServer):
            server.move("input_required", inputRequests={"who": FORM})
        async with extension_servers.extended(server, elicitation=True) as rig:
            call = await rig.call("slow")
            assert len(rig.client.elicitation.get_pending()) == 1
            call.cancel()
            await rig.settle()
            assert rig.client.elicitation.get_pending() == []
            assert rig.server.sent("tasks/update") == []


# -- by the server -----------------------------------------------------------------------------


async def test_a_call_that_the_server_cancels_fails_at_once() -> None:
    async with asking() as rig:
        call = await rig.call()
        identity = rig.entry().id
        rig.server.ask("q1", ELICIT, ASKED[ELICIT])
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": identity, "reason": "too busy"})
        await rig.settle()
        error = failure(call)
        assert isinstance(error, CancelledRequest)
        assert error.message == "the server cancelled tools/call: too busy"
        assert (error.details["cancelled_by"], error.details["method"]) == ("server", "tools/call")
        assert any("cancelled our request" in remark for remark in rig.remarks())
        assert answer(rig, "q1") == ANSWERS[ELICIT]
        # It is not cancelled back, and an answer after all is a late one.
        assert rig.server.sent("notifications/cancelled") == []
        rig.server.reply(identity, text("after all"))
        await rig.settle()
        assert len(rig.events(LateReply)) == 1


async def test_a_question_that_the_server_withdraws_too_late_harms_no_call_of_the_same_id() -> None:
    async with asking() as rig:
        call = await rig.call()
        identity = rig.entry().id
        rig.server.ask(identity, "ping")
        rig.server.ask(identity, ELICIT, ASKED[ELICIT])
        await rig.settle()
        rig.client.elicitation.cancel(rig.client.elicitation.get_pending()[0].id)
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": identity})
        await rig.settle()
        assert not call.done()


async def test_an_exchange_of_a_call_that_the_server_cancels_is_closed() -> None:
    server = ScriptedServer({"tools/call": SILENT}, is_stateless=True)
    transport = ExchangeTransport(server)
    rig = Rig(server, make_transport=lambda: transport, protocol_version=STATELESS)
    async with rig:
        call = await rig.call()
        identity = rig.entry().id
        server.notify("notifications/cancelled", {"requestId": identity})
        await rig.settle()
        assert failure(call).message == "the server cancelled tools/call"
        assert transport.abandoned == [identity]
