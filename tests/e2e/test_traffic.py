"""Traffic: what is deep in a message, what caused what, again, against another, and kept."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, inside, retype, watched
from .pair import connect
from .site import Site, configure, site


@contextmanager
def serving() -> Iterator[str]:
    """The URL of the demo by HTTP."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mcplens.demo", "--http"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        assert "http://" in said, said
        yield said.split()[-1]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo on stdio, and another one by HTTP that is not connected yet."""
    home: Path = tmp_path_factory.mktemp("home")
    with serving() as url:
        secret = {"Authorization": "Bearer do-not-show-this"}
        far = {"url": url, "headers": secret, "protocolVersion": "2025-11-25"}
        configure(home, {"far": far})
        with site(home, "demo") as running:
            yield running


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name=re.compile("^text", re.I))


def echo(window: Watched, text: str) -> None:
    """Call a tool, and see its answer."""
    page = window.goto("/s/demo/tools/echo")
    field(page).fill(text)
    run(page)
    expect(page.get_by_label("Call of echo")).to_contain_text(text[-20:])


def rows(page: Page, text: str) -> Locator:
    return page.get_by_role("option").filter(has_text=text)


def find(window: Watched, text: str) -> Page:
    page = window.goto("/s/demo/traffic")
    page.get_by_label("Filter traffic").fill(text)
    return page


def test_a_word_deep_in_a_message_is_found_and_so_are_those_that_come(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, f"{'long ' * 400}deep-needle")
    page = find(window, "DEEP-needle")
    expect(page.get_by_role("option")).to_have_count(2)
    expect(rows(page, "tools/call")).to_have_count(2)
    page.get_by_label("Filter traffic").fill("deep-needle nowhere")
    expect(page.get_by_text("No row fits this filter")).to_be_visible()
    window.assert_clean()


def test_a_call_is_a_tree_of_what_it_caused_with_offsets_and_bars(window: Watched) -> None:
    page = window.enter("/s/demo/tools/elicit-form")
    run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_role("button", name="Decline", exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text("decline")
    page = find(window, "elicit-form")
    page.get_by_role("switch", name="Tree").click()
    tree = page.get_by_role("tree", name="Traffic")
    call = tree.get_by_role("treeitem", level=1).filter(has_text="tools/call")
    expect(call).to_have_count(1)
    page.get_by_label("Filter traffic").fill("")
    question = tree.get_by_role("treeitem", level=2).filter(
        has_text="elicitation/create", has_not_text="tools/list"
    )
    expect(question.first).to_contain_text("+")
    assert window.axe() == []
    window.shoot("traffic-tree")
    # By keyboard: left folds the call, right unfolds it, right again goes into it.
    call = tree.get_by_role("treeitem", level=1).filter(has_text="elicit-form")
    call.click()
    expect(call).to_have_attribute("aria-selected", "true")
    tree.focus()
    page.keyboard.press("ArrowLeft")
    expect(call).to_have_attribute("aria-expanded", "false")
    expect(question).to_have_count(0)
    page.keyboard.press("ArrowRight")
    expect(call).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowRight")
    expect(call).to_have_attribute("aria-selected", "false")
    page.keyboard.press("ArrowLeft")
    expect(call).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Fold all", exact=True).click()
    expect(tree.get_by_role("treeitem", level=2)).to_have_count(0)
    window.assert_clean()


def test_a_request_is_sent_again_as_it_was_and_edited(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "again-and-again")
    page = find(window, "again-and-again")
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Edit and send").click()
    expect(page).to_have_url(re.compile("/s/demo/tools/echo"))
    expect(field(page)).to_have_value("again-and-again")
    field(page).fill("other")
    page = find(window, "again-and-again")
    # Looking and editing sent nothing.
    expect(page.get_by_role("option")).to_have_count(2)
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("tools/call was sent again.")).to_be_visible()
    expect(page.get_by_role("option")).to_have_count(4)
    page.get_by_role("link", name="Show the call").click()
    expect(page).to_have_url(re.compile(r"/s/demo/traffic\?id=\d+$"))
    expect(page.get_by_role("option")).to_have_count(2)
    page.get_by_role("button", name="Show all").click()
    page.get_by_label("Filter traffic").fill("tools/list")
    rows(page, "→").filter(has_text="tools/list").first.click()
    page.get_by_role("button", name="Edit and send").click()
    expect(page).to_have_url(re.compile("/servers/demo/experimental"))
    expect(page.get_by_label("Message to send")).to_contain_text('"method": "tools/list"')
    window.assert_clean()


def test_a_request_to_a_server_that_is_gone_is_sent_again_after_connecting(
    window: Watched,
) -> None:
    window.enter("/s/demo/tools")
    echo(window, "after-all")
    window.goto("/servers").get_by_role("switch", name="Disconnect demo").press("Space")
    expect(window.page.get_by_role("switch", name="Connect demo")).to_be_visible()
    page = find(window, "after-all")
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
    sent = page.get_by_label("Request history").get_by_role("button", name="Load demo/exact")
    expect(sent).to_have_count(count)


def test_numbers_keep_their_digits_when_messages_are_edited_and_compared(window: Watched) -> None:
    page = window.enter("/servers/demo/experimental")
    send_raw(page, "12345678901234567890", 1)
    send_raw(page, "12345678901234567891", 2)
    page = find(window, "demo/exact")
    requests = rows(page, "→").filter(has_text="demo/exact")
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
    page = window.goto("/traffic")
    page.get_by_label("Filter traffic").fill("told-aloud")
    expect(page.get_by_role("option")).to_have_count(2)
    rows(page, "→").filter(has_text="tools/call").click()
    page.get_by_role("button", name="Go to the answer").click()
    expect(page).to_have_url(re.compile(r"\d/traffic/\d+$"))
    answer = rows(page, "tools/call result")
    expect(answer).to_have_attribute("aria-selected", "true")
    listbox = page.get_by_role("listbox", name="Traffic")
    expect(listbox).to_have_attribute(
        "aria-activedescendant", answer.get_attribute("id") or "an id"
    )
    page.get_by_role("button", name="Go to the request").click()
    expect(page.get_by_role("button", name="Go to the answer")).to_be_visible()
    page.get_by_role("tab", name="Raw").focus()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"\d/traffic$"))
    expect(listbox).to_be_focused()
    window.assert_clean()


def test_two_messages_are_compared(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "compare-one")
    echo(window, "compare-two")
    page = find(window, "compare-")
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
        page = find(window, "worth keeping")
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
        page.get_by_role("list", name="Pins").get_by_text("look at this").wait_for()
        page.wait_for_timeout(300)
        assert window.axe() == []
        window.shoot("traffic-pins")
        page.get_by_role("list", name="Pins").get_by_text("look at this").click()
        expect(page.get_by_role("tree", name="Message")).to_contain_text("worth keeping")
        page.get_by_role("button", name="Pins 1").click()
        page.get_by_role("button", name="Unpin look at this").click()
        expect(page.get_by_text("Nothing is pinned")).to_be_visible()
        window.assert_clean()


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_tree_details_and_differences_are_clean_in_each_theme_and_width(
    browser: Browser, demo: Site, theme: str, width: int
) -> None:
    size = {"width": width, "height": 900 if width > 500 else 844}
    with watched(browser, demo, viewport=size, color_scheme=theme) as window:
        window.enter("/s/demo/tools")
        echo(window, f"one {theme} {width}")
        echo(window, f"two {theme} {width}")
        page = window.goto("/s/demo/traffic")
        page.get_by_role("switch", name="Tree").click()
        calls = page.get_by_role("treeitem", level=1).filter(has_text="tools/call")
        calls.last.wait_for()
        page.wait_for_timeout(300)
        assert window.axe() == []
        window.shoot(f"traffic-tree-{theme}-{width}")
        calls.last.click()
        page.get_by_role("button", name="Compare", exact=True).click()
        page.keyboard.press("ArrowUp")
        window.shoot(f"traffic-detail-{theme}-{width}")
        assert window.axe() == []
        base = re.search(r"/traffic/(\d+)", page.url)
        assert base is not None
        window.goto(f"/s/demo/traffic/{int(base[1]) + 1}?compare={base[1]}")
        page.get_by_label("Differences", exact=True).wait_for()
        page.wait_for_timeout(300)
        assert window.axe() == []
        window.shoot(f"traffic-diff-{theme}-{width}")
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0
        window.assert_clean()


def count_of(page: Page) -> Locator:
    return page.locator(".toolbar [role=status]").first


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_rows_are_filtered_by_method_status_server_and_time(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "filtered")
    page = window.goto("/s/demo/traffic")
    page.get_by_role("switch", name="Tree").click(force=True)
    bar = page.locator(".toolbar").first.bounding_box()
    assert bar is not None
    assert bar["height"] < 50  # one line
    page.get_by_role("switch", name="Tree").click(force=True)
    page.get_by_role("button", name="Filter", exact=True).click()
    choose(page, "Method", "tools/list")
    choose(page, "Status", "Requests")
    calls = page.get_by_role("listbox", name="Traffic").get_by_role("option")
    expect(rows(page, "tools/list result")).to_have_count(0)
    expect(calls.filter(has_text="tools/list").first).to_be_visible()
    expect(calls.filter(has_text="tools/call")).to_have_count(0)
    choose(page, "Time", "The last 5 minutes")
    choose(page, "Direction", "Received")
    expect(page.get_by_text("No row fits this filter")).to_be_visible()
    page.wait_for_timeout(300)
    assert window.axe() == []
    window.shoot("traffic-filter")
    page.reload()
    page.get_by_role("button", name="Filter, 4 active").click()
    page.get_by_role("button", name="Reset these filters").click()
    expect(rows(page, "tools/call").first).to_be_visible()
    choose(page, "Server", "far")
    expect(page.get_by_text("No row fits this filter")).to_be_visible()
    choose(page, "Status", "4xx, refused")
    expect(page.get_by_role("radio", name="HTTP")).to_be_checked()
    window.assert_clean()


def test_bytes_that_are_no_message_are_flagged_with_the_reason_and_shown_in_hex(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/tools/broken-utf8")
    run(page)
    expect(page.get_by_label("Call of broken-utf8")).to_contain_text("not UTF-8")
    window.goto("/s/demo/tools/broken-print")
    run(page)
    expect(page.get_by_label("Call of broken-print")).to_contain_text("stray line")
    page = window.goto("/s/demo/traffic")
    expect(rows(page, "malformed message")).to_have_attribute("data-tone", "bad")
    rows(page, "malformed message").click()
    expect(page.get_by_text(re.compile("Malformed: .*JSON"))).to_be_visible()
    expect(page.get_by_label("Message as it was sent")).to_have_text("Loading model... done.")
    broken = rows(page, "not UTF-8: byte 0xe9")
    expect(broken).to_have_attribute("data-tone", "bad")
    broken.click()
    expect(page.get_by_text("Malformed: not UTF-8")).to_contain_text("Hex shows every byte")
    page.route("**/bytes", lambda route: route.fulfill(status=404, json={"message": "Gone."}))
    page.get_by_role("tab", name="Hex").click()
    expect(page.get_by_text("The bytes could not be loaded: Gone.")).to_be_visible()
    window.faults.clear()  # the browser tells of the 404
    page.unroute("**/bytes")
    page.get_by_role("tab", name="Raw").click()
    page.get_by_role("tab", name="Hex").click()
    expect(page.get_by_label("Bytes in hexadecimal")).to_contain_text("63 61 66 e9")
    window.shoot("traffic-hex")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Hex")).to_have_count(0)
    expect(page).to_have_url(re.compile("/s/demo/traffic$"))
    window.assert_clean()


def test_each_message_has_the_http_exchange_that_carried_it_with_its_whole_body(
    window: Watched,
) -> None:
    page = window.enter("/servers")
    page.get_by_role("switch", name="Connect far").click(force=True)
    expect(page.get_by_role("article", name="far")).to_contain_text("Connected")
    window.goto("/s/far/tools/elicit-form")
    run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_role("button", name="Decline", exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text("decline")
    page = window.goto("/s/far/traffic")
    # The server's question came in the answer to our call, not with our answer to it.
    asked = rows(page, "←").filter(has_text="elicitation/create", has_not_text="tools/list")
    asked.first.click()
    page.get_by_role("tab", name="HTTP").click()
    details = page.get_by_role("tabpanel")
    expect(details.get_by_label("Request body")).to_contain_text('"method":"tools/call"')
    expect(details).to_contain_text("200 OK")
    expect(details).to_contain_text("text/event-stream")
    expect(details).to_contain_text(re.compile("authorization", re.I))
    assert "do-not-show-this" not in details.inner_text()
    window.shoot("traffic-http")
    rows(page, "tools/list result").first.click()
    page.get_by_role("tab", name="HTTP").click()
    # Far behind what the row itself holds.
    expect(details.get_by_label("Response body").last).to_contain_text("nextCursor")
    window.goto("/s/far/tools/broken-utf8")
    run(page)
    expect(page.get_by_label("Call of broken-utf8")).to_contain_text("not UTF-8")
    window.goto("/s/far/traffic")
    rows(page, "not UTF-8: byte").last.click()
    page.get_by_role("tab", name="HTTP").click()
    bytes_of = details.get_by_role("link", name="Download the bytes").last
    with page.expect_download() as download:
        bytes_of.click()
    assert b"caf\xe9" in Path(download.value.path()).read_bytes()
    assert window.axe() == []
    window.assert_clean()


def test_a_reload_brings_back_what_is_older_and_so_does_a_link(window: Watched) -> None:
    page = window.enter("/s/demo/tools/broken-flood")
    page.get_by_label("messages", exact=True).fill("3000")
    run(page)
    expect(page.get_by_label("Call of broken-flood")).to_contain_text("3000 messages were sent")
    page = find(window, "server/discover")
    first = page.get_by_role("option").first
    expect(first).to_contain_text("server/discover")
    first.click()
    expect(page.get_by_role("tree", name="Message")).to_contain_text("server/discover")
    page.reload()
    expect(page.get_by_role("tree", name="Message")).to_contain_text("server/discover")
    expect(page.get_by_role("option").first).to_contain_text("server/discover")
    page.get_by_label("Filter traffic").fill("")
    expect(count_of(page)).to_contain_text(re.compile(r"^3,[01]\d\d rows"))
    window.assert_clean()


def test_a_trace_is_imported_shown_and_compared_with_what_happens_now(
    window: Watched, tmp_path: Path
) -> None:
    window.enter("/s/demo/tools")
    echo(window, "of-this-run")
    page = find(window, "of-this-run")
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Compare", exact=True).click()
    text = page.request.get(f"{inside(page)}/api/export?format=jsonl").text()
    run_id = page.request.get(f"{inside(page)}/api/history").json()["runs"][0]["run_id"]
    other = text.replace(run_id, "other-run").replace("of-this-run", "of-another-run")
    file = tmp_path / "trace.jsonl"
    file.write_text(other + "this is no line of a trace\n")
    page.locator("input[type=file]").set_input_files(file)
    expect(page).to_have_url(re.compile("run=other-run"))
    expect(page.get_by_text("1 line was broken and left out")).to_be_visible()
    page.get_by_label("Filter traffic").fill("of-another-run")
    rows(page, "→").filter(has_text="tools/call").first.click()
    differences = page.get_by_label("Differences", exact=True)
    expect(differences).to_contain_text("of-this-run")
    expect(differences).to_contain_text("of-another-run")
    window.assert_clean()


def test_clearing_asks_first_and_deletes_only_what_it_says(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "to-be-cleared")
    page = window.goto("/s/demo/traffic")
    call = rows(page, "tools/call").filter(has_text="to-be-cleared").filter(has_text="→")
    expect(call).to_have_count(1)
    page.get_by_role("button", name="Clear", exact=True).click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(call).to_have_count(1)
    page.get_by_role("button", name="Clear", exact=True).click()
    dialog = page.get_by_role("dialog", name="Clear the traffic?")
    expect(dialog).to_contain_text("It cannot be undone")
    page.wait_for_timeout(300)
    assert window.axe() == []
    window.shoot("traffic-clear")
    dialog.get_by_role("button", name="Clear this view").click()
    expect(call).to_have_count(0)
    page.reload()
    expect(page.get_by_text("Earlier rows were cleared")).to_be_visible()
    expect(call).to_have_count(0)
    page.get_by_role("button", name="Show them again").click()
    expect(call).to_have_count(1)
    page.get_by_role("button", name="Clear", exact=True).click()
    dialog.get_by_role("button", name="Delete this run's recording").click()
    expect(call).to_have_count(0)
    runs = page.request.get(f"{inside(page)}/api/history/events?text=to-be-cleared").json()
    assert [event for event in runs["events"] if event["kind"] == "FrameSent"] == []
    window.assert_clean()


def test_a_run_is_exported_as_a_trace_and_as_an_http_archive(
    window: Watched, tmp_path: Path
) -> None:
    page = window.enter("/servers")
    connect(page, "far")
    window.goto("/s/far/tools/echo")
    field(page).fill("to be exported")
    run(page)
    expect(page.get_by_label("Call of echo")).to_contain_text("to be exported")
    while "to be exported" not in page.request.get(f"{inside(page)}/api/export").text():
        page.wait_for_timeout(50)
    window.goto("/s/far/traffic")
    saved = {}
    for name in ("Trace (JSON Lines)", "HTTP archive (HAR)"):
        page.get_by_role("button", name="Export", exact=True).click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=name).click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.name] = path.read_text()
    assert set(saved) == {"mcplens.jsonl", "mcplens.har"}
    assert any("to be exported" in line for line in saved["mcplens.jsonl"].splitlines())
    entries = json.loads(saved["mcplens.har"])["log"]["entries"]
    bodies = [entry["request"].get("postData", {}).get("text", "") for entry in entries]
    assert any("to be exported" in body for body in bodies)
    assert not any("do-not-show-this" in text for text in saved.values())
    window.assert_clean()
