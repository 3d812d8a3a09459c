"""What a user does: call, switch, reload, find, look at what broke."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Route, expect

from .browser import Watched, retype, watched
from .calls import run
from .site import Site, site
from .traffic import rows


def text_of(page: Page) -> Locator:
    """The field of echo."""
    return page.get_by_role("textbox", name=re.compile("^text", re.I))


def test_a_tool_is_called_by_its_form_and_by_keyboard(window: Watched) -> None:
    page = window.enter("/s/demo/tools/add")
    page.get_by_label(re.compile(r"^a\b")).fill("2")
    page.get_by_label(re.compile(r"^b\b")).fill("40")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    expect(page.get_by_label("Call of add")).to_contain_text("42")
    window.shoot("called")
    window.assert_clean()


def test_what_was_typed_survives_the_switch_between_form_and_json_and_a_reload(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/tools/echo")
    text_of(page).fill("half typ")
    page.get_by_text("JSON", exact=True).first.click()
    editor = page.get_by_label("Arguments as JSON")
    expect(editor).to_contain_text("half typ")
    page.reload()
    expect(page.get_by_label("Arguments as JSON")).to_contain_text("half typ")
    page.get_by_text("Form", exact=True).first.click()
    expect(text_of(page)).to_have_value("half typ")
    window.assert_clean()


def test_bad_arguments_are_shown_and_can_be_sent_all_the_same(window: Watched) -> None:
    page = window.enter("/s/demo/tools/add")
    page.get_by_text("JSON", exact=True).first.click()
    retype(page.get_by_label("Arguments as JSON"), '{"a": "no number"}')
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile("^[0-9]+ fields? (is|are) not valid$"))).to_be_visible()
    page.get_by_role("button", name="Send anyway").click()
    expect(page).to_have_url(re.compile(r"\?call="))
    expect(page.get_by_label("Call of add")).to_be_visible()
    window.assert_clean()


def test_a_running_call_survives_a_reload_and_can_be_cancelled(window: Watched) -> None:
    page = window.enter("/s/demo/tools/progress-steps")
    run(page)
    expect(
        page.get_by_label("Progress of the call").or_(page.get_by_text("Done", exact=True))
    ).to_be_visible()
    page.goto(window.site.url + "/s/demo/tools/wait")
    page.get_by_label("seconds", exact=True).fill("60")
    run(page)
    expect(page.get_by_text("Running")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Running")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("Cancelled").first).to_be_visible()
    window.assert_clean()


def test_every_kind_of_content_is_shown(window: Watched) -> None:
    page = window.enter("/s/demo/tools/content-mixed")
    run(page)
    picture = page.get_by_alt_text("Content of type image/png")
    expect(picture).to_be_visible()
    picture.evaluate("(image) => image.decode()")
    expect(page.get_by_role("button", name="Open", exact=True)).to_be_visible()
    window.switch("/s/demo/tools/content-audio")
    run(page)
    expect(page.locator("audio")).to_be_visible()
    window.switch("/s/demo/tools/content-markdown")
    run(page)
    page.get_by_text("Rendered", exact=True).click()
    expect(page.get_by_role("table")).to_be_visible()
    window.switch("/s/demo/tools/fail-result")
    run(page)
    expect(page.get_by_text("The tool reports an error (isError)")).to_be_visible()
    assert window.axe() == []
    window.shoot("iserror")
    window.assert_clean()


def test_structured_content_is_shown_with_its_validation(window: Watched) -> None:
    page = window.enter("/s/demo/tools/broken-output")
    run(page)
    expect(page.get_by_text("violates the output schema", exact=True)).to_be_visible()
    head = page.get_by_label("Call of broken-output").get_by_role("status").first
    expect(head).to_contain_text("does not match the output schema")
    expect(page.get_by_text("structuredContent breaks the output schema")).to_have_count(1)
    window.shoot("misfit")
    window.assert_clean()


def test_a_malformed_answer_is_flagged_with_its_bytes(window: Watched) -> None:
    page = window.enter("/s/demo/tools/broken-truncated")
    run(page)
    call = page.get_by_label("Call of broken-truncated")
    expect(call).to_contain_text("1 malformed message arrived while this call ran")
    window.shoot("noise")
    call.get_by_role("link", name="Show in Traffic").click()
    rows(page, "malformed message").click()
    expect(page.get_by_text(re.compile(r"^Malformed: "))).to_be_visible()
    page.get_by_role("tab", name="Hex").click()
    expect(page.get_by_label("Bytes in hexadecimal")).to_contain_text("00000000")
    assert window.axe() == []
    window.shoot("malformed")
    window.assert_clean()


def test_the_palette_and_the_list_of_shortcuts_work_by_keyboard(window: Watched) -> None:
    page = window.enter("/s/demo/tools")
    page.get_by_text("Gives back the text").wait_for()
    page.keyboard.press("?")
    expect(page.get_by_text("Go to the search field")).to_be_visible()
    assert window.axe() == []
    page.keyboard.press("Escape")
    expect(page.get_by_text("Go to the search field")).to_be_hidden()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Find a server, tool").fill("broken-json")
    expect(page.get_by_label("Found").get_by_role("option").first).to_contain_text("broken-json")
    assert window.axe() == []
    window.shoot("palette")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/s/demo/tools/broken-json"))
    window.assert_clean()


def test_the_monitor_shows_traffic_beside_any_screen(window: Watched) -> None:
    page = window.enter("/s/demo/tools")
    page.get_by_text("Gives back the text").wait_for()
    page.keyboard.press("m")
    rows = page.get_by_label("Traffic in the monitor")
    expect(rows).to_contain_text(re.compile("server/discover|tools/call"))
    # The list of tools is fetched by mcplens on its own, and hidden here as on the screen.
    expect(rows).not_to_contain_text("tools/list")
    assert window.axe() == []
    window.shoot("monitor")
    window.assert_clean()


def test_a_resource_is_read_followed_and_read_again_when_it_changes(window: Watched) -> None:
    page = window.enter("/s/demo/resources/demo%3A%2F%2Fticker")
    page.get_by_role("switch", name="Subscribe").click()
    expect(page.get_by_text(re.compile("^Updated "))).to_be_visible()
    shown = page.get_by_label("Call of demo://ticker").get_by_text(re.compile(r"^tick \d+$"))
    before = shown.inner_text()
    expect(shown).not_to_have_text(before)
    window.assert_clean()


def test_a_screen_opens_though_code_that_it_shares_did_not_come_once(window: Watched) -> None:
    page = window.page
    # Code that is fetched ahead would be there already.
    page.add_init_script("window.requestIdleCallback = () => 0")
    page.goto(f"{window.site.url}/servers#token={window.site.token}")
    page.get_by_role("article", name="demo").wait_for()
    page.route("**/assets/**", lambda route: route.abort())
    page.get_by_role("link", name="Traffic").click()
    expect(page.get_by_text("This screen failed")).to_be_visible()
    page.unroute("**/assets/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("treegrid", name="Traffic")).to_be_visible()


def test_who_reloads_while_signing_in_is_let_in_and_the_token_is_nowhere_then(
    browser: Browser, demo: Site
) -> None:
    with watched(browser, demo) as window:
        page = window.page
        held: list[Route] = []
        page.route("**/api/session", lambda route: held.append(route), times=1)
        page.goto(f"{demo.url}/servers#token={demo.token}")
        link = page.get_by_role("link", name="Settings")
        link.wait_for()
        page.reload()
        page.get_by_role("article", name="demo").wait_for()
        expect(page).to_have_url(f"{demo.url}/servers")
        link.click()
        expect(page.get_by_role("heading", name="Settings")).to_be_visible()
        page.go_back()
        expect(page).to_have_url(f"{demo.url}/servers")
        kept = page.evaluate("JSON.stringify([localStorage, sessionStorage, history.state])")
        assert demo.token not in kept
        assert len(held) == 1


def test_a_wrong_token_is_told_in_words(browser: Browser, demo: Site) -> None:
    with watched(browser, demo) as window:
        window.page.goto(f"{demo.url}/servers#token=wrong")
        expect(window.page.get_by_text("This page is not signed in")).to_be_visible()
        expect(window.page).to_have_url(f"{demo.url}/servers")
        assert window.axe() == []


def test_a_server_that_dies_leaves_everything_in_place(browser: Browser, tmp_path: Path) -> None:
    with site(tmp_path, "demo") as own, watched(browser, own) as window:
        page = window.enter("/s/demo/tools/broken-crash")
        run(page)
        expect(page.get_by_text("The call failed")).to_be_visible()
        window.shoot("died")
        window.goto("/servers")
        card = page.get_by_role("article", name="demo")
        expect(card).to_be_visible()
        window.assert_clean()
