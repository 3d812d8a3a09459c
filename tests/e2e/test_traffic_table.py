"""The table of Traffic: columns, order, several rows, HTTP exchanges, our own requests, sums."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, copy_by, watched
from .calls import run
from .pair import connect
from .site import Site
from .traffic import all_rows, echo, near_and_far, rows, show_ours


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with near_and_far(tmp_path_factory.mktemp("home")) as running:
        yield running


def head(page: Page, name: str) -> Locator:
    return page.get_by_role("columnheader").filter(
        has=page.get_by_role("button", name=name, exact=True)
    )


def heads(page: Page) -> list[str]:
    found = page.locator("[role=columnheader]")
    return [str(one.get_attribute("data-column")) for one in found.all()]


def echoes(window: Watched, *texts: str) -> Page:
    """The traffic of these calls alone."""
    window.enter("/s/demo/tools")
    for text in texts:
        echo(window, text)
    page = window.switch("/s/demo/traffic")
    page.get_by_label("Filter traffic").fill(texts[0].split("-")[0])
    expect(all_rows(page)).to_have_count(len(texts))
    return page


def sizes(page: Page) -> list[str]:
    return page.locator("[role=gridcell][data-column=size]").all_inner_texts()


def test_a_request_and_its_answer_are_one_row_that_says_how_it_went(window: Watched) -> None:
    page = echoes(window, "paired-one", "paired-two")
    row = rows(page, "paired-one")
    expect(row).to_contain_text("tools/call echo")
    expect(row).to_contain_text("ok")
    expect(row).to_contain_text('text: "paired-one" → "paired-one"')
    expect(row).to_contain_text(re.compile(r"\d+ ms"))
    foot = page.get_by_text("2 requests", exact=True).locator("..")
    expect(foot).to_contain_text(re.compile(r"median .*ms.*p95 .*ms"))
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    # The answer is of the same row.
    page.get_by_text("Answer", exact=True).click()
    expect(page.get_by_role("radio", name="Answer")).to_be_checked()
    expect(row).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tree", name="Message")).to_contain_text("result")
    # The next row is opened at its answer, too.
    rows(page, "paired-two").click()
    expect(page.get_by_role("radio", name="Answer")).to_be_checked()
    assert window.axe() == []
    window.shoot("traffic-answer")
    window.assert_clean()


def test_a_row_that_failed_opens_at_its_answer_and_the_next_one_does_not(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/tools/fail-result")
    run(page)
    expect(page.get_by_label("Call of fail-result")).to_contain_text("Tool error")
    echo(window, "after-it")
    page = window.switch("/s/demo/traffic")
    page.get_by_label("Filter traffic").fill("tools/call")
    failed = rows(page, "fail-result").last
    failed.click()
    expect(failed).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("radio", name="Answer")).to_be_checked()
    expect(page.get_by_role("tree", name="Message")).to_contain_text("isError")
    expect(page.get_by_role("button", name="Edit and send")).to_be_visible()
    expect(page.get_by_role("tab", name="HTTP")).to_have_count(0)  # it was sent by stdio
    window.shoot("traffic-failed")
    rows(page, "after-it").click()
    expect(page.get_by_role("radio", name="Request")).to_be_checked()
    window.assert_clean()


def test_rows_are_sorted_by_a_column_and_come_back(window: Watched) -> None:
    page = echoes(window, "sorted-22", "sorted-1", "sorted-333333333")
    given = sizes(page)
    size = head(page, "Size").get_by_role("button", name="Size")
    size.click()
    expect(head(page, "Size")).to_have_attribute("aria-sort", "ascending")
    assert sizes(page) == [given[1], given[0], given[2]]
    size.press("Enter")
    expect(head(page, "Size")).to_have_attribute("aria-sort", "descending")
    assert sizes(page) == [given[2], given[0], given[1]]
    assert window.axe() == []
    size.press("Enter")
    expect(head(page, "Size")).to_have_attribute("aria-sort", "none")
    assert sizes(page) == given
    window.assert_clean()


def test_columns_are_resized_by_mouse_and_keyboard_and_remembered(window: Watched) -> None:
    page = echoes(window, "resized-one")
    edge = page.get_by_role("separator", name="Width of Status")
    box = edge.bounding_box()
    assert box is not None

    def width() -> float:
        found = head(page, "Status").bounding_box()
        assert found is not None
        return found["width"]

    before = width()
    page.mouse.move(box["x"] + 4, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 64, box["y"] + 10, steps=4)
    page.mouse.up()
    dragged = width()
    assert dragged == pytest.approx(before + 60, abs=2)
    edge.focus()
    page.keyboard.press("ArrowRight")
    assert width() == pytest.approx(dragged + 16, abs=2)
    page.reload()
    expect(all_rows(page)).to_have_count(1)
    assert width() == pytest.approx(dragged + 16, abs=2)
    page.get_by_role("separator", name="Width of Status").press("Home")
    assert width() == pytest.approx(before, abs=2)
    window.assert_clean()


def test_columns_are_chosen_and_moved_by_mouse_and_keyboard(window: Watched) -> None:
    page = echoes(window, "chosen-one")
    usual = heads(page)
    assert usual == ["time", "id", "name", "status", "size", "duration", "waterfall", "preview"]
    head(page, "Duration").get_by_role("button").press("Alt+ArrowLeft")
    assert heads(page)[4:6] == ["duration", "size"]
    head(page, "Preview").get_by_role("button").drag_to(
        head(page, "Name").get_by_role("button"), target_position={"x": 4, "y": 8}
    )
    assert heads(page)[2:4] == ["preview", "name"]
    page.get_by_role("button", name="Columns").click()
    chosen = page.get_by_role("list", name="Columns")
    chosen.get_by_role("checkbox", name="Purpose").check()
    chosen.get_by_role("checkbox", name="Waterfall").uncheck()
    chosen.get_by_role("button", name="Move Purpose left").click()
    assert window.axe() == []
    window.shoot("traffic-columns")
    assert "waterfall" not in heads(page)
    assert heads(page)[-2] == "purpose"
    page.reload()
    expect(rows(page, "call").first).to_be_visible()
    assert heads(page)[-2] == "purpose"
    page.get_by_role("button", name="Columns").click()
    page.get_by_role("button", name="Reset columns").click()
    assert heads(page) == usual
    window.assert_clean()


def test_several_rows_are_selected_copied_exported_and_compared(
    window: Watched, tmp_path: Path
) -> None:
    page = echoes(window, "many-one", "many-two", "many-three")
    rows(page, "many-one").click(modifiers=["Control"])
    rows(page, "many-three").click(modifiers=["Control"])
    expect(page.get_by_text("2 rows selected")).to_be_visible()
    assert window.axe() == []
    window.shoot("traffic-selected")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    copied = copy_by(page, page.get_by_role("button", name="Copy messages"))
    lines = [json.loads(line) for line in copied.splitlines()]
    assert ["method" in line for line in lines] == [True, False, True, False]
    assert "many-two" not in copied
    page.get_by_role("button", name="Export selected").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Trace (JSON Lines)").click()
    path = tmp_path / "selected.jsonl"
    download.value.save_as(path)
    _, _, *events = (json.loads(line) for line in path.read_text().splitlines())
    assert [event["type"] for event in events] == ["FrameSent", "FrameReceived"] * 2
    page.get_by_role("button", name="Compare", exact=True).click()
    differences = page.get_by_label("Differences", exact=True)
    expect(differences).to_contain_text("many-one")
    expect(differences).to_contain_text("many-three")
    window.assert_clean()


def test_rows_are_walked_and_selected_by_keyboard(window: Watched) -> None:
    page = echoes(window, "walked-one", "walked-two", "walked-three")
    table = page.get_by_role("treegrid", name="Traffic")
    page.get_by_label("Filter traffic").press("ArrowDown")
    expect(table).to_be_focused()
    page.keyboard.press("Home")
    expect(rows(page, "walked-one")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_text("2 rows selected")).to_be_visible()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.get_by_text("3 rows selected")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("rows selected")).to_have_count(0)
    expect(page.get_by_role("button", name="Close the details")).to_be_visible()
    page.keyboard.press("Control+a")
    expect(page.get_by_text("3 rows selected")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_text("rows selected")).to_have_count(0)
    expect(rows(page, "walked-two")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Close the details")).to_have_count(0)
    window.assert_clean()


def test_what_mcplens_sends_on_its_own_is_behind_one_filter_that_counts_it(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/tools")
    page.get_by_role("option").first.wait_for()
    window.switch("/s/demo/traffic")
    expect(rows(page, "server/discover").first).to_be_visible()
    expect(rows(page, "tools/list")).to_have_count(0)
    # Over stdio there is no HTTP to look at.
    layers = page.get_by_role("radiogroup", name="What to show")
    expect(layers.get_by_role("radio")).to_have_count(3)
    hidden = page.get_by_text(re.compile(r"^\d+ of \d+ messages, \d+ of mcplens's own hidden$"))
    expect(hidden).to_be_visible()
    count = re.findall(r"\d+", hidden.inner_text())[-1]
    expect(page.get_by_text(f"mcplens's own ({count})", exact=True)).to_be_visible()
    page.get_by_label("Filter traffic").fill("tools/list")
    expect(page.get_by_text(re.compile("^Only .* of mcplens's own$"))).to_be_visible()
    assert window.axe() == []
    page.get_by_role("button", name="Show them").click()
    expect(rows(page, "tools/list").first).to_be_visible()
    expect(page.get_by_role("switch", name="mcplens's own")).to_be_checked()
    window.assert_clean()


@pytest.mark.parametrize(
    ("theme", "width"), [("light", 1440), pytest.param("dark", 390, marks=pytest.mark.soak)]
)
def test_http_has_one_row_per_exchange_and_a_stream_opens_to_its_events(
    browser: Browser, demo: Site, theme: str, width: int
) -> None:
    size = {"width": width, "height": 844}
    with watched(browser, demo, viewport=size, color_scheme=theme) as window:
        page = window.enter("/servers")
        connect(page, "far")
        window.switch("/s/far/tools/elicit-form")
        run(page)
        form = page.get_by_label("Question: elicitation/create")
        form.get_by_role("button", name="Decline", exact=True).click()
        expect(page.get_by_label("Call of elicit-form")).to_contain_text("decline")
        page = window.switch("/s/far/traffic")
        page.get_by_text("HTTP", exact=True).first.click()
        exchange = rows(page, "POST").filter(has_text="tools/call elicit-form").last
        expect(exchange).to_contain_text("200 OK")
        expect(rows(page, "elicitation/create result").last).to_contain_text("202 Accepted")
        expect(exchange).to_have_attribute("aria-expanded", "false")
        exchange.locator("[data-open]").click()
        expect(exchange).to_have_attribute("aria-expanded", "true")
        events = page.locator("[role=row][aria-level='2']")
        expect(events.filter(has_text="elicitation/create")).to_have_count(1)
        expect(events.filter(has_text="tools/call tool error")).to_have_count(1)
        assert window.axe() == []
        window.shoot(f"traffic-http-{theme}-{width}")
        show_ours(page)
        expect(rows(page, "tools/list").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        window.assert_clean()
