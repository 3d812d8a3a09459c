"""What calls give, however odd: shown, searched, and told apart."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .browser import TIME, Watched, copy_by, until
from .calls import run
from .results import LARGE, called, copied_by_keys, gives, name_given, three_servers


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with three_servers(browser, tmp_path_factory.mktemp("home")) as window:
        yield window


@pytest.fixture(scope="module")
def given(opened: Watched) -> str:
    return name_given(opened)


def test_a_result_of_the_wrong_shape_is_told_of_in_its_place(opened: Watched, given: str) -> None:
    panel = called(opened, given, "broken-result")
    expect(panel).to_contain_text("content is a string; the protocol wants a list.")
    expect(panel).to_contain_text('"just a string"')
    opened.shoot("broken result")
    panel = called(opened, given, "broken-nothing")
    expect(panel).to_contain_text("The result is null; the protocol wants an object.")
    panel = gives(opened, '{"content": [null, 7, {"type": "image", "data": {}}, {"type": 5}]}')
    expect(panel).to_contain_text("This content item is null")
    expect(panel).to_contain_text("The data is an object")
    assert opened.axe() == []
    opened.shoot("broken content")
    opened.assert_clean()


def test_no_digit_and_no_key_is_lost(opened: Watched) -> None:
    numbers = '{"id": 12345678901234567890, "one": 1.0, "huge": 1e400, "twice": 1, "twice": 2}'
    panel = gives(opened, f'{{"content": [], "structuredContent": {numbers}}}')
    tree = panel.get_by_label("Structured content")
    for words in ("12345678901234567890", "1.0", "1e400"):
        expect(tree).to_contain_text(words)
    panel.get_by_text("Raw", exact=True).click()
    raw = panel.get_by_label("Message as it came")
    expect(raw).to_have_text(re.compile(r'^\{"jsonrpc": ?"2.0".*"id": ?\d+.*\}$'))
    expect(raw).to_contain_text(numbers)
    opened.shoot("a frame as it came")
    panel.get_by_text("JSON", exact=True).click()
    pretty = panel.get_by_label("Result as JSON")
    expect(pretty).to_contain_text('"twice": 1,')
    expect(pretty).to_contain_text('"twice": 2')
    page = opened.page
    copy = panel.get_by_role("button", name="Copy the result")
    assert '"id": 12345678901234567890' in copy_by(page, copy)
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download the result").click()
    assert re.fullmatch(rf"\w+-give-{TIME}\.json", download.value.suggested_filename)
    saved = Path(download.value.path()).read_text()
    assert json.loads(saved)["structuredContent"]["id"] == int(LARGE)
    # How a result is shown is kept for its kind of content.
    panel = gives(opened, '{"content": [{"type": "text", "text": "next"}]}')
    expect(panel.get_by_label("Text", exact=True)).to_have_text("next")
    panel = gives(opened, '{"content": [], "structuredContent": {"third": 3}}')
    expect(panel.get_by_label("Result as JSON")).to_contain_text('"third": 3')
    # The bytes themselves are in Traffic.
    panel.get_by_text("Raw", exact=True).click()
    panel.get_by_role("link", name="Hex in Traffic").click()
    expect(page.get_by_label("Bytes in hexadecimal")).to_contain_text("7b 22")
    page.go_back()
    panel.get_by_text("Content", exact=True).click()
    opened.assert_clean()


def test_a_long_list_is_open_and_searched_and_many_blocks_come_in_pieces(
    opened: Watched,
) -> None:
    items = [{"n": n} for n in range(300)]
    blocks = [{"type": "text", "text": f"block {n}"} for n in range(250)]
    result = {"content": blocks, "structuredContent": {"items": items}}
    panel = gives(opened, json.dumps(result))
    tree = panel.get_by_role("tree", name="Structured content")
    expect(tree.get_by_role("treeitem").nth(3)).to_have_text("1{n: 1}1 key")
    panel.get_by_label("Search in JSON").fill("299")
    expect(panel.get_by_text("1 of 1", exact=True)).to_be_visible()
    tree.scroll_into_view_if_needed()
    expect(tree.get_by_text("299", exact=True).last).to_be_in_viewport()
    opened.shoot("a long list")
    texts = panel.get_by_label("Text", exact=True)
    expect(texts).to_have_count(100)
    panel.get_by_role("button", name="Show 100 more").click()
    expect(texts).to_have_count(200)
    more = panel.get_by_role("button", name="Show 50 more")
    more.scroll_into_view_if_needed()
    opened.shoot("more blocks")
    more.click()
    expect(texts).to_have_count(250)
    expect(more).to_be_hidden()
    opened.assert_clean()


def test_no_digit_of_the_meta_of_a_call_is_lost(opened: Watched) -> None:
    page = opened.goto("/s/odd/tools/give")
    page.get_by_label("json", exact=True).fill('{"content": []}')
    page.get_by_role("button", name="Options", exact=True).click()
    meta = page.get_by_label("_meta", exact=True)
    meta.fill("[1]")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("_meta is not a JSON object")).to_be_visible()
    meta.fill(f'{{"trace": {LARGE}}}')
    run(page)
    panel = page.get_by_label("Call of give")
    panel.get_by_role("button", name="Arguments").click()
    expect(panel.get_by_role("tree", name="Arguments")).to_contain_text(f"trace{LARGE}")
    meta.fill("")
    opened.assert_clean()


def test_a_value_of_a_tree_is_chosen_and_copied_by_keys(opened: Watched) -> None:
    panel = gives(opened, f'{{"content": [], "structuredContent": {{"id": {LARGE}}}}}')
    tree = panel.get_by_role("tree", name="Structured content")
    page = opened.page
    value = tree.get_by_role("treeitem").filter(has_text=LARGE)
    tree.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(tree).to_have_attribute("aria-activedescendant", value.get_attribute("id") or "an id")
    assert copied_by_keys(page, "c") == LARGE
    page.keyboard.press("?")
    expect(page.get_by_text("Copy the chosen value of a JSON tree")).to_be_visible()
    opened.assert_clean()


PROGRAM = """# How much it is.
def total(items):
    \"\"\"The sum.\"\"\"
    return sum(item.price * 1.19 for item in items if item is not None)
