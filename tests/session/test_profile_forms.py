"""How testing profiles answer forms and pages."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.session.profiles import Profiles, elicit_like

from .profile_questions import ELICIT, FORM, asked, asked_over_the_wire, completion

LINK = {"mode": "url", "message": "go", "url": "https://example.com/x", "elicitationId": "e1"}


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
