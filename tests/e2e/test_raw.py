"""The raw tester: what comes back for any bytes, and what was sent before."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .browser import Watched, retype, sent_by, watched
from .site import Site, configure, site
from .telling import telling
from .traffic import rows


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The demo on stdio, the same to send nothing to before, and a server by HTTP that tells the
    headers of each request."""
    home = tmp_path_factory.mktemp("home")
    with telling() as url:
        entry = {
            "command": sys.executable, "args": ["-m", "mcplens.demo"], "inheritEnv": True,
            "protocolVersion": "2025-11-25",
        }  # fmt: skip
        http = {"url": url, "protocolVersion": "2025-11-25"}
        configure(home, {"demo": entry, "unasked": entry, "telling": http})
        with site(home, "demo") as running:
            yield running


def request(identity: str, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


def editor(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message to send")


def send(page: Page, text: str) -> None:
    retype(editor(page), text)
    page.get_by_role("button", name="Send", exact=True).click()


def load(page: Page, name: str) -> None:
    page.get_by_role("button", name="Load from history").click()
    page.get_by_role("menuitem", name=name).first.click()


def test_replies_to_what_is_no_request_and_progress_are_shown(window: Watched) -> None:
    page = window.enter("/s/demo/raw")
    send(page, "this is no JSON")
    panel = page.get_by_label(re.compile("^Call of"))
    expect(panel).to_contain_text("Error reply")
    expect(panel).to_contain_text("-32700")
    send(page, f"[{request('one', 'ping')}, {request('two', 'ping')}]")
    expect(panel).to_contain_text("-32600")
    window.shoot("raw-batch")
    send(page, '{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}')
    expect(panel.get_by_text("Sent, no reply", exact=True)).to_be_visible()
    steps = {"steps": 20, "seconds": 20}
    token = {"progressToken": "my own"}
    send(page, request("p", "tools/call", name="progress-steps", arguments=steps, _meta=token))
    expect(panel.get_by_label("Progress of the call")).to_have_attribute(
        "aria-valuenow", re.compile("^[1-9]")
    )
    window.shoot("raw-progress")
    panel.get_by_role("button", name="Cancel", exact=True).click()
    expect(panel).to_contain_text("Cancelled")
    assert window.axe() == []
    window.assert_clean()


def test_what_is_loaded_puts_aside_what_was_typed_and_the_address_names_the_call(
    window: Watched,
) -> None:
    page = window.enter("/s/demo/raw")
    send(page, request("first", "no/such"))
    panel = page.get_by_label("Call of no/such")
    expect(panel).to_contain_text("-32601")
    expect(page).to_have_url(re.compile(r"\?call="))
    failed = page.url
    send(page, request("second", "ping"))
    expect(page.get_by_label("Call of ping")).to_contain_text("Done")
    page.goto(failed)
    expect(panel).to_contain_text("-32601")
    retype(editor(page), "half typ")
    load(page, "no/such")
    expect(editor(page)).to_contain_text('"first"')
    aside = page.get_by_text("The message that you had typed was set aside")
    expect(aside).to_be_visible()
    window.switch("/servers/demo")
    expect(aside).to_be_hidden()
    window.switch("/s/demo/raw")
    expect(aside).to_be_visible()
    assert window.axe() == []
    window.shoot("raw-aside")
    # From Traffic it is the same.
    window.switch("/s/demo/traffic")
    page.get_by_label("Filter traffic").fill("no/such")
    rows(page, "no/such").first.click()
    page.get_by_role("button", name="Edit and send").click()
    expect(editor(page)).to_contain_text("1001")
    page.get_by_role("button", name="Restore it").click()
    expect(editor(page)).to_have_text("half typ")
    expect(aside).to_be_hidden()
    window.assert_clean()


def test_a_ready_made_ping_is_sent_and_the_way_back_leads_to_what_is_looked_for(
    window: Watched,
) -> None:
    page = window.enter("/s/unasked/raw")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.get_by_role("link", name="Show Traffic")).to_be_visible()
    window.switch("/s/unasked/traffic")
    rows(page, "initialize").first.click()
    expect(page).to_have_url(re.compile(r"/traffic/\d+$"))
    origin = page.url
    page.get_by_role("link", name="Raw message").click()
    page.get_by_role("link", name="Back to Traffic").click()
    expect(page).to_have_url(origin)
    page.get_by_role("link", name="Raw message").click()
    retype(editor(page), "half typ")
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name="ping", exact=True).click()
    expect(editor(page)).to_contain_text('"method": "ping"')
    expect(page.get_by_text("The message that you had typed was set aside")).to_be_visible()
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_label("Call of ping")).to_contain_text("Done")
    expect(page).to_have_url(re.compile(r"\?call="))
    window.shoot("raw-ping")
    # From here on it leads to the message whose reply is shown, however one comes back.
    for _ in range(2):
        page.get_by_role("link", name="Show in Traffic").click()
        expect(page).to_have_url(re.compile(r"/s/unasked/traffic/\d+$"))
        expect(page.get_by_role("row", selected=True)).to_contain_text("ping")
        page.get_by_role("link", name="Raw message").click()
    # Of what failed, the answer says why.
    send(page, request("x", "no/such"))
    failed = page.get_by_label("Call of no/such")
    expect(failed).to_contain_text("Error reply")
    expect(failed.get_by_role("alert")).to_contain_text("error -32601")
    expect(failed.get_by_role("radio", name="Error")).to_be_checked()
    window.shoot("raw-error")
    page.get_by_role("link", name="Show in Traffic").click()
    expect(page.get_by_role("radio", name="Answer")).to_be_checked()
    window.assert_clean()