"""
PAGE = '<!-- A page -->\n<p class="note">It\'s 5 &lt; 6</p>\n'


def test_a_program_and_a_page_have_colours(opened: Watched) -> None:
    texts = [("file:///total.py", "text/plain", PROGRAM), ("demo://page", "text/html", PAGE)]
    resources = [{"uri": uri, "mimeType": mime, "text": text} for uri, mime, text in texts]
    content = [{"type": "resource", "resource": resource} for resource in resources]
    panel = gives(opened, json.dumps({"content": content}))
    shown = panel.get_by_label("Resource", exact=True)
    expect(shown).to_have_count(2)
    program, html = shown.all()
    expect(program).to_have_text(PROGRAM.strip(), use_inner_text=True)
    coloured = ["# How much it is.", "def", '"""The sum."""', "return", "1.19"]
    for at, words in enumerate(coloured):
        expect(program.locator("span").nth(at)).to_have_text(words, use_inner_text=True)
    expect(html.locator("span").get_by_text("class", exact=True)).to_be_visible()
    assert opened.axe_in_each_theme("coloured text") == []
    opened.assert_clean()


def test_a_call_that_fails_out_of_sight_is_told_with_a_way_to_it(opened: Watched) -> None:
    page = opened.goto("/s/odd/tools/hold")
    # Lets the calls of the other page fail.
    other = page.context.new_page()
    other.goto(f"{opened.site.url}/s/odd/tools/drop")
    # The other page's own call may fail too, when its turn comes.
    failed = page.get_by_role("alert").filter(has_text="Tool execution failed")
    toast = failed.filter(has_text="hold")
    panel = page.get_by_label("Call of hold")
    run(page)
    run(other)
    expect(panel.get_by_text("The call failed")).to_be_visible()
    run(page)
    expect(panel.get_by_text("Running", exact=True)).to_be_visible()
    page.get_by_role("link", name="Logs").click()
    expect(panel).to_be_hidden()
    other.get_by_role("button", name="Run", exact=True).click()
    toast.hover()  # so that it stays
    expect(toast).to_have_count(1)
    other.close()
    expect(toast.get_by_role("link", name="View documentation")).to_be_visible()
    opened.shoot("a call failed out of sight")
    toast.get_by_role("link", name="Show the call").click()
    expect(panel.get_by_text("The call failed")).to_be_visible()
    expect(toast).to_have_count(0)
    opened.assert_clean()


def test_a_long_text_is_searched_copied_and_saved(opened: Watched) -> None:
    page = opened.page
    panel = called(opened, "odd", "long")
    search = panel.get_by_label("Search in the text")
    search.fill("needle")
    expect(panel.get_by_text("1 of 3", exact=True)).to_be_visible()
    current = panel.locator("mark[data-current]")
    expect(current).to_be_in_viewport()
    search.press("Enter")
    expect(panel.get_by_text("2 of 3", exact=True)).to_be_visible()
    expect(panel.get_by_label("Text", exact=True)).to_contain_text("line 20007 Needle")
    expect(current).to_be_in_viewport()
    panel.get_by_role("button", name="Previous match").click()
    panel.get_by_role("button", name="Previous match").click()
    expect(panel.get_by_label("Text", exact=True)).to_contain_text("line 40007 Needle")
    assert opened.axe() == []
    opened.shoot("search in text")
    with page.expect_download() as download:
        panel.get_by_role("button", name="Download this text").click()
    assert Path(download.value.path()).read_text().endswith("line 59999")
    opened.assert_clean()


def test_a_long_line_is_wrapped_and_copied_as_one(opened: Watched) -> None:
    page = opened.page
    words = " ".join(f"word{n}" for n in range(20_000))
    line = f"{words} needle {words}\nlast"
    panel = gives(opened, json.dumps({"content": [{"type": "text", "text": line}]}))
    text = panel.get_by_label("Text", exact=True)
    continued = text.locator("[data-continued]")
    expect(continued.first).to_be_visible()
    fits = "(box) => box.scrollWidth <= box.clientWidth"
    spills = "(box) => box.scrollWidth > box.clientWidth"

    def wait_until(it: str) -> None:
        until(page, it, text.element_handle())

    wait_until(fits)
    opened.settle()
    # Beside other things it is narrower, and so are its rows.
    second = int(continued.first.get_attribute("data-start") or 0)
    size = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 800})
    expect(continued.first).not_to_have_attribute("data-start", str(second))
    wait_until(fits)
    opened.shoot("wrapped text, narrow")
    assert size is not None
    page.set_viewport_size(size)
    expect(continued.first).to_have_attribute("data-start", str(second))
    opened.shoot("wrapped text")
    # From within the first row to within the third.
    text.evaluate("""box => {
        const rows = box.querySelectorAll("[data-start]");
        getSelection().setBaseAndExtent(rows[0].firstChild, 4, rows[2].firstChild, 3);
    }""")
    text.focus()
    assert copied_by_keys(page, "Control+C") == line[4 : 2 * second + 3]
    panel.get_by_label("Search in the text").fill("needle")
    expect(text.locator("mark[data-current]")).to_be_in_viewport()
    wrap = panel.get_by_role("switch", name="Wrap")
    wrap.press("Space")
    wait_until(spills)
    expect(text.locator("mark[data-current]")).to_be_in_viewport()
    wrap.press("Space")
    expect(text.locator("mark[data-current]")).to_be_in_viewport()
    wait_until(fits)
    assert opened.axe() == []
    opened.assert_clean()


def test_a_call_is_saved_fills_the_form_and_is_deleted(opened: Watched, given: str) -> None:
    page = opened.page
    panel = called(opened, given, "add", f'{{"a": {LARGE}, "b": 5}}')
    panel.get_by_role("button", name="Save this call", exact=True).click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("add")
    page.get_by_label("Name", exact=True).fill("nine")
    opened.shoot("saving")
    assert opened.axe() == []
    page.keyboard.press("Enter")
    saved = page.get_by_label("Saved calls")
    expect(saved.get_by_role("button", name="nine", exact=True)).to_be_visible()
    page.evaluate("sessionStorage.clear()")
    opened.goto(f"/s/{given}/tools/add")
    saved.get_by_role("button", name="nine", exact=True).hover()
    expect(page.get_by_role("tooltip")).to_contain_text("Fills the form with")
    opened.shoot("saved call hint")
    saved.get_by_role("button", name="nine", exact=True).click()
    page.get_by_text("JSON", exact=True).first.click()
    expect(page.get_by_label("Arguments as JSON")).to_contain_text('"b": 5')
    expect(page.get_by_label("Arguments as JSON")).to_contain_text(LARGE)
    opened.shoot("saved calls")
    room = saved.bounding_box()
    saved.get_by_role("button", name="Delete the saved call nine").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(saved.get_by_role("button")).to_have_count(0)
    # What is below stays where it is.
    assert room == saved.bounding_box()
    opened.assert_clean()


def test_the_picture_and_the_sound_of_a_question_are_shown(opened: Watched) -> None:
    page = opened.goto("/s/odd/tools/ask")
    run(page)
    question = page.get_by_label("Question: sampling/createMessage")
    picture = question.get_by_alt_text("Content of type image/png")
    expect(picture).to_be_visible()
    picture.evaluate("(image) => image.decode()")
    sound = question.locator("audio")
    expect(sound).to_be_visible()
    until(page, "document.querySelector('audio').duration > 0")
    expect(question.get_by_role("link", name="Download")).to_have_count(2)
    # High enough that the bar of answers covers no field.
    page.set_viewport_size({"width": 1440, "height": 1200})
    assert opened.axe() == []
    opened.shoot("question with media")
    page.get_by_role("button", name="Cancel tool execution").click()
    expect(question).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 900})
    opened.assert_clean()


def test_what_a_tool_says_of_itself_is_shown(opened: Watched, given: str) -> None:
    page = opened.goto(f"/s/{given}/tools/notes-clear")
    head = page.locator("header", has=page.get_by_role("heading", name="Delete all notes"))
    for hint in ("destructive", "idempotent"):
        expect(head.get_by_text(hint, exact=True)).to_be_visible()
        row = page.get_by_role("option").filter(has_text="notes-clear")
        expect(row.locator(f'[title^="{hint}: "]')).to_be_visible()
    head.get_by_text("destructive", exact=True).hover()
    expect(page.get_by_text("Says that it may destroy something")).to_be_visible()
    opened.goto(f"/s/{given}/tools/add")
    page.get_by_role("tab", name="Schema").click()
    expect(page.get_by_role("tree", name="Input schema")).to_contain_text("required")
    expect(page.get_by_role("tree", name="Output schema")).to_contain_text("sum")
    expect(page.get_by_role("tree", name="Definition")).to_contain_text("inputSchema")
    opened.assert_clean()


def test_a_result_is_told_to_fit_and_a_link_in_one_opens_the_resource(
    opened: Watched, given: str
) -> None:
    page = opened.page
    panel = called(opened, given, "add", '{"a": 1, "b": 2}')
    expect(panel.get_by_text("matches the output schema")).to_be_visible()
    panel = called(opened, given, "content-link")
    links = panel.get_by_role("button", name="Open")
    expect(links).to_have_count(2)
    links.last.click()
    expect(page.get_by_role("heading", name="demo://greeting/Ada")).to_be_visible()
    reading = page.get_by_label("Call of demo://greeting/Ada")
    expect(reading.get_by_text("Done", exact=True)).to_be_visible()
    expect(reading.get_by_label("Resource", exact=True)).to_contain_text("Ada")
    opened.assert_clean()


def test_calls_of_one_tool_run_beside_each_other_and_are_chosen_from(
    opened: Watched, given: str
) -> None:
    page = opened.goto(f"/s/{given}/tools/progress-steps")
    panel = page.get_by_label("Call of progress-steps")
    page.get_by_label("steps", exact=True).fill("1000")
    page.get_by_label("seconds", exact=True).fill("0.2")
    run(page)
    expect(panel.get_by_text(re.compile(r"^step \d+ of 1000$"))).to_be_visible()
    expect(panel.get_by_text(re.compile(r"^\d+ %$"))).to_be_visible()
    opened.settle()
    top = panel.bounding_box()
    first = page.url
    run(page)
    expect(page.get_by_text("2 calls", exact=True)).to_be_visible()
    # Told aloud is how it stands, and no ticking clock.
    status = panel.get_by_role("status").first
    expect(status).to_have_text("Running")
    opened.settle()
    assert panel.bounding_box() == top
    assert panel.locator("[aria-live]:not([aria-live=off])").count() == 0
    opened.shoot("two calls")
    panel.get_by_role("button", name="Cancel", exact=True).click()
    expect(status).to_contain_text("Cancelled")
    panel.get_by_role("button", name="2 calls").click()
    page.get_by_role("menuitem").filter(has_text="Running").click()
    expect(page).to_have_url(first)
    expect(status).to_have_text("Running")
    panel.get_by_role("button", name="Cancel", exact=True).click()
    expect(status).to_contain_text("Cancelled")
    # What the user wanted is no failure, and how far it came is still told.
    expect(panel.get_by_text(re.compile(r"^Last progress: step \d+ of 1000$"))).to_be_visible()
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(panel.get_by_role("button", name="Send again")).to_be_visible()
    opened.shoot("cancelled")
    opened.assert_clean()


def test_a_tool_that_reports_an_error_is_not_called_done(opened: Watched) -> None:
    gives(opened, "{}")
    panel = gives(opened, '{"content": [{"type": "text", "text": "no"}], "isError": true}')
    expect(panel.get_by_role("status").first).to_contain_text("Tool error")
    panel.get_by_role("button", name=re.compile(r"^\d+ calls$")).click()
    expect(opened.page.get_by_role("menuitem").first).to_contain_text("Tool error")
    opened.page.keyboard.press("Escape")
    opened.assert_clean()
