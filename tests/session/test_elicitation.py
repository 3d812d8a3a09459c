"""Forms and pages that a server asks for: the three answers, and what each mode allows."""

from __future__ import annotations

from typing import Any

import pytest

from mcplens.errors import CancelledRequest, InspectorError
from mcplens.events import ElicitationCompleted
from mcplens.session.question_handler import Forced

from .scripted import Rig, failure
from .server_questions import ELICIT, FORM, LINK, everything, result_of


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
