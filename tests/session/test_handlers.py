"""Questions that wait for a person: shown, answered in any order, timed out, withdrawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mcplens.errors import InspectorError, ServerError
from mcplens.events import QuestionClosed, QuestionOpened
from mcplens.session.config import HandlerConfig
from mcplens.session.question_handler import ServerRequest

from .scripted import SILENT, Rig, ScriptedServer, text
from .server_questions import ELICIT, FORM, HELLO, SAMPLE, everything, result_of

ANSWER = {
    "role": "assistant",
    "content": {"type": "text", "text": "hi"},
    "model": "m",
    "stopReason": "endTurn",
}


# -- waiting and answering -----------------------------------------------------------------------


async def test_a_question_waits_until_a_person_answers() -> None:
    async with everything() as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        assert (pending.method, pending.params, pending.server_id) == (SAMPLE, HELLO, "scripted")
        assert b'"hello"' in pending.request.raw
        assert rig.server.answer_to("q1") is None
        await rig.advance(12)
        assert pending.age_s(rig.clock.monotonic()) == 12
        assert pending.left_s(rig.clock.monotonic()) == 288
        rig.client.sampling.resolve(pending.id, ANSWER)
        await rig.settle()
        assert result_of(rig, "q1") == ANSWER
        assert rig.client.sampling.get_pending() == []


async def test_every_change_is_an_event() -> None:
    async with everything() as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        (opened,) = rig.events(QuestionOpened)
        assert (opened.method, opened.params, opened.request_id) == (SAMPLE, HELLO, "q1")
        assert (opened.origin, opened.timeout_s) == ("request", 300.0)
        rig.client.sampling.reject(opened.question_id, "not today")
        await rig.settle()
        (closed,) = rig.events(QuestionClosed)
        assert closed.question_id == opened.question_id
        assert (closed.outcome, closed.answered_by) == ("rejected: not today", "person")
        assert result_of(rig, "q1") == {"code": -1, "message": "not today"}


async def test_questions_are_answered_in_any_order() -> None:
    async with everything() as rig:
        for number in range(200):
            rig.server.ask(f"q{number}", SAMPLE, HELLO)
        await rig.settle()
        waiting = rig.client.sampling.get_pending()
        assert [pending.request.id for pending in waiting] == [f"q{n}" for n in range(200)]
        for pending in reversed(waiting):
            rig.client.sampling.resolve(pending.id, f"answer to {pending.request.id}")
        await rig.settle()
        for number in range(200):
            assert result_of(rig, f"q{number}")["content"]["text"] == f"answer to q{number}"


async def test_the_call_that_caused_a_question_is_known_where_it_can_be() -> None:
    async with everything(server=ScriptedServer({"tools/call": SILENT})) as rig:
        call = await rig.call()
        (sent,) = rig.server.sent("tools/call")
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        assert rig.entry().is_waiting_on_user
        await rig.advance(250)  # far beyond the call's own timeout
        assert not call.done()
        rig.client.sampling.resolve(pending.id, ANSWER)
        await rig.settle()
        rig.server.reply(sent["id"], text())
        assert (await call).content


async def test_an_answer_that_breaks_the_rules_is_not_sent_unless_forced() -> None:
    async with everything() as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        bad = {"role": "nobody"}
        with pytest.raises(InspectorError) as problem:
            rig.client.sampling.resolve(pending.id, bad)
        assert problem.value.code == "INVALID_ANSWER"
        assert problem.value.details["findings"]
        assert rig.client.sampling.get_pending() == [pending]
        rig.client.sampling.resolve(pending.id, bad, force=True)
        await rig.settle()
        assert result_of(rig, "q1") == bad


async def test_a_question_is_answered_only_once() -> None:
    async with everything() as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        rig.client.sampling.resolve(pending.id, ANSWER)
        acts: tuple[Callable[[], None], ...] = (
            lambda: rig.client.sampling.resolve(pending.id, ANSWER),
            lambda: rig.client.sampling.reject(pending.id, "no"),
            lambda: rig.client.sampling.resolve("sampling-99", ANSWER),
        )
        for act in acts:
            with pytest.raises(InspectorError) as problem:
                act()
            assert problem.value.code == "QUESTION_GONE"


# -- time ----------------------------------------------------------------------------------------


async def test_after_300_seconds_a_question_is_rejected() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, FORM)
        await rig.advance(299)
        assert rig.server.answer_to("q1") is None
        await rig.advance(1)
        message = "Request timed out waiting for user response"
        assert result_of(rig, "q1") == {"code": -1, "message": message}
        (closed,) = rig.events(QuestionClosed)
        assert closed.outcome == "timed out"


async def test_the_limit_can_be_changed_or_switched_off() -> None:
    config = HandlerConfig(request_timeout_s=5, timeout_message="too slow")
    async with everything(handler=config) as rig:
        rig.server.ask("q1", ELICIT, FORM)
        await rig.advance(5)
        assert result_of(rig, "q1") == {"code": -1, "message": "too slow"}
    async with everything(handler=HandlerConfig(auto_reject_on_timeout=False)) as rig:
        rig.server.ask("q1", ELICIT, FORM)
        await rig.advance(3_000)
        (pending,) = rig.client.elicitation.get_pending()
        assert pending.left_s(3_000) is None
        assert rig.events(QuestionOpened)[0].timeout_s is None


async def test_a_withdrawn_question_is_removed_and_not_answered() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, FORM)
        rig.server.ask("q2", ELICIT, FORM)
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": "q1"})
        await rig.settle()
        (left,) = rig.client.elicitation.get_pending()
        assert left.request.id == "q2"
        assert rig.server.answer_to("q1") is None
        (closed,) = rig.events(QuestionClosed)
        assert closed.outcome == "withdrawn"


@pytest.mark.parametrize("how", ["disconnect", "the server leaves"])
async def test_when_the_connection_ends_nothing_is_left_waiting(how: str) -> None:
    async with everything() as rig:
        for number in range(3):
            rig.server.ask(f"q{number}", ELICIT, FORM)
        await rig.settle()
        if how == "disconnect":
            await rig.client.disconnect()
        else:
            rig.server.leave()
        await rig.settle()
        assert rig.client.elicitation.get_pending() == []
        assert [each.outcome for each in rig.events(QuestionClosed)] == ["withdrawn"] * 3
        assert rig.clock.timer_count == 0


# -- by a function ---------------------------------------------------------------------------------


async def test_a_function_answers_with_a_text() -> None:
    def answer(request: ServerRequest) -> str:
        return request.params["messages"][0]["content"]["text"].upper()  # type: ignore[no-any-return]

    async with Rig(sampling=answer) as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        assert result_of(rig, "q1") == ANSWER | {
            "content": {"type": "text", "text": "HELLO"},
            "model": "mcplens",
        }
        assert rig.events(QuestionClosed)[0].answered_by == "answer"


async def test_a_function_that_fails_refuses_and_the_session_goes_on() -> None:
    def answer(request: ServerRequest) -> str:
        raise ValueError("oh no")

    async with Rig(sampling=answer) as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        error = result_of(rig, "q1")
        assert (error["code"], "oh no" in error["message"]) == (-32603, True)
        assert (await rig.client.call_tool("add")).content


async def test_a_function_may_refuse_in_its_own_words() -> None:
    def answer(request: ServerRequest) -> str:
        raise ServerError(-32000, "busy", {"retry": 5})

    async with Rig(sampling=answer) as rig:
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        assert result_of(rig, "q1") == {"code": -32000, "message": "busy", "data": {"retry": 5}}


async def test_a_person_may_be_faster_than_a_profile() -> None:
    async with everything() as rig:

        async def slow(request: ServerRequest) -> str:
            await rig.clock.sleep(60)
            return "late"

        rig.client.sampling.use(slow)
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        rig.client.sampling.resolve(pending.id, "early")
        await rig.advance(61)
        assert result_of(rig, "q1")["content"]["text"] == "early"
        assert rig.events(QuestionClosed)[0].answered_by == "person"
