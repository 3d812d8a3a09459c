"""What a person decides about a server's questions: who answers, how, and what may be asked at all.

Real servers: the demo, from a file of the user's, and a small one that tells its headers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, copy_by, retype, sent_by, watched
from .site import Site, configure, site
from .telling import telling
from .test_questions import Asked

SAMPLING = "Question: sampling/createMessage"
ELICITATION = "Question: elicitation/create"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("home")
    (folder / "project").mkdir()
    return folder


@pytest.fixture(scope="module")
def demo(home: Path) -> Iterator[Site]:
    """The demo as a server of the user's file, which may be written to."""
    with telling() as url:
        entry = {
            "command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True,
            "protocolVersion": "2025-11-25",
        }  # fmt: skip
        http = {"url": url, "protocolVersion": "2025-11-25"}
        configure(home, {"demo": entry, "other": entry, "telling": http})
        with site(home, "demo") as running:
            yield running


def entry_of(home: Path) -> dict[str, Any]:
    path = home / "config" / "mcplens" / "mcp.json"
    found: dict[str, Any] = json.loads(path.read_text())["mcpServers"]["demo"]
    return found


def run(window: Watched, tool: str, **arguments: str) -> tuple[Page, Locator]:
    """Run a tool of the demo's; the page, and the panel of this call."""
    page = window.enter(f"/s/demo/tools/{tool}")
    for name, value in arguments.items():
        page.get_by_label(name, exact=True).fill(value)
    page.get_by_role("button", name="Run", exact=True).click()
    # An earlier call may be shown until then.
    expect(page).to_have_url(re.compile(r"\?call="))
    return page, page.get_by_label(f"Call of {tool}")


def find(page: Page, words: str) -> None:
    """Go to what the palette, which is being opened, finds first."""
    field = page.get_by_placeholder("Find a server, tool")
    field.fill(words)
    field.press("Enter")
    expect(field).to_have_count(0)


def open_question(page: Page, server: str = "demo") -> Locator:
    """Wait for the screen of a question: the one that is left may show the same question."""
    expect(page.get_by_role("heading", name=f"A question from {server}")).to_be_visible()
    return page.get_by_label(ELICITATION)


def switch(page: Page, name: str) -> Locator:
    return page.get_by_role("switch", name=name, exact=True)


# -- answering ---------------------------------------------------------------------------------


def test_a_rejected_question_is_an_error_to_the_server(window: Watched) -> None:
    page, call = run(window, "sample")
    page.get_by_label(SAMPLING).get_by_role("button", name="Reject").click()
    expect(call).to_contain_text("rejected the sampling request")
    window.assert_clean()


def test_a_specific_tool_is_called_and_its_result_is_drawn(window: Watched) -> None:
    sent = sent_by(window)
    page, call = run(window, "sample-with-tools")
    model = page.get_by_label(SAMPLING)
    model.get_by_role("combobox", name="Tool choice").click()
    page.get_by_role("option", name="specific", exact=True).click()
    model.get_by_role("button", name="Auto-respond").click()
    expect(model).to_contain_text("choose the tool to call: add")
    expect(model.get_by_role("button", name="Send anyway")).to_have_count(0)
    model.get_by_role("combobox", name="Tool to call").click()
    page.get_by_role("option", name="add", exact=True).click()
    model.get_by_role("button", name="Auto-respond").click()
    expect(model).to_contain_text("Result of")
    expect(model.get_by_text("call_1")).to_have_count(2)
    # Another call by hand: its id counts on.
    model.get_by_role("combobox", name="Stop reason").fill("toolUse")
    page.keyboard.press("Escape")
    model.get_by_role("button", name="Add", exact=True).click()
    typed = '{"a": "x", "b": 12345678901234567890}'
    model.get_by_label("Input of call 1").fill(typed)
    model.get_by_role("button", name="Edit & Send").click()
    expect(model).to_contain_text("Tool error")
    assert any(typed in text for text in sent)
    expect(model.get_by_text("call_2")).to_have_count(2)
    window.shoot("asking-tool-blocks")
    model.get_by_role("button", name="Edit & Send").click()
    model.get_by_role("button", name="Send empty").click()
    expect(call.get_by_text("Done", exact=True)).to_be_visible()
    window.assert_clean()


