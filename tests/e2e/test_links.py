"""Which HTTP exchange, request and call a row of Traffic belongs to, against a server over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.servers.run import ROOT, argv

from .browser import Watched, inside, watched
from .calls import run
from .pair import connect
from .site import Site, configure, site
from .traffic import all_rows, in_wire_order, rows

# Equal to the last byte; only the header that each is sent with tells them apart.
EQUAL = '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'
MANY = 60
# A socket of its own, so that all of them leave before the first exchange begins.
SEND = """
([url, server, text, first, count]) => new Promise((done, fail) => {
  const socket = new WebSocket(url);
  let answers = 0;
  socket.onerror = () => fail(new Error("the socket broke"));
  socket.onmessage = ({ data }) => {
    const { type, id } = JSON.parse(data);
    if (type === "CommandReply" && id >= first && ++answers === count) {
      socket.close();
      done();
    }
  };
  socket.onopen = () => {
    socket.send(JSON.stringify({ type: "Resume", id: 0, run_id: null, seq: null }));
    for (let id = first; id < first + count; id += 1) {
      const headers = { "X-Number": String(id) };
      socket.send(JSON.stringify({ type: "SendRaw", id, server_id: server, text, headers }));
    }
  };
})
"""


@contextmanager
def good_over_http() -> Iterator[str]:
    """The URL of a well-behaved server that answers each POST with a stream of events."""
    process = subprocess.Popen(
        argv("good", "--transport", "http", "--sse-answers"), cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    with good_over_http() as url:
        entry = {"url": url, "protocolVersion": "2025-11-25"}
        configure(home, {"far": entry, "twice": entry, "often": entry})
        with site(home) as running:
            yield running


def exchange_of(page: Page, row: Locator) -> Locator:
    """The HTTP tab of a row."""
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    page.get_by_role("tab", name="HTTP").click()
    return page.get_by_role("tabpanel")


def header(exchange: Locator, name: str) -> Locator:
    """The value of a header of an exchange."""
    return exchange.locator("dt", has_text=name).locator("+ dd")


def send(page: Page, server: str, first: int, count: int) -> None:
    """Send so many equal notifications at once, each with a number of its own in a header."""
    url = f"{inside(page).replace('http', 'ws', 1)}/api/socket"
    page.evaluate(SEND, [url, server, EQUAL, first, count])


def sent_equal(window: Watched, server: str, first: int, count: int) -> Locator:
    """The rows of equal notifications, once so many were sent at once to a server that had none."""
    page = window.enter("/servers")
    connect(page, server)
    send(page, server, first, count)
    page = window.switch(f"/s/{server}/traffic")
    page.get_by_label("Filter traffic").fill("roots/list_changed")
    sent = rows(page, "→").filter(has_text="notifications/roots/list_changed")
    expect(sent).to_have_count(count)
    return sent


def test_two_equal_notifications_each_show_their_own_exchange(browser: Browser, far: Site) -> None:
    with watched(browser, far) as window:
        first = 1_000
        sent = sent_equal(window, "twice", first, 1)
        send(window.page, "twice", first + 1, 1)
        expect(sent).to_have_count(2)
        for number, row in ((first, sent.first), (first + 1, sent.last)):
            shown = exchange_of(window.page, row)
            expect(header(shown, "X-Number")).to_have_text(str(number))
            expect(shown).to_contain_text("202 Accepted")
        expect(window.page.get_by_text("Purpose: raw message")).to_be_visible()
        assert window.axe_in_each_theme("links-exchange") == []
        window.assert_clean()


def test_of_sixty_equal_messages_sent_at_once_each_has_its_exchange(
    browser: Browser, far: Site
) -> None:
    with watched(browser, far, viewport={"width": 1440, "height": 2600}) as window:
        sent = sent_equal(window, "often", 5_000, MANY)
        page = window.page
        exchanges = set()
        # Each seventh; that all of them have their exchange, tests/interaction/test_links.py shows.
        opened = sorted({*range(0, MANY, 7), MANY - 1})
        for number in opened:
            shown = exchange_of(page, sent.nth(number))
            expect(header(shown, "X-Number")).to_have_text(str(5_000 + number))
            link = page.get_by_text(re.compile(r"^HTTP exchange \d+$"))
            exchanges.add(link.inner_text())
        assert len(exchanges) == len(opened)
        window.assert_clean()


def test_a_call_leads_to_its_messages_and_each_of_them_to_its_exchange(
    browser: Browser, far: Site
) -> None:
    with watched(browser, far) as window:
        page = window.enter("/servers")
        connect(page, "far")
        window.switch("/s/far/tools/echo")
        page.get_by_role("textbox", name=re.compile("^text", re.I)).fill("linked")
        run(page)
        call = page.get_by_label("Call of echo")
        expect(call).to_contain_text("Done")
        call.get_by_role("link", name=re.compile(r"^id \d+")).click()
        # The row of the call is open at once.
        expect(page).to_have_url(re.compile(r"/s/far/traffic/\d+\?call=c\d+$"))
        expect(all_rows(page)).to_have_attribute("aria-selected", "true")
        expect(
            page.get_by_text(re.compile(r"Only what belongs to tools/call with id \d+"))
        ).to_be_visible()
        expect(all_rows(page)).to_have_count(1)
        # Where the details stand alone, all of Traffic is all of it.
        size = page.viewport_size
        assert size is not None
        page.set_viewport_size({"width": 390, "height": 844})
        page.get_by_role("button", name="All of Traffic").click()
        expect(page.get_by_text("Only what belongs to")).to_have_count(0)
        expect(all_rows(page).nth(1)).to_be_visible()
        page.set_viewport_size(size)
        page.go_back()
        call.get_by_role("link", name=re.compile(r"^id \d+")).click()
        expect(all_rows(page)).to_have_count(1)
        in_wire_order(page)
        expect(all_rows(page)).to_have_count(2)
        answer = rows(page, "tools/call result")
        shown = exchange_of(page, answer)
        expect(shown.get_by_label("Request body")).to_contain_text("linked")
        expect(page.get_by_text(re.compile(r"Part of tools/call with id \d+"))).to_be_visible()
        window.shoot("links-call")
        # All that the same exchange carried, as messages and as HTTP.
        page.get_by_role("link", name="Only this exchange").click()
        expect(page.get_by_text("Only what belongs to HTTP exchange")).to_be_visible()
        expect(all_rows(page)).to_have_count(2)
        page.get_by_text("HTTP", exact=True).first.click()
        expect(page.get_by_role("radio", name="HTTP")).to_be_checked()
        expect(rows(page, "POST http")).to_have_count(1)
        page.get_by_role("button", name="Show all").click()
        expect(page.get_by_text("Only what belongs to")).to_have_count(0)
        window.assert_clean()
