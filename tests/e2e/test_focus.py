"""Where the focus goes: along with the palette, into what was added, and to what is wrong."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, until, watched
from .site import Site


def find(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    field = page.get_by_placeholder("Find a server, tool")
    field.fill(words)
    expect(page.get_by_label("Found").get_by_role("option").first).to_contain_text(words)
    field.press("Enter")


def test_the_palette_leads_the_focus_along(window: Watched) -> None:
    page = window.enter("/s/demo/tools")
    page.get_by_text("Gives back the text").wait_for()
    find(page, "form-text")
    expect(page.locator("[data-fields] textarea, [data-fields] input").first).to_be_focused()
    find(page, "log-levels")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_focused()
    find(page, "demo://note")
    expect(page.get_by_role("button", name="Read again")).to_be_focused()
    find(page, "translate")
    expect(page.get_by_role("textbox").first).to_be_focused()
    find(page, "Tasks")
    expect(page.get_by_role("heading", name="Tasks", level=1)).to_be_focused()
    find(page, "Tools")
    expect(page.get_by_role("listbox", name="Tools")).to_be_focused()
    window.assert_clean()


def test_what_is_typed_goes_into_the_item_that_was_added(window: Watched) -> None:
    page = window.enter("/s/demo/tools/form-nested")
    page.get_by_role("button", name="Add an item").first.press("Enter")
    page.keyboard.type("3m")
    expect(page.locator(":focus")).to_have_value("3m")
    expect(page).to_have_url(re.compile("form-nested$"))
    # A button of the form takes no letters, and lets none through.
    page.get_by_role("button", name="Add an item").first.focus()
    page.keyboard.press("3")
    expect(page).to_have_url(re.compile("form-nested$"))
    window.assert_clean()


def ask(window: Watched, tool: str, method: str) -> tuple[Page, Locator]:
    page = window.enter(f"/s/demo/tools/{tool}")
    page.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_label(f"Question: {method}")
    expect(panel).to_be_visible()
    return page, panel


def answers(panel: Locator) -> Locator:
    return panel.locator("[data-answers]")


def begins(shown: Locator) -> float:
    return float(shown.evaluate("(one) => one.getBoundingClientRect().top"))


def ends(shown: Locator) -> float:
    return float(shown.evaluate("(one) => one.getBoundingClientRect().bottom"))


def test_the_answers_are_in_view_and_lead_to_what_is_wrong(browser: Browser, demo: Site) -> None:
    for scheme, width in (("light", 1440), ("dark", 390)):
        size = {"width": width, "height": 844}
        with watched(browser, demo, viewport=size, color_scheme=scheme) as window:
            page, panel = ask(window, "elicit-form", "elicitation/create")
            submit = panel.get_by_role("button", name="Submit")
            if width == 1440:
                expect(submit).to_be_in_viewport(ratio=1)
            window.shoot(f"focus elicit {scheme}")
            submit.click()
            name = panel.get_by_label("name", exact=False).first
            expect(name).to_be_focused()
            assert ends(name) <= begins(answers(panel))
            expect(submit).to_be_in_viewport(ratio=1)
            window.shoot(f"focus elicit wrong {scheme}")
            assert window.axe() == []
            panel.get_by_role("button", name="Decline").click()
            expect(panel).to_be_hidden()
            page, panel = ask(window, "sample", "sampling/createMessage")
            panel.get_by_role("button", name="Edit & Send").click()
            response = panel.get_by_role("textbox", name="Response")
            expect(response).to_be_focused()
            assert ends(panel.get_by_text("The response is empty.")) <= begins(answers(panel))
            window.shoot(f"focus sample {scheme}")
            panel.get_by_role("combobox", name="Testing profile").click()
            window.shoot(f"focus profile {scheme}")
            page.get_by_role("option", name="echo").click()
            expect(panel.get_by_text("Auto-respond uses echo")).to_be_visible()
            response.fill("glass")
            expect(panel.get_by_role("button", name="Send empty")).to_have_count(0)
            page.keyboard.press("Control+Enter")
            expect(panel).to_be_hidden()
            window.assert_clean()


def test_run_stays_where_it_is_when_errors_appear(browser: Browser, demo: Site) -> None:
    with watched(browser, demo) as window:
        page = window.enter("/s/demo/tools/add")
        wrong = page.get_by_role("textbox", name="b", exact=True)
        button = page.get_by_role("button", name="Run", exact=True)
        example = page.get_by_role("button", name="Fill with an example")
        for key in (None, "Control+Enter"):
            page.get_by_role("textbox", name="a", exact=True).fill("abc")
            before = begins(button)
            beside = begins(example)
            if key is None:
                button.click()
            else:
                page.keyboard.press(key)
            expect(page.get_by_role("button", name="Send anyway")).to_be_visible()
            expect(wrong).to_have_attribute("aria-invalid", "true")
            assert begins(button) == before
            assert begins(example) == beside
            # All tabs have room in a window of this width.
            expect(page.get_by_role("button", name="All screens")).to_have_count(0)
            window.shoot("focus errors of a form")
            # Once something else is done, the form has the room that it wants.
            page.mouse.click(5, 5)
            until(page, _BELOW, before)
            page.reload()
            page.mouse.move(5, 5)
        window.assert_clean()
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with watched(browser, demo, **phone) as window:
        page = window.enter("/s/demo/tools/add")
        button = page.get_by_role("button", name="Run", exact=True)
        before = begins(button)
        button.tap()
        expect(page.get_by_text("This is required.").first).to_be_visible()
        assert begins(button) == before
        window.shoot("focus errors of a form narrow")
        window.assert_clean()


_BELOW = "(top) => document.querySelector('[data-run]').getBoundingClientRect().top > top"