def test_ctrl_enter_sends_the_answer_and_does_not_run_the_tool_again(window: Watched) -> None:
    sent = sent_by(window)
    page, call = run(window, "elicit-steps")
    form = page.get_by_label(ELICITATION)
    form.get_by_label("name").fill("Ada")
    form.get_by_label("name").press("Control+Enter")
    expect(form).to_contain_text("Really Ada?")
    form.get_by_text("JSON", exact=True).click()
    editor = form.get_by_role("textbox", name="Arguments as JSON")
    expect(editor).to_contain_text("true")
    editor.press("Control+Enter")
    expect(call).to_contain_text("Ada is sure")
    assert sum("CallTool" in text for text in sent) == 1
    window.assert_clean()


def test_a_page_to_visit_is_copied_accepted_and_waited_for(browser: Browser, demo: Site) -> None:
    with watched(browser, demo, permissions=["clipboard-read", "clipboard-write"]) as window:
        page, _ = run(window, "elicit-url")
        page.get_by_label(ELICITATION).wait_for()
        page.get_by_role("button", name="1 question is waiting").click()
        page.get_by_role("menuitem", name="elicitation/create").click()
        question = open_question(page)
        expect(page.get_by_role("link", name="elicit-url")).to_be_visible()
        expect(page.get_by_role("button", name="Cancel tool execution")).to_be_visible()
        expect(question).to_contain_text(re.compile("Server “.+” asks you to open 127.0.0.1"))
        url = question.locator("pre").inner_text()
        assert copy_by(page, question.get_by_role("button", name="Copy")) == url
        question.get_by_role("button", name="Accept").click()
        expect(page.get_by_text("Waiting for completion at 127.0.0.1")).to_be_visible()
        window.shoot("asking-waits-for-a-page")
        assert page.request.get(url).ok
        expect(page.get_by_text("the page was visited")).to_be_visible()
        window.assert_clean()


def test_a_page_to_visit_is_opened_in_a_tab_of_its_own(window: Watched) -> None:
    page, call = run(window, "elicit-url")
    question = page.get_by_label(ELICITATION)
    expect(question).to_contain_text("Not opened yet.")
    with page.context.expect_page() as opened:
        question.get_by_role("button", name="Open").click()
    expect(opened.value.get_by_role("heading", name="Done")).to_be_visible()
    expect(question).to_contain_text("Waiting for completion")
    question.get_by_role("button", name="Accept").click()
    expect(call).to_contain_text("the page was visited")
    window.assert_clean()


def test_all_questions_are_on_a_screen_of_their_own(window: Watched) -> None:
    page, _ = run(window, "elicit-two")
    expect(page.get_by_label(ELICITATION)).to_have_count(2)
    # One for each form.
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(2)
    page.get_by_role("button", name="2 questions are waiting").click()
    for which in ("first", "second"):
        told = page.get_by_role("menuitem", name=f"The name of the {which} person?")
        expect(told).to_contain_text("asked")
    window.shoot("asking-bell")
    page.get_by_role("menuitem", name="All questions").click()
    waiting = page.get_by_role("row").filter(has_text="waiting")
    expect(waiting).to_have_count(2)
    expect(waiting.first).to_contain_text("The name of the first person?")
    assert window.axe() == []
    window.shoot("asking-questions")
    waiting.first.get_by_role("link").click()
    page.get_by_role("button", name="Cancel tool execution").click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    page.keyboard.press("Control+k")
    find(page, "Questions")
    expect(page.get_by_role("heading", name="Questions")).to_be_visible()
    expect(waiting).to_have_count(0)
    window.assert_clean()


