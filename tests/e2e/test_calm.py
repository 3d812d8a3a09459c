"""Content first: a result, a resource and a prompt begin near the top of their panels, and nothing
is drawn twice."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from .browser import Watched
from .calls import run

# How far below the top of its panel content may begin, at 1440 x 900.
MOST_PX = 150


def gap(panel: Locator, content: Locator) -> float:
    """How far below the top of its panel content begins."""
    outer, inner = panel.bounding_box(), content.bounding_box()
    assert outer
    assert inner
    return inner["y"] - outer["y"]


def test_a_result_begins_near_the_top_of_its_panel(window: Watched) -> None:
    titles = {"echo": "echo", "content-markdown": "content-markdown"}
    for tool, title in {**titles, "structured-weather": "Weather (made up)"}.items():
        page = window.enter(f"/s/demo/tools/{tool}")
        page.get_by_role("heading", name=title).wait_for()
        if tool == "echo":
            page.get_by_label("text *", exact=True).fill("near")
        run(page)
        panel = page.get_by_label(f"Call of {tool}")
        expect(panel).to_contain_text("Done")
        window.settle()
        label = "Structured content" if tool == "structured-weather" else "Text"
        assert gap(panel, panel.get_by_label(label, exact=True)) <= MOST_PX, tool
        window.shoot(f"calm {tool}")
        assert window.axe() == [], tool
    window.assert_clean()


def test_a_resource_begins_near_the_top_of_its_panel_and_says_its_uri_once(window: Watched) -> None:
    page = window.enter("/s/demo/resources/demo%3A%2F%2Fmarkdown")
    call = page.get_by_label("Call of demo://markdown")
    content = call.get_by_role("heading").first
    content.wait_for()
    window.settle()
    assert gap(call, content) <= MOST_PX
    expect(call.get_by_text("demo://markdown", exact=True)).to_have_count(1)
    expect(page.get_by_role("radiogroup")).to_have_count(1)
    window.shoot("calm resource")
    window.assert_clean()


def test_a_prompt_begins_near_the_top_of_its_panel(window: Watched) -> None:
    page = window.enter("/s/demo/prompts/conversation")
    page.get_by_role("textbox", name="name").fill("Ada")
    page.get_by_role("button", name="Get the messages").click()
    panel = page.get_by_label("Call of conversation")
    content = panel.get_by_label("Text", exact=True).first
    content.wait_for()
    window.settle()
    assert gap(panel, content) <= MOST_PX
    window.shoot("calm prompt")
    window.assert_clean()


def test_text_that_repeats_structured_content_is_shown_on_request(window: Watched) -> None:
    page = window.enter("/s/demo/tools/structured-weather")
    run(page)
    panel = page.get_by_label("Call of structured-weather")
    expect(panel.get_by_role("tree")).to_have_count(1)
    expect(panel).to_contain_text("The text is the same as the structured content.")
    panel.get_by_role("button", name="Show the text").click()
    expect(panel.get_by_label("Text", exact=True)).to_be_visible()
    window.assert_clean()


def test_a_question_comes_first_and_is_answered_with_a_tool_call(window: Watched) -> None:
    page = window.enter("/s/demo/tools/sample-with-tools")
    run(page)
    call = page.get_by_label("Call of sample-with-tools")
    question = call.get_by_label("Question: sampling/createMessage")
    expect(question).to_contain_text("demo asks for a completion")
    assert gap(call, question) <= MOST_PX / 2
    question.get_by_role("button", name="Answer with a tool call").click()
    expect(question.get_by_role("combobox", name="Stop reason")).to_have_value("toolUse")
    expect(question.get_by_role("combobox", name="Tool of call 1")).to_be_focused()
    assert window.axe() == []
    window.shoot("answer with a tool call")
    question.get_by_role("button", name="Reject").click()
    expect(question).to_be_hidden()
    window.assert_clean()


def test_the_warning_about_a_url_comes_before_open_and_accept_after_it(window: Watched) -> None:
    page = window.enter("/s/demo/tools/elicit-url")
    run(page)
    question = page.get_by_label("Question: elicitation/create")
    open_it = question.get_by_role("button", name="Open")
    warning = question.get_by_text("Verify the domain.")
    assert gap(question, warning) < gap(question, open_it)
    accept = question.get_by_role("button", name="Accept")
    assert gap(question, open_it) < gap(question, accept)
    with page.expect_popup() as opened:
        open_it.click()
    opened.value.close()
    expect(question).to_contain_text("Opened. Waiting for completion.")
    question.get_by_role("button", name="Decline").click()
    expect(question).to_be_hidden()


def test_the_raw_tester_shows_message_and_reply_side_by_side(window: Watched) -> None:
    page = window.enter("/s/demo/raw")
    editor = page.get_by_label("Message to send")
    reply = page.get_by_role("region", name="Reply")
    expect(reply).to_contain_text("No reply yet")
    page.get_by_role("button", name="Send", exact=True).click()
    expect(reply).to_contain_text("Done")
    left, right = editor.bounding_box(), reply.bounding_box()
    assert left
    assert right
    assert right["x"] > left["x"] + left["width"] - 1
    assert abs(right["y"] - left["y"]) < 60
    window.assert_clean()


def test_a_result_keeps_together_on_a_very_wide_window(window: Watched) -> None:
    page = window.enter("/s/demo/tools/structured-weather")
    page.set_viewport_size({"width": 2560, "height": 1300})
    run(page)
    panel = page.get_by_label("Call of structured-weather")
    expect(panel).to_contain_text("Done")
    window.settle()
    ends = []
    for name in ("Copy as", "Table"):
        box = panel.get_by_role("button", name=name).bounding_box()
        assert box
        ends.append(box["x"] + box["width"])
    assert abs(ends[0] - ends[1]) < 40
    window.shoot("calm 2560")
    window.assert_clean()
