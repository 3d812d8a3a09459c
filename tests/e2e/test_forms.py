"""The demo's forms, filled in by hand and run; what counts is what the server got."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FilePayload, Locator, Page, Route, expect

from .browser import Watched, inside, watched
from .site import Site, configure, demo_over_http, site


def enter(window: Watched, tool: str) -> Page:
    page = window.enter(f"/s/demo/tools/{tool}")
    page.get_by_role("heading", name=tool).wait_for()
    return page


def field(page: Page, name: str) -> Locator:
    return page.get_by_label(re.compile(rf"^{re.escape(name)}( \*)?$"))


def pick(page: Page, name: str, choice: str) -> None:
    page.get_by_role("combobox", name=name).click()
    page.get_by_role("option", name=choice, exact=True).click()


def switch(page: Page, way: str) -> None:
    page.get_by_role("radiogroup", name="How to enter").get_by_text(way, exact=True).click()


def write(page: Page, label: str, text: str) -> None:
    page.get_by_label(label).click()
    page.keyboard.press("Control+A")
    # Typed over, Chromium keeps the colour of what was there as a style, which the CSP forbids.
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def height(one: Locator) -> int:
    box = one.bounding_box()
    assert box
    return round(box["height"])


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def got(page: Page) -> Any:
    """What the tool gave back: its arguments as the server understood them."""
    # As the page itself has it: Playwright hears of it a moment later.
    before = page.evaluate("location.href")
    request = page.get_by_label(re.compile("^Call of")).get_by_role("link", name=re.compile("^id "))
    shown = request.inner_text() if request.count() else "none"
    run(page)
    expect(page).not_to_have_url(before)
    expect(request).not_to_have_text(shown)
    address = page.evaluate("location.href")
    call = re.search(r"call=(\w+)", address)
    assert call, address
    path = f"{inside(page)}/api/calls/{call[1]}/result"
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    return json.loads(page.request.get(path).text())["structuredContent"]


def test_text_of_every_format(browser: Browser, demo: Site) -> None:
    with watched(browser, demo, timezone_id="Asia/Kolkata") as window:
        page = enter(window, "form-text")
        run(page)
        missing = page.get_by_text("This is required.")
        expect(missing).to_have_count(1)  # told once, at its field
        field(page, "Plain text").fill("two words")
        field(page, "needed").fill("x")
        expect(missing).to_have_count(0)
        field(page, "prefilled").fill("")
        field(page, "short").fill("a")
        expect(page.get_by_text("The text is too short")).to_have_count(1)
        window.shoot("forms findings")
        field(page, "short").fill("four")
        field(page, "code").fill("ABC-12")
        field(page, "website").fill("https://example.com/a?b=c")
        field(page, "email").fill("ada@example.com")
        field(page, "day").fill("2026-01-31")
        field(page, "clock").fill("13:45:30")
        field(page, "moment").fill("2026-07-31T08:15:00")
        expect(page.get_by_text("Sent as 2026-07-31T08:15:00+05:30")).to_be_visible()
        assert window.axe() == []
        window.shoot("forms text")
        assert got(page) == {
            "plain": "two words",
            "needed": "x",
            "short": "four",
            "code": "ABC-12",
            "website": "https://example.com/a?b=c",
            "email": "ada@example.com",
            "day": "2026-01-31",
            "clock": "13:45:30+05:30",
            "moment": "2026-07-31T08:15:00+05:30",
        }
        window.assert_clean()


def test_text_of_several_lines_is_typed_kept_and_sent(window: Watched) -> None:
    page = enter(window, "form-text")
    plain, one_line = field(page, "Plain text"), field(page, "website")
    plain.wait_for()
    window.settle()
    low = height(plain)
    assert low == height(one_line)
    plain.fill("select 1")
    plain.press("Enter")
    plain.press_sequentially("from a")
    window.settle()
    assert height(plain) > low
    switch(page, "JSON")
    expect(page.get_by_label("Arguments as JSON")).to_contain_text(r"select 1\nfrom a")
    switch(page, "Form")
    expect(plain).to_have_value("select 1\nfrom a")
    page.get_by_role("button", name="Use as code: ABC-12").click()
    field(page, "needed").fill("x")
    window.shoot("forms lines")
    plain.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"\?call="))
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    expect(plain).to_have_value("select 1\nfrom a")
    assert got(page) == {
        "plain": "select 1\nfrom a", "needed": "x", "prefilled": "already here", "code": "ABC-12",
    }  # fmt: skip
    window.assert_clean()


def empties(where: Page | Locator) -> Locator:
    return where.get_by_label("When empty")


def test_what_an_empty_field_sends_is_seen_and_chosen(window: Watched) -> None:
    page = enter(window, "form-nested")
    field(page, "street").fill("a")
    field(page, "city").fill("b")
    field(page, "city").fill("")
    run(page)
    expect(page.get_by_text("This is required.")).to_have_count(1)
    window.shoot("forms empty text offered")
    page.get_by_role("button", name="Send an empty text").click()
    people = page.get_by_role("group", name="people")
    empties(people).select_option("Sent as an empty list")
    window.shoot("forms empty text chosen")
    address = {"street": "a", "city": ""}
    assert got(page) == {"address": address, "tags": ["new"], "people": []}
    page = enter(window, "form-alternatives")
    note = field(page, "note")
    expect(note).to_have_accessible_description("Text, or nothing (null). text or null")
    note.focus()
    page.keyboard.press("Tab")
    chosen = page.locator("select:focus")
    expect(chosen).to_have_value("nothing")
    page.keyboard.type("Sent as null")
    expect(chosen).to_have_value("null")
    assert window.axe() == []
    window.shoot("forms null chosen")
    page.reload()
    expect(empties(page).locator("option:checked").filter(has_text="Sent as null")).to_have_count(1)
    assert got(page) == {"note": None}
    window.assert_clean()


def test_a_file_is_sent_as_base64(window: Watched) -> None:
    page = enter(window, "form-text")
    field(page, "needed").fill("x")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file for bytes").click()
    content = bytes([0, 1, 254, 255])
    chooser.value.set_files(FilePayload(name="four.bin", mimeType="image/png", buffer=content))
    expect(page.get_by_text("four.bin, 4 B")).to_be_visible()
    window.shoot("forms file")
    assert got(page) == {"needed": "x", "prefilled": "already here", "bytes": "AAH+/w=="}
    window.assert_clean()


def test_numbers_and_a_checkbox(window: Watched) -> None:
    page = enter(window, "form-numbers")
    expect(field(page, "count")).to_have_accessible_description("integer, 1–10, default 3")
    field(page, "count").fill("11")
    field(page, "ratio").fill("0.50")
    field(page, "even").press("ArrowUp")
    field(page, "sure").uncheck()
    run(page)
    expect(page.get_by_text("1 field is not valid", exact=True)).to_be_visible()
    expect(page.get_by_label("Schema violations")).to_have_count(0)  # its field says it
    switch(page, "JSON")
    expect(page.get_by_label("Schema violations")).to_contain_text("count: 11")
    switch(page, "Form")
    field(page, "count").fill("12345678901234567890")
    expect(page.get_by_text("The form would round this number.")).to_be_visible()
    field(page, "count").fill("10")
    assert got(page) == {"count": 10, "ratio": 0.5, "even": 2, "sure": False}
    # What is no number is told once, at its field, and sent as typed if that is wanted.
    field(page, "even").fill("12a")
    before = page.evaluate("location.href")
    run(page)
    expect(page.get_by_text("This is not a number.")).to_be_visible()
    expect(page.get_by_label("Schema violations")).to_have_count(0)
    window.shoot("forms half typed")
    expect(page).to_have_url(before)
    page.get_by_role("button", name="Send anyway").click()
    expect(page).not_to_have_url(before)
    expect(page.get_by_label("Call of form-numbers")).to_contain_text("12a")
    switch(page, "JSON")
    expect(page.get_by_role("textbox", name="Arguments as JSON")).to_contain_text('"12a"')
    window.assert_clean()


def test_choices_of_one_and_of_several(window: Watched) -> None:
    page = enter(window, "form-choices")
    expect(page.get_by_role("combobox", name="One, with titles")).to_have_value(
        "Medium (11-100 items)"
    )
    pick(page, "One, with titles", "Large (100+ items)")
    pick(page, "Several, with titles", "Read access")
    page.get_by_role("option", name="Delete access", exact=True).click()
    page.keyboard.press("Escape")
    pick(page, "One, plain", "green")
    pick(page, "Several, plain", "tue")
    page.keyboard.press("Escape")
    pick(page, "One, with enumNames", "Fair")
    pick(page, "A number of three", "2")
    expect(field(page, "Always the same")).not_to_be_editable()
    assert window.axe() == []
    window.shoot("forms choices")
    assert got(page) == {
        "size": "large",
        "access": ["read", "delete"],
        "colour": "green",
        "days": ["tue"],
        "grade": "b",
        "level": 2,
        "kind": "demo",
    }
    window.assert_clean()


def test_objects_and_lists_that_grow(window: Watched) -> None:
    page = enter(window, "form-nested")
    field(page, "city").fill("Bern")
    field(page, "latitude").fill("46.95")
    tags = page.get_by_role("group", name="tags")
    tags.get_by_role("button", name="Add an item").click()
    tags.get_by_role("textbox").nth(1).fill("first")
    tags.get_by_role("button", name="Move item 2 up").click()
    expect(tags.get_by_role("textbox").first).to_have_value("first")
    people = page.get_by_role("group", name="people")
    for at, name in enumerate(("Ada", "Bob")):
        people.get_by_role("button", name="Add an item").click()
        field(page, "name").nth(at).fill(name)
    expect(field(page, "name")).to_have_count(2)
    people.get_by_role("button", name="Remove item 1").click()
    expect(field(page, "name")).to_have_value("Bob")
    labels = page.get_by_role("group", name="labels")
    labels.get_by_role("button", name="Add a key").click()
    labels.get_by_role("textbox").first.fill("env")
    labels.get_by_role("textbox").last.fill("test")
    assert got(page) == {
        "address": {"city": "Bern", "position": {"latitude": 46.95}},
        "tags": ["first", "new"],
        "people": [{"name": "Bob"}],
        "labels": {"env": "test"},
    }
    window.assert_clean()


def test_references_and_alternatives(window: Watched) -> None:
    page = enter(window, "form-references")
    page.get_by_role("group", name="owner").get_by_label("name").fill("Ada")
    tree = page.get_by_role("group", name="tree")
    tree.get_by_label(re.compile("^name")).fill("root")
    tree.get_by_role("button", name="Add an item").click()
    write(page, "children-1 as JSON", '{"name": "leaf"}')
    assert got(page) == {
        "owner": {"name": "Ada"},
        "tree": {"name": "root", "children": [{"name": "leaf"}]},
    }
    page = enter(window, "form-alternatives")
    pick(page, "target", "object with name")
    field(page, "name").fill("Ada")
    pick(page, "amount", "JSON")
    write(page, "amount as JSON", '"7%"')
    write(page, "anything as JSON", "[1, {")
    expect(page.get_by_text(re.compile("^This is not JSON"))).to_be_visible()
    switch(page, "JSON")
    expect(page.get_by_label("Arguments as JSON")).to_contain_text("7%")
    page.reload()
    switch(page, "Form")
    expect(page.get_by_label("anything as JSON")).to_contain_text("[1, {")
    window.shoot("forms alternatives")
    write(page, "anything as JSON", "[1, {}]")
    assert got(page) == {"target": {"name": "Ada"}, "amount": "7%", "anything": [1, {}]}
    # The saved call brings its own kind of value.
    page.get_by_role("button", name="Save this call", exact=True).click()
    page.get_by_label("Name", exact=True).fill("named")
    page.get_by_label("Name", exact=True).press("Enter")
    pick(page, "target", "object with id")
    field(page, "id").fill("1x")
    page.get_by_label("Saved calls").get_by_role("button", name="named", exact=True).click()
    expect(page.get_by_role("combobox", name="target")).to_have_value("object with name")
    expect(field(page, "name")).to_have_value("Ada")
    window.shoot("forms filled")
    # What was half typed comes back, as it was.
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("combobox", name="target")).to_have_value("object with id")
    expect(field(page, "id")).to_have_value("1x")
    page.get_by_label("Saved calls").get_by_role("button", name="named", exact=True).click()
    expect(page.get_by_role("combobox", name="target")).to_have_value("object with name")
    assert got(page) == {"target": {"name": "Ada"}, "amount": "7%", "anything": [1, {}]}
    window.assert_clean()


def test_required_fields_that_may_be_false_or_null(window: Watched) -> None:
    page = enter(window, "form-required")
    pick(page, "owner", "null")
    assert got(page) == {"agreed": False, "note": None, "limit": None, "owner": None}
    field(page, "limit").fill("5")
    pick(page, "owner", "object")
    field(page, "name").fill("Ada")
    pick(page, "delivery", "send")
    run(page)
    expect(page.get_by_label("Schema violations")).to_have_text("address: This is required.")
    field(page, "address").fill("Bern")
    assert window.axe() == []
    window.shoot("forms required")
    assert got(page)["address"] == "Bern"
    window.assert_clean()


def test_any_arguments_are_json_and_keep_every_digit(window: Watched) -> None:
    page = enter(window, "form-any")
    expect(page.get_by_text("Any arguments are accepted: write them as JSON.")).to_be_visible()
    write(page, "Arguments as JSON", '{"big": 123456789012345678901234567890, "100%": 1.0}')
    window.shoot("forms any")
    assert got(page) == {"big": 123456789012345678901234567890, "100%": 1.0}
    window.assert_clean()


def test_a_press_of_run_before_the_form_is_there_sends_its_defaults(window: Watched) -> None:
    page = window.page
    held: list[Route] = []
    code = re.compile(r"/assets/SchemaForm-[^/]*\.js")
    page.route(code, lambda route: held.append(route))
    with page.expect_request(code):
        enter(window, "wait")
    run(page)
    expect(page.get_by_text("Not called yet")).to_be_visible()
    held[0].continue_()
    call = page.get_by_label("Call of wait")
    expect(call).to_contain_text('{"seconds":10}')
    call.get_by_role("button", name="Cancel", exact=True).click()
    expect(call.get_by_text("Cancelled", exact=True).first).to_be_visible()
    window.assert_clean()


def test_a_field_names_the_header_that_repeats_it(browser: Browser, tmp_path: Path) -> None:
    with demo_over_http() as url:
        configure(tmp_path, {"wire": {"url": url}})
        with site(tmp_path, "wire") as running, watched(browser, running) as window:
            page = window.enter("/s/wire/tools/header-region")
            about = 'default "eu-west", also sent as header Mcp-Param-Region'
            expect(field(page, "region")).to_have_accessible_description(about)
            expect(field(page, "shard")).to_have_accessible_description(
                "integer, also sent as header Mcp-Param-Shard"
            )
            window.shoot("forms header")
            run(page)
            expect(page.get_by_text("Done", exact=True)).to_be_visible()
            window.assert_clean()


def test_run_stands_below_the_last_field_and_is_always_in_view(window: Watched) -> None:
    page = enter(window, "form-empty")
    expect(page.get_by_text("No arguments.")).to_be_visible()
    expect(page.get_by_role("button", name="Fill with an example")).to_have_count(0)
    button = page.get_by_role("button", name="Run", exact=True)
    options = page.get_by_role("button", name="Options", exact=True).bounding_box()
    below = button.bounding_box()
    assert options
    assert below
    assert 0 < below["y"] - options["y"] < 80
    window.shoot("forms none")
    page = enter(window, "form-nested")
    expect(field(page, "street")).to_be_visible()
    expect(button).to_be_in_viewport(ratio=1)
    window.assert_clean()


def test_a_form_is_filled_with_an_example_and_back(window: Watched) -> None:
    page = enter(window, "form-text")
    field(page, "Plain text").fill("mine")
    page.get_by_role("button", name="Fill with an example").click()
    expect(field(page, "needed")).not_to_have_value("")
    window.shoot("forms example")
    assert window.axe(within="main") == []
    page.get_by_role("button", name="Undo the example").click()
    expect(field(page, "Plain text")).to_have_value("mine")
    page.get_by_role("button", name="Fill with an example").click()
    expect(field(page, "needed")).not_to_have_value("")
    assert got(page)["needed"]
    window.assert_clean()