def test_a_question_of_one_of_two_calls_is_answered_beside_both_and_leads_on(
    window: Watched,
) -> None:
    page, _ = run(window, "elicit-steps")
    page.get_by_label(ELICITATION).wait_for()
    page.get_by_role("button", name="Cancel tool execution").wait_for()
    run(window, "wait", seconds="600")
    page, call = run(window, "elicit-form")
    expect(call.get_by_text("1 question is waiting that may belong to this call")).to_be_visible()
    expect(call.get_by_label(ELICITATION)).to_have_count(1)
    window.shoot("asking-may-belong")
    page.get_by_role("button", name="2 questions are waiting").click()
    page.get_by_role("menuitem", name="elicitation/create").last.click()
    open_question(page).get_by_role("button", name="Decline").click()
    expect(page.get_by_text("This question is closed")).to_be_visible()
    expect(page.get_by_role("link", name="Call of elicit-form")).to_be_visible()
    assert window.axe() == []
    window.shoot("asking-onward")
    page.get_by_role("link", name="Next question: What is your name?").click()
    page.get_by_role("button", name="Cancel tool execution").click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    window.switch("/s/demo/tools/wait")
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    window.assert_clean()


def test_questions_of_two_servers_wait_in_the_bell(window: Watched) -> None:
    page, _ = run(window, "elicit-form")
    page.get_by_label(ELICITATION).wait_for()
    window.switch("/s/other/tools/elicit-steps")
    page.get_by_role("button", name="Connect", exact=True).click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_label(ELICITATION).wait_for()
    for server, asks in (("demo", "Your name"), ("other", "What is your name?")):
        page.get_by_role("button", name="2 questions are waiting").click()
        page.get_by_role("menuitem", name="elicitation/create").filter(has_text=server).click()
        expect(open_question(page, server)).to_contain_text(asks)
    page.get_by_role("button", name="Cancel tool execution").click()
    page.get_by_role("button", name="1 question is waiting").click()
    page.get_by_role("menuitem", name="elicitation/create").click()
    expect(open_question(page)).to_be_visible()
    page.get_by_role("button", name="Cancel tool execution").click()
    expect(page.get_by_text("Cancelled", exact=True).first).to_be_visible()
    window.assert_clean()


# -- who answers, and what may be asked --------------------------------------------------------


def test_a_profile_answers_and_is_kept_in_the_file(window: Watched, home: Path) -> None:
    page = window.enter("/servers/demo")
    who = page.get_by_role("combobox", name="Who answers its questions")
    who.click()
    page.get_by_role("option", name="echo repeats").click()
    page.get_by_role("button", name="Save to the file").click()
    expect(page.get_by_role("button", name="Save to the file")).to_have_count(0)
    assert entry_of(home)["profile"] == "echo"
    _, call = run(window, "sample")
    expect(call).to_contain_text("What is a lens?")
    expect(call.get_by_text("Done", exact=True)).to_be_visible()
    window.switch("/servers/demo")
    who.click()
    page.get_by_role("option", name="You do").click()
    page.get_by_role("button", name="Save to the file").click()
    expect(page.get_by_role("button", name="Save to the file")).to_have_count(0)
    assert "profile" not in entry_of(home)
    window.assert_clean()


