"""WebSockets: the page's own, which breaks or is too slow, and those of servers."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from tests.servers.run import ROOT, argv

from .browser import Watched, watched
from .calls import recorded, run
from .site import Site, configure, site
from .traffic import all_rows


class Wire:
    """The socket of a page, with a hand on it."""

    def __init__(self, page: Page) -> None:
        self.is_cut = False
        self.is_missing = False
        self._ends: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/api/socket$"), self._open)

    def _open(self, browser_end: WebSocketRoute) -> None:
        if self.is_cut:
            browser_end.close()
            return
        server_end = browser_end.connect_to_server()
        server_end.on_message(lambda message: browser_end.send(self._passed(message)))
        self._ends = [browser_end, server_end]

    def cut(self) -> None:
        self.is_cut = True
        for end in self._ends:
            end.close()

    def _passed(self, message: str | bytes) -> str | bytes:
        """A message of mcplens, or what it says in place of events to a page that is too slow."""
        told: dict[str, Any] = json.loads(message)
        if not self.is_missing or told["type"] != "Events":
            return message
        seqs = [event["seq"] for event in told["events"]]
        return json.dumps({"type": "Missed", "first_seq": seqs[0], "last_seq": seqs[-1]})


def echo(browser: Browser, demo: Site, text: str) -> None:
    """Call a tool from another browser."""
    with watched(browser, demo) as other:
        page = other.enter("/s/demo/tools/echo")
        page.get_by_role("textbox", name=re.compile("^text", re.I)).fill(text)
        run(page)
        expect(page.get_by_label("Call of echo")).to_contain_text(text)


def test_a_page_whose_socket_broke_catches_up_with_what_happened(
    browser: Browser, window: Watched
) -> None:
    wire = Wire(window.page)
    page = window.enter("/s/demo/traffic")
    rows = all_rows(page).filter(has_text="said meanwhile")
    all_rows(page).first.wait_for()
    wire.cut()
    gone = page.get_by_text("mcplens is not responding")
    expect(gone).to_be_visible()
    echo(browser, window.site, "said meanwhile")
    wire.is_cut = False
    expect(gone).to_be_hidden(timeout=30_000)
    expect(rows).to_have_count(1)
    expect(page.get_by_text("mcplens was restarted")).to_have_count(0)
    # The new socket carries commands as well.
    window.switch("/s/demo/tools/echo")
    page.get_by_role("textbox", name=re.compile("^text", re.I)).fill("and back")
    run(page)
    expect(page.get_by_label("Call of echo")).to_contain_text("and back")
    window.assert_clean()


def test_what_a_slow_page_was_not_sent_is_loaded_from_the_recording(
    browser: Browser, window: Watched
) -> None:
    wire = Wire(window.page)
    page = window.enter("/s/demo/traffic")
    all_rows(page).first.wait_for()
    rows = all_rows(page).filter(has_text="never sent")
    # The page asks for them by itself, and is answered when this route is gone.
    page.route("**/api/history/events?*", lambda _: None)
    wire.is_missing = True
    echo(browser, window.site, "never sent")
    missed = page.get_by_text(re.compile(r"\d+ events were not sent to this page"))
    expect(missed).to_be_visible()
    expect(rows).to_have_count(0)
    assert window.axe() == []
    window.shoot("missed")
    wire.is_missing = False

    recorded(page, "never sent")
    page.unroute("**/api/history/events?*")
    expect(rows).to_have_count(1)
    expect(missed).to_be_hidden()
    window.assert_clean()


@contextmanager
def serving() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL of a well-behaved server by WebSocket, and its process."""
    process = subprocess.Popen(
        argv("good", "--transport", "ws"), cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield json.loads(process.stdout.readline())["url"], process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_server_by_websocket_is_connected_called_and_lost(
    browser: Browser, tmp_path: Path
) -> None:
    with serving() as (url, process):
        assert url.startswith("ws://")
        configure(tmp_path, {"wire": {"url": url, "maxRetries": 0}})
        with site(tmp_path) as running, watched(browser, running) as window:
            page = window.enter("/servers")
            page.get_by_role("switch", name="Connection to wire", checked=False).press("Space")
            expect(page.get_by_role("article", name="wire")).to_contain_text("Connected")
            window.switch("/s/wire/tools/echo")
            page.get_by_role("textbox", name="text").fill("over the wire")
            run(page)
            expect(page.get_by_label("Call of echo")).to_contain_text("over the wire")
            window.switch("/s/wire/traffic")
            expect(all_rows(page).filter(has_text="tools/call").first).to_be_visible()
            window.shoot("websocket-traffic")
            process.kill()
            expect(page.get_by_text("The page shows the last known state")).to_be_visible()
            window.assert_clean()
