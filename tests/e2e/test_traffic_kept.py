"""Traffic: filtered, shown as bytes and as HTTP, and what is loaded, cleared and exported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from .browser import TIME, Watched, inside
from .calls import recorded, run
from .pair import connect
from .site import Site
from .traffic import all_rows, echo, field, find, in_wire_order, near_and_far, rows, show_ours


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with near_and_far(tmp_path_factory.mktemp("home")) as running:
        yield running


def count_of(page: Page) -> Locator:
    return page.locator("main [role=status]").filter(has_text=re.compile(r"messages?\b"))


def is_fault(message: ConsoleMessage) -> bool:
    return message.type == "error"


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label, exact=True).click()
    page.get_by_role("option", name=option, exact=True).click()


def test_rows_are_filtered_by_method_status_server_and_time(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "filtered")
    page = window.switch("/s/demo/traffic")
    in_wire_order(page)
    show_ours(page)
    window.settle()
    bar = page.locator(".toolbar").first.bounding_box()
    assert bar is not None
    assert bar["height"] < 50  # one line
    page.get_by_role("button", name="Filter", exact=True).click()
    choose(page, "Method", "tools/list")
    choose(page, "Status", "Requests")
    calls = all_rows(page)
    expect(rows(page, "tools/list result")).to_have_count(0)
    expect(calls.filter(has_text="tools/list").first).to_be_visible()
    expect(calls.filter(has_text="tools/call")).to_have_count(0)
    choose(page, "Time", "The last 5 minutes")
    choose(page, "Direction", "Received")
    expect(page.get_by_text("No row matches this filter")).to_be_visible()
    assert window.axe() == []
    window.shoot("traffic-filter")
    page.reload()
    page.get_by_role("button", name="Filter, 4 active").click()
    page.get_by_role("button", name="Reset these filters").click()
    expect(rows(page, "tools/call").first).to_be_visible()
    choose(page, "Exclude methods", "tools/call")
    expect(calls.filter(has_text="tools/call")).to_have_count(0)
    expect(calls.filter(has_text="tools/list result").first).to_be_visible()
    window.shoot("traffic-left-out")
    # The list of what to leave out stays open, and may lie over the button.
    page.get_by_role("button", name="Reset these filters").press("Enter")
    expect(calls.filter(has_text="tools/call").first).to_be_visible()
    choose(page, "Exclude by purpose", "call")
    expect(calls.filter(has_text="tools/call")).to_have_count(0)
    expect(calls.filter(has_text="tools/list result").first).to_be_visible()
    window.shoot("traffic-purpose")
    page.get_by_role("button", name="Reset these filters").press("Enter")
    choose(page, "Server", "far")
    expect(page.get_by_text("No row matches this filter")).to_be_visible()
    choose(page, "Status", "4xx, client error")
    expect(page.get_by_role("radio", name="HTTP")).to_be_checked()
    window.assert_clean()


def test_bytes_that_are_no_message_are_flagged_with_the_reason_and_shown_in_hex(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/tools/broken-utf8")
    run(page)
    expect(page.get_by_label("Call of broken-utf8")).to_contain_text("not UTF-8")
    window.switch("/s/demo/tools/broken-print")
    run(page)
    expect(page.get_by_label("Call of broken-print")).to_contain_text("stray line")
    page = window.switch("/s/demo/traffic")
    in_wire_order(page)
    expect(rows(page, "stray output")).to_have_attribute("data-tone", "bad")
    rows(page, "stray output").click()
    expect(page.get_by_text(re.compile("Malformed: .*JSON"))).to_be_visible()
    expect(page.get_by_label("Message as it was sent")).to_have_text("Loading model... done.")
    broken = rows(page, "not UTF-8: byte 0xe9")
    expect(broken).to_have_attribute("data-tone", "bad")
    broken.click()
    expect(page.get_by_text("Malformed: not UTF-8")).to_contain_text("Hex shows every byte")
    page.route("**/bytes", lambda route: route.fulfill(status=404, json={"message": "Gone."}))
    with page.expect_console_message(is_fault):  # the browser tells of the 404
        page.get_by_role("tab", name="Hex").click()
    expect(page.get_by_text("The bytes could not be loaded: Gone.")).to_be_visible()
    window.faults.clear()
    page.unroute("**/bytes")
    page.get_by_role("tab", name="Raw").click()
    page.get_by_role("tab", name="Hex").click()
    # In whichever row: how long the id of the request is, is left open.
    expect(page.get_by_label("Bytes in hexadecimal")).to_contain_text("e9")
    window.shoot("traffic-hex")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tab", name="Hex")).to_have_count(0)
    expect(page).to_have_url(re.compile("/s/demo/traffic$"))
    window.assert_clean()


def test_each_message_has_the_http_exchange_that_carried_it_with_its_whole_body(
    window: Watched,
) -> None:
    page = window.enter("/servers")
    connect(page, "far")
    window.switch("/s/far/tools/elicit-form")
    run(page)
    form = page.get_by_label("Question: elicitation/create")
    form.get_by_role("button", name="Decline", exact=True).click()
    expect(page.get_by_label("Call of elicit-form")).to_contain_text("decline")
    page = window.switch("/s/far/traffic")
    in_wire_order(page)
    show_ours(page)
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
    # Another row begins with a tab of its own.
    listed = rows(page, "tools/list result").first
    listed.click()
    expect(listed).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="HTTP").click()
    # Far behind what the row itself holds.
    expect(details.get_by_label("Response body").last).to_contain_text("nextCursor")
    window.switch("/s/far/tools/broken-utf8")
    run(page)
    expect(page.get_by_label("Call of broken-utf8")).to_contain_text("not UTF-8")
    window.switch("/s/far/traffic")
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
    page = window.switch("/s/demo/traffic")
    page.get_by_label("Filter traffic").fill("server/discover")
    first = all_rows(page).first
    expect(first).to_contain_text("server/discover")
    first.click()
    expect(page.get_by_role("tree", name="Message")).to_contain_text("server/discover")
    page.reload()
    expect(page.get_by_role("tree", name="Message")).to_contain_text("server/discover")
    expect(all_rows(page).first).to_contain_text("server/discover")
    page.get_by_label("Filter traffic").fill("")
    expect(count_of(page)).to_contain_text(re.compile(r"^3,[01]\d\d of"))
    window.assert_clean()


def test_a_trace_is_imported_shown_and_compared_with_what_happens_now(
    window: Watched, tmp_path: Path
) -> None:
    window.enter("/s/demo/tools")
    echo(window, "of-this-run")
    page = find(window, "of-this-run", 2)
    rows(page, "→").filter(has_text="tools/call").first.click()
    page.get_by_role("button", name="Compare", exact=True).click()
    text = recorded(page, "of-this-run")
    run_id = page.request.get(f"{inside(page)}/api/history").json()["runs"][0]["run_id"]
    other = text.replace(run_id, "other-run").replace("of-this-run", "of-another-run")
    file = tmp_path / "trace.jsonl"
    file.write_text(other + "this is no line of a trace\n")
    page.locator("input[type=file]").set_input_files(file)
    expect(page).to_have_url(re.compile("run=other-run"))
    expect(page.get_by_text("1 line was malformed and skipped")).to_be_visible()
    page.get_by_label("Filter traffic").fill("of-another-run")
    expect(all_rows(page)).to_have_count(2)
    rows(page, "→").filter(has_text="tools/call").first.click()
    differences = page.get_by_label("Differences", exact=True)
    expect(differences).to_contain_text("of-this-run")
    expect(differences).to_contain_text("of-another-run")
    window.assert_clean()


def test_a_file_that_is_no_trace_is_refused_by_its_own_name(
    window: Watched, tmp_path: Path
) -> None:
    page = window.enter("/s/demo/traffic")
    file = tmp_path / "notes & more.jsonl"
    file.write_text("no trace")
    with page.expect_console_message(is_fault):  # the browser tells of the 409
        page.locator("input[type=file]").set_input_files(file)
    told = page.get_by_text("notes & more.jsonl cannot be read as a trace")
    expect(told).to_be_visible()
    window.faults.clear()
    window.assert_clean()


def test_clearing_asks_first_and_deletes_only_what_it_says(window: Watched) -> None:
    window.enter("/s/demo/tools")
    echo(window, "to-be-cleared")
    page = window.switch("/s/demo/traffic")
    call = rows(page, "tools/call").filter(has_text="to-be-cleared").filter(has_text="→")
    expect(call).to_have_count(1)
    page.get_by_role("button", name="Clear…").click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(call).to_have_count(1)
    page.get_by_role("button", name="Clear…").click()
    dialog = page.get_by_role("dialog", name="Clear the traffic?")
    expect(dialog).to_contain_text("It cannot be undone")
    assert window.axe() == []
    window.shoot("traffic-clear")
    dialog.get_by_role("button", name="Clear this view").click()
    expect(call).to_have_count(0)
    page.reload()
    expect(page.get_by_text("Earlier rows were cleared")).to_be_visible()
    expect(call).to_have_count(0)
    page.get_by_role("button", name="Show them again").click()
    expect(call).to_have_count(1)
    page.get_by_role("button", name="Clear…").click()
    dialog.get_by_role("button", name="Delete the recording of this session").click()
    expect(call).to_have_count(0)
    runs = page.request.get(f"{inside(page)}/api/history/events?text=to-be-cleared").json()
    assert [event for event in runs["events"] if event["kind"] == "FrameSent"] == []
    window.assert_clean()


def test_a_run_is_exported_as_a_trace_and_as_an_http_archive(
    window: Watched, tmp_path: Path
) -> None:
    page = window.enter("/servers")
    connect(page, "far")
    window.switch("/s/far/tools/echo")
    field(page).fill("to be exported")
    run(page)
    expect(page.get_by_label("Call of echo")).to_contain_text("to be exported")
    recorded(page, "to be exported")
    window.switch("/s/far/traffic")
    saved = {}
    for name in ("Trace of far (JSON Lines)", "HTTP archive of far (HAR)"):
        page.get_by_role("button", name="Export", exact=True).click()
        expect(page.get_by_role("menu")).to_contain_text("The whole session, ignoring the filter")
        expect(page.get_by_role("menuitem", name="of all servers")).to_have_count(2)
        window.shoot("traffic-export")
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=name).click()
        expect(page.get_by_role("menu")).to_be_hidden()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        saved[path.name] = path.read_text()
    (trace_name, trace), (archive_name, archive) = saved.items()
    assert re.fullmatch(rf"far-traffic-{TIME}\.jsonl", trace_name)
    assert re.fullmatch(rf"far-traffic-{TIME}\.har", archive_name)
    _, _, *lines = (json.loads(line) for line in trace.splitlines())
    assert {line["server_id"] for line in lines} == {"far"}
    assert "to be exported" in trace
    entries = json.loads(archive)["log"]["entries"]
    bodies = [entry["request"].get("postData", {}).get("text", "") for entry in entries]
    assert any("to be exported" in body for body in bodies)
    assert not any("do-not-show-this" in text for text in saved.values())
    window.assert_clean()


def slow_and_fast(window: Watched) -> Page:
    """A call over HTTP that takes its time, and one that does not."""
    page = window.enter("/servers")
    connect(page, "far")
    window.switch("/s/far/tools/wait")
    page.get_by_role("textbox", name=re.compile("^seconds", re.I)).fill("1.2")
    run(page)
    expect(page.get_by_label("Call of wait")).to_contain_text("waited for 1.2 s")
    window.switch("/s/far/tools/echo")
    field(page).fill("left out")
    run(page)
    expect(page.get_by_label("Call of echo")).to_contain_text("left out")
    return page


def save_rows(page: Page, item: str, folder: Path) -> Path:
    page.get_by_role("button", name="Export", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=item).click()
    expect(page.get_by_role("menu")).to_be_hidden()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_what_is_slow_is_found_and_exported_without_the_rest(
    window: Watched, tmp_path: Path
) -> None:
    page = slow_and_fast(window)
    lines = recorded(page, "left out").splitlines()
    run_id = next(json.loads(line)["run_id"] for line in lines if "left out" in line)
    here, recorded_one = "Session: This session", "Session: Recorded"
    for address, session in (("/s/far/traffic", here), (f"/traffic?run={run_id}", recorded_one)):
        window.switch(address)
        # What is opened before the screen of this session is there is lost with the one before it.
        expect(page.get_by_role("button", name=session)).to_be_visible()
        page.get_by_role("button", name=re.compile("^Filter")).click()
        page.get_by_role("textbox", name="Slower than, ms").fill("1000")
        listed = all_rows(page)
        expect(listed.filter(has_text=re.compile("tools/call.*wait"))).to_have_count(1)
        expect(listed.filter(has_text="notifications/initialized")).to_have_count(0)
        page.get_by_role("textbox", name="Slower than, ms").fill("3600000")
        expect(page.get_by_text("slower than 3,600,000 ms")).to_be_visible()
        page.get_by_role("button", name="Reset these filters").click()
        expect(page.get_by_role("textbox", name="Slower than, ms")).to_have_value("")
        expect(listed.filter(has_text=re.compile("tools/call.*echo")).first).to_be_visible()
        page.keyboard.press("Escape")
    window.switch("/s/far/traffic")
    expect(page.get_by_role("button", name=here)).to_be_visible()
    page.get_by_label("Filter traffic").fill("tools/call wait")
    expect(count_of(page)).to_contain_text(re.compile(r"(^|\D)2 of "))  # and not 12 of them
    trace = save_rows(page, "Trace of these rows (JSON Lines)", tmp_path)
    assert re.fullmatch(rf"far-traffic-filtered-{TIME}\.jsonl", trace.name)
    _, _, *exported = (json.loads(line) for line in trace.read_text().splitlines())
    assert [event["type"] for event in exported] == ["FrameSent", "FrameReceived"]
    archive = save_rows(page, "HTTP archive of these rows (HAR)", tmp_path)
    assert re.fullmatch(rf"far-traffic-filtered-{TIME}\.har", archive.name)
    (entry,) = json.loads(archive.read_text())["log"]["entries"]
    assert '"wait"' in entry["request"]["postData"]["text"]
    assert "waited for 1.2 s" in entry["response"]["content"]["text"]
    assert "do-not-show-this" not in archive.read_text()
    window.assert_clean()