def test_a_capability_is_switched_off_and_the_server_sees_it(window: Watched) -> None:
    page = window.enter("/servers/demo")
    expect(switch(page, "Sampling with tools")).to_be_checked()
    switch(page, "Sampling").click()
    expect(switch(page, "Sampling")).not_to_be_checked()
    expect(switch(page, "Sampling with tools")).to_be_disabled()
    switch(page, "Elicitation at a URL").click()
    expect(switch(page, "Elicitation at a URL")).not_to_be_checked()
    window.shoot("asking-capabilities")
    page.get_by_role("button", name="Connect again").click()
    expect(page.get_by_role("button", name="Connect again")).to_have_count(0)
    assert window.axe() == []
    declared = page.get_by_label("Capabilities of the client")
    expect(declared).to_contain_text("elicitation")
    expect(declared).not_to_contain_text("sampling")
    _, call = run(window, "sample")
    expect(call).to_contain_text("sampling")
    expect(page.get_by_label(SAMPLING)).to_have_count(0)
    window.switch("/servers/demo")
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(switch(page, "Sampling")).to_be_checked()
    expect(switch(page, "Elicitation at a URL")).to_be_checked()
    page.get_by_role("button", name="Connect again").click()
    expect(page.get_by_role("button", name="Connect again")).to_have_count(0)
    window.assert_clean()


def test_roots_are_browsed_for_added_and_removed_and_the_server_is_told(
    window: Watched, home: Path
) -> None:
    page = window.enter("/servers/demo/roots")
    # Where a path leads is told while it is typed.
    path = page.get_by_label("Path")
    path.fill("~/project")
    expect(page.get_by_text(f"Resolves to {home / 'project'}", exact=True)).to_be_visible()
    path.fill("nope/relative")
    note = page.get_by_role("note").filter(has_text="No such file or directory")
    expect(note).to_contain_text("/nope/relative cannot be listed")
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_enabled()
    window.shoot("asking-roots")
    path.fill("")
    page.get_by_role("button", name="Browse").click()
    chooser = page.get_by_role("dialog", name="Choose a folder")
    chooser.get_by_role("button", name="project").click()
    expect(chooser).to_contain_text(str(home / "project"))
    chooser.get_by_role("button", name="Choose this folder").click()
    expect(chooser).to_have_count(0)
    page.get_by_label("Name").fill("Work")
    page.get_by_role("button", name="Add", exact=True).click()
    uri = (home / "project").as_uri()
    expect(page.get_by_role("row").filter(has_text=uri)).to_contain_text("Work")
    _, call = run(window, "list-roots")
    expect(call).to_contain_text(uri)
    window.switch("/servers/demo/roots")
    page.get_by_role("button", name=f"Remove {uri}").click()
    expect(page.get_by_text("No roots.", exact=False)).to_be_visible()
    window.switch("/s/demo/traffic")
    expect(page.get_by_text("notifications/roots/list_changed").first).to_be_visible()
    _, call = run(window, "list-roots")
    expect(call.get_by_text("Done", exact=True)).to_be_visible()
    expect(call).not_to_contain_text(uri)
    window.assert_clean()


# -- the experimental panel --------------------------------------------------------------------


def test_an_experimental_capability_is_tried_and_advertised(window: Watched) -> None:
    page = window.enter("/servers/demo/experimental")
    editor = page.get_by_role("textbox", name="Message to send")
    expect(page.get_by_text("line breaks become spaces", exact=False)).to_be_visible()
    retype(editor, '{"jsonrpc": "2.0", "id": 77, "method": "tools/list"}')
    page.get_by_role("button", name="Test mcplens/shout").click()
    expect(editor).to_contain_text('"method": "mcplens/shout"')
    expect(editor).to_be_in_viewport()
    editor.press("Control+Enter")
    expect(page.get_by_text("text is missing").first).to_be_visible()
    page.get_by_role("button", name="Restore it").click()
    expect(editor).to_contain_text("tools/list")
    history = page.get_by_label("Sent from here")
    history.get_by_role("button", name="Load mcplens/shout").first.click()
    expect(editor).to_contain_text("mcplens/shout")
    page.get_by_role("checkbox", name="mcplens/shout").click()
    value = page.get_by_label("Value of mcplens/shout")
    value.fill('{"loud": 2}')
    value.press("Enter")
    # As mcplens has it now.
    expect(value).to_have_value('{"loud":2}')
    page.get_by_role("button", name="Connect again").click()
    expect(page.get_by_role("button", name="Connect again")).to_have_count(0)
    assert window.axe() == []
    window.shoot("asking-experimental")
    window.switch("/servers/demo")
    expect(page.get_by_label("Capabilities of the client")).to_contain_text("loud")
    page.get_by_role("button", name="Reset", exact=True).click()
    page.get_by_role("button", name="Connect again").click()
    expect(page.get_by_role("button", name="Connect again")).to_have_count(0)
    window.assert_clean()


