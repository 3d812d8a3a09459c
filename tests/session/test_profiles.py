"""Testing profiles: every kind of them, what their settings may be, and what a server gets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import mcplens
from mcplens.clock import ManualClock
from mcplens.errors import ConfigurationError, InspectorError, ServerError
from mcplens.events import QuestionClosed
from mcplens.session import profiles
from mcplens.session.handler import ServerRequest
from mcplens.session.profiles import BUILT_IN, Profiles, Settings, Way, elicit_like

from .scripted import Rig

SAMPLE = "sampling/createMessage"
ELICIT = "elicitation/create"
ADD = {
    "name": "add",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"type": "string"}},
        "required": ["a", "b"],
    },
}
NOW = {"name": "now", "inputSchema": {"type": "object"}}
# Every form that an enum may have, one field with a default and several without.
FORM = {
    "message": "?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "plain": {"type": "string", "enum": ["red", "green"]},
            "named": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]},
            "titled": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
            "many": {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "minItems": 1,
            },
            "many_titled": {
                "type": "array",
                "items": {"anyOf": [{"const": "p", "title": "P"}, {"const": "q", "title": "Q"}]},
                "minItems": 2,
            },
            "chosen": {"type": "string", "enum": ["red", "green"], "default": "green"},
            "mail": {"type": "string", "format": "email"},
            "count": {"type": "integer", "minimum": 7},
            "is_sure": {"type": "boolean", "default": True},
        },
        "required": ["plain", "named", "titled", "many", "many_titled", "mail", "count"],
    },
}
LINK = {"mode": "url", "message": "go", "url": "https://example.com/x", "elicitationId": "e1"}


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": {"type": "text", "text": text}}


def completion(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": list(messages or [said("hello")]), "maxTokens": 10} | more


def asked(params: Any = None, method: str = SAMPLE) -> ServerRequest:
    return ServerRequest("q1", method, completion() if params is None else params, b"")


def text_of(answer: Any) -> str:
    assert answer["content"]["type"] == "text"
    return str(answer["content"]["text"])


async def answer_of(values: dict[str, Any], params: Any = None, **others: Any) -> Any:
    return await Profiles(others).make("mine", values).answer(asked(params))


def refusal(values: Any, **others: Any) -> str:
    with pytest.raises(ConfigurationError) as problem:
        Profiles({"mine": values, **others}).get("mine")
    assert problem.value.code == "CONFIGURATION_INVALID"
    return problem.value.message


def answered(rig: Rig, identity: str) -> Any:
    message = rig.server.answer_to(identity)
    assert message is not None, "no answer yet"
    return message.get("result", message.get("error"))


async def asked_over_the_wire(profile: Any, params: Any, method: str = SAMPLE) -> Any:
    async with Rig(sampling=profile, elicitation=profile) as rig:
        rig.server.ask("q1", method, params)
        await rig.settle()
        return answered(rig, "q1")


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


# -- settings ------------------------------------------------------------------------------------


def test_names_are_those_built_in_and_those_of_the_configuration() -> None:
    own = Profiles({"mine": {"kind": "echo"}})
    assert own.names() == sorted([*BUILT_IN, "mine"])
    assert own.get("mine").name == "mine"
    with pytest.raises(ConfigurationError, match=r"there is no profile 'yours'.*echo.*mine"):
        own.get("yours")


async def test_a_profile_of_the_users_takes_the_place_of_one_that_is_built_in() -> None:
    own = Profiles({"echo": {"kind": "fixed", "text": "mine"}})
    assert text_of(await own.get("echo").answer(asked())) == "mine"


@pytest.mark.parametrize("name", BUILT_IN)
async def test_what_is_built_in_answers_completions_and_forms(name: str) -> None:
    profile = Profiles().get(name)
    for params, method in ((completion(), SAMPLE), (FORM, ELICIT)):
        result = await asked_over_the_wire(profile, params, method) if name != "manual" else {}
        assert result.get("code") in (None, -1)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "the profile mine: kind has to be a text"),
        ({"kind": "magic"}, "the profile mine: there is no kind 'magic'; there are: delay, echo"),
        ({"kind": "fixed"}, "the profile mine: text has to be a text"),
        ({"kind": "fixed", "text": 7}, "the profile mine: text has to be a text"),
        ({"kind": "fixed", "answer": "x"}, "the profile mine: answer has to be an object"),
        ({"kind": "echo", "model": None}, "the profile mine: model has to be a text"),
        ({"kind": "echo", "modle": "x"}, "the profile mine: modle: echo has no such setting"),
        ({"kind": "tool-use", "which": "last"}, "the profile mine: which has to be first or each"),
        ({"kind": "tool-use", "then": "gone"}, "mine: then is 'gone', and there is no such"),
        ({"kind": "refuse", "message": []}, "the profile mine: message has to be a text"),
        ({"kind": "delay", "then": "echo"}, "the profile mine: seconds has to be a number"),
        ({"kind": "delay", "seconds": -1, "then": "echo"}, "seconds has to be a number from 0"),
        ({"kind": "delay", "seconds": True, "then": "echo"}, "seconds has to be a number from 0"),
        ({"kind": "delay", "seconds": 10**400, "then": "echo"}, "seconds has to be a number"),
        ({"kind": "delay", "seconds": 1}, "mine: then has to be the name of a profile, or settin"),
        ({"kind": "script"}, "the profile mine: steps has to be a list that is not empty"),
        ({"kind": "script", "steps": []}, "mine: steps has to be a list that is not empty"),
        ({"kind": "script", "steps": ["echo", 7]}, "the profile mine: steps[1] has to be the name"),
        ({"kind": "script", "steps": ["no"]}, "mine: steps[0] is 'no', and there is no such"),
        ({"kind": "script", "steps": ["echo"], "repeat": 1}, "repeat has to be true or false"),
        ({"kind": "echo", "force": "yes"}, "the profile mine: force has to be true or false"),
        ({"kind": "echo", "elicitation": "maybe"}, "the profile mine: elicitation is 'maybe': say"),
        ({"kind": "echo", "elicitation": {"content": 1}}, "the profile mine: elicitation is"),
        ({"kind": "model", "model": "m"}, "the profile mine: url has to be a text"),
        ("echo", "the profile mine has to be an object with a kind"),
        (None, "the profile mine has to be an object with a kind"),
        ([], "the profile mine has to be an object with a kind"),
    ],
)
def test_a_wrong_setting_is_named(values: Any, words: str) -> None:
    assert words in refusal(values)


def test_a_wrong_setting_of_another_profile_is_told_as_that_profiles() -> None:
    told = refusal({"kind": "tool-use", "then": "other"}, other={"kind": "fixed"})
    assert told == "the profile other: text has to be a text"


def test_profiles_that_name_each_other_without_end_are_refused() -> None:
    many = ["mine", "other"] * 50
    told = refusal({"kind": "script", "steps": many}, other={"kind": "script", "steps": many})
    assert "name each other without end" in told
    assert "without end" in refusal({"kind": "delay", "seconds": 0, "then": "mine"})


def test_no_text_about_a_profile_shows_its_values() -> None:
    own = Profiles({"mine": {"kind": "echo", "apiKey": "s3cret"}})
    told = refusal({"kind": "echo", "apiKey": "s3cret"})
    settings = Settings("mine", {"apiKey": "s3cret"}, own, 0)
    assert "s3cret" not in f"{own!r} {told} {settings!r}"


# -- forms ---------------------------------------------------------------------------------------


def eliciting(like: Any, **more: Any) -> Any:
    return Profiles().make("mine", {"kind": "manual", "elicitation": like, **more})


async def test_accept_fills_a_form_with_defaults_and_examples() -> None:
    answer = await asked_over_the_wire(eliciting("accept"), FORM, ELICIT)
    assert answer["action"] == "accept"
    content = answer["content"]
    assert content["plain"] == "red"
    assert content["named"] == "r"
    assert content["titled"] == "x"
    assert set(content["many"]) <= {"a", "b"}
    assert sorted(content["many_titled"]) == ["p", "q"]
    assert (content["chosen"], content["is_sure"]) == ("green", True)
    assert "@" in content["mail"]
    assert content["count"] >= 7


async def test_accept_agrees_to_a_url_without_content() -> None:
    assert await asked_over_the_wire(eliciting("accept"), LINK, ELICIT) == {"action": "accept"}
    content = eliciting({"content": {"a": 1}})
    assert await asked_over_the_wire(content, LINK, ELICIT) == {"action": "accept"}


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_decline_and_cancel_are_answers_of_their_own(action: str) -> None:
    assert await asked_over_the_wire(eliciting(action), FORM, ELICIT) == {"action": action}
    assert await asked_over_the_wire(eliciting(action), LINK, ELICIT) == {"action": action}


PORT = {
    "message": "?",
    "requestedSchema": {
        "type": "object",
        "properties": {"host": {"type": "string"}, "port": {"type": "integer", "default": 5432}},
        "required": ["host"],
    },
}


async def test_content_is_given_with_the_defaults_of_the_form() -> None:
    answer = await asked_over_the_wire(eliciting({"content": {"host": "db"}}), PORT, ELICIT)
    assert answer == {"action": "accept", "content": {"host": "db", "port": 5432}}


async def test_content_that_does_not_fit_is_refused_unless_forced() -> None:
    wrong = {"content": {"host": 7}}
    error = await asked_over_the_wire(eliciting(wrong), PORT, ELICIT)
    assert error["code"] == -32603
    assert "the answer of mine is not valid" in error["message"]
    forced = await asked_over_the_wire(eliciting(wrong, force=True), PORT, ELICIT)
    # Exactly as it is: no defaults either.
    assert forced == {"action": "accept", "content": {"host": 7}}


async def test_force_sends_a_completion_that_breaks_the_rules() -> None:
    bad = {"role": "nobody", "content": []}
    values = {"kind": "fixed", "answer": bad}
    error = await asked_over_the_wire(Profiles().make("mine", values), completion())
    assert error["code"] == -32603
    forced = Profiles().make("mine", {**values, "force": True})
    assert await asked_over_the_wire(forced, completion()) == bad


@pytest.mark.parametrize("like", [None, "manual"])
async def test_without_a_say_on_forms_they_are_left_to_a_person(like: Any) -> None:
    assert await eliciting(like).answer(asked(FORM, ELICIT)) is None
    assert await elicit_like(like)(asked(FORM, ELICIT)) is None


# -- in Python -------------------------------------------------------------------------------------


async def test_a_kind_of_ones_own_is_used_like_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "_FACTORIES", dict(profiles._FACTORIES))

    def shout(settings: Settings) -> Way:
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
