"""Questions that wait for a person: shown, answered in any order, timed out, withdrawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcplens.errors import CancelledRequest, ConfigurationError, InspectorError, ServerError
from mcplens.events import (
    ElicitationCompleted,
    QuestionClosed,
    QuestionOpened,
    Remark,
    RootsChanged,
)
from mcplens.session.config import HandlerConfig
from mcplens.session.handler import Forced, ServerRequest

from .scripted import SILENT, STATELESS, Rig, ScriptedServer, failure, text

SAMPLE = "sampling/createMessage"
ELICIT = "elicitation/create"
HELLO = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}],
    "maxTokens": 10,
}
ANSWER = {
    "role": "assistant",
    "content": {"type": "text", "text": "hi"},
    "model": "m",
    "stopReason": "endTurn",
}
FORM = {
    "message": "where?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "host": {"type": "string"},
            "port": {"type": "integer", "default": 5432},
        },
        "required": ["host"],
    },
}
LINK = {"mode": "url", "message": "go", "url": "https://example.com/x", "elicitationId": "e1"}


def everything(**more: Any) -> Rig:
    options: dict[str, Any] = {"sampling": True, "elicitation": True, "roots": []}
    return Rig(**options | more)


def result_of(rig: Rig, identity: str) -> Any:
    answer = rig.server.answer_to(identity)
    assert answer is not None
    return answer.get("result", answer.get("error"))


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
        for act in (
            lambda: rig.client.sampling.resolve(pending.id, ANSWER),
            lambda: rig.client.sampling.reject(pending.id, "no"),
            lambda: rig.client.sampling.resolve("sampling-99", ANSWER),
        ):
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


# -- sampling --------------------------------------------------------------------------------------


async def test_tools_that_were_not_declared_are_refused() -> None:
    request = HELLO | {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}
    async with everything(capabilities={"sampling": {}}) as rig:
        rig.server.ask("q1", SAMPLE, request)
        await rig.settle()
        assert result_of(rig, "q1")["code"] == -32602
        assert rig.client.sampling.get_pending() == []


@pytest.mark.parametrize(
    ("method", "right", "wrong", "told"),
    [
        (SAMPLE, HELLO, HELLO | {"maxTokens": "many"}, "maxTokens"),
        (ELICIT, FORM, FORM | {"requestedSchema": {"type": "array"}}, "object"),
    ],
)
async def test_a_question_that_breaks_the_rules_is_told_of_and_can_be_answered(
    method: str, right: Any, wrong: Any, told: str
) -> None:
    async with everything() as rig:
        rig.server.ask("q1", method, right)
        await rig.settle()
        assert rig.events(Remark) == []
        rig.server.ask("q2", method, wrong)
        await rig.settle()
        assert told in rig.events(Remark)[-1].message
        handler = rig.client.sampling if method == SAMPLE else rig.client.elicitation
        assert len(handler.get_pending()) == 2


async def test_a_conversation_that_is_out_of_balance_is_refused() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    messages = [
        {"role": "user", "content": {"type": "text", "text": "add"}},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": {"type": "text", "text": "well?"}},
    ]
    async with everything() as rig:
        rig.server.ask("q1", SAMPLE, {"messages": messages, "maxTokens": 1})
        await rig.settle()
        error = result_of(rig, "q1")
        assert error["code"] == -32602
        assert "t1" in error["message"]


@pytest.mark.parametrize("params", [None, [], "x", 7])
async def test_params_that_are_no_object_are_refused(params: Any) -> None:
    async with everything() as rig:
        for identity, method in (("q1", SAMPLE), ("q2", ELICIT)):
            rig.server.send_json(
                {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
            )
        await rig.settle()
        assert result_of(rig, "q1")["code"] == result_of(rig, "q2")["code"] == -32602


# -- elicitation -----------------------------------------------------------------------------------


async def test_accept_decline_and_cancel_are_three_answers() -> None:
    async with everything() as rig:
        for identity in ("q1", "q2", "q3"):
            rig.server.ask(identity, ELICIT, FORM)
        await rig.settle()
        first, second, third = rig.client.elicitation.get_pending()
        rig.client.elicitation.accept(first.id, {"host": "db"})
        rig.client.elicitation.decline(second.id)
        rig.client.elicitation.cancel(third.id)
        await rig.settle()
        # What the form leaves out has its default.
        content = {"host": "db", "port": 5432}
        assert result_of(rig, "q1") == {"action": "accept", "content": content}
        assert result_of(rig, "q2") == {"action": "decline"}
        assert result_of(rig, "q3") == {"action": "cancel"}


async def test_a_profile_may_force_a_single_answer() -> None:
    async with everything(elicitation=lambda request: Forced({"action": "accept"})) as rig:
        rig.server.ask("q1", ELICIT, FORM)
        await rig.settle()
        assert result_of(rig, "q1") == {"action": "accept"}  # neither refused nor filled in


async def test_a_form_is_checked_against_its_schema_unless_forced() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, FORM)
        await rig.settle()
        (pending,) = rig.client.elicitation.get_pending()
        with pytest.raises(InspectorError, match="host") as problem:
            rig.client.elicitation.accept(pending.id, {"port": 1})
        assert problem.value.code == "INVALID_ANSWER"
        rig.client.elicitation.accept(pending.id, {"port": "x"}, force=True)
        await rig.settle()
        assert result_of(rig, "q1") == {"action": "accept", "content": {"port": "x"}}


async def test_a_schema_that_is_no_schema_does_not_keep_one_from_answering() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, {"message": "?", "requestedSchema": {"type": 7}})
        await rig.settle()
        (pending,) = rig.client.elicitation.get_pending()
        rig.client.elicitation.accept(pending.id, {"a": 1})
        await rig.settle()
        assert result_of(rig, "q1") == {"action": "accept", "content": {"a": 1}}


@pytest.mark.parametrize(
    ("declared", "mode", "is_asked"),
    [
        ({"form": {}, "url": {}}, "url", True),
        ({"form": {}}, "url", False),
        ({"url": {}}, "form", False),
        ({}, "form", True),
        ({}, "url", False),
        ({"form": {}, "url": {}}, "smell", False),
    ],
)
async def test_a_mode_that_was_not_declared_is_refused(
    declared: dict[str, Any], mode: str, is_asked: bool
) -> None:
    async with Rig(capabilities={"elicitation": declared}) as rig:
        rig.server.ask("q1", ELICIT, (LINK if mode == "url" else FORM) | {"mode": mode})
        await rig.settle()
        if is_asked:
            assert len(rig.client.elicitation.get_pending()) == 1
        else:
            assert result_of(rig, "q1")["code"] == -32602


async def test_agreeing_to_a_url_carries_no_content() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, LINK)
        await rig.settle()
        (pending,) = rig.client.elicitation.get_pending()
        rig.client.elicitation.accept(pending.id)
        await rig.settle()
        assert result_of(rig, "q1") == {"action": "accept"}
        assert not rig.client.elicitation.is_completed("e1")
        waiting = await rig.started(rig.client.elicitation.wait_completed("e1"))
        rig.server.notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        await waiting
        assert rig.client.elicitation.is_completed("e1")
        (event,) = rig.events(ElicitationCompleted)
        assert (event.elicitation_id, event.is_known) == ("e1", True)


async def test_whoever_waits_for_a_page_hears_that_the_connection_is_over() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, LINK)
        await rig.settle()
        waiting = await rig.started(rig.client.elicitation.wait_completed("e1"))
        await rig.client.disconnect()
        await rig.settle()
        assert isinstance(failure(waiting), CancelledRequest)


async def test_a_url_that_is_completed_before_it_was_answered_counts_as_accepted() -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, LINK)
        await rig.settle()
        rig.server.notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        await rig.settle()
        assert result_of(rig, "q1") == {"action": "accept"}


@pytest.mark.parametrize("identity", ["other", None, 7, {"a": 1}])
async def test_an_unknown_elicitation_that_completes_is_ignored(identity: Any) -> None:
    async with everything() as rig:
        rig.server.ask("q1", ELICIT, LINK)
        rig.server.notify("notifications/elicitation/complete", {"elicitationId": identity})
        await rig.settle()
        assert len(rig.client.elicitation.get_pending()) == 1
        assert [event.is_known for event in rig.events(ElicitationCompleted)] == [False]


# -- roots -----------------------------------------------------------------------------------------


async def test_roots_are_told_and_changes_are_announced(tmp_path: Path) -> None:
    folder = tmp_path / "my project"
    async with Rig(roots=[tmp_path]) as rig:
        added = rig.client.roots.add(folder, "Project")
        await rig.settle()
        rig.server.ask("q1", "roots/list")
        await rig.settle()
        assert result_of(rig, "q1") == {
            "roots": [{"uri": tmp_path.as_uri()}, {"uri": folder.as_uri(), "name": "Project"}]
        }
        assert rig.client.roots.remove(added)
        assert not rig.client.roots.remove(added)
        rig.client.roots.set([tmp_path])  # no change, no word of it
        await rig.settle()
        assert len(rig.server.sent("notifications/roots/list_changed")) == 2
        assert [len(event.roots) for event in rig.events(RootsChanged)] == [2, 1]


@pytest.mark.parametrize("bad", ["http://example.com/x", "", "file:///a/%2e%2e/b", "a\0b"])
async def test_what_is_no_folder_is_no_root(bad: str) -> None:
    async with Rig(roots=[]) as rig:
        with pytest.raises(ConfigurationError, match="root"):
            rig.client.roots.add(bad)
        with pytest.raises(ConfigurationError, match="root"):
            rig.client.roots.set(["/tmp", bad])
        assert rig.client.roots.list() == []


async def test_roots_without_list_changed_are_changed_in_silence() -> None:
    async with Rig(roots=[], capabilities={"roots": {}}) as rig:
        rig.client.roots.add("/srv")
        await rig.settle()
        assert rig.server.sent("notifications/roots/list_changed") == []


# -- what is declared is what is handled -----------------------------------------------------------


async def test_nothing_is_declared_unless_it_was_asked_for() -> None:
    async with Rig() as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["capabilities"] == {}
        for number, method in enumerate((SAMPLE, ELICIT, "roots/list", "tasks/list", "tasks/get")):
            rig.server.ask(f"q{number}", method, HELLO)
        await rig.settle()
        assert [result_of(rig, f"q{number}")["code"] for number in range(5)] == [-32601] * 5


async def test_all_that_is_on_is_declared() -> None:
    async with everything(
        receiver_tasks=True,
        capabilities={"experimental": {"mine": {"x": 1}}, "extensions": {"a/b": {}}},
    ) as rig:
        (initialize,) = rig.server.sent("initialize")
        assert initialize["params"]["capabilities"] == {
            "sampling": {"tools": {}, "context": {}},
            "elicitation": {"form": {}, "url": {}},
            "roots": {"listChanged": True},
            "tasks": {
                "list": {},
                "cancel": {},
                "requests": {"sampling": {"createMessage": {}}, "elicitation": {"create": {}}},
            },
            "experimental": {"mine": {"x": 1}},
            "extensions": {"a/b": {}},
        }


async def test_what_was_chosen_word_for_word_wins_and_is_handled() -> None:
    async with everything(capabilities={"sampling": None, "elicitation": {"url": {}}}) as rig:
        (initialize,) = rig.server.sent("initialize")
        declared = initialize["params"]["capabilities"]
        assert declared == {"elicitation": {"url": {}}, "roots": {"listChanged": True}}
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        assert result_of(rig, "q1")["code"] == -32601


@pytest.mark.parametrize(
    ("options", "requests"),
    [
        ({"sampling": False}, {"elicitation": {"create": {}}}),
        ({"capabilities": {"elicitation": None}}, {"sampling": {"createMessage": {}}}),
        ({"sampling": False, "elicitation": False}, None),
    ],
)
async def test_what_nobody_answers_is_not_offered_as_a_task(
    options: dict[str, Any], requests: Any
) -> None:
    async with everything(receiver_tasks=True, **options) as rig:
        (initialize,) = rig.server.sent("initialize")
        tasks = initialize["params"]["capabilities"].get("tasks")
        assert tasks == (requests and {"list": {}, "cancel": {}, "requests": requests})


async def test_other_capabilities_are_declared_with_the_next_connection() -> None:
    async with Rig() as rig:
        rig.client.choose_capabilities({"sampling": {}})
        await rig.client.disconnect()
        await rig.client.connect()
        assert rig.server.sent("initialize")[-1]["params"]["capabilities"] == {"sampling": {}}
        rig.server.ask("q1", SAMPLE, HELLO)
        await rig.settle()
        assert len(rig.client.sampling.get_pending()) == 1


async def test_in_2026_07_28_tasks_are_no_capability_and_roots_do_not_change() -> None:
    server = ScriptedServer(is_stateless=True)
    async with everything(
        server=server,
        protocol_version=STATELESS,
        receiver_tasks=True,
        capabilities={"extensions": {"io.modelcontextprotocol/tasks": {}}},
    ) as rig:
        await rig.client.list_tools()
        (listed,) = rig.server.sent("tools/list")
        meta = listed["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == {
            "sampling": {"tools": {}, "context": {}},
            "elicitation": {"form": {}, "url": {}},
            "roots": {},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        }
        rig.client.roots.add("/srv")
        await rig.settle()
        assert rig.server.sent("notifications/roots/list_changed") == []
