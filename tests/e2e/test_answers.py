"""Questions of a real server, answered in the browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .browser import Watched


def test_two_questions_survive_a_reload_with_what_was_half_typed(window: Watched) -> None:
    page = window.enter("/s/demo/tools/ask-everything")
    page.get_by_role("button", name="Run", exact=True).click()
    form = page.get_by_label("Question: elicitation/create")
    model = page.get_by_label("Question: sampling/createMessage")
    form.get_by_label("name").fill("Ada")
    model.get_by_label("Response", exact=False).last.fill("half an ans")
    page.reload()
    expect(form.get_by_label("name")).to_have_value("Ada")
    expect(model.get_by_label("Response", exact=False).last).to_have_value("half an ans")
    form.get_by_role("button", name="Submit").click()
    expect(form).to_be_hidden()
    model.get_by_role("button", name="Edit & Send").click()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    call = page.get_by_label("Call of ask-everything")
    expect(call).to_contain_text("Ada")
    expect(call).to_contain_text("half an ans")
    window.assert_clean()


@pytest.mark.parametrize(("button", "word"), [("Decline", "decline"), ("Cancel", "cancel")])
def test_a_form_is_declined_or_cancelled(window: Watched, button: str, word: str) -> None:
    page = window.enter("/s/demo/tools/elicit-form")
    page.get_by_role("button", name="Run", exact=True).click()
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text(word)
    window.assert_clean()


def test_a_profile_answers_in_a_person_s_place(window: Watched) -> None:
    page = window.enter("/s/demo/tools/sample-with-tools")
    page.get_by_role("button", name="Run", exact=True).click()
    model = page.get_by_label("Question: sampling/createMessage")
    model.get_by_role("button", name="Auto-respond").click()
    model.get_by_text("tool_result", exact=False).first.wait_for()
    model.get_by_role("button", name="Auto-respond").click()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    window.assert_clean()


def test_a_page_to_visit_is_shown_with_its_host(window: Watched) -> None:
    page = window.enter("/s/demo/tools/elicit-url")
    page.get_by_role("button", name="Run", exact=True).click()
    question = page.get_by_label("Question: elicitation/create")
    expect(question).to_contain_text("this computer")
    question.get_by_role("button", name="Decline").click()
    expect(question).to_be_hidden()
    window.assert_clean()


def test_a_tool_runs_as_a_task_and_is_listed(window: Watched) -> None:
    page = window.enter("/s/demo/tools/task-report")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    window.goto("/s/demo/tasks")
    expect(page.get_by_text("completed").first).to_be_visible()
    assert window.axe() == []
    window.assert_clean()