def test_headers_come_back_with_the_message_but_no_secret(browser: Browser, demo: Site) -> None:
    phone = {"width": 390, "height": 844}
    with watched(browser, demo, viewport=phone, color_scheme="dark") as window:
        page = window.enter("/s/telling/raw")
        connect = page.get_by_role("button", name="Connect", exact=True)
        connect.click()
        expect(connect).to_be_hidden()
        for at, (name, value) in enumerate([("X-Mode", "loud"), ("X-Api-Key", "hidden")], 1):
            page.get_by_role("button", name="Add a header").click()
            page.get_by_label(f"Name of header {at}").fill(name)
            page.get_by_label(f"Value of header {at}").fill(value)
        send(page, request("5", "any/thing"))
        panel = page.get_by_label("Call of any/thing")
        expect(panel).to_contain_text("hidden")
        page.get_by_label("Remove header 2").click()
        page.get_by_label("Remove header 1").click()
        load(page, "any/thing")
        expect(page.get_by_label("Value of header 1")).to_have_value("loud")
        expect(page.get_by_label("Name of header 2")).to_have_value("X-Api-Key")
        expect(page.get_by_label("Value of header 2")).to_have_value("")
        page.get_by_role("button", name="Load from history").click()
        page.get_by_role("menuitem").first.wait_for()
        assert window.axe() == []
        window.shoot("raw-menu-390-dark")
        window.assert_clean()


def test_ctrl_enter_in_the_palette_sends_no_raw_message(window: Watched) -> None:
    sent = sent_by(window)
    page = window.enter("/s/demo/raw")
    expect(page.get_by_role("button", name="Send", exact=True)).to_be_enabled()
    page.keyboard.press("Control+k")
    find = page.get_by_role("combobox", name="Find a server")
    find.fill("quest")
    expect(page.get_by_role("option", name="Questions")).to_have_attribute("aria-selected", "true")
    chosen = find.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{chosen}")).to_contain_text("Questions")
    assert window.axe() == []
    find.press("Control+Enter")
    expect(page).to_have_url(re.compile("/questions$"))
    assert not any("SendRaw" in text for text in sent)
    window.assert_clean()


def test_only_a_raw_message_that_was_judged_can_be_sent_anyway(window: Watched) -> None:
    page = window.enter("/s/demo/raw")
    editor = page.get_by_role("textbox", name="Message to send")
    send = page.get_by_role("button", name="Send", exact=True)
    retype(
        editor, '{"jsonrpc": "2.0", "id": 900, "method": "tools/call", "params": {"name": "wait"}}'
    )
    send.click()
    call = page.get_by_label("Call of tools/call")
    expect(call.get_by_text("Running", exact=True)).to_be_visible()
    send.click()
    expect(page.get_by_text("the id 900 is in flight", exact=False)).to_be_visible()
    expect(page.get_by_role("button", name="Send anyway")).to_be_visible()
    call.get_by_role("button", name="Cancel", exact=True).click()
    expect(call.get_by_text("Cancelled", exact=True).first).to_be_visible()
    window.assert_clean()


def test_a_tool_that_fails_says_so_in_words_that_wrap(window: Watched) -> None:
    page = window.enter("/s/demo/raw")
    message = "a reason that is long; " * 20
    arguments = {"message": message}
    send(page, request("failing", "tools/call", name="fail-result", arguments=arguments))
    panel = page.get_by_label(re.compile("^Call of"))
    expect(panel).to_contain_text("Tool error")
    expect(panel.get_by_role("alert")).to_contain_text("The tool reports an error")
    said = panel.locator("[class*=_said_]")
    expect(said).to_contain_text("a reason that is long")
    assert said.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert window.axe() == []
    window.shoot("raw-tool-error")
    window.assert_clean()
