"""Questions of a real server, answered in the browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, copy_by, retype, watched
from .site import Site


def press_run(page: Page) -> None:
    """Run the tool that is shown, and have its call in place of an earlier one."""
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page).to_have_url(re.compile(r"\?call="))


def run(window: Watched, tool: str) -> tuple[Page, Locator]:
    """The panel of the first question that a tool of the demo's asks."""
    page = window.enter(f"/s/demo/tools/{tool}")
    press_run(page)
    return page, page.get_by_label("Question: ").first


def test_two_questions_survive_a_reload_with_what_was_half_typed(window: Watched) -> None:
    page = window.enter("/s/demo/tools/ask-everything")
    press_run(page)
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


def test_a_form_sends_what_it_shows_and_nothing_else(window: Watched) -> None:
    page, form = run(window, "elicit-form")
    # An example is looked at before it is sent, and can be taken back.
    form.get_by_role("button", name="Fill with an example").click()
    expect(form.get_by_label("Your name")).not_to_have_value("")
    window.shoot("elicitation-example")
    form.get_by_role("button", name="Undo the example").click()
    expect(form.get_by_label("Your name")).to_have_value("")
    form.get_by_label("Your name").fill("Ada\nLovelace")
    # A default that was emptied does not come back.
    expect(form.get_by_label("nick")).to_have_value("demo")
    form.get_by_label("nick").fill("")
    form.get_by_label("age").fill("4x")
    form.get_by_role("button", name="Submit").click()
    expect(form.get_by_text("This is not a number.")).to_be_visible()
    expect(form.get_by_role("button", name="Send anyway")).to_be_visible()
    form.get_by_label("age").fill("40")
    form.get_by_label("age").press("Control+Enter")
    call = page.get_by_label("Call of elicit-form")
    expect(call.get_by_text("Done", exact=True)).to_be_visible()
    expect(call).to_contain_text("Lovelace")
    expect(call).to_contain_text("age")
    expect(call).not_to_contain_text("nick")
    window.assert_clean()


def test_the_whole_request_is_shown_and_any_model_answers(browser: Browser, demo: Site) -> None:
    with watched(browser, demo, permissions=["clipboard-read", "clipboard-write"]) as window:
        page = window.enter("/s/demo/tools/sample")
        # The defaults are there: what comes later would stand in what is typed.
        page.get_by_role("textbox", name="prompt").wait_for()
        page.get_by_text("JSON", exact=True).first.click()
        retype(
            page.get_by_role("textbox", name="Arguments as JSON"),
            '{"prompt": "What is a lens?", "maxTokens": 12345678901234567890}',
        )
        # Tab leads out of the editor.
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Options", exact=True)).to_be_focused()
        press_run(page)
        model = page.get_by_label("Question: sampling/createMessage")
        for words in (
            "You are the model behind the mcplens demo.",
            "claude", "gpt", "Cost: 0.3", "Speed: 0.8", "Intelligence: 0.5",
            "Max tokens: 12345678901234567890",
            "Temperature: 0.7", "Stop sequences: THE END", "if unanswered",
        ):  # fmt: skip
            expect(model).to_contain_text(words)
        expect(model).not_to_contain_text("mcplens-demo")
        model.get_by_text("Whole request").click()
        request = model.get_by_role("tree", name="Request")
        expect(request).to_contain_text("mcplens-demo")
        expect(request).to_contain_text("12345678901234567890")
        model.get_by_label("Response", exact=False).last.fill("A bent\npiece of glass.")
        copy = model.get_by_role("button", name="Copy the response")
        assert copy_by(page, copy) == "A bent\npiece of glass."
        # Refused, and then changed: what is sent is what stands there.
        reason = model.get_by_role("combobox", name="Stop reason")
        reason.fill("toolUse")
        page.keyboard.press("Escape")
        model.get_by_role("button", name="Edit & Send").click()
        expect(model.get_by_role("button", name="Send anyway")).to_be_visible()
        window.shoot("answers refused")
        model.get_by_label("Model", exact=True).fill("glass-1")
        expect(model.get_by_role("button", name="Send anyway")).to_have_count(0)
        reason.fill("because")
        page.keyboard.press("Escape")
        model.get_by_role("button", name="Edit & Send").click()
        expect(page.get_by_label("Call of sample")).to_contain_text("glass-1 says: A bent")
        window.switch("/s/demo/traffic")
        page.get_by_role("searchbox").first.fill("because")
        # In this revision the answer goes with the repeated call.
        expect(page.get_by_text("tools/call").first).to_be_visible()
        window.assert_clean()


def test_a_tool_call_that_was_built_reaches_the_server(window: Watched) -> None:
    page, model = run(window, "sample-with-tools")
    model.get_by_text("Adds two numbers.").click()
    schema = model.get_by_role("tree", name="Input schema of add")
    expect(schema).to_contain_text("required")
    expect(model).to_contain_text("Tool choice: auto")
    model.get_by_role("combobox", name="Stop reason").fill("toolUse")
    page.keyboard.press("Escape")
    model.get_by_role("button", name="Add", exact=True).click()
    typed = model.get_by_label("Input of call 1")
    expect(typed).to_have_value('{\n  "a": 0,\n  "b": 0\n}')
    assert window.axe() == []
    window.shoot("answers tool call")
    typed.fill('{"a": 2, "b": 40}')
    model.get_by_role("button", name="Edit & Send").click()
    expect(model).to_contain_text("Result of")
    expect(model).to_contain_text("42")
    model.get_by_role("combobox", name="Stop reason").fill("endTurn")
    page.keyboard.press("Escape")
    # Another profile than the server's own.
    model.get_by_role("combobox", name="Testing profile").click()
    page.get_by_role("option", name="echo repeats").click()
    model.get_by_role("button", name="Auto-respond").click()
    expect(page.get_by_label("Call of sample-with-tools")).to_contain_text("after 2 rounds")
    window.assert_clean()


@pytest.mark.parametrize(("button", "word"), [("Decline", "decline"), ("Cancel", "cancel")])
def test_a_form_is_declined_or_cancelled(window: Watched, button: str, word: str) -> None:
    page = window.enter("/s/demo/tools/elicit-form")
    press_run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text(word)
    window.assert_clean()


def test_a_profile_answers_in_a_person_s_place(window: Watched) -> None:
    page = window.enter("/s/demo/tools/sample-with-tools")
    press_run(page)
    model = page.get_by_label("Question: sampling/createMessage")
    model.get_by_role("button", name="Auto-respond").click()
    model.get_by_text("tool_result", exact=False).first.wait_for()
    model.get_by_role("button", name="Auto-respond").click()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    window.assert_clean()


def test_a_page_to_visit_is_shown_with_its_host(window: Watched) -> None:
    page = window.enter("/s/demo/tools/elicit-url")
    press_run(page)
    question = page.get_by_label("Question: elicitation/create")
    expect(question).to_contain_text("asks you to open 127.0.0.1")
    question.get_by_role("button", name="Decline").click()
    expect(question).to_be_hidden()
    window.assert_clean()


def test_a_tool_runs_as_a_task_and_is_listed(window: Watched) -> None:
    page = window.enter("/s/demo/tools/task-report")
    press_run(page)
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    window.switch("/s/demo/tasks")
    expect(page.get_by_text("completed").first).to_be_visible()
    assert window.axe() == []
    window.assert_clean()
