"""Testing profiles: every kind of them, those of one's own, and what a server gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import mcplens
from mcplens.clock import ManualClock
from mcplens.errors import InspectorError, ServerError
from mcplens.events import QuestionClosed
from mcplens.session import profiles
from mcplens.session.profiles import Profiles, ProfileSettings, Way
from mcplens.session.question_handler import ServerRequest

from .profile_questions import (
    ELICIT,
    FORM,
    SAMPLE,
    answered,
    asked,
    asked_over_the_wire,
    completion,
    said,
    text_of,
)
from .scripted import Rig

ADD = {
    "name": "add",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "string"}},
        "required": ["a", "b"],
    },
}
NOW = {"name": "now", "inputSchema": {"type": "object"}}


async def answer_of(values: dict[str, Any], params: Any = None, **others: Any) -> Any:
    return await Profiles(others).make("mine", values).answer(asked(params))


# -- kinds of answers ----------------------------------------------------------------------------


async def test_manual_leaves_the_question_to_a_person() -> None:
    manual = Profiles().get("manual")
    assert await manual.answer(asked()) is None
    assert await manual.answer(asked(FORM, ELICIT)) is None
    async with Rig(sampling=manual) as rig:
        rig.server.ask("q1", SAMPLE, completion())
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        rig.client.sampling.resolve(pending.id, "by hand")
        await rig.settle()
        assert text_of(answered(rig, "q1")) == "by hand"


async def test_fixed_gives_the_same_text_every_time() -> None:
    values = {"kind": "fixed", "text": "no comment", "model": "mute", "stopReason": "maxTokens"}
    assert await answer_of(values) == {
        "role": "assistant",
        "content": {"type": "text", "text": "no comment"},
        "model": "mute",
        "stopReason": "maxTokens",
    }


async def test_fixed_can_give_an_answer_word_for_word() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    answer = {"role": "assistant", "content": image, "model": "painter"}
    profile = Profiles().make("mine", {"kind": "fixed", "answer": answer})
    assert await asked_over_the_wire(profile, completion()) == answer


async def test_echo_gives_back_what_the_user_said_last() -> None:
    params = completion(said("one"), said("two", "assistant"), said("three"))
    assert text_of(await answer_of({"kind": "echo"}, params)) == "three"
    assert (await answer_of({"kind": "echo", "model": "parrot"}, params))["model"] == "parrot"
    picture = {"role": "user", "content": {"type": "image", "data": "", "mimeType": "image/png"}}
    assert text_of(await answer_of({"kind": "echo"}, completion(picture))) == ""


async def test_refuse_says_no_in_the_configured_words() -> None:
    profile = Profiles().make("mine", {"kind": "refuse", "message": "not on Sundays"})
    error = await asked_over_the_wire(profile, completion())
    assert error == {"code": -1, "message": "not on Sundays"}


# -- tool use ------------------------------------------------------------------------------------


async def test_tool_use_calls_the_first_tool_with_arguments_that_fit() -> None:
    answer = await asked_over_the_wire(
        Profiles().get("tool-use"), completion(tools=[ADD, NOW], toolChoice={"mode": "auto"})
    )
    (use,) = answer["content"]
    assert (use["type"], use["name"], answer["stopReason"]) == ("tool_use", "add", "toolUse")
    assert use["input"]["a"] >= 3
    assert isinstance(use["input"]["b"], str)


async def test_tool_use_can_call_each_tool() -> None:
    answer = await asked_over_the_wire(
        Profiles().get("tool-use-each"), completion(tools=[ADD, NOW])
    )
    assert [use["name"] for use in answer["content"]] == ["add", "now"]
    assert len({use["id"] for use in answer["content"]}) == 2


def after_the_call(**more: Any) -> dict[str, Any]:
    """The second round: what the tool gave."""
    use = {"type": "tool_use", "id": "call_1", "name": "add", "input": {}}
    result = {
        "type": "tool_result",
        "toolUseId": "call_1",
        "content": [{"type": "text", "text": "5"}],
    }
    return completion(
        said("2 + 3?"),
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        tools=[ADD, NOW],
        **more,
    )


async def test_with_the_tools_results_it_uses_words() -> None:
    profile = Profiles().get("tool-use")
    answer = await asked_over_the_wire(profile, after_the_call())
    assert (text_of(answer), answer["stopReason"]) == ("2 + 3?", "endTurn")
    own = Profiles().make(
        "mine", {"kind": "tool-use", "then": {"kind": "fixed", "text": "it is 5"}}
    )
    assert text_of(await asked_over_the_wire(own, after_the_call())) == "it is 5"


async def test_where_no_tool_may_be_called_it_uses_words() -> None:
    params = completion(tools=[ADD], toolChoice={"mode": "none"})
    assert text_of(await asked_over_the_wire(Profiles().get("tool-use"), params)) == "hello"
    assert text_of(await asked_over_the_wire(Profiles().get("tool-use"), completion())) == "hello"


async def test_where_a_tool_must_be_called_it_calls_one_again_with_an_id_of_its_own() -> None:
    params = after_the_call(toolChoice={"mode": "required"})
    (use,) = (await asked_over_the_wire(Profiles().get("tool-use"), params))["content"]
    assert (use["name"], use["id"]) == ("add", "call_2")


async def test_a_tool_without_a_usable_schema_is_called_without_arguments() -> None:
    tools = [{"name": "odd", "inputSchema": {"type": 7}}, {"name": "none"}]
    answer = await answer_of({"kind": "tool-use", "which": "each"}, completion(tools=tools))
    assert [use["input"] for use in answer["content"]] == [{}, {}]


# -- time and order ------------------------------------------------------------------------------


async def test_delay_answers_like_another_after_a_while() -> None:
    async with Rig(sampling=True) as rig:
        own = {"slow": {"kind": "delay", "seconds": 30, "then": "echo"}}
        rig.client.sampling.use(Profiles(own, rig.clock).get("slow"))
        rig.server.ask("q1", SAMPLE, completion())
        await rig.advance(29)
        assert rig.server.answer_to("q1") is None
        await rig.advance(1)
        assert text_of(answered(rig, "q1")) == "hello"
        (closed,) = rig.events(QuestionClosed)
        assert closed.answered_by == "slow"


async def test_a_delay_ends_with_the_connection() -> None:
    async with Rig(sampling=True) as rig:
        own = {"slow": {"kind": "delay", "seconds": 30, "then": "echo"}}
        rig.client.sampling.use(Profiles(own, rig.clock).get("slow"))
        rig.server.ask("q1", SAMPLE, completion())
        await rig.settle()
        await rig.client.disconnect()
        await rig.settle()
        assert rig.clock.timer_count == 0


@pytest.mark.parametrize(
    ("repeats", "texts"),
    [(False, ["one", "hello", "three", "three"]), (True, ["one", "hello", "three", "one"])],
)
async def test_a_script_answers_step_by_step(repeats: bool, texts: list[str]) -> None:
    steps = [{"kind": "fixed", "text": "one"}, "echo", "third"]
    values = {"kind": "script", "steps": steps, "repeat": repeats}
    script = Profiles({"third": {"kind": "fixed", "text": "three"}}).make("mine", values)
    assert [text_of(await script.answer(asked())) for _ in range(4)] == texts


async def test_a_script_may_refuse_and_leave_to_a_person_in_between() -> None:
    script = Profiles().make("mine", {"kind": "script", "steps": ["refuse", "manual", "echo"]})
    with pytest.raises(ServerError):
        await script.answer(asked())
    assert await script.answer(asked()) is None
    assert text_of(await script.answer(asked())) == "hello"


async def test_ways_nest() -> None:
    inner = {"kind": "delay", "seconds": 5, "then": {"kind": "script", "steps": ["echo"]}}
    clock = ManualClock()
    profile = Profiles(clock=clock).make("mine", {"kind": "tool-use", "then": inner})
    work = asyncio.ensure_future(profile.answer(asked()))
    await clock.settle()
    assert not work.done()
    await clock.advance(5)
    assert text_of(await work) == "hello"


# -- in Python -------------------------------------------------------------------------------------


async def test_a_kind_of_ones_own_is_used_like_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "_FACTORIES", dict(profiles._FACTORIES))

    def shout(settings: ProfileSettings) -> Way:
        mark, inner = settings.text("mark", "!"), settings.way(settings.get("then", "echo"))

        async def answer(request: ServerRequest) -> Any:
            return text_of(await inner(request)).upper() + mark

        return answer

    mcplens.register_profile("shout", shout)
    own = mcplens.Profiles({"loud": {"kind": "shout", "mark": "!!"}})
    answer = await asked_over_the_wire(own.get("loud"), completion())
    assert text_of(answer) == "HELLO!!"
    script = own.make("mine", {"kind": "script", "steps": ["loud", {"kind": "shout"}]})
    assert [await script.answer(asked()) for _ in range(2)] == ["HELLO!!", "HELLO!"]


async def test_any_object_with_a_name_and_an_answer_is_a_profile() -> None:
    class Polite:
        name = "polite"

        async def answer(self, request: ServerRequest) -> Any:
            return "if you please"

    profile = Polite()
    assert isinstance(profile, mcplens.Profile)
    assert text_of(await asked_over_the_wire(profile, completion())) == "if you please"


# -- a question that waits -------------------------------------------------------------------------


async def test_a_profile_is_tried_on_a_question_that_waits() -> None:
    async with Rig(sampling=True) as rig:
        rig.server.ask("q1", SAMPLE, completion())
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        await rig.client.sampling.try_profile(pending.id, Profiles().get("manual"))
        assert rig.client.sampling.get_pending() == [pending]
        await rig.client.sampling.try_profile(pending.id, Profiles().get("echo"))
        await rig.settle()
        assert text_of(answered(rig, "q1")) == "hello"
        (closed,) = rig.events(QuestionClosed)
        assert closed.answered_by == "echo"
        with pytest.raises(InspectorError) as problem:
            rig.client.sampling.try_profile(pending.id, Profiles().get("echo"))
        assert problem.value.code == "QUESTION_GONE"


async def test_a_profile_that_is_tried_stops_when_the_question_is_withdrawn() -> None:
    async with Rig(sampling=True) as rig:
        rig.server.ask("q1", SAMPLE, completion())
        await rig.settle()
        (pending,) = rig.client.sampling.get_pending()
        slow = Profiles(clock=rig.clock).make(
            "slow", {"kind": "delay", "seconds": 200, "then": "echo"}
        )
        work = rig.client.sampling.try_profile(pending.id, slow)
        await rig.settle()
        rig.server.notify("notifications/cancelled", {"requestId": "q1"})
        await rig.settle()
        assert work.cancelled()
