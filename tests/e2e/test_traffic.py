"""Traffic: what is deep in a message, what caused what, again, against another, and pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from .browser import Watched, retype, watched
from .calls import run
from .site import Site, site
from .traffic import all_rows, echo, field, find, in_wire_order, near_and_far, rows, show_ours


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with near_and_far(tmp_path_factory.mktemp("home")) as running:
        yield running


def test_a_word_deep_in_a_message_is_found_and_so_are_those_that_come(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, f"{'long ' * 400}deep-needle")
    page = find(window, "DEEP-needle", 2)
    expect(rows(page, "tools/call")).to_have_count(2)
    page.get_by_label("Filter traffic").fill("deep-needle nowhere")
    expect(page.get_by_text("No row matches this filter")).to_be_visible()
    window.assert_clean()


def test_a_call_is_one_row_with_what_it_caused_beneath(window: Watched) -> None:
    page = window.enter("/s/demo/tools/elicit-form")
    run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_role("button", name="Decline", exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text("decline")
    page = window.switch("/s/demo/traffic")
    page.get_by_label("Filter traffic").fill("tools/call elicit-form")
    table = page.get_by_role("treegrid", name="Traffic")
    call = rows(page, "tools/call").and_(page.locator("[aria-level='1']"))
    expect(call).to_have_count(1)
    expect(call).to_contain_text("decline")
    page.get_by_label("Filter traffic").fill("")
    question = rows(page, "elicitation/create").and_(page.locator("[aria-level='2']"))
    expect(question.first).to_contain_text("+")
    assert window.axe() == []
    window.shoot("traffic-tree")
    # By keyboard: left folds the call, right unfolds it, right again goes into it.
    call = rows(page, "elicit-form").and_(page.locator("[aria-level='1']"))
    call.click()
    expect(call).to_have_attribute("aria-selected", "true")
    table.focus()
    page.keyboard.press("ArrowLeft")
    expect(call).to_have_attribute("aria-expanded", "false")
    expect(question).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(call).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    expect(call).to_have_attribute("aria-selected", "false")
    page.keyboard.press("ArrowLeft")
    expect(call).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("button", name="Collapse all", exact=True).click()
    expect(page.locator("[role=row][aria-level='2']")).to_have_count(0)
    window.assert_clean()


def test_a_request_is_sent_again_as_it_was_and_edited(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "again-and-again")
    page = find(window, "again-and-again", 2)
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Edit and send").click()
    expect(page).to_have_url(re.compile("/s/demo/tools/echo"))
    expect(field(page)).to_have_value("again-and-again")
    field(page).fill("other")
    # Looking and editing sent nothing.
    page = find(window, "again-and-again", 2)
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Send again").click()
    page.get_by_role("alert").filter(has_text="tools/call was sent again.").hover()  # it stays
    expect(all_rows(page)).to_have_count(4)
    page.get_by_role("link", name="Show the call").click()
    expect(page).to_have_url(re.compile(r"/s/demo/traffic\?call=c\d+$"))
    expect(all_rows(page)).to_have_count(2)
    page.get_by_role("button", name="Show all").click()
    show_ours(page)
    page.get_by_label("Filter traffic").fill("tools/list")
    expect(rows(page, "tools/call")).to_have_count(0)
    rows(page, "→").filter(has_text="tools/list").first.click()
    page.get_by_role("button", name="Edit and send").click()
    expect(page).to_have_url(re.compile("/s/demo/raw"))
    # It is part of Traffic: its tab stays the chosen one.
    screens = page.get_by_role("navigation", name="Screens")
    expect(screens.locator("[aria-current]")).to_have_text(re.compile("^Traffic"))
    expect(page.get_by_label("Message to send")).to_contain_text('"method": "tools/list"')
    window.assert_clean()


def test_a_request_to_a_server_that_is_gone_is_sent_again_after_connecting(
    window: Watched,
) -> None:
    window.enter("/s/demo/tools")
    echo(window, "after-all")
    window.switch("/servers").get_by_role("switch", name="Connection to demo", checked=True).press(
        "Space"
    )
    expect(
        window.page.get_by_role("switch", name="Connection to demo", checked=False)
    ).to_be_visible()
    page = find(window, "after-all", 2)
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Connect and send again").click()
    expect(page.get_by_text("tools/call was sent again.")).to_be_visible()
    expect(rows(page, "tools/call")).to_have_count(4)
    expect(page.get_by_role("button", name="Send again", exact=True)).to_be_visible()
    window.assert_clean()


def send_raw(page: Page, number: str, count: int) -> None:
    """Send a request that no screen has a place for, as one of so many."""
    editor = page.get_by_role("textbox", name="Message to send")
    params = f'"method": "demo/exact", "params": {{"n": {number}}}'
    retype(editor, f'{{"jsonrpc": "2.0", "id": {number[-4:]}, {params}}}')
    editor.press("Control+Enter")
    sent = page.get_by_label("Sent from here").get_by_role("button", name="Load demo/exact")
    expect(sent).to_have_count(count)


def test_numbers_keep_their_digits_when_messages_are_edited_and_compared(window: Watched) -> None:
    page = window.enter("/s/demo/raw")
    send_raw(page, "12345678901234567890", 1)
    send_raw(page, "12345678901234567891", 2)
    page = find(window, "demo/exact", 4)
    requests = rows(page, "→").filter(has_text="demo/exact")
    expect(requests).to_have_count(2)
    requests.first.click()
    page.get_by_role("button", name="Compare", exact=True).click()
    requests.last.click()
    differences = page.get_by_label("Differences", exact=True)
    expect(differences).to_contain_text("12345678901234567890")
    expect(differences).to_contain_text("12345678901234567891")
    page.get_by_role("button", name="Edit and send").click()
    expect(page.get_by_label("Message to send")).to_contain_text('"n": 12345678901234567891')
    window.assert_clean()


def test_the_chosen_row_is_told_and_has_its_place_among_all_servers(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "told-aloud")
    page = window.switch("/traffic")
    raw = page.get_by_role("link", name="Raw message")
    expect(raw).to_have_attribute("href", re.compile(r"/s/demo/raw$"))
    in_wire_order(page)
    page.get_by_label("Filter traffic").fill("told-aloud")
    expect(all_rows(page)).to_have_count(2)
    rows(page, "→").filter(has_text="tools/call").click()
    page.get_by_text("Answer", exact=True).click()
    expect(page).to_have_url(re.compile(r"\d/traffic/\d+$"))
    answer = rows(page, "tools/call result")
    expect(answer).to_have_attribute("aria-selected", "true")
    table = page.get_by_role("grid", name="Traffic")
    expect(table).to_have_attribute("aria-activedescendant", answer.get_attribute("id") or "an id")
    page.get_by_text("Request", exact=True).click()
    expect(page.get_by_role("radio", name="Request")).to_be_checked()
    page.get_by_role("tab", name="Raw").focus()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"\d/traffic$"))
    expect(table).to_be_focused()
    window.assert_clean()


def test_two_messages_are_compared(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "compare-one")
    echo(window, "compare-two")
    page = find(window, "compare-", 4)
    requests = rows(page, "→").filter(has_text="tools/call")
    requests.first.click()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_text("choose another row")).to_be_visible()
    requests.last.click()
    differences = page.get_by_label("Differences", exact=True)
    expect(differences).to_contain_text("compare-one")
    expect(differences).to_contain_text("compare-two")
    assert window.axe() == []
    window.shoot("traffic-diff")
    page.reload()
    expect(page.get_by_label("Differences", exact=True)).to_contain_text("compare-two")
    page.get_by_role("button", name="Stop comparing").click()
    expect(page.get_by_role("tab", name="Diff")).to_have_count(0)
    window.assert_clean()


def test_a_pin_and_its_label_are_there_after_a_restart(browser: Browser, tmp_path: Path) -> None:
    with site(tmp_path, "demo") as first, watched(browser, first) as window:
        window.enter("/s/demo/tools")
        echo(window, "worth keeping")
        page = find(window, "worth keeping", 2)
        rows(page, "tools/call").first.click()
        page.get_by_role("button", name="Pin", exact=True).click()
        page.get_by_label("Label").fill("look at this")
        page.keyboard.press("Enter")
        expect(rows(page, "look at this")).to_have_count(1)
        expect(page.get_by_role("button", name="Pinned")).to_be_visible()
        page.reload()
        expect(rows(page, "look at this")).to_have_count(1)
        window.assert_clean()
    with site(tmp_path, "demo") as second, watched(browser, second) as window:
        page = window.enter("/s/demo/traffic")
        page.get_by_role("button", name="Pins 1").click()
        pins = page.get_by_role("list", name="Pins")
        pins.get_by_text("look at this").wait_for()
        assert window.axe() == []
        window.shoot("traffic-pins")
        pins.get_by_text("look at this").click()
        expect(pins).to_be_hidden()
        expect(page.get_by_role("tree", name="Message")).to_contain_text("worth keeping")
        page.get_by_role("button", name="Pins 1").click()
        page.get_by_role("button", name="Unpin look at this").click()
        expect(page.get_by_text("Nothing is pinned")).to_be_visible()
        window.assert_clean()


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1440), pytest.param("dark", 390, marks=pytest.mark.soak)]
)
def test_rows_say_what_is_called_and_what_has_no_answer(
    browser: Browser, demo: Site, theme: str, width: int
) -> None:
    size = {"width": width, "height": 844}
    with watched(browser, demo, viewport=size, color_scheme=theme) as window:
        window.enter("/s/demo/tools")
        echo(window, f"said {theme}")
        page = window.switch("/s/demo/tools/wait")
        run(page)
        call = page.get_by_label("Call of wait")
        call.get_by_role("button", name="Cancel", exact=True).click()
        expect(call).to_contain_text("Cancelled")
        page = window.switch("/s/demo/traffic")
        in_wire_order(page)
        answer = rows(page, "tools/call result echo").last
        expect(answer).to_be_visible()
        given_up = rows(page, "tools/call wait").last
        expect(given_up).to_contain_text("cancelled")
        expect(given_up).not_to_contain_text("jsonrpc")
        assert window.axe() == []
        window.shoot(f"traffic-called-{theme}-{width}")
        answer.click()
        page.get_by_role("button", name="Pin", exact=True).click()
        page.get_by_label("Label").press("Enter")
        expect(page.get_by_role("button", name="Pinned")).to_be_visible()
        page = window.switch("/s/demo/traffic")
        page.get_by_role("button", name="Pins").click()
        pins = page.get_by_role("list", name="Pins")
        expect(pins).to_contain_text("tools/call result")
        window.shoot(f"traffic-pinned-{theme}-{width}")
        page.get_by_role("button", name="Unpin").first.click()
        expect(page.get_by_text("Nothing is pinned")).to_be_visible()
        window.assert_clean()


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1440), pytest.param("dark", 390, marks=pytest.mark.soak)]
)
def test_table_details_and_differences_are_clean_in_each_theme_and_width(
    browser: Browser, demo: Site, theme: str, width: int
) -> None:
    size = {"width": width, "height": 900 if width > 500 else 844}
    with watched(browser, demo, viewport=size, color_scheme=theme) as window:
        window.enter("/s/demo/tools")
        echo(window, f"one {theme} {width}")
        echo(window, f"two {theme} {width}")
        page = window.switch("/s/demo/traffic")
        calls = rows(page, "tools/call")
        calls.last.wait_for()
        assert window.axe() == []
        window.shoot(f"traffic-paired-{theme}-{width}")
        calls.last.click()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.keyboard.press("ArrowUp")
        expect(page).to_have_url(re.compile(r"/traffic/\d+"))
        window.shoot(f"traffic-detail-{theme}-{width}")
        assert window.axe() == []
        base = re.search(r"/traffic/(\d+)", page.url)
        assert base is not None
        window.switch(f"/s/demo/traffic/{int(base[1]) + 1}?compare={base[1]}")
        page.get_by_label("Differences", exact=True).wait_for()
        assert window.axe() == []
        window.shoot(f"traffic-diff-{theme}-{width}")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        window.assert_clean()
