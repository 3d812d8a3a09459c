"""The settings of testing profiles: their names, and what is wrong with a value."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import ConfigurationError
from mcplens.session.profiles import BUILT_IN, Profiles, ProfileSettings

from .profile_questions import ELICIT, FORM, SAMPLE, asked, asked_over_the_wire, completion, text_of


def refusal(values: Any, **others: Any) -> str:
    with pytest.raises(ConfigurationError) as problem:
        Profiles({"mine": values, **others}).get("mine")
    assert problem.value.code == "CONFIGURATION_INVALID"
    return problem.value.message


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
    settings = ProfileSettings("mine", {"apiKey": "s3cret"}, own, 0)
    assert "s3cret" not in f"{own!r} {told} {settings!r}"