def test_a_phone_reaches_the_monitor_and_the_keys_by_the_palette(
    browser: Browser, demo: Site
) -> None:
    with watched(browser, demo, viewport={"width": 360, "height": 740}) as window:
        page = window.enter("/s/demo/tools")
        monitor = page.get_by_role("complementary", name="Monitor")
        for shown in (1, 0):
            page.get_by_role("button", name="Find anything").click()
            find(page, "monitor")
            expect(monitor).to_have_count(shown)
            if shown:
                expect(monitor).to_be_in_viewport(ratio=1)
                monitor.get_by_text("Tasks", exact=True).click()
                expect(monitor).to_contain_text("No task")
                window.shoot("monitor on a phone")
                assert window.axe() == []
        page.get_by_role("button", name="Find anything").click()
        find(page, "keyboard")
        keys = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(keys).to_contain_text("Open or close the monitor")
        assert window.axe() == []
        page.keyboard.press("Escape")
        expect(keys).to_have_count(0)
        window.assert_clean()


def test_a_raw_message_goes_with_headers_and_is_loaded_again(window: Watched) -> None:
    page = window.enter("/servers/telling/experimental")
    expect(page.get_by_text("Connect to see what this server declares.")).to_be_visible()
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_text("This server declares none.")).to_be_visible()
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of header 1").fill("X-Debug-Mode")
    page.get_by_label("Value of header 1").fill("loud")
    editor = page.get_by_role("textbox", name="Message to send")
    message = '{"jsonrpc":"2.0",  "id": 5,"method":"any/thing"}'
    retype(editor, message)
    page.get_by_role("button", name="Send", exact=True).click()
    call = page.get_by_label("Call of any/thing")
    expect(call).to_contain_text("X-Debug-Mode")
    expect(call).to_contain_text("loud")
    retype(editor, "something else")
    page.get_by_role("button", name="Load from history").click()
    page.get_by_role("menuitem", name="any/thing").click()
    expect(editor).to_have_text(message)
    window.assert_clean()


# -- requests that no server should make -------------------------------------------------------

ODD: list[tuple[str, dict[str, Any]]] = [
    ("sampling/createMessage", {"messages": "none", "tools": {"a": 1}, "stopSequences": 4}),
    ("sampling/createMessage", {"messages": [None, "x"], "tools": [None], "modelPreferences": 1}),
    ("elicitation/create", {"requestedSchema": "no", "message": {"a": 1}}),
    ("elicitation/create", {"requestedSchema": {"properties": {"a": 4}}}),
    ("elicitation/create", {"mode": "url", "url": {"not": "text"}}),
]


def test_odd_questions_are_shown_as_they_came_and_can_be_answered(
    browser: Browser, demo: Site
) -> None:
    with watched(browser, demo) as window:
        asked = Asked(window)
        page = asked.ask(*ODD)
        for method in ("sampling/createMessage", "elicitation/create"):
            count = sum(one == method for one, _ in ODD)
            expect(page.get_by_label(f"Question: {method}")).to_have_count(count)
        expect(page.get_by_text("messages is not a list.", exact=False)).to_be_visible()
        expect(page.get_by_text("The field a of requestedSchema", exact=False)).to_be_visible()
        model = page.get_by_label(SAMPLING).first
        model.get_by_role("button", name="Edit & Send").click()
        model.get_by_role("button", name="Send empty").click()
        assert asked.answer()["type"] == "AnswerSampling"
        window.shoot("asking-odd")
        window.assert_clean()
