"""What stands in lists: found again, walked through, followed, told apart, and used by hand."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocket, expect

from .browser import Watched, watched
from .site import Site, configure, site

LISTED = {"command": sys.executable, "args": [str(Path(__file__).with_name("listed_server.py"))]}
CALL = re.compile("^Call of")
OF_SEVERAL = re.compile(r"^\d+ calls$")
_STEPS = """(list, count) => {
  for (let step = 0; step < count; step++)
    list.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
}"""


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    home: Path = tmp_path_factory.mktemp("home")
    configure(home, {"listed": LISTED})
    with site(home) as running:
        with watched(browser, running) as window:
            page = window.enter("/s/listed/tools")
            page.get_by_role("button", name="Connect", exact=True).click()
            expect(rows(page, "Tools").first).to_be_visible()
        yield running


@pytest.fixture
def at(browser: Browser, listed: Site) -> Iterator[Watched]:
    with watched(browser, listed) as window:
        yield window


def rows(page: Page, label: str) -> Locator:
    return page.get_by_role("listbox", name=label).get_by_role("option")


def run(page: Page) -> Locator:
    page.get_by_role("button", name="Run", exact=True).click()
    return page.get_by_label(CALL)


def run_other(window: Watched, tool: str) -> Locator:
    """Go to another tool and run it, and not the one that is left."""
    window.switch(f"/s/listed/tools/{tool}")
    expect(window.page.get_by_role("heading", name=tool)).to_be_visible()
    called = run(window.page)
    expect(window.page).to_have_url(re.compile(rf"/{tool}\?call="))
    expect(called.get_by_text("Done")).to_be_visible()
    return called


def reads(window: Watched) -> list[str]:
    """What the server was asked to read so far."""
    text = run_other(window, "reads").get_by_label("Text", exact=True)
    return text.inner_text().split()


def test_the_chosen_one_is_in_sight_after_a_reload(at: Watched) -> None:
    page = at.enter("/s/listed/tools/tool-2000")
    chosen = rows(page, "Tools").filter(has_text="tool-2000")
    expect(chosen).to_be_in_viewport()
    page.reload()
    expect(chosen).to_be_in_viewport()
    at.assert_clean()


def test_steps_by_keyboard_are_one_entry_of_the_history_and_read_only_where_they_end(
    at: Watched,
) -> None:
    page = at.enter("/s/listed/tools")
    before = len(reads(at))
    at.switch("/s/listed/resources")
    rows(page, "Resources").filter(has_text="The memo").click()
    expect(page.get_by_text("memo://a in revision")).to_be_visible()
    # All at once, however busy the machine is.
    page.get_by_role("listbox", name="Resources").evaluate(_STEPS, 4)
    expect(page.get_by_role("heading", name="memo 4")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("memo://4 in revision")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", name="The memo")).to_be_visible()
    page.go_back()
    expect(page.get_by_text("Choose a resource")).to_be_visible()
    assert not {"memo://1", "memo://2", "memo://3"} & set(reads(at)[before:])
    at.assert_clean()


def test_what_is_followed_is_read_once_for_each_change_and_shown_on_return(at: Watched) -> None:
    page = at.enter("/s/listed/resources/memo%3A%2F%2Fa")
    shown = page.get_by_label("Call of memo://a")
    expect(shown.get_by_text("memo://a in revision 1")).to_be_visible()
    page.get_by_role("switch", name="Subscribe").click()
    expect(page.get_by_text("Subscriptions (1)")).to_be_visible()
    page.get_by_label("Search resources").fill("nothing has this")
    expect(page.get_by_text("Subscriptions (0)")).to_be_visible()
    page.get_by_label("Search resources").fill("memo://a")
    expect(page.get_by_text("Subscriptions (1)")).to_be_visible()
    before = reads(at).count("memo://a")
    run_other(at, "change")
    assert reads(at).count("memo://a") == before, "nobody looks at it"
    at.switch("/s/listed/resources/memo%3A%2F%2Fa")
    expect(shown.get_by_text("memo://a in revision 2")).to_be_visible()
    expect(page.get_by_text(re.compile("^Updated "))).to_be_visible()
    at.shoot("followed")
    # It changes while somebody looks: a second page is that somebody's other hand.
    with page.context.expect_page() as opening:
        page.evaluate("open('/s/listed/tools/change')")
    other = opening.value
    other.get_by_role("button", name="Run", exact=True).click()
    expect(shown.get_by_text("memo://a in revision 3")).to_be_visible()
    other.close()
    assert reads(at).count("memo://a") == before + 2
    at.assert_clean()


def test_two_of_one_name_have_a_row_and_a_form_each(at: Watched) -> None:
    page = at.enter("/s/listed/tools")
    page.get_by_label("Search tools").fill("younger")
    expect(rows(page, "Tools")).to_have_count(1)
    expect(rows(page, "Tools")).to_contain_text("broken definition")
    rows(page, "Tools").click()
    expect(page.get_by_text("another tool has this name")).to_be_visible()
    page.get_by_label(re.compile("^younger")).fill("me")
    expect(run(page)).to_contain_text('twin was given {"younger": "me"}')
    at.shoot("twins")
    page.get_by_label("Search tools").fill("elder")
    expect(rows(page, "Tools")).to_contain_text(["The elder"])
    expect(rows(page, "Tools")).to_contain_text("broken definition")
    rows(page, "Tools").click()
    # What was typed for the other, and what it gave, stays with the other.
    elder = page.get_by_label(re.compile("^elder"))
    expect(elder).to_have_value("")
    expect(page.get_by_label(CALL)).to_have_count(0)
    elder.fill("you")
    expect(run(page)).to_contain_text('twin was given {"elder": "you"}')
    expect(page.get_by_text(OF_SEVERAL)).to_have_count(0)
    page.reload()
    expect(page.get_by_label(CALL)).to_contain_text("elder")
    expect(page.get_by_text(OF_SEVERAL)).to_have_count(0)
    at.switch("/s/listed/tools/twin%20%232")
    expect(page.get_by_label(re.compile("^younger"))).to_have_value("me")
    expect(page.get_by_label(CALL)).to_contain_text("younger")
    expect(page.get_by_text(OF_SEVERAL)).to_have_count(0)
    at.switch("/s/listed/prompts")
    rows(page, "Prompts").filter(has_text="The younger").click()
    expect(page.get_by_text("another prompt has this name")).to_be_visible()
    expect(page.get_by_role("textbox", name="younger")).to_be_visible()
    at.switch("/s/listed/resources")
    rows(page, "Resources").filter(has_text="younger").click()
    expect(page.get_by_text("another resource has this URI")).to_be_visible()
    expect(page.get_by_text("memo://twin in revision")).to_be_visible()
    at.assert_clean()


def test_a_prompt_is_found_and_got_by_keyboard_with_lines_and_names_of_its_own(
    at: Watched,
) -> None:
    page = at.enter("/s/listed/prompts")
    expect(rows(page, "Prompts").first).to_contain_text("greet")
    page.keyboard.press("/")
    page.keyboard.type("greeting")
    expect(rows(page, "Prompts")).to_have_count(1)
    page.get_by_role("listbox", name="Prompts").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("heading", name="A greeting")).to_be_visible()
    who = page.get_by_role("textbox", name="Whom")
    who.focus()
    expect(page.get_by_role("option", name="name 4")).to_be_visible()
    expect(page.get_by_text("5 of 57")).to_be_visible()
    at.shoot("suggestions")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(who).to_have_value("name 1")
    words = page.get_by_role("textbox", name="words")
    words.focus()
    page.keyboard.type("one")
    page.keyboard.press("Enter")
    page.keyboard.type("two")
    page.keyboard.press("Control+Enter")
    sent = {"who": "name 1", "words": "one\ntwo"}
    expect(page.get_by_label("Call of greet")).to_contain_text(f"given {json.dumps(sent)}")
    assert at.axe() == []
    page.get_by_text("Definition as listed").click()
    expect(page.get_by_label("Definition", exact=True)).to_contain_text("Whom it greets")
    at.shoot("prompt")
    at.assert_clean()


def test_suggestions_are_of_what_is_typed_now_and_say_when_they_fail(at: Watched) -> None:
    sockets: list[WebSocket] = []
    at.page.on("websocket", lambda socket: sockets.append(socket))
    page = at.enter("/s/listed/prompts/greet")
    who = page.get_by_role("textbox", name="Whom")
    who.wait_for()
    with sockets[-1].expect_event("framesent", lambda sent: '"late"' in str(sent)):
        who.fill("late")
    who.fill("now")
    expect(page.get_by_role("option", name="name 4")).to_be_visible()
    expect(page.get_by_role("option", name="too late")).to_have_count(0)
    who.fill("fail")
    expect(page.get_by_text("No suggestions:")).to_contain_text("no suggestions today")
    at.shoot("no suggestions")
    at.assert_clean()


def test_arguments_that_no_definition_has_are_seen_and_removed(at: Watched) -> None:
    page = at.enter("/s/listed/prompts")
    page.evaluate(
        """() => sessionStorage.setItem("mcplens.draft.prompt.listed/greet",
                                        JSON.stringify({ who: "x", old: "y" }))"""
    )
    at.switch("/s/listed/prompts/greet")
    expect(page.get_by_role("textbox", name="old")).to_have_value("y")
    expect(page.get_by_text("Not in the definition of the prompt")).to_be_visible()
    assert at.axe() == []
    at.shoot("other arguments")
    page.get_by_role("button", name="Remove old").click()
    expect(page.get_by_role("textbox", name="old")).to_have_count(0)
    page.get_by_role("button", name="Get the messages").click()
    expect(page.get_by_label("Call of greet")).to_contain_text('given {"who": "x"}')
    at.assert_clean()


def test_messages_have_their_roles_and_every_content(at: Watched) -> None:
    page = at.enter("/s/listed/prompts/every")
    page.get_by_role("button", name="Get the messages").click()
    call = page.get_by_label("Call of every")
    said = call.locator("[data-role]")
    expect(said).to_have_count(5)
    roles = [one.get_attribute("data-role") for one in said.all()]
    assert roles == ["user", "user", "assistant", "user", "assistant"]
    expect(said.nth(0)).to_contain_text("What is all this?")
    picture = said.nth(1).get_by_alt_text("Content of type image/png")
    expect(picture).to_be_visible()
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") == 1
    expect(said.nth(2).locator("audio")).to_be_visible()
    expect(said.nth(4)).to_contain_text("an inner memo")
    assert at.axe() == []
    at.shoot("messages")
    said.nth(3).get_by_role("button", name="Open").click()
    expect(page.get_by_text("memo://1 in revision")).to_be_visible()
    at.assert_clean()


def test_a_resource_shows_what_is_said_of_it_and_bytes_as_hex(at: Watched) -> None:
    page = at.enter("/s/listed/resources")
    row = rows(page, "Resources").filter(has_text="report.pdf")
    expect(row).to_contain_text("12 kB")
    row.click()
    for said in ("application/pdf", "audience: user", "priority: 0.7", "lastModified: 2026"):
        expect(page.get_by_text(said).last).to_be_visible()
    page.get_by_text("Definition as listed").click()
    expect(page.get_by_label("Definition", exact=True)).to_contain_text("12345")
    expect(page.get_by_label("Bytes in hexadecimal")).to_contain_text("25 50 44 46")
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download").click()
    assert downloading.value.path().read_bytes().startswith(b"%PDF-1.4")
    at.shoot("pdf")
    page.get_by_role("link", name="Read a URI").click()
    page.get_by_label("URI").fill("memo://unlisted")
    page.get_by_role("button", name="Read it").click()
    expect(page.get_by_text("memo://unlisted in revision")).to_be_visible()
    rows(page, "Templates").click()
    expect(page.get_by_text("priority: 0.7")).to_be_visible()
    expect(page.get_by_text("text/plain").last).to_be_visible()
    page.get_by_text("Definition as listed").click()
    expect(page.get_by_label("Definition", exact=True)).to_contain_text("uriTemplate")
    assert at.axe() == []
    at.shoot("template")
    at.assert_clean()
