"""What is more than a page can draw: it is drawn in pieces, or said to be too much, and the page
goes on working."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .browser import Watched, retype, watched
from .calls import run
from .pair import connect
from .site import configure, site

SERVER = {"command": sys.executable, "args": [str(Path(__file__).with_name("huge_server.py"))]}


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home = tmp_path_factory.mktemp("home")
    configure(home, {"huge": SERVER})
    with site(home) as running, watched(browser, running) as window:
        connect(window.enter("/servers"), "huge")
        yield window


def test_tools_named_like_steps_of_an_address_are_opened_and_called(opened: Watched) -> None:
    page = opened.switch("/s/huge/tools")
    tools = page.get_by_role("listbox", name="Tools")
    for name, shown in (("..", ".."), (".", "."), (" ", "⟦U+0020⟧")):
        tools.get_by_role("option").filter(has=page.get_by_text(shown, exact=True)).click()
        expect(page.get_by_role("heading", name=shown, exact=True)).to_be_visible()
        run(page)
        expect(page.get_by_text(f"called {name!r}")).to_be_visible()
    opened.shoot("a name of room")
    opened.goto("/s/huge/tools/~..")
    expect(page.get_by_role("heading", name="..", exact=True)).to_be_visible()
    opened.assert_clean()


def test_a_form_that_is_too_long_is_json(opened: Watched) -> None:
    for name in ("fields", "bomb"):
        page = opened.switch(f"/s/huge/tools/{name}")
        expect(page.get_by_text("This form has too many fields to show")).to_be_visible()
    retype(opened.page.get_by_label("Arguments as JSON"), '{"x": 1}')
    opened.shoot("a form too long")


def test_a_pattern_that_a_browser_cannot_end_freezes_neither_form(opened: Watched) -> None:
    page = opened.switch("/s/huge/tools/slow")
    form = page.locator("[data-form]").first
    for name in ("Run", "Submit"):
        linear, endless = form.get_by_label("linear"), form.get_by_label("endless")
        expect(endless).to_have_accessible_description(re.compile("too slow to check"))
        form.page.get_by_role("button", name=name, exact=True).click()
        expect(linear).to_have_accessible_description(re.compile("does not match the pattern"))
        expect(linear).to_be_focused()
        opened.shoot(f"slow patterns {name}")
        linear.press("ControlOrMeta+End")
        linear.press("Backspace")
        expect(linear).not_to_have_accessible_description(re.compile("does not match"))
        page.get_by_role("button", name=name, exact=True).click()
        form = page.get_by_label("Question: elicitation/create")
        if name == "Run":
            expect(form.get_by_text("Again?")).to_be_visible()
    expect(form).to_be_hidden()
    page.get_by_label("Call of slow").get_by_role("button", name="Cancel").click()
    opened.assert_clean()


def test_a_long_list_is_in_groups(opened: Watched) -> None:
    page = opened.switch("/s/huge/tools/rows")
    run(page)
    panel = page.get_by_label("Call of rows")
    tree = panel.get_by_role("tree", name="Structured content")
    expect(tree.get_by_role("treeitem").nth(2)).to_have_text(re.compile(r"^0 … 999\[1,000 items$"))
    panel.get_by_label("Search in JSON").fill("row 199999")
    panel.get_by_label("Search in JSON").press("Enter")
    expect(tree.get_by_text('"row 199999"')).to_be_visible()
    opened.shoot("a list in groups")
    opened.assert_clean()


def test_thousands_of_messages_come_in_pieces(opened: Watched) -> None:
    page = opened.switch("/s/huge/tools/sample")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label("Call of sample")
    expect(panel.get_by_text("2,900 more messages")).to_be_visible()
    panel.get_by_role("button", name="Reject").click()
    expect(panel.get_by_role("button", name="Reject")).to_be_hidden()
    panel.get_by_role("button", name="Cancel").click()


def test_of_thousands_of_questions_a_few_are_drawn_and_each_can_be_opened(
    opened: Watched,
) -> None:
    page = opened.switch("/s/huge/tools/elicit")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label("Call of elicit")
    expect(panel.get_by_text("995 more are waiting")).to_be_visible()
    # The first of them has a form of a thousand fields.
    expect(panel.get_by_text("This form has too many fields to show")).to_have_count(1)
    expect(panel.get_by_role("button", name="Decline")).to_have_count(5)
    opened.shoot("many questions")
    panel.get_by_role("button", name="Decline").first.click()
    expect(panel.get_by_text("994 more are waiting")).to_be_visible()
    panel.get_by_role("link", name="All questions").click()
    expect(page.get_by_text("999 waiting")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(102)
    opened.shoot("all questions")
    page.get_by_role("row").nth(50).get_by_role("link").click()
    expect(page.get_by_role("button", name="Decline")).to_have_count(5)
    page.get_by_role("button", name="Cancel tool execution").click()
    opened.assert_clean()
